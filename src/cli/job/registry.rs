//! The delegated jobs of a repository, read from the journals of its runs.

use std::path::{Path, PathBuf};

use crate::cli::environment::Environment;
use crate::cli::locate::{Place, locate};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::domain::job_view::JobView;
use crate::domain::summary::RunState;
use crate::engine::State;
use crate::store::index::{Index, Listed};
use crate::store::{Artifacts, Journal, StateFolder};

/// The runs of a repository.
pub(super) struct Registry {
    /// The working tree that the command is about.
    pub(super) place: Place,
    state: Option<StateFolder>,
    cache: PathBuf,
}

impl Registry {
    pub(super) fn open(
        environment: &Environment,
        worktree: Option<&Path>,
    ) -> Result<Self, Failure> {
        let place = locate(environment, worktree)?;
        let state = StateFolder::find(&place.source.common_dir)?;
        let cache = environment.cache_root()?;
        Ok(Self {
            place,
            state,
            cache,
        })
    }
    /// The state folder, or why there is none.
    pub(super) fn state(&self) -> Result<&StateFolder, Failure> {
        self.state.as_ref().ok_or_else(|| {
            let message = "no run was started in this repository yet";
            Failure::new(Code::UnknownRun, message).next(["run-loop", "--help"])
        })
    }
    /// The run that goes on in this working tree, where one does.
    pub(super) fn going_on(&self) -> Result<Option<LoopId>, Failure> {
        let Some(state) = &self.state else {
            return Ok(None);
        };
        let here = self.place.source.source_root.display().to_string();
        let listed = Index::open(state).list(state)?;
        let going_on = listed.into_iter().rev().find_map(|listed| match listed {
            Listed::Run(row)
                if row.state == RunState::Running
                    && row.source_root.as_deref() == Some(here.as_str()) =>
            {
                Some(row.run)
            }
            Listed::Run(_) | Listed::Damaged { .. } => None,
        });
        Ok(going_on)
    }
    /// Every run that can be read, oldest first: one that is damaged holds up no other.
    fn runs(&self) -> Result<Vec<(LoopId, State)>, Failure> {
        let Some(state) = &self.state else {
            return Ok(Vec::new());
        };
        let runs = state.run_ids()?.into_iter();
        Ok(runs
            .filter_map(|run| {
                let entries = Journal::load(state, run).ok()?;
                let replayed = State::replay(entries.iter().map(|entry| &entry.event));
                Some((run, replayed))
            })
            .collect())
    }
    /// Every delegated job.
    pub(super) fn jobs(&self) -> Result<Vec<JobId>, Failure> {
        let runs = self.runs()?;
        let jobs = runs
            .iter()
            .flat_map(|(_, state)| state.delegations.keys().copied());
        Ok(jobs.collect())
    }
    /// Every delegated job, oldest run first; of one tree where that is asked.
    pub(super) fn views(&self, below: Option<JobId>) -> Result<Vec<JobView>, Failure> {
        let mut views = Vec::new();
        for (run, state) in self.runs()? {
            for record in state.delegations.values() {
                if below.is_none_or(|ancestor| state.descends_from(record.id, ancestor)) {
                    views.push(record.view(run));
                }
            }
        }
        Ok(views)
    }
    /// Every job, the loop's own too: what can be a parent.
    pub(super) fn parents(&self) -> Result<Vec<JobId>, Failure> {
        let runs = self.runs()?;
        let jobs = runs
            .iter()
            .flat_map(|(_, state)| state.jobs.keys().chain(state.delegations.keys()).copied());
        Ok(jobs.collect())
    }
    /// The run that knows a job, the loop's own too.
    pub(super) fn run_of(&self, job: JobId) -> Result<LoopId, Failure> {
        let runs = self.runs()?;
        let found = runs.iter().find(|(_, state)| {
            state.delegations.contains_key(&job) || state.jobs.contains_key(&job)
        });
        found.map(|(run, _)| *run).ok_or_else(|| no_such(job))
    }
    /// Where a job stands.
    pub(super) fn view(&self, job: JobId) -> Result<JobView, Failure> {
        let run = self.run_of(job)?;
        let entries = Journal::load(self.state()?, run)?;
        let state = State::replay(entries.iter().map(|entry| &entry.event));
        let record = state.delegations.get(&job).ok_or_else(|| no_such(job))?;
        Ok(record.view(run))
    }
    /// Whether the engine of a run lives.
    pub(super) fn is_driven(&self, run: LoopId) -> Result<bool, Failure> {
        Journal::is_driven(self.state()?, run)
    }
    /// The bytes of a job's report; `None` where it has none.
    pub(super) fn report(&self, view: &JobView) -> Result<Option<Vec<u8>>, Failure> {
        let Some(report) = view.report.as_deref() else {
            return Ok(None);
        };
        let sha256 = crate::domain::digest::Digest::parse(report)
            .ok_or_else(|| Failure::new(Code::JournalFailed, "a report without a hash"))?;
        Artifacts::open(self.state()?, view.run)?
            .get(&sha256)
            .map(Some)
    }
    /// The capture folder of a job's newest dispatch, where something of it may run.
    pub(super) fn capture_of(&self, view: &JobView) -> Result<Option<PathBuf>, Failure> {
        let entries = Journal::load(self.state()?, view.run)?;
        let state = State::replay(entries.iter().map(|entry| &entry.event));
        let dispatch = state
            .delegations
            .get(&view.job)
            .and_then(|record| record.under_way().cloned());
        Ok(dispatch.map(|dispatch| {
            let name = format!("jobs/{}/{}.capture", view.run, dispatch.folder);
            self.cache.join(name)
        }))
    }
}

fn no_such(job: JobId) -> Failure {
    let message = format!("no run of this repository knows the job {job}");
    Failure::new(Code::UnknownJob, message).next(["run-loop", "job", "list"])
}
