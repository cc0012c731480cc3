//! The public events of a run: a versioned promise to programs, apart from the journal's events.
//!
//! A field is never removed or given another meaning within a version; new fields and new kinds
//! may come. Every event names its run, and round, slot, agent and tree wherever it is about one
//! (scenario P14).

use serde::Serialize;

use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::finding::Disposition;
use crate::domain::id::{FindingId, JobId, LoopId};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::restoring::Restoring;
use crate::domain::severity::Severity;
use crate::domain::slot::SlotName;
use crate::domain::verdict::{PassedBy, Verdict};

/// The version of these events.
pub const VERSION: u32 = 1;

/// One public event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicEvent {
    /// The version of this form.
    pub version: u32,
    /// The run.
    pub run: LoopId,
    /// The number of the journal's event that it tells of.
    pub seq: u64,
    /// When, in UTC (RFC 3339).
    pub at: String,
    /// The round.
    pub round: Option<u32>,
    /// The slot.
    pub slot: Option<SlotName>,
    /// The agent, by its name in the configuration.
    pub agent: Option<String>,
    /// The snapshot's tree that the round judges.
    pub tree: Option<Oid>,
    /// What happened.
    pub event: Kind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// The run began.
    RunStarted {
        /// What the change is for.
        task: Option<String>,
        /// The working tree under review.
        source: String,
        /// The base as given; none where it is HEAD at the start.
        base_given: Option<String>,
        /// The panel.
        panel: Vec<PanelSlot>,
        /// How many rounds at most.
        max_rounds: u32,
        /// The version of `run-loop`.
        engine_version: String,
    },
    /// An engine took the run up again.
    RunResumed,
    /// Somebody asked the run to stop.
    StopRequested {
        /// `interrupt`, `terminate` or `cancel`.
        cause: &'static str,
    },
    /// A round opened.
    RoundOpened,
    /// A step that is no job began: `pin`, `evidence`, `tree`, `measure`, `promote`, `release`.
    StepStarted {
        /// The step.
        step: &'static str,
    },
    /// A step failed.
    StepFailed {
        /// The step.
        step: &'static str,
        /// Why.
        failure: Failure,
    },
    /// The source was measured and captured.
    Pinned {
        /// The base's commit.
        base: Oid,
        /// HEAD.
        head: Oid,
        /// The snapshot's commit.
        snapshot: Oid,
        /// The tree without promoted evidence.
        content_tree: Oid,
        /// Commits in `base..head`.
        commits: u32,
        /// Commits that the base has and HEAD lacks.
        behind: u32,
        /// Whether there are uncommitted edits.
        dirty: bool,
        /// Things to tell the user.
        notices: Vec<String>,
    },
    /// The evidence was made: what reviewers will see, and what not.
    EvidenceMade {
        /// Changed files.
        files: u64,
        /// Lines added, binary files left out.
        added: u64,
        /// Lines removed, binary files left out.
        removed: u64,
        /// Parts of the diff.
        parts: u64,
        /// Whether prompts hold only a part of the diff.
        cut: bool,
        /// Changed files whose bytes are not shown.
        unreviewed: Vec<UnreviewedFile>,
        /// The same and more in lines for people: what reviewers will and will not see.
        scope: Vec<String>,
        /// How many rounds the run may have, where a small change gets fewer than at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_rounds: Option<u32>,
        /// The diff's hash.
        diff_sha256: Digest,
    },
    /// A review tree was opened.
    TreeOpened {
        /// Where the agent works.
        path: String,
    },
    /// The slots are asked.
    ReviewOpened,
    /// A job was dispatched.
    JobStarted {
        /// The job.
        job: JobId,
        /// What it is for.
        role: &'static str,
        /// Which attempt of the slot in this round.
        attempt: u32,
        /// Its budget in seconds.
        budget: u64,
        /// The job whose session it goes on in.
        continues: Option<JobId>,
        /// The job whose session it begins a new one in place of.
        replaces: Option<JobId>,
    },
    /// A job ended.
    JobEnded {
        /// The job.
        job: JobId,
        /// Which attempt of the slot in this round.
        attempt: u32,
        /// How the process ended, in words.
        ended: String,
        /// How long it took.
        milliseconds: i64,
        /// The report's hash in the artifacts.
        report_sha256: Option<Digest>,
        /// `review`, `reply`, `invalid` or `silent`.
        reading: &'static str,
        /// The verdict, of a valid report only.
        verdict: Option<Verdict>,
        /// Findings that were decoded, from an invalid report too.
        findings: u64,
        /// What is wrong with an invalid report.
        problems: Vec<String>,
    },
    /// A job was delegated.
    JobSubmitted {
        /// The job inside which it was delegated.
        parent: Option<JobId>,
        /// Who is asked.
        agent: String,
        /// Its budget in seconds.
        budget: u64,
        /// The job in whose session it is to go on.
        continues: Option<JobId>,
    },
    /// A dispatch of a delegated job began.
    DelegateStarted {
        /// The job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
        /// The job whose session it goes on in.
        continues: Option<JobId>,
        /// The job whose session it begins a new one in place of.
        replaces: Option<JobId>,
    },
    /// A dispatch of a delegated job ended.
    DelegateEnded {
        /// The job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
        /// How its process ended.
        ended: String,
        /// Whether every process of it is gone.
        gone: bool,
        /// The hash of what it handed over.
        report_sha256: Option<Digest>,
        /// Why what it handed over is no report.
        problem: Option<String>,
    },
    /// A dispatch said something of itself.
    JobSignalled {
        /// The job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
        /// What.
        signal: &'static str,
        /// Its words.
        detail: String,
    },
    /// A delegated job was closed: by its end, a person, the job above it, or the run.
    JobClosed {
        /// The job.
        job: JobId,
        /// `completed`, `error` or `cancelled`.
        status: &'static str,
        /// Why.
        detail: String,
    },
    /// A dispatch is alive and printed nothing for 600 s: told once, and it ends nothing.
    JobStalled {
        /// The job, of the loop or delegated.
        job: JobId,
        /// Which attempt.
        attempt: u32,
        /// `idle`.
        stalled: &'static str,
    },
    /// A dispatch that had stalled printed something again, or one that waited on a permission goes on.
    JobResumed {
        /// The job, of the loop or delegated.
        job: JobId,
        /// Which attempt.
        attempt: u32,
    },
    /// Waiting for delegated jobs is over.
    WaitEnded {
        /// Whether they all ended in time; what did not is told to the reviewers.
        in_time: bool,
        /// Whether it begins anew: the run was taken up, or the jobs are at a limit.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        again: bool,
        /// Whether it ended because the run does: nobody is told anything.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    /// A delegated job is dispatched once more.
    JobRedispatched {
        /// The job.
        job: JobId,
    },
    /// The slot is asked again.
    SlotRetried {
        /// `re_ask`, `fresh`, `fallback`, or `again` after an interruption.
        reason: &'static str,
        /// How the attempt before ended.
        ending: String,
    },
    /// A claim was taken into the ledger.
    FindingRaised {
        /// The finding.
        finding: PublicFinding,
    },
    /// A step of work opened: planning, writing, ruling.
    WorkOpened {
        /// `plan`, `challenge`, `refine`, `implement`, `correct`, `readjudicate`, `arbitrate` or
        /// `comply`.
        role: &'static str,
    },
    /// A step of work is asked again.
    WorkRetried {
        /// `re_ask` for the form of its answer, or `again` after an interruption.
        reason: &'static str,
        /// How the attempt before ended.
        ending: String,
    },
    /// What became of a finding.
    FindingDisposed {
        /// The finding.
        finding: FindingId,
        /// What became of it.
        disposition: Disposition,
        /// Why.
        note: String,
    },
    /// A step of work is over.
    WorkClosed {
        /// Whether it gave an answer that counts.
        answered: bool,
        /// Whether the content is another one now.
        changed: bool,
        /// Paths whose content moved during it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        moved: Vec<RepoPath>,
        /// Paths that had uncommitted edits before and have lost them.
        lost: Vec<RepoPath>,
        /// Where else there is new work, or what the stash lost.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        elsewhere: Vec<Restoring>,
        /// What is to be known where it gave none, and the run goes on.
        #[serde(skip_serializing_if = "Option::is_none")]
        warning: Option<&'static str>,
    },
    /// The slot will not be asked again in this round.
    SlotSettled {
        /// Its verdict; none is neither.
        verdict: Option<Verdict>,
        /// By what it passed.
        by: Option<PassedBy>,
        /// The job whose report says so.
        job: Option<JobId>,
        /// Why there is no verdict.
        reason: Option<String>,
    },
    /// The source was measured again.
    Measured {
        /// `after_work`, `sealed` or `before_promotion`.
        point: &'static str,
        /// The content tree now.
        content_tree: Oid,
        /// Paths whose content moved.
        moved: Vec<RepoPath>,
        /// Things to tell the user that were not told when the round opened.
        notices: Vec<String>,
        /// What a step of work threw away or left elsewhere, each with the command that brings it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        restoring: Vec<Restoring>,
    },
    /// The evidence was published.
    Promoted {
        /// The manifest.
        manifest: RepoPath,
        /// Its hash.
        manifest_sha256: Digest,
        /// Every file.
        files: Vec<RepoPath>,
    },
    /// Everything the run held was given back.
    Released {
        /// What was not.
        left: Vec<String>,
    },
    /// The round closed.
    RoundClosed {
        /// `passed`, `not_passed`, `stale`, `void` or `inconclusive`.
        result: &'static str,
        /// Paths whose content moved.
        moved: Vec<RepoPath>,
        /// Whether the base moved.
        base_moved: bool,
        /// Why it is void or inconclusive, or what moved besides that no job may touch.
        reason: Option<String>,
    },
    /// The run is over but for giving back what it holds.
    RunClosing {
        /// The exit code it will end with.
        exit: u8,
    },
    /// A job told no cost: what it cost does not count towards the run's limit.
    CostUntold {
        /// The first such job.
        job: JobId,
    },
    /// A wait began.
    TimerStarted {
        /// `max_wall`, the time that the run may take, or `limit`, until one is lifted.
        of: &'static str,
        /// Until when.
        until: String,
    },
    /// A wait is over.
    TimerEnded {
        /// Whether the moment has come; else the wait was given up.
        elapsed: bool,
    },
    /// An agent is at a limit of its provider: it is asked later, and nothing is spent.
    Limited {
        /// The delegated job that it does, where it does one.
        #[serde(skip_serializing_if = "Option::is_none")]
        job: Option<JobId>,
        /// When it is worth asking again.
        until: String,
        /// Whether its program told just that moment.
        told: bool,
        /// In its words.
        ending: String,
    },
    /// The run is to be put aside: what is under way is ended.
    RunParking {
        /// Why, and the command that takes it up again.
        failure: Failure,
        /// When it is worth going on, where that is known.
        until: Option<String>,
    },
    /// The run is put aside and can be resumed.
    RunSuspended {
        /// Why, and the command that takes it up again.
        failure: Failure,
        /// When it is worth going on, where that is known.
        until: Option<String>,
    },
    /// The run ended.
    RunEnded {
        /// The exit code.
        exit: u8,
        /// Whether the content was approved and promoted.
        approved: bool,
        /// How many slots read the change, of an approved run.
        readers: Option<u32>,
        /// Why it was not approved.
        failure: Option<Failure>,
    },
}

/// A slot of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PanelSlot {
    /// The slot.
    pub slot: SlotName,
    /// Its agent.
    pub agent: String,
    /// Agents that are asked when the one before gave no verdict.
    pub fallback: Vec<String>,
    /// Whether somebody reads the change there.
    pub reader: bool,
}

/// A changed file whose bytes no reviewer sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreviewedFile {
    /// The file.
    pub path: RepoPath,
    /// Why.
    pub why: &'static str,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicFinding {
    /// Its number in the run (`F-1`).
    pub id: String,
    /// Its number in the run.
    pub number: FindingId,
    /// The job that raised it.
    pub job: JobId,
    /// How bad.
    pub severity: Severity,
    /// Whether it blocks.
    pub blocking: bool,
    /// One line.
    pub title: String,
    /// The file, as the reviewer wrote it.
    pub path: Option<RepoPath>,
    /// The first line.
    pub line: Option<u32>,
    /// The last line.
    pub end_line: Option<u32>,
    /// The text.
    pub body: String,
    /// Whether it stood there before the change.
    pub pre_existing: bool,
    /// Why it does not block where its words alone would: `advisory`, since it came late on lines
    /// that were not touched, or `dismissed before`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered: Option<&'static str>,
    /// The earlier finding that it repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// What became of it.
    pub disposition: Disposition,
}
