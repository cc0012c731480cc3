//! What the slots last reported on, as the next job is told it.

use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::job::{Job, Reading, Role};
use crate::domain::slot::SlotName;
use crate::engine::state::{ClosedRound, State};

/// A round that slots last reported on.
#[derive(Debug)]
pub struct LastSeen<'a> {
    /// The round.
    pub round: RoundNumber,
    /// Whose last report was on it; nobody where it is the job's own slot.
    pub by: Vec<&'a SlotName>,
    /// What was under review.
    pub pin: &'a Pin,
}

impl State {
    /// What a job is told of earlier reports: a reviewer of its slot's own last one, a creator that
    /// answers findings of every reader's, newest first.
    #[must_use]
    pub fn last_seen(&self, job: &Job) -> Vec<LastSeen<'_>> {
        match job.role {
            Role::Review | Role::Readjudicate => {
                // Another agent of the slot has a memory of its own.
                let own = self.last_reported(&job.slot, Some(job.rank), job.round);
                own.map(|(round, pin)| LastSeen {
                    round,
                    by: Vec::new(),
                    pin,
                })
                .into_iter()
                .collect()
            }
            Role::Correct | Role::Comply => self.seen_by_all(job.round),
            Role::Plan | Role::Challenge | Role::Refine | Role::Implement | Role::Arbitrate => {
                Vec::new()
            }
        }
    }

    fn seen_by_all(&self, before: RoundNumber) -> Vec<LastSeen<'_>> {
        let mut all: Vec<LastSeen<'_>> = Vec::new();
        let readers = self.run.iter().flat_map(|run| &run.panel);
        for slot in readers.filter(|slot| slot.is_reader()) {
            let Some((round, pin)) = self.last_reported(&slot.name, None, before) else {
                continue;
            };
            match all.iter_mut().find(|seen| seen.round == round) {
                Some(seen) => seen.by.push(&slot.name),
                None => all.push(LastSeen {
                    round,
                    by: vec![&slot.name],
                    pin,
                }),
            }
        }
        all.sort_by_key(|seen| std::cmp::Reverse(seen.round));
        all
    }

    /// The last round before this one on which the slot, or this agent of it, gave a report that reads.
    fn last_reported(
        &self,
        slot: &SlotName,
        rank: Option<usize>,
        before: RoundNumber,
    ) -> Option<(RoundNumber, &Pin)> {
        let reported = |round: &&ClosedRound| {
            let mut records = self.jobs.values().map(|it| (&it.job, it.outcome.as_ref()));
            records.any(|(job, outcome)| {
                let own = rank.is_none_or(|rank| rank == job.rank);
                let asked = job.role == Role::Review && job.slot == *slot && own;
                asked
                    && job.round == round.number
                    && outcome.is_some_and(|outcome| {
                        outcome.ended.is_success() && matches!(outcome.reading, Reading::Review(_))
                    })
            })
        };
        let earlier = self.rounds.iter().filter(|round| round.number < before);
        let round = earlier.rev().find(reported)?;
        Some((round.number, round.pin.as_ref()?))
    }
}
