//! `aider`: text for people. A line of tokens is the only sign that a model answered.

use crate::agent::adapter::{Event, micro};
use crate::domain::spent::Usage;
use crate::domain::trouble::Trouble;

/// Reads one line. An error of its model library does not change its exit code, which is 0. After some it
/// asks again by itself, and a line of tokens after that is an answer; one before it is none any more.
pub(super) fn read(line: &str) -> Vec<Event> {
    let mut events = Vec::new();
    // A line of an answer may begin so; with both words it is taken for the count.
    let counts = line.strip_prefix("Tokens: ");
    let counts = counts.filter(|it| it.contains(" sent, ") && it.contains(" received."));
    if let Some(counts) = counts {
        let output = before(counts, " received");
        events.push(Event::Used {
            usage: Usage {
                input: before(counts, " sent"),
                output,
                ..Usage::default()
            },
            more: true,
        });
        events.extend(cost(counts));
        // Who sent nothing back answered nothing.
        events.push(Event::Result {
            success: output.is_some_and(|output| output > 0),
            text: None,
        });
        return events;
    }
    if line.starts_with("Cost: $") && line.ends_with(" session.") {
        // Where it tells of caches this is a line of its own, and no part of the answer.
        events.extend(cost(line));
        return events;
    }
    if line == "Only 3 reflections allowed, stopping." {
        events.push(Event::Error {
            trouble: Some(Trouble::Unfinished),
            message: line.to_owned(),
            fatal: true,
        });
    }
    if line.starts_with("Model ") && line.ends_with(" has hit a token limit!") {
        // Its answer was cut, or it has none; the line of tokens stood before this.
        events.push(Event::Error {
            trouble: Some(Trouble::Request),
            message: line.to_owned(),
            fatal: true,
        });
    }
    if let Some(name) = error_name(line) {
        events.push(Event::Error {
            trouble: Some(match name {
                "AuthenticationError" => Trouble::Auth,
                "RateLimitError" | "RouterRateLimitError" => Trouble::RateLimit,
                "BudgetExceededError" => Trouble::Quota,
                "InternalServerError" | "BadGatewayError" | "ServiceUnavailableError" => {
                    Trouble::Server
                }
                "APIConnectionError" | "Timeout" => Trouble::Network,
                "NotFoundError" => Trouble::Model,
                "BadRequestError" | "ContextWindowExceededError" => Trouble::Request,
                _ => Trouble::Unknown,
            }),
            message: line.to_owned(),
            fatal: !asks_again(name),
        });
        events.push(Event::Turn);
    }
    events.push(Event::Message {
        text: format!("{line}\n"),
        goes_on: true,
    });
    events
}

/// `Cost: $0.0023 message, $0.0045 session.`: of what it was asked now, and of all.
fn cost(line: &str) -> Option<Event> {
    let (_, costs) = line.split_once("Cost: $")?;
    let (dollars, _) = costs.split_once(" message")?;
    let micro_usd = micro(dollars.replace(',', "").parse().ok()?)?;
    Some(Event::Cost {
        micro_usd,
        more: true,
    })
}

/// The name of an error of its model library that a line begins with.
fn error_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("litellm.")?.split(':').next()?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric());
    (plain && (name.ends_with("Error") || name == "Timeout")).then_some(name)
}

/// Whether it asks its provider again after such an error, as its own list of them says.
fn asks_again(name: &str) -> bool {
    matches!(
        name,
        "APIConnectionError"
            | "APIError"
            | "APIResponseValidationError"
            | "AzureOpenAIError"
            | "BadGatewayError"
            | "BudgetExceededError"
            | "ContentPolicyViolationError"
            | "InternalServerError"
            | "InvalidRequestError"
            | "JSONSchemaValidationError"
            | "OpenAIError"
            | "RateLimitError"
            | "RouterRateLimitError"
            | "ServiceUnavailableError"
            | "Timeout"
            | "UnprocessableEntityError"
            | "UnsupportedParamsError"
    )
}

/// The number that stands before a word. From a thousand on it is rounded, `1.2k` or `12k`: better than none
/// for whoever has to stop at a limit.
fn before(counts: &str, word: &str) -> Option<u64> {
    let (head, _) = counts.split_once(word)?;
    let number = head.rsplit([' ', ',']).next()?;
    let Some(thousands) = number.strip_suffix('k') else {
        return number.parse().ok();
    };
    let (whole, tenths) = thousands.split_once('.').unwrap_or((thousands, "0"));
    let tenths: u64 = Some(tenths).filter(|it| it.len() == 1)?.parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(tenths * 100)
}
