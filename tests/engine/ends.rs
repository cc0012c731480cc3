//! How a run ended, whole, and by names that are the same in every order of events.

use std::collections::{BTreeMap, BTreeSet};

use run_loop::domain::end::End;
use run_loop::domain::event::{Event, RoundResult, Settlement};
use run_loop::domain::finding::Finding;
use run_loop::domain::id::JobId;
use run_loop::domain::job::Role;
use run_loop::domain::lowered::Lowered;
use run_loop::domain::slot::SlotName;
use run_loop::engine::State;

use crate::orders::Driver;

/// What was found, in which slot, whether it blocks, what became of it, and why it blocks no more.
type Found = (String, SlotName, bool, &'static str, Option<String>);

/// Everything that a run comes to, but for times, ids and words for people.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole {
    end: Option<String>,
    content: u8,
    rounds: Vec<(&'static str, BTreeMap<SlotName, String>)>,
    findings: BTreeSet<Found>,
    works: Vec<(Role, SlotName, usize, bool, bool)>,
}

/// What a run came to. Of a round that broke off nobody knows who had spoken by then: it is left out.
pub fn of(driver: &Driver<'_>) -> Whole {
    let state = &driver.state;
    let rounds = state.rounds.iter().map(|round| {
        let slots = round.slots.iter().map(|(name, slot)| {
            let stands = slot.settlement().map(|it| settled(state, it));
            (name.clone(), stands.unwrap_or_default())
        });
        (result(&round.result), slots.collect())
    });
    let works = state.works.iter().map(|closed| {
        let work = &closed.work;
        let answered = closed.reply.is_some();
        let slot = work.slot.clone();
        (work.role, slot, work.rank, answered, closed.changed)
    });
    let opened = driver.journal.iter();
    let opened = opened.filter(|event| matches!(event, Event::RoundOpened { .. }));
    let broke_off = opened.count() > state.rounds.len();
    let closed = |finding: &&Finding| state.rounds.iter().any(|it| it.number == finding.round);
    let findings = state.findings.iter().filter(closed).map(|finding| {
        let mut found = found(state, finding);
        if broke_off {
            found.3 = "whatever the last round made of it";
        }
        found
    });
    Whole {
        end: state.end().map(|end| match end {
            End::Approved { readers } => format!("approved by {readers}"),
            End::Completed { .. } => "completed".to_owned(),
            End::Failed { failure } => failure.code.to_string(),
        }),
        content: driver.content,
        rounds: rounds.collect(),
        findings: findings.collect(),
        works: works.collect(),
    }
}

fn result(result: &RoundResult) -> &'static str {
    match result {
        RoundResult::Passed => "passed",
        RoundResult::NotPassed { .. } => "not passed",
        RoundResult::Stale { .. } => "stale",
        RoundResult::Void { .. } => "void",
        RoundResult::Inconclusive { .. } => "inconclusive",
    }
}

/// How a slot stands, and by which of its jobs.
fn settled(state: &State, settlement: &Settlement) -> String {
    let job = |id: &JobId| {
        let job = &state.jobs[id].job;
        format!("round {}, rank {}", job.round, job.rank)
    };
    match settlement {
        Settlement::Passed { by, job: id } => format!("passed by {by:?}, {}", job(id)),
        Settlement::NotPassed { job: id } => format!("not passed, {}", job(id)),
        Settlement::NoVerdict { .. } => "no verdict".to_owned(),
    }
}

fn found(state: &State, finding: &Finding) -> Found {
    let title = |id| {
        let mut all = state.findings.iter();
        all.find(|it| it.id == id).unwrap().claim.title.clone()
    };
    let lowered = finding.lowered.map(|lowered| match lowered {
        Lowered::Late => "late".to_owned(),
        Lowered::Dismissed { finding } => format!("dismissed as {}", title(finding)),
    });
    let name = format!("{} of round {}", finding.claim.title, finding.round);
    let slot = finding.slot.clone();
    (
        name,
        slot,
        finding.blocking,
        finding.disposition.as_str(),
        lowered,
    )
}
