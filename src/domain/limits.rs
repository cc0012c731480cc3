//! What a run may spend, what its user allows it more, and the limits of providers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::job::{JobOutcome, Role};
use crate::domain::price::Price;
use crate::domain::time::Timestamp;

/// The budgets of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How many seconds it may run in all; while it lies aside nothing is counted.
    pub max_wall: Option<u64>,
    /// What its jobs may cost in all, in millionths of a US dollar.
    pub max_cost_micro_usd: Option<u64>,
    /// The most seconds that a job of a role gets.
    pub phases: BTreeMap<Role, u64>,
    /// Whether it waits in place until a provider's limit is lifted.
    pub wait: bool,
    /// How many seconds are waited for delegated jobs, where not for a job's budget and the grace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_wait: Option<u64>,
    /// What tokens cost, where programs tell no cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<Price>,
}

impl Limits {
    /// The budget of a job: what its agent or the run states, within the cap of its role.
    #[must_use]
    pub fn budget(&self, role: Role, stated: u64) -> u64 {
        self.phases
            .get(&role)
            .map_or(stated, |cap| stated.min(*cap))
    }
}

/// What somebody allows a run when it is taken up again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    /// Another limit of its time, in seconds.
    pub max_wall: Option<u64>,
    /// Another limit of its cost, in millionths of a US dollar.
    pub max_cost_micro_usd: Option<u64>,
    /// To wait in place until a provider's limit is lifted.
    pub wait: bool,
}

impl Allowed {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// When a provider's limit is lifted, as a program told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reset", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reset {
    /// So long after it was told.
    In {
        /// How long.
        seconds: u64,
    },
    /// At a moment.
    At {
        /// When.
        at: Timestamp,
    },
}

/// The shortest and the longest time for which a limit is believed.
const BELIEVED: (u64, u64) = (60, 604_800);
/// How often one slot, step or delegated job may come upon limits before the run no longer waits in
/// place for it and is parked. Nothing fails by that.
pub const PATIENCE: u32 = 24;
/// The first wait where no time was told; each further one is twice as long, up to an hour.
const FIRST_WAIT: u64 = 300;

/// Whether a program told that its limit is lifted at just this moment: the bounds of what is believed of it
/// are ours.
#[must_use]
pub fn is_told(reset: Option<Reset>, ended_at: Timestamp, until: Timestamp) -> bool {
    told_at(reset, ended_at) == Some(until)
}

fn told_at(reset: Option<Reset>, ended_at: Timestamp) -> Option<Timestamp> {
    Some(match reset? {
        Reset::In { seconds } => ended_at.plus_seconds(seconds),
        Reset::At { at } => at,
    })
}

/// When it is worth asking again after a limit ended a job: as it was told, or a wait that grows
/// with how often there was one before.
#[must_use]
pub fn lifted_at(outcome: &JobOutcome, before: u32) -> Timestamp {
    lifted_after(outcome.spent.reset, outcome.ended_at, before)
}

/// The same of anything that a limit ended.
#[must_use]
pub fn lifted_after(reset: Option<Reset>, ended_at: Timestamp, before: u32) -> Timestamp {
    let (shortest, longest) = BELIEVED;
    let grown = FIRST_WAIT << before.min(4);
    let at = told_at(reset, ended_at).unwrap_or_else(|| ended_at.plus_seconds(grown.min(3600)));
    at.clamp(
        ended_at.plus_seconds(shortest),
        ended_at.plus_seconds(longest),
    )
}

/// Millionths of a dollar in dollars, as they are given on the command line: `5`, `0.25`.
#[must_use]
pub fn usd(micro: u64) -> String {
    let (dollars, rest) = (micro / 1_000_000, micro % 1_000_000);
    let text = format!("{dollars}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_written_as_they_are_read() {
        for (micro, text) in [
            (0, "0"),
            (250_000, "0.25"),
            (5_000_000, "5"),
            (1_000_001, "1.000001"),
        ] {
            assert_eq!(usd(micro), text);
        }
    }

    /// Issue 4.7: what a program tells of a limit is believed for 60 s to 7 days.
    #[test]
    fn a_limit_is_believed_within_bounds() {
        let met = Timestamp::from_millis(1_800_000_000_000);
        let week = 604_800;
        let at = |seconds: i64| {
            let at = Timestamp::from_millis(met.as_millis() + seconds * 1000);
            Reset::At { at }
        };
        let after = |seconds| Reset::In { seconds };
        for (told, waits, is_its) in [
            (after(0), 60, false),
            (after(59), 60, false),
            (after(60), 60, true),
            (after(61), 61, true),
            (after(week), week, true),
            (after(week + 1), week, false),
            (after(u64::MAX), week, false),
            (at(-86_400), 60, false),
            (at(0), 60, false),
            (at(7200), 7200, true),
            (at(31_536_000), week, false),
        ] {
            for before in [0, 30] {
                let until = lifted_after(Some(told), met, before);
                assert_eq!(until, met.plus_seconds(waits), "{told:?}");
                // Who waits for our own bound is not told that its program said so.
                assert_eq!(is_told(Some(told), met, until), is_its, "{told:?}");
            }
        }
        let guessed = lifted_after(None, met, 0);
        assert!(!is_told(None, met, guessed));
    }

    /// Issue 4.7: where nothing is told each wait is twice as long as the last one, up to an hour.
    #[test]
    fn a_wait_of_nobodys_grows_up_to_an_hour() {
        let met = Timestamp::from_millis(1_800_000_000_000);
        for (before, waits) in [
            (0, 300),
            (1, 600),
            (2, 1200),
            (3, 2400),
            (4, 3600),
            (5, 3600),
            (63, 3600),
            (64, 3600),
            (u32::MAX, 3600),
        ] {
            let until = lifted_after(None, met, before);
            assert_eq!(until, met.plus_seconds(waits), "{before}");
        }
    }

    #[test]
    fn the_cap_of_a_role_lowers_a_budget_and_never_raises_it() {
        let limits = Limits {
            phases: BTreeMap::from([(Role::Plan, 900)]),
            ..Limits::default()
        };
        assert_eq!(limits.budget(Role::Plan, 3600), 900);
        assert_eq!(limits.budget(Role::Plan, 60), 60);
        assert_eq!(limits.budget(Role::Review, 3600), 3600);
    }
}
