//! What reviewers say holds in the place of the plan's acceptance items.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::job::{Job, JobOutcome, Reading, Role};
use crate::domain::slot::SlotName;
use crate::report::text;

/// An acceptance item that the change deviates from, as a reviewer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// Whose reviewer says so.
    pub slot: SlotName,
    /// In which round.
    pub round: u32,
    /// The item's number.
    pub item: u32,
    /// Why, in its words.
    pub note: String,
}

impl Deviation {
    /// What the last report of each slot says.
    #[must_use]
    pub fn of<'a>(jobs: impl Iterator<Item = (&'a Job, &'a JobOutcome)>) -> Vec<Self> {
        let mut last: BTreeMap<&SlotName, Vec<Self>> = BTreeMap::new();
        for (job, outcome) in jobs.filter(|(job, _)| job.role == Role::Review) {
            if let (Reading::Review(review), true) = (&outcome.reading, outcome.ended.is_success())
            {
                let said = review.deviations().map(|answer| Self {
                    slot: job.slot.clone(),
                    round: job.round.0,
                    item: answer.item,
                    note: answer.note.clone(),
                });
                last.insert(&job.slot, said.collect());
            }
        }
        last.into_values().flatten().collect()
    }
    /// One line for people.
    #[must_use]
    pub fn line(&self) -> String {
        format!(
            "item {} of the plan, deviated ({}, round {}): {}",
            self.item,
            self.slot,
            self.round,
            text::line(&self.note)
        )
    }
}
