//! A whole run: identity, verdict matrix, findings, and where everything lies.

mod human;
mod next;

use std::path::Path;

use serde::Serialize;

use crate::domain::end::End;
use crate::domain::event::{RoundResult, Settlement};
use crate::domain::exit::Exit;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::id::{LoopId, RoundNumber};
use crate::domain::identity::Identity;
use crate::domain::job::{Role, Stored};
use crate::domain::job_view::JobView;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::restoring::LeftByWork;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::slot::{Slot, SlotName};
use crate::domain::summary::{JobRecord, Round, RunState, Summary};
use crate::domain::time::Timestamp;
use crate::domain::verdict::{PassedBy, Verdict};
use crate::domain::work::Work;
use crate::report::deviation::Deviation;
use crate::report::human::verdict_word;
use crate::report::public::{PublicFinding, VERSION};
use crate::report::{ndjson, time};

/// A run as a document: what `show --format json` prints, and what the text is made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunReport {
    /// The version of this form.
    pub version: u32,
    /// The run.
    pub run: LoopId,
    /// Whether it goes on: `running`, `interrupted`, `ended`.
    pub state: &'static str,
    /// The exit code it ended with.
    pub exit: Option<u8>,
    /// Whether the content was approved and promoted.
    pub approved: bool,
    /// How many slots read the change, of an approved run.
    pub readers: Option<u32>,
    /// Why it was not approved.
    pub failure: Option<Failure>,
    /// Until when it is parked on a limit, in UTC.
    pub parked_until: Option<String>,
    /// What the change is for.
    pub task: Option<String>,
    /// The working tree under review.
    pub source: Option<String>,
    /// The base as given; none where it is HEAD at the start.
    pub base_given: Option<String>,
    /// What the last measured round judged.
    pub identity: Option<Identity>,
    /// When it began, in UTC.
    pub started_at: Option<String>,
    /// When its newest input was taken.
    pub at: Option<String>,
    /// How long it took so far, for people.
    pub elapsed: Option<String>,
    /// How long it took so far, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// The command that started it.
    pub command: Vec<String>,
    /// Its rounds.
    pub rounds: Vec<RoundReport>,
    /// Every finding.
    pub findings: Vec<FindingReport>,
    /// Acceptance items of the plan that the change deviates from, by the last report of each slot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<Deviation>,
    /// What is to be known of steps of work that gave no answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// What steps of work threw away or left elsewhere, each with the command that brings it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_by_work: Vec<LeftByWork>,
    /// What jobs left besides the reports of reviewers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Printed>,
    /// What comes next after an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextCommand>,
    /// Why that is so, where it has to be said.
    #[serde(skip)]
    pub next_why: Option<&'static str>,
    /// What comes next once it was looked at why there is none.
    #[serde(skip)]
    pub again: Option<NextCommand>,
    /// The jobs that were delegated.
    pub jobs: Vec<JobView>,
    /// What was published, relative to the control root, the manifest last.
    pub promoted: Vec<RepoPath>,
    /// What could not be given back.
    pub left: Vec<String>,
    /// The run's folder.
    pub folder: String,
}

/// A round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundReport {
    /// Its number.
    pub round: u32,
    /// `passed`, `not_passed`, `stale`, `void`, `inconclusive`; none while it is open.
    pub result: Option<&'static str>,
    /// What moved, or why it is void or inconclusive.
    pub reason: Option<String>,
    /// The content that it judged.
    pub content_tree: Option<Oid>,
    /// The slots, in the order of the panel.
    pub slots: Vec<SlotReport>,
}

/// A slot in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotReport {
    /// The slot.
    pub slot: SlotName,
    /// The agent that was asked last, or is asked first.
    pub agent: String,
    /// Whether a job of it is running, as far as the events tell.
    pub asked: bool,
    /// Whether it will not be asked again.
    pub settled: bool,
    /// Its verdict; none is neither.
    pub verdict: Option<Verdict>,
    /// By what it passed.
    pub by: Option<PassedBy>,
    /// Why there is none.
    pub reason: Option<String>,
    /// How often it was asked.
    pub attempts: u64,
    /// The last report, as a file.
    pub report: Option<String>,
}

/// A finding, with who raised it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingReport {
    /// Who raised it.
    pub slot: SlotName,
    /// In which round.
    pub round: u32,
    /// The finding.
    pub finding: PublicFinding,
}

/// What a job left: the answer of one that reviews nothing, or what one that failed said on standard
/// error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Printed {
    /// The round, or the one that it came before.
    pub round: RoundNumber,
    /// What it was asked for.
    pub role: Role,
    /// Who was asked.
    pub slot: SlotName,
    /// `answer` or `stderr`.
    pub what: &'static str,
    /// Where it lies.
    pub file: String,
}

impl Printed {
    fn of(summary: &Summary, folder: &Path) -> Vec<Self> {
        let left = |record: &JobRecord| {
            let (job, outcome) = (&record.job, record.outcome.as_deref()?);
            let answer = outcome.report.as_ref().filter(|_| job.role != Role::Review);
            let all = [("answer", answer), ("stderr", outcome.stderr.as_ref())];
            let file = |(what, stored): (_, Option<&Stored>)| {
                Some(Self {
                    round: job.round,
                    role: job.role,
                    slot: job.slot.clone(),
                    what,
                    file: artifact(folder, stored?),
                })
            };
            Some(all.map(file).into_iter().flatten().collect::<Vec<_>>())
        };
        summary.jobs().filter_map(left).flatten().collect()
    }
}

/// Where bytes lie that a run keeps.
fn artifact(folder: &Path, stored: &Stored) -> String {
    let path = folder.join("artifacts").join(stored.sha256.as_str());
    path.display().to_string()
}

/// What is to be known of a step of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The round that it came before.
    pub round: RoundNumber,
    /// What its job was asked for.
    pub role: Role,
    /// Who was asked.
    pub slot: SlotName,
    /// What is to be known.
    pub said: &'static str,
}

impl Warning {
    fn of((work, said): &(Work, &'static str)) -> Self {
        Self {
            round: work.round(),
            role: work.role,
            slot: work.slot.clone(),
            said,
        }
    }
}

impl RunReport {
    /// The report of a run, without its delegated jobs; `folder` is where its journal lies.
    #[must_use]
    pub fn of(run: LoopId, summary: &Summary, state: RunState, folder: &Path) -> Self {
        let spec = summary.spec.as_deref();
        let (readers, failure) = match &summary.end {
            Some(End::Approved { readers }) => (Some(*readers), None),
            Some(End::Failed { failure }) => (None, Some(failure.clone())),
            Some(End::Completed { .. }) => (None, None),
            None => (None, summary.suspended.clone()),
        };
        let last = summary
            .rounds
            .iter()
            .rev()
            .find_map(|round| round.pin.as_ref());
        let jobs = summary.rounds.iter().flat_map(|round| &round.jobs);
        let lasted = summary.started_at.zip(summary.at);
        Self {
            jobs: Vec::new(),
            version: VERSION,
            run,
            state: state.as_str(),
            exit: summary
                .end
                .as_ref()
                .map(End::exit)
                .or_else(|| {
                    summary
                        .suspended
                        .as_ref()
                        .map(|failure| failure.code.exit())
                })
                .map(Exit::code),
            approved: readers.is_some(),
            readers,
            failure,
            parked_until: summary.parked_until.map(time::moment),
            task: spec.and_then(|spec| spec.task.clone()),
            source: spec.map(|spec| spec.source_root.clone()),
            base_given: spec.and_then(base_given),
            identity: last.map(|pin| pin.identity.clone()),
            started_at: summary.started_at.map(time::moment),
            at: summary.at.map(time::moment),
            elapsed: lasted.map(|(from, to)| time::span(from, to)),
            elapsed_ms: lasted.map(|(from, to)| time::millis(from, to)),
            command: spec.map_or_else(Vec::new, |spec| spec.command.clone()),
            rounds: summary
                .rounds
                .iter()
                .map(|round| RoundReport::of(round, spec, folder))
                .collect(),
            findings: summary
                .findings
                .iter()
                .map(|finding| FindingReport {
                    slot: finding.slot.clone(),
                    round: finding.round.0,
                    finding: PublicFinding::from(finding),
                })
                .collect(),
            deviations: Deviation::of(jobs.filter_map(|record| {
                let outcome = record.outcome.as_deref()?;
                Some((&record.job, outcome))
            })),
            warnings: summary.warnings.iter().map(Warning::of).collect(),
            left_by_work: summary.left_by_work.clone(),
            printed: Printed::of(summary, folder),
            next: readers.and_then(|readers| next::after_approval(spec?, last?, readers)),
            next_why: spec
                .zip(last)
                .filter(|_| readers.is_some_and(|readers| readers > 0))
                .and_then(|(spec, pin)| next::why(spec, pin)),
            again: spec.and_then(next::again),
            promoted: summary
                .promotion
                .as_ref()
                .map_or_else(Vec::new, |promotion| promotion.files.clone()),
            left: summary.left.clone(),
            folder: folder.display().to_string(),
        }
    }

    /// The same of a run that goes on: its time runs although nothing has happened since.
    #[must_use]
    pub fn at(mut self, summary: &Summary, now: Timestamp) -> Self {
        if let Some(from) = summary
            .started_at
            .filter(|_| self.state == RunState::Running.as_str())
        {
            self.elapsed = Some(time::span(from, now));
            self.elapsed_ms = Some(time::millis(from, now));
        }
        self
    }

    /// The report as one line of JSON.
    pub fn json(&self) -> Result<String, Failure> {
        ndjson::document(self)
    }
}

impl RoundReport {
    fn of(round: &Round, spec: Option<&RunSpec>, folder: &Path) -> Self {
        let panel = spec.map_or(&[][..], |spec| &spec.panel);
        let (result, reason) = match &round.result {
            None => (None, None),
            Some(RoundResult::Passed) => (Some("passed"), None),
            Some(RoundResult::NotPassed { tripped }) => {
                let names: Vec<&str> = tripped.iter().map(|trip| trip.as_str()).collect();
                let touched = (!names.is_empty()).then(|| format!("moved: {}", names.join(", ")));
                (Some("not_passed"), touched)
            }
            Some(RoundResult::Stale {
                moved,
                base_moved,
                tripped,
            }) => {
                let base = base_moved.then(|| "the base".to_owned());
                let moved = moved.iter().map(ToString::to_string);
                let tripped = tripped.iter().map(|trip| trip.as_str().to_owned());
                let all: Vec<String> = base.into_iter().chain(moved).chain(tripped).collect();
                (Some("stale"), Some(format!("moved: {}", all.join(", "))))
            }
            Some(RoundResult::Void { reason, .. }) => (Some("void"), Some(reason.clone())),
            Some(RoundResult::Inconclusive { reason }) => {
                (Some("inconclusive"), Some(reason.clone()))
            }
        };
        Self {
            round: round.number.0,
            result,
            reason,
            content_tree: round
                .pin
                .as_ref()
                .map(|pin| pin.identity.content_tree.clone()),
            slots: panel
                .iter()
                .map(|slot| SlotReport::of(slot, round, folder))
                .collect(),
        }
    }
}

impl SlotReport {
    fn of(slot: &Slot, round: &Round, folder: &Path) -> Self {
        let jobs = || round.jobs.iter().filter(|r| r.job.slot == slot.name);
        let last: Option<&JobRecord> = jobs().next_back();
        let agent = slot.agent_at(last.map_or(0, |record| record.job.rank));
        let (verdict, by, reason) = match round.slots.get(&slot.name) {
            Some(Settlement::Passed { by, .. }) => (Some(Verdict::Pass), Some(*by), None),
            Some(Settlement::NotPassed { .. }) => (Some(Verdict::NotPass), None, None),
            Some(Settlement::NoVerdict { reason }) => (None, None, Some(reason.clone())),
            None => (None, None, None),
        };
        let report = jobs()
            .rev()
            .find_map(|record| record.outcome.as_ref()?.report.as_ref());
        Self {
            slot: slot.name.clone(),
            agent: agent.unwrap_or(&slot.agent).name.clone(),
            asked: last.is_some_and(|record| record.outcome.is_none()),
            settled: round.slots.contains_key(&slot.name),
            verdict,
            by,
            reason,
            attempts: u64::try_from(jobs().count()).unwrap_or(u64::MAX),
            report: report.map(|stored| artifact(folder, stored)),
        }
    }
    /// How it stands, for the matrix.
    #[must_use]
    pub fn cell(&self) -> String {
        match (self.settled, self.asked) {
            (true, _) => match self.by {
                Some(
                    by @ (PassedBy::Threshold
                    | PassedBy::Withdrawal
                    | PassedBy::Arbitration
                    | PassedBy::SelfReview),
                ) => format!("PASS ({})", by.as_str()),
                Some(PassedBy::Reviewer | PassedBy::Checks) | None => verdict_word(self.verdict),
            },
            (false, true) => "asked".to_owned(),
            (false, false) => "-".to_owned(),
        }
    }
}

fn base_given(spec: &RunSpec) -> Option<String> {
    match &spec.base {
        BaseSpec::MergeBase { given, .. } => Some(given.clone()),
        BaseSpec::StartHead { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Stamp;

    /// A run that waits for an agent takes time although nothing happens.
    #[test]
    fn the_time_of_a_run_that_goes_on_runs_on() {
        let at = Timestamp::from_millis;
        let mut summary = Summary::default();
        (summary.started_at, summary.at) = (Some(at(1_000)), Some(at(1_100)));
        let stamp = Stamp {
            at: at(0),
            seed: [0; 32],
        };
        let run = LoopId::mint(&stamp, "run");
        let told = |state| {
            let report = RunReport::of(run, &summary, state, Path::new("/x"));
            let report = report.at(&summary, at(6_000));
            (report.elapsed.unwrap(), report.elapsed_ms.unwrap())
        };
        assert_eq!(told(RunState::Running), ("5.0s".to_owned(), 5_000));
        assert_eq!(told(RunState::Ended), ("0.1s".to_owned(), 100));
    }
}
