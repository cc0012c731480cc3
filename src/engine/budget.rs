//! What a run has spent, as its journal tells it.

use crate::domain::agent::{Agent, AgentKind};
use crate::domain::id::JobId;
use crate::domain::job::{Ended, Role};
use crate::domain::limits::Limits;
use crate::domain::price::cost_of;
use crate::domain::spent::Spent;
use crate::domain::time::Timestamp;
use crate::engine::state::State;

/// Time and money of a run.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    /// What it may spend, as it was allowed last.
    pub limits: Limits,
    /// Milliseconds that it ran before its engine of now.
    pub ran: i64,
    /// When its engine of now took it up.
    pub since: Option<Timestamp>,
    /// Whether its time is spent.
    pub time_is_spent: bool,
    /// Whether it was told that some cost is not known.
    pub untold_is_told: bool,
}

impl Budget {
    /// When the time is spent that the run may take.
    #[must_use]
    pub fn ends_at(&self) -> Option<Timestamp> {
        let all = self.limits.max_wall?.saturating_mul(1000);
        let left = i64::try_from(all)
            .unwrap_or(i64::MAX)
            .saturating_sub(self.ran);
        Some(self.since?.plus_millis(left))
    }
}

impl State {
    /// What the jobs cost so far, in millionths of a US dollar, as far as they told.
    #[must_use]
    pub fn cost_told(&self) -> u64 {
        self.spendings()
            .filter_map(|(_, cost)| cost)
            .fold(0, u64::saturating_add)
    }
    /// The first job that was asked and told no cost: what it cost cannot be counted.
    #[must_use]
    pub fn untold_cost(&self) -> Option<JobId> {
        self.spendings()
            .find(|(_, cost)| cost.is_none())
            .map(|(job, _)| job)
    }
    /// What may be spent before a job of this role is asked. A tenth is kept for rulings where
    /// there may be any: a dispute that nobody can pay for any more would waste what it is about
    /// (scenario K07).
    #[must_use]
    pub fn cost_allowed(&self, role: Role) -> Option<u64> {
        let all = self.budget.limits.max_cost_micro_usd?;
        let run = self.run.as_ref()?;
        let disputes = run.creator.is_some() && run.arbiter.is_some();
        let rules = matches!(role, Role::Readjudicate | Role::Arbitrate);
        Some(if disputes && !rules {
            all - all / 10
        } else {
            all
        })
    }
    /// Every job that an agent was paid for, with what it cost, as far as that is known.
    fn spendings(&self) -> impl Iterator<Item = (JobId, Option<u64>)> {
        let prices = &self.budget.limits.prices;
        let cost = move |agent: Option<&Agent>, spent: &Spent| {
            cost_of(prices, agent, spent).map(|cost| cost.micro_usd)
        };
        let own = self.jobs.values().filter_map(move |record| {
            let outcome = record.outcome.as_ref()?;
            let agent = self.agent_of(&record.job);
            let paid = agent.is_some_and(costs) && was_asked(&outcome.ended);
            paid.then(|| (record.job.id, cost(agent, &outcome.spent)))
        });
        let delegated = self.delegations.values().flat_map(move |record| {
            let agent = &record.submission.agent;
            let paid = costs(agent);
            let outcomes = record.dispatches.iter().filter(move |_| paid);
            outcomes.filter_map(move |(dispatch, outcome)| {
                let outcome = outcome.as_ref()?;
                was_asked(&outcome.ended).then(|| (dispatch.job, cost(Some(agent), &outcome.spent)))
            })
        });
        own.chain(delegated)
    }
}

/// Whether an agent may cost money: `checks` and people are not paid by the token.
pub(super) fn costs(agent: &Agent) -> bool {
    match agent.kind {
        AgentKind::Command(_) | AgentKind::Profile(_) => true,
        AgentKind::Checks | AgentKind::Human => false,
    }
}

/// Whether a job came so far that it may have cost something.
fn was_asked(ended: &Ended) -> bool {
    match ended {
        Ended::NotStarted { .. } => false,
        Ended::Exited { .. }
        | Ended::Failed { .. }
        | Ended::Signalled { .. }
        | Ended::TimedOut
        | Ended::Stopped
        | Ended::Lost
        | Ended::Interrupted => true,
    }
}
