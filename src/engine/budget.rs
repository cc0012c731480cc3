//! What a run has spent, as its journal tells it.

use std::time::Duration;

use crate::domain::agent::Agent;
use crate::domain::id::JobId;
use crate::domain::job::Role;
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

/// What a job is paid for: those of one kind are taken to cost alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paid {
    /// The loop's own, of this role.
    Own(Role),
    /// One that another job delegated.
    Delegated,
}

/// A job that an agent is paid for.
struct Spending {
    job: JobId,
    of: Paid,
    /// What it told that it cost.
    cost: Option<u64>,
    /// Whether it runs.
    runs: bool,
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
    /// How much of its time the run has left, where the engine of now has driven it so long by the clock
    /// of a machine that is awake.
    #[must_use]
    pub fn left(&self, awake: Duration) -> Option<Duration> {
        let all = Duration::from_secs(self.limits.max_wall?);
        let before = Duration::from_millis(u64::try_from(self.ran).unwrap_or(0));
        Some(all.saturating_sub(before).saturating_sub(awake))
    }
}

impl State {
    /// What the jobs cost so far, in millionths of a US dollar, as far as they told.
    #[must_use]
    pub fn cost_told(&self) -> u64 {
        self.spendings()
            .filter_map(|it| it.cost)
            .fold(0, u64::saturating_add)
    }
    /// The first job that was asked and told no cost: what it cost cannot be counted.
    #[must_use]
    pub fn untold_cost(&self) -> Option<JobId> {
        self.spendings()
            .find(|it| !it.runs && it.cost.is_none())
            .map(|it| it.job)
    }
    /// What the jobs will have cost with those that run and one more of this kind, where each costs the
    /// most that one of its kind has told. The first of a kind is not known and counts nothing.
    #[must_use]
    pub fn cost_expected(&self, one_more: Paid) -> u64 {
        let most = |of: Paid| {
            let alike = self.spendings().filter(move |it| it.of == of);
            alike.filter_map(|it| it.cost).max().unwrap_or(0)
        };
        let running = self.spendings().filter(|it| it.runs).map(|it| it.of);
        running
            .chain([one_more])
            .map(most)
            .fold(self.cost_told(), u64::saturating_add)
    }
    /// Whether a job of this kind may be asked of an agent that costs. What is kept for rulings is there
    /// also when everything that runs is over, as far as that can be known.
    #[must_use]
    pub fn may_cost(&self, of: Paid) -> bool {
        let (role, rules) = match of {
            Paid::Own(role) => (role, matches!(role, Role::Readjudicate | Role::Arbitrate)),
            Paid::Delegated => (Role::Review, false),
        };
        let (Some(all), Some(allowed)) = (
            self.budget.limits.max_cost_micro_usd,
            self.cost_allowed(role),
        ) else {
            return true;
        };
        let keeps = allowed < all && !rules;
        self.cost_told() < allowed && (!keeps || self.cost_expected(of) <= allowed)
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
    /// Every job that an agent was or is paid for, with what it cost, as far as that is known.
    fn spendings(&self) -> impl Iterator<Item = Spending> {
        let prices = &self.budget.limits.prices;
        let cost = move |agent: Option<&Agent>, spent: &Spent| {
            cost_of(prices, agent, spent).map(|cost| cost.micro_usd)
        };
        let own = self.jobs.values().filter_map(move |record| {
            let agent = self.agent_of(&record.job);
            let outcome = record.outcome.as_ref();
            let paid =
                agent.is_some_and(Agent::costs) && outcome.is_none_or(|it| it.ended.was_asked());
            paid.then(|| Spending {
                job: record.job.id,
                of: Paid::Own(record.job.role),
                cost: outcome.and_then(|it| cost(agent, &it.spent)),
                runs: outcome.is_none(),
            })
        });
        let delegated = self.delegations.values().flat_map(move |record| {
            let agent = &record.submission.agent;
            let paid = agent.costs();
            let outcomes = record.dispatches.iter().filter(move |_| paid);
            outcomes.filter_map(move |(dispatch, outcome)| {
                let outcome = outcome.as_ref();
                let paid = outcome.is_none_or(|it| it.ended.was_asked());
                paid.then(|| Spending {
                    job: dispatch.job,
                    of: Paid::Delegated,
                    cost: outcome.and_then(|it| cost(Some(agent), &it.spent)),
                    runs: outcome.is_none(),
                })
            })
        });
        own.chain(delegated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 4.1: what the machine slept is not the run's: two engines that drove it, one of them now.
    #[test]
    fn a_run_has_left_what_no_engine_drove_it() {
        let mut budget = Budget::default();
        let minute = Duration::from_mins(1);
        assert_eq!(budget.left(minute), None);
        budget.limits.max_wall = Some(600);
        budget.ran = 120_000;
        // When it was taken up says nothing: that may be a night ago.
        budget.since = Some(Timestamp::from_millis(0));
        assert_eq!(budget.left(minute), Some(7 * minute));
        assert_eq!(budget.left(60 * minute), Some(Duration::ZERO));
    }
}
