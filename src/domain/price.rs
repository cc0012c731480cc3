//! What tokens cost, as the configuration says, for programs that tell their tokens and no cost.
//!
//! Money is whole millionths of a US dollar; there is no other number in between.

use serde::{Deserialize, Serialize};

use crate::domain::agent::{Agent, AgentKind};
use crate::domain::profile::Stream;
use crate::domain::spent::{Spent, Usage};

/// What a million tokens of a model cost, in millionths of a US dollar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The model, as its program names it, or the agent's entry where the program names none.
    pub model: String,
    /// Tokens that the model reads.
    pub input: u64,
    /// Tokens that it writes.
    pub output: u64,
    /// Tokens that are read from a cache; `None`: like others.
    pub cached: Option<u64>,
    /// Tokens that are written to a cache; `None`: like others.
    pub cache_write: Option<u64>,
}

/// What a job cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// In millionths of a US dollar.
    pub micro_usd: u64,
    /// Whether it was worked out from tokens and prices; else the program told it.
    pub computed: bool,
}

/// Reads dollars as they are written in a configuration, `1.25`, in millionths; up to six decimals.
#[must_use]
pub fn parse_usd(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 || whole.len() > 9 {
        return None;
    }
    let micro: u64 = format!("{part:0<6}").parse().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000)?
        .checked_add(micro)
}

/// What a job cost: as its program told, else by the price of the model that answered, or of the
/// entry's where the program names none; `None` where neither is known.
#[must_use]
pub fn cost_of(prices: &[Price], agent: Option<&Agent>, spent: &Spent) -> Option<Cost> {
    if let Some(micro_usd) = spent.cost_micro_usd {
        return Some(Cost {
            micro_usd,
            computed: false,
        });
    }
    let program = match &agent?.kind {
        AgentKind::Profile(program) => program,
        AgentKind::Command(_) | AgentKind::Checks | AgentKind::Human => return None,
    };
    let price = price_of(prices, spent.model.as_ref(), program.model.as_ref())?;
    let profile = &program.profile;
    let includes_cached = profile.input_holds_cached || includes_cached(profile.stream);
    let micro_usd = price.of(&spent.usage?, includes_cached)?;
    Some(Cost {
        micro_usd,
        computed: true,
    })
}

/// The price of the model that answered: that is what was paid for, whatever the entry asks for.
fn price_of<'p>(
    prices: &'p [Price],
    answered: Option<&String>,
    entry: Option<&String>,
) -> Option<&'p Price> {
    let name = answered.or(entry)?;
    prices.iter().find(|price| price.model == *name)
}

/// Whether a program counts what it read from a cache among what it read. Where nobody looked it
/// does not: then it is rather too much. Of the agents of the protocol those alone are believed that
/// count as gemini and codex do.
fn includes_cached(stream: Stream) -> bool {
    match stream {
        Stream::Codex | Stream::Gemini | Stream::Acp | Stream::Aider => true,
        Stream::Claude | Stream::Opencode | Stream::Copilot | Stream::Text => false,
    }
}

impl Price {
    /// What these tokens cost, rounded up; `None` where what was read or written is not told.
    fn of(&self, usage: &Usage, includes_cached: bool) -> Option<u64> {
        let (input, output) = (usage.input?, usage.output?);
        let written = usage.cache_write.unwrap_or(0);
        let (input, cached) = if includes_cached {
            let cached = usage.cached.unwrap_or(0);
            (input.saturating_sub(cached), cached)
        } else {
            // Most of what a long session reads is in there.
            (input, usage.cached?)
        };
        let parts = [
            (input, self.input),
            (output, self.output),
            (cached, self.cached.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
        ];
        let sum: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(*price))
            .sum();
        u64::try_from(sum.div_ceil(1_000_000)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_to_the_millionth() {
        for (text, micro) in [
            ("0", Some(0)),
            ("3", Some(3_000_000)),
            ("1.25", Some(1_250_000)),
            ("0.000001", Some(1)),
            ("0.0000001", None),
            ("-1", None),
            ("1e3", None),
            (".5", None),
            ("5.", None),
            ("", None),
            ("9999999999", None),
        ] {
            assert_eq!(parse_usd(text), micro, "{text}");
        }
    }

    #[test]
    fn what_answered_is_paid_for() {
        let price = Price {
            model: "m".to_owned(),
            input: 1,
            output: 1,
            cached: None,
            cache_write: None,
        };
        let (m, n) = ("m".to_owned(), "n".to_owned());
        let prices = [price];
        for (answered, entry, known) in [
            (Some(&m), Some(&n), true),
            (None, Some(&m), true),
            (Some(&n), Some(&m), false),
            (None, None, false),
        ] {
            let found = price_of(&prices, answered, entry);
            assert_eq!(found.is_some(), known, "{answered:?} {entry:?}");
        }
    }

    #[test]
    fn tokens_cost_what_they_cost() {
        let price = Price {
            model: "m".to_owned(),
            input: 1_250_000,
            output: 10_000_000,
            cached: Some(125_000),
            cache_write: None,
        };
        let usage = Usage {
            input: Some(1_000),
            output: Some(100),
            cached: Some(400),
            ..Usage::default()
        };
        // 600 read, 400 of a cache, 100 written: 750 and 50 and 1000 millionths.
        assert_eq!(price.of(&usage, true), Some(1_800));
        assert_eq!(price.of(&usage, false), Some(2_300));
        let plain = Price {
            cached: None,
            ..price.clone()
        };
        assert_eq!(plain.of(&usage, true), Some(2_250));
        // A fraction of a millionth is not nothing.
        let one = Usage {
            input: Some(1),
            output: Some(0),
            ..Usage::default()
        };
        assert_eq!(price.of(&one, true), Some(2));
        // What was read of a cache is not in there, and nobody knows how much it was.
        assert_eq!(price.of(&one, false), None);
        let untold = Usage {
            output: None,
            ..usage
        };
        assert_eq!(price.of(&untold, true), None);
        let huge = Usage {
            input: Some(u64::MAX),
            output: Some(u64::MAX),
            ..Usage::default()
        };
        assert_eq!(price.of(&huge, true), None);
    }
}
