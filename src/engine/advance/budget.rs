//! Budgets: the timer of the run's time, what holds a dispatch, and putting the run aside.

use crate::domain::agent::Agent;
use crate::domain::code::Code;
use crate::domain::effect::{Effect, Timer};
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::job::Role;
use crate::domain::limits::usd;
use crate::engine::advance::{limit, request};
use crate::engine::budget::Paid;
use crate::engine::state::{Phase, State};

/// What a budget asks for before anything else: the run is put aside when its time is spent, its
/// timer runs as long as it does, and a cost that nobody knows is told once.
pub(super) fn watch(state: &State) -> Option<Event> {
    // An approval that is being published, or was, is not given up for time.
    if !state.is_undecided() {
        return None;
    }
    let budget = &state.budget;
    if let Some(seconds) = budget.limits.max_wall {
        if budget.time_is_spent {
            return Some(park(time_is_spent(state, seconds)?));
        }
        let of = Timer::MaxWall;
        if !state.has_timer(of) {
            let until = budget.ends_at()?;
            return Some(request(state, Effect::Timer { of, until }));
        }
    }
    if budget.limits.max_cost_micro_usd.is_some() && !budget.untold_is_told {
        let job = state.untold_cost()?;
        return Some(Event::CostUntold { job });
    }
    None
}

/// Whether a job of this kind may be asked of this agent now. Who already works is not ended for
/// money.
pub(super) fn allows(state: &State, of: Paid, agent: Option<&Agent>) -> bool {
    let free = agent.is_some_and(|agent| !agent.costs());
    free || state.may_cost(of)
}

/// What follows when nothing is due: where nothing is under way either, what is due is held, so the
/// run is put aside; else it is looked at again when a limit is lifted.
pub(super) fn held(state: &State) -> Option<Event> {
    if !state.is_undecided() {
        return None;
    }
    if !limit::is_idle(state) {
        return limit::woken(state);
    }
    // The step that is held, or the lowest of all bounds, since something is held or more would be due.
    let role = match &state.phase {
        Phase::Work { work, .. } => work.role,
        Phase::Unstarted
        | Phase::Between
        | Phase::Round { .. }
        | Phase::Closing { .. }
        | Phase::Ended { .. } => Role::Review,
    };
    if !allows(state, Paid::Own(role), None) {
        return Some(park(money_is_spent(state, role)?));
    }
    limit::held(state)
}

fn park(failure: Failure) -> Event {
    Event::RunParking {
        failure,
        until: None,
    }
}

fn time_is_spent(state: &State, seconds: u64) -> Option<Failure> {
    let run = state.run.as_ref()?.loop_id.to_string();
    let message = format!("run {run} has run for the {seconds} s that it may (--max-wall)");
    let more = seconds.saturating_mul(2).to_string();
    let next = ["run-loop", "resume", &run, "--max-wall", &more];
    Some(Failure::new(Code::TimeSpent, message).next(next))
}

fn money_is_spent(state: &State, role: Role) -> Option<Failure> {
    let run = state.run.as_ref()?.loop_id.to_string();
    let limit = state.budget.limits.max_cost_micro_usd?;
    let (told, allowed) = (state.cost_told(), state.cost_allowed(Role::Review)?);
    // As much of that as is there.
    let kept = match limit.saturating_sub(allowed.max(told)) {
        0 => String::new(),
        left => format!(", of which {} are kept for rulings", usd(left)),
    };
    let untold = if state.budget.untold_is_told {
        ", without the jobs that told no cost"
    } else {
        ""
    };
    let expected = state.cost_expected(Paid::Own(role));
    // Money is left, and one more job may take what is kept.
    let one_more = if told < allowed {
        let one = usd(expected.saturating_sub(told));
        format!("; a {} job has cost up to {one}", role.as_str())
    } else {
        String::new()
    };
    let message = format!(
        "the jobs of run {run} cost {} USD so far{untold}, and it may cost {} (--max-cost){kept}{one_more}: nobody else is asked",
        usd(told),
        usd(limit)
    );
    let more = usd(limit.max(expected).saturating_mul(2));
    let next = ["run-loop", "resume", &run, "--max-cost", &more];
    Some(Failure::new(Code::MoneySpent, message).next(next))
}
