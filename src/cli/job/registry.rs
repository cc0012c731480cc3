//! The delegated jobs of a repository: those of runs that ended as the index remembers them, others
//! from the journals of their runs.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use crate::cli::environment::Environment;
use crate::cli::job::desk::choose;
use crate::cli::locate::{Place, locate};
use crate::cli::unread::Runs;
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::delegation::{Continues, RUN_ENDED};
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::domain::job::Stored;
use crate::domain::job_view::{self, JobView};
use crate::domain::summary::RunState;
use crate::engine::{NoSession, Refusal, State};
use crate::runtime::messages::failure_of;
use crate::store::index::RunRow;
use crate::store::{Artifacts, Journal, StateFolder};

/// The runs of a repository.
pub(super) struct Registry {
    /// The working tree that the command is about.
    pub(super) place: Place,
    state: Option<StateFolder>,
    cache: PathBuf,
    /// The job that was looked up last, and its run: who waits for one asks again and again.
    last: Cell<Option<(JobId, LoopId)>>,
    /// Whether it was told what cannot be read.
    told: Cell<bool>,
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
            last: Cell::new(None),
            told: Cell::new(false),
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
        let runs = Runs::of(state)?.read;
        let going_on = runs.iter().rev().find(|row| {
            row.state == RunState::Running && row.source_root.as_deref() == Some(here.as_str())
        });
        Ok(going_on.map(|row| row.run))
    }
    /// Every run that can be read, oldest first: one that is damaged holds up no other, and is told
    /// once.
    fn runs(&self) -> Result<Vec<RunRow>, Failure> {
        let Some(state) = &self.state else {
            return Ok(Vec::new());
        };
        let runs = Runs::of(state)?;
        if !self.told.replace(true) {
            runs.tell();
        }
        Ok(runs.read)
    }
    /// Every delegated job.
    pub(super) fn jobs(&self) -> Result<Vec<JobId>, Failure> {
        Ok(self.views(None)?.iter().map(|view| view.job).collect())
    }
    /// Every delegated job, oldest run first; of one tree where that is asked.
    pub(super) fn views(&self, below: Option<JobId>) -> Result<Vec<JobView>, Failure> {
        let mut views = Vec::new();
        for row in self.runs()? {
            let all = row.delegated;
            let wanted =
                |view: &&JobView| below.is_none_or(|job| job_view::is_below(&all, view, job));
            let wanted = all.iter().filter(wanted).cloned();
            views.extend(wanted.map(|view| view.of_run(row.state)));
        }
        Ok(views)
    }
    /// Every job, the loop's own too: what can be a parent.
    pub(super) fn parents(&self) -> Result<Vec<JobId>, Failure> {
        let runs = self.runs()?;
        Ok(runs.iter().flat_map(jobs_of).collect())
    }
    /// The run that knows a job, the loop's own too.
    pub(super) fn run_of(&self, job: JobId) -> Result<LoopId, Failure> {
        if let Some((known, run)) = self.last.get()
            && known == job
        {
            return Ok(run);
        }
        let runs = self.runs()?;
        let found = runs.iter().find(|row| jobs_of(row).any(|own| own == job));
        let run = found.map(|row| row.run).ok_or_else(|| no_such(job))?;
        self.last.set(Some((job, run)));
        Ok(run)
    }
    /// Where a job stands.
    pub(super) fn view(&self, job: JobId) -> Result<JobView, Failure> {
        let run = self.run_of(job)?;
        // Asked first: an engine that ends in between has written its end by the time we read.
        let standing = if self.is_driven(run)? {
            RunState::Running
        } else {
            RunState::Interrupted
        };
        let state = self.replayed(run)?;
        let record = state.delegations.get(&job).ok_or_else(|| no_such(job))?;
        Ok(record.view(run).of_run(standing))
    }
    /// The session in which a job of this agent goes on after one of a run that is over, and what was
    /// reported in it.
    pub(super) fn continued(
        &self,
        given: &str,
        agent: &Agent,
        works: &str,
    ) -> Result<(Continues, Vec<u8>), Failure> {
        let job = choose(given, &self.jobs()?)?;
        let run = self.run_of(job)?;
        let state = self.replayed(run)?;
        if !state.is_over() {
            let message = format!("run {run}, which job {job} is of, is put aside");
            let run = run.to_string();
            return Err(Failure::new(Code::JobRefused, message).next(["run-loop", "resume", &run]));
        }
        if let Some(next) = self.follower(job)? {
            return Err(not_continued(job, NoSession::Followed(next)));
        }
        let found = state.session_after(job, agent, works);
        let continues = found.map_err(|why| not_continued(job, why))?;
        let artifacts = Artifacts::open(self.state()?, run)?;
        let report = artifacts.get(&continues.report.sha256)?;
        Ok((continues, report))
    }
    /// The job of any run that went on after this one.
    pub(super) fn follower(&self, job: JobId) -> Result<Option<JobId>, Failure> {
        let views = self.views(None)?;
        let next = views.iter().find(|view| view.continues == Some(job));
        Ok(next.map(|view| view.job))
    }
    /// Whether a run came to its end.
    pub(super) fn is_over(&self, run: LoopId) -> Result<bool, Failure> {
        Ok(self.replayed(run)?.is_over())
    }
    /// Why nothing is to be done any more about a job whose run is over, with the command that comes next.
    pub(super) fn over(&self, run: LoopId, job: JobId) -> Result<Failure, Failure> {
        let message = format!(
            "run {run} is over, and job {job} with it: nothing of it is dispatched or closed any more"
        );
        let failure = Failure::new(Code::RunIsOver, message);
        let state = self.replayed(run)?;
        let record = state.delegations.get(&job);
        let left = record.is_some_and(|it| {
            let closed = it.closed.as_ref();
            closed.is_some_and(|closed| closed.kind() == RUN_ENDED)
        });
        Ok(if left {
            failure.next(self.again(run, job)?)
        } else {
            failure.next(["run-loop", "job", "show", &job.to_string()])
        })
    }
    /// The command that delegates once more what this job was to do: its run is over.
    pub(super) fn again(&self, run: LoopId, job: JobId) -> Result<Vec<String>, Failure> {
        let state = self.replayed(run)?;
        let record = state.delegations.get(&job).ok_or_else(|| no_such(job))?;
        let submission = &record.submission;
        let artifacts = Artifacts::open(self.state()?, run)?;
        let path = |stored: &Stored| artifacts.path(&stored.sha256).display().to_string();
        let mut command = vec![
            "run-loop".to_owned(),
            "job".to_owned(),
            "submit".to_owned(),
            "--agent".to_owned(),
            submission.agent.name.clone(),
            "--prompt-file".to_owned(),
            path(&submission.prompt),
        ];
        if let AgentKind::Profile(program) = &submission.agent.kind {
            let chosen = [("--model", &program.model), ("--effort", &program.effort)];
            for (option, value) in chosen {
                command.extend(
                    value
                        .iter()
                        .flat_map(|value| [option.to_owned(), value.clone()]),
                );
            }
        }
        if let Some(schema) = &submission.schema {
            command.extend(["--schema".to_owned(), path(schema)]);
        }
        command.extend(["--timeout".to_owned(), submission.budget.to_string()]);
        if let Some(before) = &submission.continues {
            command.extend(["--continue".to_owned(), before.job.to_string()]);
        }
        if let Some(run) = &state.run {
            command.extend(["--worktree".to_owned(), run.source_root.clone()]);
        }
        Ok(command)
    }
    /// Why nobody drives the run of a job that is not over.
    pub(super) fn put_aside(&self, run: LoopId, job: JobId) -> Result<Failure, Failure> {
        let next = ["run-loop", "resume", &run.to_string()].map(str::to_owned);
        let failure = if let Some(why) = self.replayed(run)?.suspended {
            let message = format!("job {job} waits for its run: {}", why.message);
            Failure::new(why.code, message)
        } else {
            let message = format!("run {run} was interrupted, and job {job} with it");
            Failure::new(Code::Interrupted, message)
        };
        Ok(failure.next(next))
    }
    fn replayed(&self, run: LoopId) -> Result<State, Failure> {
        let entries = Journal::load(self.state()?, run)?;
        Ok(State::replay(entries.iter().map(|entry| &entry.event)))
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
        if view.over {
            return Ok(None);
        }
        let state = self.replayed(view.run)?;
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

/// The jobs of a run: the loop's own, and the delegated ones.
fn jobs_of(row: &RunRow) -> impl Iterator<Item = JobId> {
    let delegated = row.delegated.iter().map(|view| view.job);
    row.jobs.iter().copied().chain(delegated)
}

/// Nobody goes on in the session of this job.
pub(super) fn not_continued(job: JobId, why: NoSession) -> Failure {
    failure_of(&Refusal::Session(job, why))
}

fn no_such(job: JobId) -> Failure {
    let message = format!("no run of this repository knows the job {job}");
    Failure::new(Code::UnknownJob, message).next(["run-loop", "job", "list"])
}
