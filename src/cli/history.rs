//! What the commands that read have in common: the state, the runs in it, and the choice of one.
//!
//! A run is chosen by its id or by its source root, never by a file's time (scenario S24).

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::args::Format;
use crate::cli::output;
use crate::cli::unread::Runs;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::restoring::Restoring;
use crate::domain::run_spec::RunSpec;
use crate::domain::summary::{RunState, Summary};
use crate::domain::time::Timestamp;
use crate::engine::{DelegationRecord, State};
use crate::git::ReviewStore;
use crate::report::run::RunReport;
use crate::report::short_id::short_id;
use crate::runtime::clock;
use crate::store::home::{self, Home};
use crate::store::index::RunRow;
use crate::store::{Entry, Journal, StateFolder, put_away};

/// What a command that reads gets.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// The repository's state; `None` where no run was ever started.
    pub state: Option<&'a StateFolder>,
    /// The source root (canonical) whose newest run is meant when none is named.
    pub source_root: Option<&'a Path>,
    /// The control root of the place where the command was started.
    pub control_root: Option<&'a Path>,
    /// How output is written.
    pub format: Format,
    /// Now, for spans of what still goes on.
    pub now: Timestamp,
}

/// A run that was read.
#[derive(Debug)]
pub struct ReadRun {
    /// The run.
    pub run: LoopId,
    /// Its events.
    pub entries: Vec<Entry>,
    /// What they say.
    pub summary: Summary,
    /// Whether it goes on.
    pub state: RunState,
    /// Where its journal lies.
    pub folder: PathBuf,
}

impl History<'_> {
    /// The state, or why there is none.
    pub fn state(&self) -> Result<&StateFolder, Failure> {
        self.state.ok_or_else(|| {
            unknown("no run was started in this repository yet").next(["run-loop", "--help"])
        })
    }
    /// The run of this id or unique prefix, or the newest one of the source.
    pub fn choose(&self, given: Option<&str>) -> Result<LoopId, Failure> {
        let state = self.state()?;
        let Some(given) = given else {
            return self.newest(state);
        };
        let all = state.run_ids()?;
        let wanted = given.to_ascii_lowercase();
        let fits = |id: &&LoopId| id.to_string().starts_with(&wanted);
        let found: Vec<LoopId> = all.iter().filter(fits).copied().collect();
        match found[..] {
            [run] if !wanted.is_empty() => Ok(run),
            [] => Err(unknown_or_put_away(state, given)),
            _ => {
                let names: Vec<String> = found.iter().map(|id| short_id(*id, &all)).collect();
                Err(unknown(format!(
                    "the id {given:?} fits {} runs: {}",
                    found.len(),
                    names.join(", ")
                )))
            }
        }
    }
    fn newest(&self, state: &StateFolder) -> Result<LoopId, Failure> {
        let source = self.source_root.map(|root| root.display().to_string());
        let runs = Runs::of(state)?;
        runs.tell();
        let is_here = |row: &&RunRow| source.is_none() || row.source_root == source;
        let newest = runs.read.iter().rev().find(is_here).map(|row| row.run);
        runs.is_newest(newest, self.source_root)?;
        newest.ok_or_else(|| match (source, runs.read.last()) {
            (Some(source), Some(other)) => {
                let theirs = other.source_root.as_deref().unwrap_or("another place");
                let run = other.run.to_string();
                let message = format!(
                    "no run of {source} is here; the newest of this repository is run {run}, of {theirs}"
                );
                unknown(message).next(["run-loop", "status", &run])
            }
            (_, None) => unknown("no run of this source is here"),
            (None, Some(_)) => unknown("no run can be read"),
        })
    }
    /// Says where a run belongs when that is not here: what the run has stored wins, and the difference
    /// is told (row M-193).
    pub fn name_differences(&self, spec: &RunSpec) {
        let differs = |theirs: &str, here: Option<&Path>| {
            here.filter(|here| Path::new(theirs) != *here)
                .map(|here| here.display().to_string())
        };
        let (run, theirs) = (spec.loop_id, &spec.source_root);
        if let Some(here) = differs(theirs, self.source_root) {
            output::note(&format!("run {run} is about {theirs}, not about {here}"));
        }
        let theirs = &spec.control_root;
        if let Some(here) = differs(theirs, self.control_root) {
            let that = format!("that of this folder is {here}");
            output::note(&format!(
                "run {run} keeps its control root {theirs}; {that}"
            ));
        }
    }
    /// Where a run keeps what can be made again: where its first engine did, whatever this shell would choose,
    /// and the difference is told. `here` is what this shell would choose.
    pub(crate) fn cache(
        &self,
        run: LoopId,
        here: Result<PathBuf, Failure>,
    ) -> Result<PathBuf, Failure> {
        let Some(theirs) = home::cache(self.state()?, run)? else {
            return here;
        };
        if let Some(here) = here.ok().filter(|here| *here != theirs) {
            output::note(&format!(
                "run {run} keeps its jobs in {}; what this shell would take is {}",
                theirs.display(),
                here.display()
            ));
        }
        Ok(theirs)
    }
    /// Refuses what changes a run in a copy of its repository: there its locks are nobody's.
    pub(crate) fn refuse_a_copy(&self, spec: &RunSpec, command: &str) -> Result<(), Failure> {
        let state = self.state()?;
        let Home::Elsewhere(theirs) = Home::by(state, spec) else {
            return Ok(());
        };
        let run = spec.loop_id.to_string();
        let message = format!(
            "run {run} is one of {}; what lies in {} is a copy of its record",
            theirs.display(),
            state.path().display()
        );
        let next = ["run-loop", command, &run, "--worktree", &spec.source_root];
        Err(Failure::new(Code::WorktreeForeign, message).next(next))
    }
    /// Reads a run.
    pub fn read(&self, run: LoopId) -> Result<ReadRun, Failure> {
        ReadRun::load(self.state()?, run)
    }
}

impl ReadRun {
    /// Reads a run, and asks whether its engine lives.
    pub fn load(state: &StateFolder, run: LoopId) -> Result<Self, Failure> {
        // Asked first: an engine that ends in between has written its end by the time we read.
        let driven = Journal::is_driven(state, run)?;
        let entries = Journal::load(state, run)?;
        let summary = Summary::of(entries.iter().map(|entry| (entry.at, &entry.event)));
        Ok(Self {
            run,
            entries,
            state: RunState::of(&summary, driven),
            summary,
            folder: state.run_path(run),
        })
    }
    /// The report of the run.
    #[must_use]
    pub fn report(&self) -> RunReport {
        let state = State::replay(self.entries.iter().map(|entry| &entry.event));
        let delegated = state.delegations.values();
        let view = |record: &DelegationRecord| record.view(self.run).of_run(self.state);
        let mut report = RunReport {
            jobs: delegated.map(view).collect(),
            ..RunReport::of(self.run, &self.summary, self.state, &self.folder)
                .at(&self.summary, clock::now())
        };
        for left in &mut report.left_by_work {
            let Restoring { store, commit, .. } = &left.restoring;
            left.gone = store
                .as_ref()
                .zip(commit.as_ref())
                .is_some_and(|(store, commit)| {
                    !ReviewStore::holds(Path::new(store), self.run, commit)
                });
        }
        report
    }
}

impl RunReport {
    /// The report of a run, from its journal and lock.
    pub fn load(state: &StateFolder, run: LoopId) -> Result<Self, Failure> {
        Ok(ReadRun::load(state, run)?.report())
    }
}

/// Why there is no run of this id.
fn unknown_or_put_away(state: &StateFolder, given: &str) -> Failure {
    let wanted = given.to_ascii_lowercase();
    let mut away = put_away::all(state).unwrap_or_default().into_iter();
    match away.find(|run| run.to_string().starts_with(&wanted)) {
        None => unknown(format!("no run has the id {given:?}")),
        Some(run) => {
            let place = state.damaged_path(run).display().to_string();
            let message = format!("the record of run {run} was damaged, and was put away: {place}");
            Failure::new(Code::UnknownRun, message).next(["ls", "-la", &place])
        }
    }
}

fn unknown(message: impl Into<String>) -> Failure {
    Failure::new(Code::UnknownRun, message).next(["run-loop", "list"])
}

/// Writes text. A reader that went away is not a failure of ours.
pub(crate) fn write(out: &mut dyn Write, text: &str) {
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}
