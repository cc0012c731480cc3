//! What happened, as the public events tell it: from one event alone.

use crate::domain::code::Code;
use crate::domain::delegation::{Dispatch, DispatchOutcome, JobRequest};
use crate::domain::effect::{Done, Effect, MeasurePoint, Outcome, Timer};
use crate::domain::end::End;
use crate::domain::event::RoundResult;
use crate::domain::evidence::{ChangedFile, Evidence};
use crate::domain::failure::Failure;
use crate::domain::finding::Finding;
use crate::domain::id::JobId;
use crate::domain::identity::{Pin, Trip};
use crate::domain::job::{Ended, Job, JobOutcome, Reading, SessionUse};
use crate::domain::lowered::Lowered;
use crate::domain::restoring::Restoring;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::spent::Spent;
use crate::domain::time::Timestamp;
use crate::report::public::{Kind, PanelSlot, PublicFinding, UnreviewedFile};
use crate::report::scope::scope_lines;
use crate::report::time;

pub(super) fn started(spec: &RunSpec) -> Kind {
    let slots = spec.panel.iter().map(|slot| PanelSlot {
        slot: slot.name.clone(),
        agent: slot.agent.name.clone(),
        fallback: slot.fallback.iter().map(|a| a.name.clone()).collect(),
        reader: slot.is_reader(),
    });
    Kind::RunStarted {
        task: spec.task.clone(),
        source: spec.source_root.clone(),
        base_given: match &spec.base {
            BaseSpec::MergeBase { given, .. } => Some(given.clone()),
            BaseSpec::StartHead { .. } => None,
        },
        panel: slots.collect(),
        max_rounds: spec.review.max_rounds,
        engine_version: spec.engine_version.clone(),
    }
}

/// The job in whose session one goes on, and that whose session its own stands for.
fn sessions(session: &SessionUse) -> (Option<JobId>, Option<JobId>) {
    match session {
        SessionUse::New => (None, None),
        SessionUse::Continues { from, .. } => (Some(*from), None),
        SessionUse::Replaces { from } => (None, Some(*from)),
    }
}

pub(super) fn requested(effect: &Effect) -> Kind {
    let step = match effect {
        Effect::Pin { .. } => "pin",
        Effect::MakeEvidence { .. } => "evidence",
        Effect::OpenTree { .. } => "tree",
        Effect::RunJob { job } => {
            let (continues, replaces) = sessions(&job.session);
            return Kind::JobStarted {
                job: job.id,
                role: job.role.as_str(),
                attempt: job.attempt,
                budget: job.budget,
                continues,
                replaces,
            };
        }
        Effect::Delegate { dispatch } => {
            let (continues, replaces) = sessions(&dispatch.session);
            return Kind::DelegateStarted {
                job: dispatch.job,
                attempt: dispatch.attempt,
                continues,
                replaces,
            };
        }
        Effect::AwaitJobs { .. } => "wait",
        Effect::Timer { of, until } => {
            return Kind::TimerStarted {
                of: match of {
                    Timer::MaxWall => "max_wall",
                    Timer::Limit => "limit",
                },
                until: time::moment(*until),
            };
        }
        Effect::Measure { .. } => "measure",
        Effect::Promote { .. } => "promote",
        Effect::Release => "release",
    };
    Kind::StepStarted { step }
}

/// What is known of a run besides the event.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    /// The source root.
    pub(super) root: &'a str,
    /// Whether the run ends what is under way.
    pub(super) stops: bool,
    /// How many rounds it may have, where these are fewer than at most.
    pub(super) fewer_rounds: Option<u32>,
}

pub(super) fn done(requested: Option<&Effect>, outcome: &Outcome, of: Told<'_>) -> Kind {
    match outcome {
        Outcome::Pinned { result } => told("pin", result, pinned),
        Outcome::EvidenceMade { result } => told("evidence", result, |it| evidence(it, of)),
        Outcome::TreeOpened { result } => told("tree", result, |tree| Kind::TreeOpened {
            path: tree.path.clone(),
        }),
        Outcome::JobEnded { outcome } => {
            let Some(Effect::RunJob { job }) = requested else {
                return unasked("job");
            };
            job_ended(job, outcome)
        }
        Outcome::Delegated { outcome } => {
            let Some(Effect::Delegate { dispatch }) = requested else {
                return unasked("delegate");
            };
            delegate_ended(dispatch, outcome)
        }
        Outcome::JobsAwaited => Kind::WaitEnded {
            in_time: false,
            again: false,
            stopped: of.stops,
        },
        Outcome::TimerEnded { elapsed } => Kind::TimerEnded { elapsed: *elapsed },
        Outcome::Measured { result } => {
            let Some(Effect::Measure { point, pinned, .. }) = requested else {
                return unasked("measure");
            };
            let after_work = *point == MeasurePoint::AfterWork;
            let point = match point {
                MeasurePoint::AfterWork => "after_work",
                MeasurePoint::Sealed => "sealed",
                MeasurePoint::BeforePromotion => "before_promotion",
            };
            told("measure", result, |again| Kind::Measured {
                point,
                content_tree: again.pin.identity.content_tree.clone(),
                moved: again.moved_paths.clone(),
                notices: (again.pin.notices.iter())
                    .filter(|notice| !pinned.notices.contains(notice))
                    .cloned()
                    .collect(),
                restoring: if after_work {
                    Restoring::all(again, of.root)
                } else {
                    Vec::new()
                },
            })
        }
        Outcome::Promoted { result } => told("promote", result, |promotion| Kind::Promoted {
            manifest: promotion.manifest.clone(),
            manifest_sha256: promotion.manifest_sha256.clone(),
            files: promotion.files.clone(),
        }),
        Outcome::Released { left, .. } => Kind::Released { left: left.clone() },
    }
}

fn told<T>(step: &'static str, result: &Done<T>, tell: impl Fn(&T) -> Kind) -> Kind {
    match result {
        Done::Ok(value) => tell(value),
        Done::Err(failure) => Kind::StepFailed {
            step,
            failure: failure.clone(),
        },
    }
}

/// An outcome of something that was not asked for; a sound journal has none.
fn unasked(step: &'static str) -> Kind {
    Kind::StepFailed {
        step,
        failure: Failure::new(
            Code::Internal,
            "an outcome came of something that was not asked for",
        ),
    }
}

fn pinned(pin: &Pin) -> Kind {
    Kind::Pinned {
        base: pin.identity.base.clone(),
        head: pin.identity.head.clone(),
        snapshot: pin.snapshot.clone(),
        content_tree: pin.identity.content_tree.clone(),
        commits: pin.commits,
        behind: pin.behind,
        dirty: pin.is_uncommitted(),
        notices: pin.notices.clone(),
    }
}

fn evidence(evidence: &Evidence, of: Told<'_>) -> Kind {
    let sum = |pick: fn(&ChangedFile) -> Option<u64>| evidence.files.iter().filter_map(pick).sum();
    let unreviewed = evidence.unreviewed().map(|(file, kind)| UnreviewedFile {
        path: file.path.clone(),
        why: kind.as_str(),
    });
    Kind::EvidenceMade {
        files: count(evidence.files.len()),
        added: sum(|file| file.added),
        removed: sum(|file| file.removed),
        parts: count(evidence.parts.len()),
        cut: evidence.is_cut(),
        unreviewed: unreviewed.collect(),
        scope: scope_lines(evidence),
        max_rounds: of.fewer_rounds,
        diff_sha256: evidence.diff_sha256.clone(),
    }
}

fn job_ended(job: &Job, outcome: &JobOutcome) -> Kind {
    let (reading, verdict, findings, problems) = match &outcome.reading {
        Reading::Review(review) => (
            "review",
            Some(review.verdict),
            review.findings.len(),
            &[][..],
        ),
        Reading::Invalid {
            problems, claims, ..
        } => ("invalid", None, claims.len(), &problems[..]),
        Reading::Reply { .. } => ("reply", None, 0, &[][..]),
        Reading::Silent => ("silent", None, 0, &[][..]),
    };
    let milliseconds = outcome.ended_at.as_millis() - outcome.started_at.as_millis();
    Kind::JobEnded {
        job: job.id,
        attempt: job.attempt,
        ended: how(
            &outcome.ended,
            &outcome.spent,
            &job.session,
            &outcome.outlived,
        ),
        milliseconds: milliseconds.max(0),
        report_sha256: outcome.report.as_ref().map(|stored| stored.sha256.clone()),
        reading,
        // A job that we stopped has no verdict, whatever its report says.
        verdict: verdict.filter(|_| outcome.ended.is_success()),
        findings: count(findings),
        problems: problems.to_vec(),
    }
}

fn delegate_ended(dispatch: &Dispatch, outcome: &DispatchOutcome) -> Kind {
    Kind::DelegateEnded {
        job: dispatch.job,
        attempt: dispatch.attempt,
        ended: how(
            &outcome.ended,
            &outcome.spent,
            &dispatch.session,
            &outcome.outlived,
        ),
        gone: outcome.gone,
        report_sha256: outcome.report.as_ref().map(|stored| stored.sha256.clone()),
        problem: outcome.unusable.clone(),
    }
}

/// What was granted about delegated jobs.
pub(super) fn asked(request: &JobRequest) -> Kind {
    match request {
        JobRequest::Submit { submission } => Kind::JobSubmitted {
            parent: submission.parent,
            agent: submission.agent.name.clone(),
            budget: submission.budget,
            continues: submission.continues.as_ref().map(|it| it.job),
        },
        JobRequest::Signal { of, signal, detail } => Kind::JobSignalled {
            job: of.job,
            attempt: of.attempt,
            signal: signal.as_str(),
            detail: detail.clone(),
        },
        JobRequest::Cancel { job, reason } => Kind::JobClosed {
            job: *job,
            status: "cancelled",
            detail: reason.clone(),
        },
        JobRequest::Redispatch { job } => Kind::JobRedispatched { job: *job },
    }
}

/// An agent that is at a limit.
pub(super) fn limited(job: Option<JobId>, until: Timestamp, told: bool, ending: &str) -> Kind {
    Kind::Limited {
        job,
        until: time::moment(until),
        told,
        ending: ending.to_owned(),
    }
}

/// How a process ended, in words, with what one that ends well went on without (tools, or its session), and what
/// ended with it.
fn how(ended: &Ended, spent: &Spent, session: &SessionUse, outlived: &[String]) -> String {
    let denied = match spent.denied {
        0 => String::new(),
        1 => ", 1 tool call denied".to_owned(),
        denied => format!(", {denied} tool calls denied"),
    };
    // One that fails for its session begins another one to say so.
    let left = if ended.is_success() && session.was_left(spent) {
        ", in another session than it was to go on in"
    } else {
        ""
    };
    let ended = how_it_ended(ended);
    format!("{ended}{denied}{left}{}", ended_with_it(outlived))
}

/// Processes that a program left running: a server for its user, a build.
fn ended_with_it(outlived: &[String]) -> String {
    const NAMED: usize = 5;
    let number = match outlived.len() {
        0 => return String::new(),
        1 => "1 process".to_owned(),
        number => format!("{number} processes"),
    };
    let more = if outlived.len() > NAMED { ", ..." } else { "" };
    let names = outlived[..outlived.len().min(NAMED)].join(", ");
    format!(", {number} that it left running ended with it: {names}{more}")
}

fn how_it_ended(ended: &Ended) -> String {
    match ended {
        Ended::Exited { code } => format!("exit code {code}"),
        Ended::Failed {
            code,
            trouble,
            message,
        } => match trouble.named() {
            Some(trouble) => format!("{trouble} (exit code {code}): {message}"),
            None => format!("exit code {code}: {message}"),
        },
        Ended::Signalled { signal } => format!("signal {signal}"),
        Ended::TimedOut => "stopped: its budget was spent".to_owned(),
        Ended::Stopped => "stopped: somebody told its guard to end it".to_owned(),
        Ended::NotStarted { failure } => format!("not started: {failure}"),
        Ended::Lost => "lost: nobody saw its end".to_owned(),
        Ended::Interrupted => "interrupted: the run stopped, or its engine died".to_owned(),
    }
}

/// What moved besides that no job may touch.
fn also(tripped: &[Trip]) -> Option<String> {
    let names: Vec<&str> = tripped.iter().copied().map(Trip::as_str).collect();
    (!names.is_empty()).then(|| format!("also moved: {}", names.join(", ")))
}

pub(super) fn closed(result: &RoundResult) -> Kind {
    let none = Vec::new;
    let (result, moved, base_moved, reason) = match result {
        RoundResult::Passed => ("passed", none(), false, None),
        RoundResult::NotPassed { tripped } => ("not_passed", none(), false, also(tripped)),
        RoundResult::Stale {
            moved,
            base_moved,
            tripped,
        } => ("stale", moved.clone(), *base_moved, also(tripped)),
        RoundResult::Void { reason, .. } => ("void", none(), false, Some(reason.clone())),
        RoundResult::Inconclusive { reason } => {
            ("inconclusive", none(), false, Some(reason.clone()))
        }
    };
    Kind::RoundClosed {
        result,
        moved,
        base_moved,
        reason,
    }
}

pub(super) fn ended(end: &End) -> Kind {
    let (readers, failure) = match end {
        End::Approved { readers } => (Some(*readers), None),
        End::Completed { .. } => (None, None),
        End::Failed { failure } => (None, Some(failure.clone())),
    };
    Kind::RunEnded {
        exit: end.exit().code(),
        approved: readers.is_some(),
        readers,
        failure,
    }
}

impl From<&Finding> for PublicFinding {
    fn from(finding: &Finding) -> Self {
        let claim = &finding.claim;
        Self {
            id: finding.id.to_string(),
            number: finding.id,
            job: finding.job,
            severity: claim.severity,
            blocking: finding.blocking,
            title: claim.title.clone(),
            path: claim.path.clone(),
            line: claim.line,
            end_line: claim.end_line,
            body: claim.body.clone(),
            pre_existing: claim.pre_existing,
            lowered: finding.lowered.map(Lowered::as_str),
            again: finding.again.map(|first| first.to_string()),
            disposition: finding.disposition,
        }
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
