//! Runs that cannot be read: each is told, and none is passed over where it may be the one that is
//! meant. Corrupt is never "empty".

use std::path::Path;

use crate::cli::output;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::store::index::{Index, Listed, RunRow};
use crate::store::{Journal, StateFolder};

/// The runs of a repository, oldest first.
pub(super) struct Runs {
    /// Those that can be read.
    pub(super) read: Vec<RunRow>,
    unread: Vec<Unread>,
}

/// A run that cannot be read.
struct Unread {
    run: LoopId,
    failure: Failure,
    /// What the index remembers of it.
    known: Option<RunRow>,
}

impl Runs {
    /// Reads them. What never began is neither.
    ///
    /// # Errors
    /// When the state folder cannot be listed.
    pub(super) fn of(state: &StateFolder) -> Result<Self, Failure> {
        let mut runs = Self {
            read: Vec::new(),
            unread: Vec::new(),
        };
        for listed in Index::open(state).list(state)? {
            match listed {
                Listed::Run(row) => runs.read.push(*row),
                Listed::Damaged { run, .. } if Journal::never_began(state, run) => {}
                Listed::Damaged { run, failure } => runs.unread.push(Unread {
                    run,
                    failure,
                    known: Index::remembered(state, run),
                }),
            }
        }
        Ok(runs)
    }
    /// Tells those that cannot be read.
    pub(super) fn tell(&self) {
        for Unread { run, failure, .. } in &self.unread {
            let message = &failure.message;
            output::note(&format!("run {run} is left out: {message}"));
        }
    }
    /// Refuses to take a run for the newest of a source (of any, without one) while a newer one cannot
    /// be read, which may be of this source.
    ///
    /// # Errors
    /// The failure of the newer one, naming both.
    pub(super) fn is_newest(
        &self,
        chosen: Option<LoopId>,
        source: Option<&Path>,
    ) -> Result<(), Failure> {
        self.refuse(chosen, source, |_| true)
    }
    /// The same for a run that goes on: one that is known to have ended is not in its way.
    ///
    /// # Errors
    /// As [`Runs::is_newest`].
    pub(super) fn is_newest_open(
        &self,
        chosen: LoopId,
        source: Option<&Path>,
    ) -> Result<(), Failure> {
        self.refuse(Some(chosen), source, |row| row.exit.is_none())
    }
    fn refuse(
        &self,
        chosen: Option<LoopId>,
        source: Option<&Path>,
        counts: impl Fn(&RunRow) -> bool,
    ) -> Result<(), Failure> {
        let source = source.map(|root| root.display().to_string());
        let here = |row: &RunRow| source.is_none() || row.source_root == source;
        let found = self.unread.iter().rev().find(|unread| {
            Some(unread.run) > chosen
                && unread
                    .known
                    .as_ref()
                    .is_none_or(|row| here(row) && counts(row))
        });
        let Some(Unread { run, failure, .. }) = found else {
            return Ok(());
        };
        let Some(chosen) = chosen else {
            return Err(failure.clone());
        };
        let message = format!(
            "run {run}, which began after run {chosen}, may be the one that is meant, and it cannot be \
             read: {}",
            failure.message
        );
        let chosen = chosen.to_string();
        Err(Failure::new(Code::JournalFailed, message).next(["run-loop", "show", &chosen]))
    }
}
