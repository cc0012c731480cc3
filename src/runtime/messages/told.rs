//! What is written back: answers, and where delegated jobs stand.

use std::io;
use std::path::PathBuf;

use super::{Messages, mark_of, under_way};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId, MessageId};
use crate::engine::{NoSession, Refusal, State};
use crate::store::mailbox::{Answer, INBOX, OUTBOX};
use crate::store::{Folder, Inbox, Outbox};

impl Messages {
    /// Answers a message, and takes it away.
    pub(super) fn answer(
        &self,
        state: &State,
        place: Option<JobId>,
        message: MessageId,
        result: Result<JobId, Failure>,
    ) {
        self.tell(state, place, message, result);
        match (place, &state.run) {
            (None, _) => self.rim.inbox.done(message),
            (Some(folder), Some(run)) => {
                if let Ok(inbox) = self.folder_of(run.loop_id, folder, INBOX) {
                    Inbox::in_folder(inbox, run.loop_id).done(message);
                }
            }
            (Some(_), None) => {}
        }
    }

    /// Tells whoever sent a message what came of it. They may be gone, with their folder: nobody reads
    /// the answer then.
    pub(super) fn tell(
        &self,
        state: &State,
        place: Option<JobId>,
        message: MessageId,
        result: Result<JobId, Failure>,
    ) {
        let answer = Answer::new(message, result);
        match (place, &state.run) {
            (None, _) => drop(self.rim.outbox.answer(&answer)),
            (Some(folder), Some(run)) => {
                let outbox = self.folder_of(run.loop_id, folder, OUTBOX);
                drop(
                    outbox
                        .map(Outbox::in_folder)
                        .and_then(|outbox| outbox.answer(&answer)),
                );
            }
            (Some(_), None) => {}
        }
    }

    /// Writes into the outbox of every job above it where a delegated job stands.
    pub(in crate::runtime) fn show(&mut self, state: &State) {
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return;
        };
        for record in state.delegations.values() {
            let view = record.view(run);
            let Ok(bytes) = serde_json::to_vec(&view) else {
                continue;
            };
            let mark = mark_of(&bytes);
            if self.shown.get(&record.id) == Some(&mark) {
                continue;
            }
            self.shown.insert(record.id, mark);
            let report = record
                .outcome()
                .and_then(|outcome| outcome.report.as_ref())
                .and_then(|stored| self.rim.artifacts.get(&stored.sha256).ok());
            for (job, folder) in under_way(state) {
                if state.descends_from(record.id, job) {
                    let outbox = self.folder_of(run, folder, OUTBOX).map(Outbox::in_folder);
                    drop(outbox.and_then(|outbox| outbox.show(&view, report.as_deref())));
                }
            }
        }
    }

    pub(super) fn folder_of(&self, run: LoopId, folder: JobId, name: &str) -> io::Result<Folder> {
        let below = PathBuf::from(format!("jobs/{run}/{folder}/{name}"));
        Folder::open(&self.rim.cache)?.descend(&below)
    }
}

/// The failure of what was asked about jobs and is not granted.
#[must_use]
pub fn failure_of(refusal: &Refusal) -> Failure {
    let code = match refusal {
        Refusal::Unknown(_) => Code::UnknownJob,
        Refusal::RunEnds
        | Refusal::Stale(_)
        | Refusal::Over(..)
        | Refusal::OfLoop(_)
        | Refusal::NotBelow(_)
        | Refusal::Full(_)
        | Refusal::NotOver(_)
        | Refusal::Nowhere
        | Refusal::Session(..)
        | Refusal::Asked(_) => Code::JobRefused,
    };
    let failure = Failure::new(code, refusal.to_string());
    match refusal {
        Refusal::Session(job, why) => {
            let about = match why {
                NoSession::Followed(next) => next,
                NoSession::OfLoop
                | NoSession::Open
                | NoSession::GivenUp(_)
                | NoSession::Other(_)
                | NoSession::Forgets
                | NoSession::Untold
                | NoSession::Elsewhere { .. } => job,
            };
            match why {
                // Within a job it is no delegated one.
                NoSession::OfLoop | NoSession::Open => failure.next(["run-loop", "job", "list"]),
                NoSession::GivenUp(_)
                | NoSession::Other(_)
                | NoSession::Forgets
                | NoSession::Untold
                | NoSession::Elsewhere { .. }
                | NoSession::Followed(_) => {
                    failure.next(["run-loop", "job", "show", &about.to_string()])
                }
            }
        }
        Refusal::RunEnds
        | Refusal::Unknown(_)
        | Refusal::Stale(_)
        | Refusal::Over(..)
        | Refusal::OfLoop(_)
        | Refusal::NotBelow(_)
        | Refusal::Full(_)
        | Refusal::NotOver(_)
        | Refusal::Nowhere
        | Refusal::Asked(_) => failure.next(["run-loop", "job", "list"]),
    }
}
