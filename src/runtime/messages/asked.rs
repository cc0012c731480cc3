//! What a message asks for: the input that it is, with what lies beside it.

use std::io;

use super::{Messages, failure_of, refused};
use crate::agent::redact::Secrets;
use crate::contract::structured;
use crate::domain::agent::Choice;
use crate::domain::code::Code;
use crate::domain::delegation::{Fence, JobRequest, Submission, detail};
use crate::domain::digest::Digest;
use crate::domain::event::StopCause;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, MessageId};
use crate::domain::job::Stored;
use crate::domain::run_spec::RunSpec;
use crate::engine::{InputKind, State};
use crate::store::Inbox;
use crate::store::inbox::{Ask, Message, Request};

impl Messages {
    /// The input that a message is; what it lacks is looked up here, and nothing is decided.
    pub(super) fn input(
        &self,
        state: &State,
        place: Option<JobId>,
        fence: Option<&Fence>,
        message: Message,
    ) -> Result<InputKind, Failure> {
        let id = message.id;
        let (from, ask) = match message.request {
            Request::Cancel if place.is_none() => {
                return Ok(InputKind::Stop {
                    cause: StopCause::Cancel,
                    message: Some(id),
                });
            }
            Request::Cancel => return Err(refused("a job does not cancel its run")),
            Request::Job { from, ask } => (from, ask),
        };
        is_rightly_from(place, from.as_ref(), fence)?;
        // What an agent writes may hold what it was given: no other agent gets that, nor does the journal.
        let secrets = self.rim.secrets(state);
        let words = |text: &str| detail(&secrets.taken_out_of_text(text));
        let request = match ask {
            Ask::Submit {
                agent,
                choice,
                prompt,
                budget,
                parent,
                schema,
                continues,
            } => {
                let bytes = self.beside(state, place, |inbox| inbox.prompt(id))?;
                if Digest::of(&bytes) != prompt.sha256 {
                    return Err(unlike("prompt"));
                }
                if bytes.iter().all(u8::is_ascii_whitespace) {
                    return Err(refused("the prompt is empty"));
                }
                let schema = match schema {
                    Some(named) => Some(self.schema(state, place, id, &named, &secrets)?),
                    None => None,
                };
                let asked = Submitted {
                    choice: Choice {
                        model: choice
                            .as_ref()
                            .and_then(|it| it.model.as_deref().map(words)),
                        effort: choice
                            .as_ref()
                            .and_then(|it| it.effort.as_deref().map(words)),
                    },
                    budget,
                    parent,
                    prompt: self.rim.artifacts.put(&secrets.taken_out(bytes))?,
                    schema,
                };
                let mut submission = submission(run_of(state)?, &agent, asked)?;
                if let Some(job) = continues {
                    let (from, agent) = (from.as_ref(), &submission.agent);
                    let found = state.continued_by(from, parent, agent, job);
                    submission.continues = Some(found.map_err(|refusal| failure_of(&refusal))?);
                }
                JobRequest::Submit {
                    submission: Box::new(submission),
                }
            }
            Ask::Signal { of, signal, detail } => JobRequest::Signal {
                of,
                signal,
                detail: words(&detail),
            },
            Ask::Cancel { job, reason } => JobRequest::Cancel {
                job,
                reason: words(&reason),
            },
            Ask::Redispatch { job } => JobRequest::Redispatch { job },
        };
        Ok(InputKind::Job {
            message: id,
            from,
            request: Box::new(request),
        })
    }

    /// The schema beside a message, kept, if it is one.
    fn schema(
        &self,
        state: &State,
        place: Option<JobId>,
        id: MessageId,
        named: &Stored,
        secrets: &Secrets,
    ) -> Result<Stored, Failure> {
        let bytes = self.beside(state, place, |inbox| inbox.schema(id))?;
        if Digest::of(&bytes) != named.sha256 {
            return Err(unlike("schema"));
        }
        let bytes = secrets.taken_out(bytes);
        // Whoever sends a message may have skipped it.
        structured::check(&bytes).map_err(|reason| refused(&format!("the schema: {reason}")))?;
        self.rim.artifacts.put(&bytes)
    }

    /// What lies beside a message in the inbox of the run or of a job.
    fn beside(
        &self,
        state: &State,
        place: Option<JobId>,
        read: impl FnOnce(&Inbox) -> io::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, Failure> {
        self.in_inbox(state, place, read)
            .map_err(|error| refused(&format!("what it comes with cannot be read: {error}")))
    }
}

/// A message lies where whoever sends it puts its messages.
fn is_rightly_from(
    place: Option<JobId>,
    from: Option<&Fence>,
    fence: Option<&Fence>,
) -> Result<(), Failure> {
    if place.is_some() != from.is_some() {
        return Err(refused("the message does not say rightly who sends it"));
    }
    if let (Some(from), Some(fence)) = (from, fence)
        && from.job != fence.job
    {
        return Err(refused("the message lies in the inbox of another job"));
    }
    Ok(())
}

/// What lies beside a message is not what it was sent with.
fn unlike(what: &str) -> Failure {
    let message = format!("the {what} is not the one that the message names");
    Failure::new(Code::MessageDamaged, message).next(["run-loop", "job", "list"])
}

/// What is submitted, whoever is asked.
#[derive(Debug)]
pub struct Submitted {
    /// What the job states for the program of its agent.
    pub choice: Choice,
    /// The budget in seconds, where one is stated.
    pub budget: Option<u64>,
    /// The job inside which it is delegated.
    pub parent: Option<JobId>,
    /// The prompt.
    pub prompt: Stored,
    /// The schema that the answer must fit.
    pub schema: Option<Stored>,
}

/// A submission as the run allows it: by an agent of its roster.
///
/// # Errors
/// When the run knows no such agent, it cannot be delegated to, or its program takes no such choice.
pub fn submission(run: &RunSpec, agent: &str, asked: Submitted) -> Result<Submission, Failure> {
    let found = run.roster.iter().find(|known| known.name == agent);
    let Some(agent) = found.cloned() else {
        if let Some(unfit) = run.unfit.iter().find(|known| known.name == agent) {
            return Err(unfit.failure.clone());
        }
        let names: Vec<&str> = run.roster.iter().map(|known| known.name.as_str()).collect();
        let message = format!(
            "no agent {agent:?} can be delegated to; there are: {}",
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        );
        let failure = Failure::new(Code::UnknownAgent, message);
        return Err(failure.next(["run-loop", "config", "show", "--origin"]));
    };
    let budget = asked.budget.or(agent.timeout).unwrap_or(run.job_timeout);
    let chosen = agent.choosing(asked.choice);
    Ok(Submission {
        parent: asked.parent,
        budget,
        agent: chosen
            .map_err(|what| Failure::new(Code::BadValue, what).next(["run-loop", "agents"]))?,
        prompt: asked.prompt,
        schema: asked.schema,
        continues: None,
    })
}

fn run_of(state: &State) -> Result<&RunSpec, Failure> {
    let run = state.run.as_deref();
    run.ok_or_else(|| refused("the run has not begun"))
}
