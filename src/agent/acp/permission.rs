//! How a request for a permission is answered: by policy, and by the kind of its options.

use serde_json::Value;

use crate::agent::acp::protocol::{Outcome, choices};

/// What may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// Nothing is allowed.
    Reject,
    /// Each thing once.
    AllowOnce,
    /// The turn is over.
    Cancelled,
}

/// The answer, and how it is told. What is allowed for ever is never chosen: nobody would be asked
/// again. What does not read is not allowed.
pub(super) fn answer(params: &Value, policy: Policy) -> (Outcome, &'static str) {
    let Some(options) = choices(params) else {
        return (Outcome::Unreadable, "unreadable");
    };
    let wanted: &[&'static str] = match policy {
        Policy::AllowOnce => &["allow_once", "reject_once", "reject_always"],
        Policy::Reject => &["reject_once", "reject_always"],
        Policy::Cancelled => &[],
    };
    let chosen = wanted.iter().find_map(|kind| {
        let option = options.iter().find(|option| option.kind == *kind)?;
        Some((option.id.clone(), *kind))
    });
    match chosen {
        Some((id, kind)) => (Outcome::Selected(id), kind),
        None => (Outcome::Cancelled, "cancelled"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(kinds: &[(&str, &str)]) -> Value {
        let option =
            |(id, kind): &(&str, &str)| json!({"optionId": id, "name": "Allow", "kind": kind});
        json!({"options": kinds.iter().map(option).collect::<Vec<_>>()})
    }

    /// Names and ids lie; the kind decides, and what is allowed for ever is never chosen.
    #[test]
    fn the_kind_of_an_option_decides() {
        let all = options(&[
            ("reject", "allow_always"),
            ("no", "allow_once"),
            ("allow", "reject_once"),
            ("yes", "reject_always"),
        ]);
        let wide = options(&[("allow", "allow_always"), ("never", "reject_always")]);
        let only = options(&[("allow", "allow_always"), ("once", "allow_twice")]);
        let unreadable = json!({"options": [{"optionId": 1, "kind": "allow_once"}]});
        let selected = |id: &str| Outcome::Selected(id.to_owned());
        for (params, policy, outcome) in [
            (&all, Policy::AllowOnce, selected("no")),
            (&all, Policy::Reject, selected("allow")),
            (&all, Policy::Cancelled, Outcome::Cancelled),
            (&wide, Policy::AllowOnce, selected("never")),
            (&wide, Policy::Reject, selected("never")),
            (&only, Policy::AllowOnce, Outcome::Cancelled),
            (&only, Policy::Reject, Outcome::Cancelled),
            (
                &json!({"options": []}),
                Policy::AllowOnce,
                Outcome::Cancelled,
            ),
            (&unreadable, Policy::AllowOnce, Outcome::Unreadable),
            (&json!(null), Policy::AllowOnce, Outcome::Unreadable),
        ] {
            assert_eq!(answer(params, policy).0, outcome, "{params} {policy:?}");
        }
    }
}
