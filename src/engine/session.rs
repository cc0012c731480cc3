//! Which session of its agent's program a job continues.
//!
//! A session carries what was said, never what counts: nonce, tree and receipts of every job are
//! new, and its report is read as if nobody had been asked before. What may go on is decided from
//! the journal alone: the same position with the same agent, started in the same folder, in a
//! session whose every job ended well. Another slot's session is never taken.

use crate::domain::agent::AgentKind;
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{AttemptReason, Ended, Job, JobOutcome, Role, SessionUse};
use crate::domain::spent::Spent;
use crate::domain::trouble::Trouble;
use crate::engine::state::{JobRecord, State};

mod delegated;

pub use delegated::NoSession;
pub(crate) use delegated::dispatch_is_lost;

/// How long a program's name of a session may be.
const ID_MAX: usize = 128;

impl State {
    /// Which session a job that is about to be dispatched continues.
    pub(crate) fn session_for(&self, job: &Job) -> SessionUse {
        let Some(before) = self.goes_on_from(job) else {
            return SessionUse::New;
        };
        // A session that could not be continued is given up, with every job of it.
        if let SessionUse::Continues { from, .. } = before.job.session
            && !before.ended_well()
        {
            return SessionUse::Replaces { from };
        }
        let Some(outcome) = before.outcome.as_ref().filter(|_| before.ended_well()) else {
            return SessionUse::New;
        };
        let (Some(id), Some(place)) = (&outcome.spent.session, &outcome.spent.directory) else {
            return SessionUse::New;
        };
        let from = before.job.id;
        if !is_plain(id) || before.job.rank != job.rank || !self.can_resume(job) {
            return SessionUse::New;
        }
        if self.directory_of_job(job) != Some(place.as_str()) {
            return SessionUse::New;
        }
        if self.gave_up(id) {
            return SessionUse::Replaces { from };
        }
        SessionUse::Continues {
            id: id.clone(),
            from,
        }
    }

    /// The job after which this one goes on: a re-ask after the attempt before it, a correction
    /// after what its creator did last, a re-adjudication after the review that it is about.
    fn goes_on_from(&self, job: &Job) -> Option<&JobRecord> {
        let of_slot = || {
            let jobs = self.jobs.values().rev();
            jobs.filter(|record| record.job.slot == job.slot)
        };
        match (&job.reason, job.role) {
            (AttemptReason::ReAsk { .. }, _) => {
                let newest = of_slot().next()?;
                let same = (newest.job.role, newest.job.round) == (job.role, job.round);
                same.then_some(newest)
            }
            (AttemptReason::First, Role::Correct | Role::Comply) => {
                of_slot().find(|record| record.job.role.writes())
            }
            (AttemptReason::First, Role::Readjudicate) => {
                let place = |job: &Job| (job.role, job.round, job.rank);
                let tried = of_slot().next()?;
                if place(&tried.job) == place(job) {
                    return Some(tried);
                }
                let raised = self.asked_about(job.role, &job.slot, job.rank);
                self.jobs.get(&raised.last()?.job)
            }
            // A fresh attempt is one.
            (AttemptReason::Fresh, _)
            | (
                AttemptReason::First,
                Role::Plan
                | Role::Challenge
                | Role::Refine
                | Role::Implement
                | Role::Review
                | Role::Arbitrate,
            ) => None,
        }
    }

    /// Whether the job's agent is a program that can continue a session.
    fn can_resume(&self, job: &Job) -> bool {
        let agent = self.run.as_ref().and_then(|run| run.agent_of(job));
        agent.is_some_and(|agent| keeps_sessions(&agent.kind))
    }

    /// The folder that the job works in.
    fn directory_of_job(&self, job: &Job) -> Option<&str> {
        match job.evidence {
            EvidenceKind::ReviewTree => self.trees.get(&job.slot).map(|tree| tree.path.as_str()),
            EvidenceKind::SourceTree => self.run.as_ref().map(|run| run.source_root.as_str()),
            EvidenceKind::DiffOnly => None,
        }
    }

    /// Whether a job that continued this session did not end well.
    fn gave_up(&self, session: &str) -> bool {
        self.jobs.values().any(|record| {
            let continued =
                matches!(&record.job.session, SessionUse::Continues { id, .. } if id == session);
            continued && !record.ended_well()
        })
    }

    /// What the jobs before this one used in the session that it continues, as far as all of them
    /// told it; `None` where it continues none.
    #[must_use]
    pub fn used_before(&self, job: &Job) -> Option<Spent> {
        let SessionUse::Continues { id, .. } = &job.session else {
            return None;
        };
        let records = self.jobs.values().filter(|record| record.job.id != job.id);
        let mut spent = records
            .filter_map(|record| record.outcome.as_ref())
            .map(|outcome| &outcome.spent)
            .filter(|spent| spent.session.as_ref() == Some(id));
        let first = spent.next()?.clone();
        Some(spent.fold(first, Spent::together))
    }
}

impl JobRecord {
    fn ended_well(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_some_and(|outcome| outcome.ended.is_success())
    }
}

/// Whether the job failed for the session that it was to continue: it is not there any more, or
/// holds too much. The same is then asked in a new one, once.
pub(crate) fn is_lost(job: &Job, outcome: &JobOutcome) -> bool {
    fails_for(&job.session, &outcome.ended, &outcome.spent)
}

/// The same of any dispatch that was to go on in this session.
pub(crate) fn fails_for(session: &SessionUse, ended: &Ended, spent: &Spent) -> bool {
    let continued = matches!(session, SessionUse::Continues { .. });
    let Ended::Failed { code, trouble, .. } = ended else {
        return false;
    };
    continued
        && match trouble {
            Trouble::Session | Trouble::Request => true,
            // Programs that say it in other words, before any model was asked.
            Trouble::Usage | Trouble::Unfinished => spent.usage.is_none(),
            // One that ended well did its work, although its answer could not be kept.
            Trouble::Unknown => *code != 0 && spent.usage.is_none(),
            Trouble::Auth
            | Trouble::RateLimit
            | Trouble::Quota
            | Trouble::Overloaded
            | Trouble::Server
            | Trouble::Network
            | Trouble::Model
            | Trouble::Limit
            | Trouble::Denied
            | Trouble::Aborted => false,
        }
}

/// Whether it is a program that can continue a session.
fn keeps_sessions(kind: &AgentKind) -> bool {
    match kind {
        AgentKind::Profile(program) => program.profile.continues_sessions(),
        AgentKind::Command(_) | AgentKind::Checks | AgentKind::Human => false,
    }
}

/// A name that cannot pass for an option of the program.
fn is_plain(id: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    id.len() <= ID_MAX
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.bytes().all(fits)
}
