//! What a run may spend, and what its user allows it more.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::job::Role;

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
}

impl Allowed {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
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
