//! Which session of its agent's program a delegated job goes on in.
//!
//! A job may be asked to go on where another delegated one ended, whoever delegated that: with the
//! same agent, in the same folder, once that job is over and completed. Each is followed by one job
//! at most, so a session has one line of jobs and no two in it at once. The loop's own jobs are
//! followed by nobody but the loop: what decides a change is never added to from outside.

use std::fmt;

use crate::domain::agent::Agent;
use crate::domain::delegation::{Closed, Continues, Dispatch, DispatchOutcome, Fence};
use crate::domain::id::JobId;
use crate::domain::job::SessionUse;
use crate::domain::spent::Spent;
use crate::engine::delegation::DelegationRecord;
use crate::engine::session::{fails_for, is_plain, keeps_sessions};
use crate::engine::state::State;
use crate::engine::weigh::{Refusal, below};

/// Why nobody can go on in the session of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoSession {
    /// It is one of the loop's own.
    OfLoop,
    /// It is not over.
    Open,
    /// It did not complete.
    GivenUp(&'static str),
    /// It was asked of another agent.
    Other(String),
    /// Its agent has no sessions that can be continued.
    Forgets,
    /// Its program told none.
    Untold,
    /// The session stands in one folder, and the job would work in another.
    Elsewhere {
        /// Where it stands.
        stands: String,
        /// Where the job would work.
        works: String,
    },
    /// Another job went on in it.
    Followed(JobId),
}

impl fmt::Display for NoSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfLoop => f.write_str("is one of the loop's own, and its session nobody else's"),
            Self::Open => f.write_str("is not over: its session can go on when it is"),
            Self::GivenUp(how) => write!(f, "is closed, {how}: its session is given up"),
            Self::Other(name) => write!(
                f,
                "was asked of {name}: a session goes on with the same agent alone"
            ),
            Self::Forgets => {
                f.write_str("was asked of an agent whose sessions cannot be continued")
            }
            Self::Untold => f.write_str("has no session that its program told"),
            Self::Elsewhere { stands, works } => write!(
                f,
                "has its session in {stands}, and this one would work in {works}"
            ),
            Self::Followed(next) => write!(f, "was followed by job {next}: go on after that one"),
        }
    }
}

impl State {
    /// What a job goes on in that is to be delegated to this agent, inside this parent, after `job`.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn continued_by(
        &self,
        from: Option<&Fence>,
        parent: Option<JobId>,
        agent: &Agent,
        job: JobId,
    ) -> Result<Continues, Refusal> {
        if self.jobs.contains_key(&job) {
            return Err(Refusal::Session(job, NoSession::OfLoop));
        }
        // Of itself, too: that it is not over.
        if from.is_none_or(|from| from.job != job) {
            below(self, from, job)?;
        }
        let works = match parent {
            Some(parent) => self.directory_of(parent),
            None => self.run.as_ref().map(|run| run.source_root.clone()),
        };
        let works = works.ok_or(Refusal::Nowhere)?;
        let found = self.session_after(job, agent, &works);
        found.map_err(|why| Refusal::Session(job, why))
    }

    /// The session in which a job of this agent goes on after `job` that works in this folder; of a
    /// run that is over, too.
    ///
    /// # Errors
    /// Why there is none.
    pub fn session_after(
        &self,
        job: JobId,
        agent: &Agent,
        works: &str,
    ) -> Result<Continues, NoSession> {
        let record = self.delegations.get(&job).ok_or(NoSession::OfLoop)?;
        let asked = &record.submission.agent;
        if asked.name != agent.name {
            return Err(NoSession::Other(asked.name.clone()));
        }
        if !keeps_sessions(&agent.kind) || !keeps_sessions(&asked.kind) {
            return Err(NoSession::Forgets);
        }
        if record.is_open() {
            return Err(NoSession::Open);
        }
        let followed = self.delegations.values().find(|other| {
            let continues = other.submission.continues.as_ref();
            continues.is_some_and(|it| it.job == job)
        });
        if let Some(next) = followed {
            return Err(NoSession::Followed(next.id));
        }
        match &record.closed {
            Some(Closed::Completed { .. }) => {}
            Some(closed) => return Err(NoSession::GivenUp(closed.as_str())),
            None => return Err(NoSession::Open),
        }
        let outcome = record.outcome().filter(|outcome| ended_well(outcome));
        let outcome = outcome.ok_or(NoSession::GivenUp("without an answer"))?;
        let Spent {
            session: Some(session),
            directory: Some(stands),
            ..
        } = &outcome.spent
        else {
            return Err(NoSession::Untold);
        };
        let (Some(report), true) = (&outcome.report, is_plain(session)) else {
            return Err(NoSession::Untold);
        };
        if stands != works {
            return Err(NoSession::Elsewhere {
                stands: stands.clone(),
                works: works.to_owned(),
            });
        }
        Ok(Continues {
            job,
            session: session.clone(),
            directory: stands.clone(),
            used: record.used_in(session, u32::MAX).unwrap_or_default(),
            report: report.clone(),
        })
    }
}

fn ended_well(outcome: &DispatchOutcome) -> bool {
    outcome.gone && outcome.ended.is_success()
}

/// Whether a dispatch failed for the session that it was to go on in: the same is then asked in a
/// new one, once.
pub(crate) fn dispatch_is_lost(dispatch: &Dispatch, outcome: &DispatchOutcome) -> bool {
    outcome.gone && fails_for(&dispatch.session, &outcome.ended, &outcome.spent)
}

impl DelegationRecord {
    /// Which session the next dispatch goes on in, which works in this folder.
    pub(crate) fn next_session(&self, directory: &str) -> SessionUse {
        let continues = self.submission.continues.as_ref();
        let Some((before, outcome)) = self.dispatches.last() else {
            return match continues {
                Some(it) if it.directory == directory => SessionUse::Continues {
                    id: it.session.clone(),
                    from: it.job,
                },
                Some(it) => SessionUse::Replaces { from: it.job },
                None => SessionUse::New,
            };
        };
        if self.asks_again().is_none() {
            // A fresh attempt is one; what it was to go on from it is told.
            return continues.map_or(SessionUse::New, |it| SessionUse::Replaces { from: it.job });
        }
        match (outcome, &before.session) {
            (Some(outcome), _) if ended_well(outcome) => {
                let (session, stands) = (&outcome.spent.session, &outcome.spent.directory);
                let here = stands.as_deref() == Some(directory);
                match session.as_ref().filter(|id| here && is_plain(id)) {
                    Some(id) if keeps_sessions(&self.submission.agent.kind) => {
                        SessionUse::Continues {
                            id: id.clone(),
                            from: self.id,
                        }
                    }
                    Some(_) | None => SessionUse::New,
                }
            }
            (_, SessionUse::Continues { from, .. } | SessionUse::Replaces { from }) => {
                SessionUse::Replaces { from: *from }
            }
            (_, SessionUse::New) => SessionUse::New,
        }
    }

    /// What was used in the session that a dispatch goes on in, before it; `None` where it begins one.
    #[must_use]
    pub fn used_before(&self, dispatch: &Dispatch) -> Option<Spent> {
        match &dispatch.session {
            SessionUse::Continues { id, .. } => self.used_in(id, dispatch.attempt),
            SessionUse::New | SessionUse::Replaces { .. } => None,
        }
    }

    /// What its dispatches before this attempt, and the jobs before it, used in a session.
    fn used_in(&self, session: &str, before: u32) -> Option<Spent> {
        let continues = self.submission.continues.as_ref();
        let inherited = continues.filter(|it| it.session == session);
        let earlier = self.dispatches.iter();
        let earlier = earlier.filter(|(dispatch, _)| dispatch.attempt < before);
        let own = earlier
            .filter_map(|(_, outcome)| outcome.as_ref())
            .map(|outcome| &outcome.spent)
            .filter(|spent| spent.session.as_deref() == Some(session));
        let mut all = inherited.map(|it| &it.used).into_iter().chain(own);
        let first = all.next()?.clone();
        Some(all.fold(first, Spent::together))
    }
}
