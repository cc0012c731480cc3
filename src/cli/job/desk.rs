//! Whom a command about jobs speaks to: the mailbox of the job it runs in, or the runs of the
//! repository.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::args::RepositoryArgs;
use crate::cli::environment::{Environment, JOB_ID, JOB_INBOX};
use crate::cli::job::registry::Registry;
use crate::cli::output;
use crate::domain::code::Code;
use crate::domain::delegation::Fence;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId, MessageId};
use crate::domain::job_view::JobView;
use crate::process::guard::{Probe, probe};
use crate::runtime::clock;
use crate::store::inbox::{Ask, Message, Request};
use crate::store::mailbox::Answer;
use crate::store::{Inbox, Journal, Mailbox, Outbox};

/// How often an answer is looked for.
const PAUSE: Duration = Duration::from_millis(25);
/// How often at most: an engine reads its inboxes four times a second.
const PATIENCE: u32 = 2400;

/// Whom a command speaks to.
pub(super) enum Desk {
    /// The job it runs in.
    Inside(Box<Mailbox>),
    /// The runs of the repository, opened when they are asked for.
    Outside {
        /// The working tree that is named.
        worktree: Option<PathBuf>,
        /// The runs, once they were opened.
        registry: Option<Box<Registry>>,
    },
}

impl Desk {
    /// Finds out who is asked. An id that another registry's job left in the environment is
    /// dropped with a warning (row M-108, scenario T-115).
    pub(super) fn open(environment: &Environment, repository: &RepositoryArgs) -> Self {
        let job = environment.get(JOB_ID.name).and_then(|job| job.to_str());
        let inbox = environment.get(JOB_INBOX.name).map(Path::new);
        let mailbox = job
            .zip(inbox)
            .and_then(|(job, inbox)| Mailbox::of_job(inbox, job));
        if let Some(mailbox) = mailbox {
            return Self::Inside(Box::new(mailbox));
        }
        if let Some(job) = job {
            let text = format!(
                "the environment names the job {job}, which has no mailbox here: it is no parent"
            );
            output::note(&output::printable(&text));
        }
        Self::Outside {
            worktree: repository.worktree.clone(),
            registry: None,
        }
    }
    /// The runs of the repository; none inside a job.
    pub(super) fn registry(&mut self, environment: &Environment) -> Result<&Registry, Failure> {
        match self {
            Self::Inside(mailbox) => {
                let job = mailbox.card.fence.job;
                let message = format!("this is job {job}: it sees what it delegated itself");
                Err(Failure::new(Code::InsideJob, message).next(["run-loop", "job", "list"]))
            }
            Self::Outside { worktree, registry } => {
                if registry.is_none() {
                    let opened = Registry::open(environment, worktree.as_deref())?;
                    *registry = Some(Box::new(opened));
                }
                registry
                    .as_deref()
                    .ok_or_else(|| Failure::new(Code::Internal, "the runs were not opened"))
            }
        }
    }
    /// The same as they are by now: the first one may have been begun meanwhile.
    pub(super) fn registry_now(&mut self, environment: &Environment) -> Result<&Registry, Failure> {
        if let Self::Outside { registry, .. } = self {
            *registry = None;
        }
        self.registry(environment)
    }
    /// The job of this id or unique prefix.
    pub(super) fn find(
        &mut self,
        environment: &Environment,
        given: &str,
    ) -> Result<JobId, Failure> {
        let known = match self {
            Self::Inside(mailbox) => views(mailbox)?.iter().map(|view| view.job).collect(),
            Self::Outside { .. } => self.registry(environment)?.jobs()?,
        };
        choose(given, &known)
    }
    /// Where a job stands.
    pub(super) fn view(
        &mut self,
        environment: &Environment,
        job: JobId,
    ) -> Result<JobView, Failure> {
        match self {
            Self::Inside(mailbox) => views(mailbox)?
                .into_iter()
                .find(|view| view.job == job)
                .ok_or_else(|| unknown(&job.to_string())),
            Self::Outside { .. } => self.registry(environment)?.view(job),
        }
    }
    /// Asks for something and waits for the answer. Outside, the run is that of the job it is
    /// about; without one the run that goes on here.
    pub(super) fn ask(
        &mut self,
        environment: &Environment,
        about: Option<JobId>,
        ask: Ask,
        beside: Beside<'_>,
    ) -> Result<JobId, Failure> {
        let stamp = clock::stamp().map_err(|error| {
            let message = format!("the system gives no randomness: {error}");
            Failure::new(Code::Internal, message)
        })?;
        let id = MessageId::mint(&stamp, "message");
        match self {
            Self::Inside(mailbox) => {
                let from = Some(mailbox.card.fence.clone());
                let run = mailbox.card.run;
                let sent = Sent {
                    inbox: &mailbox.inbox,
                    outbox: &mailbox.outbox,
                    run,
                    patience: PATIENCE,
                };
                let job = mailbox.card.fence.job;
                let ended = || {
                    let message = format!(
                        "job {job}, which this is inside of, has ended: nobody reads what it asks for"
                    );
                    let run = run.to_string();
                    Failure::new(Code::JobRefused, message).next(["run-loop", "show", &run])
                };
                let lives = || Ok(!is_over(environment));
                sent.to_the_answer(id, from, ask, beside, lives, ended)
            }
            Self::Outside { .. } => {
                let registry = self.registry(environment)?;
                let run = match about {
                    Some(job) => registry.run_of(job)?,
                    None => registry.going_on()?.ok_or_else(|| not_running(None))?,
                };
                let state = registry.state()?;
                let ended = || {
                    let why = || match (registry.is_over(run)?, about) {
                        (true, Some(job)) => registry.over(run, job),
                        (true, None) => Ok(over(run)),
                        (false, _) => Ok(not_running(Some(run))),
                    };
                    why().unwrap_or_else(|failure| failure)
                };
                if !Journal::is_driven(state, run)? {
                    return Err(ended());
                }
                let (inbox, outbox) = (Inbox::open(state, run)?, Outbox::open(state, run)?);
                let sent = Sent {
                    inbox: &inbox,
                    outbox: &outbox,
                    run,
                    patience: PATIENCE,
                };
                let lives = || Journal::is_driven(state, run);
                sent.to_the_answer(id, None, ask, beside, lives, ended)
            }
        }
    }
}

/// What lies beside a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// A prompt.
    pub(super) prompt: Option<&'a [u8]>,
    /// A schema.
    pub(super) schema: Option<&'a [u8]>,
}

/// A message on its way.
struct Sent<'a> {
    inbox: &'a Inbox,
    outbox: &'a Outbox,
    run: LoopId,
    /// How often an answer is looked for.
    patience: u32,
}

impl Sent<'_> {
    fn to_the_answer(
        &self,
        id: MessageId,
        from: Option<Fence>,
        ask: Ask,
        beside: Beside<'_>,
        lives: impl Fn() -> Result<bool, Failure>,
        ended: impl Fn() -> Failure,
    ) -> Result<JobId, Failure> {
        let request = Request::Job { from, ask };
        let prompt = beside.prompt;
        let prompt = prompt.map_or(Ok(()), |prompt| self.inbox.put_prompt(id, prompt));
        let sent = prompt
            .and_then(|()| {
                let schema = beside.schema;
                schema.map_or(Ok(()), |schema| self.inbox.put_schema(id, schema))
            })
            .map_err(|error| error.to_string())
            .and_then(|()| {
                let message = Message::new(id, self.run, request);
                self.inbox.send(&message).map_err(|failure| failure.message)
            });
        if let Err(reason) = sent {
            // Nothing of it stays (row M-103).
            self.inbox.done(id);
            let message = format!("the request could not be written: {reason}");
            return Err(Failure::new(Code::JobNotStarted, message).next(["df", "-h"]));
        }
        let runtime = crate::cli::job::wait::clockwork()?;
        for _ in 0..self.patience {
            if let Some(answer) = self.answered(id)? {
                // A damaged message was left to whoever sent it.
                self.inbox.done(id);
                return granted(answer);
            }
            if !lives()? {
                return self.given_up(id, "its engine ended", ended);
            }
            runtime.block_on(async { tokio::time::sleep(PAUSE).await });
        }
        self.given_up(id, "it did not answer", || {
            let message = format!(
                "run {} did not answer, and the request was withdrawn: nothing follows from it",
                self.run
            );
            let run = self.run.to_string();
            Failure::new(Code::JobNotStarted, message).next(["run-loop", "status", &run])
        })
    }

    /// Nobody answers: the request is withdrawn, or it is said that it may still be carried out. Whoever
    /// asks again at once would get it twice then.
    fn given_up(
        &self,
        id: MessageId,
        why: &str,
        withdrawn: impl FnOnce() -> Failure,
    ) -> Result<JobId, Failure> {
        let taken = match self.inbox.withdraw(id) {
            Ok(true) => return Err(withdrawn()),
            Ok(false) => "it took the request, and".to_owned(),
            Err(error) => format!("the request could not be withdrawn ({error}), and"),
        };
        // What was taken may have been answered in between.
        if let Some(answer) = self.answered(id)? {
            self.inbox.done(id);
            return granted(answer);
        }
        let message = format!(
            "run {}: {taken} {why}: it may still be carried out, so look before you ask again",
            self.run
        );
        Err(Failure::new(Code::WaitTimedOut, message).next(["run-loop", "job", "list"]))
    }

    fn answered(&self, id: MessageId) -> Result<Option<Answer>, Failure> {
        self.outbox.answered(id).map_err(|error| {
            let message = format!("the answer cannot be read: {error}");
            Failure::new(Code::StateUnwritable, message)
        })
    }
}

fn granted(answer: Answer) -> Result<JobId, Failure> {
    match (answer.job, answer.refused) {
        // What it asked for is the caller's to know, and whether it was done.
        (_, Some(failure)) if failure.code == Code::MessageDamaged => {
            Err(failure.next(["run-loop", "job", "list"]))
        }
        (_, Some(failure)) => Err(failure),
        (Some(job), None) => Ok(job),
        (None, None) => Err(Failure::new(Code::Internal, "an answer that says nothing")),
    }
}

/// Whether the dispatch that this is inside of is known to have ended, which a process may outlive.
fn is_over(environment: &Environment) -> bool {
    let inbox = environment.get(JOB_INBOX.name).map(Path::new);
    let capture = inbox.and_then(Path::parent).map(|folder| {
        let mut capture = folder.as_os_str().to_owned();
        capture.push(".capture");
        PathBuf::from(capture)
    });
    capture.is_some_and(|capture| matches!(probe(&capture), Ok(Probe::Ended(_))))
}

/// The run of nobody's job in particular came to its end.
fn over(run: LoopId) -> Failure {
    let message = format!("run {run} came to its end: nothing is asked of it any more");
    Failure::new(Code::RunIsOver, message).next(["run-loop", "show", &run.to_string()])
}

fn not_running(run: Option<LoopId>) -> Failure {
    match run {
        Some(run) => {
            let message = format!("run {run} does not go on: nobody can do it now");
            let run = run.to_string();
            Failure::new(Code::JobRefused, message).next(["run-loop", "resume", &run])
        }
        None => Failure::new(Code::JobRefused, "no run goes on here").next(["run-loop", "list"]),
    }
}

/// What is shown in a job's own outbox.
pub(super) fn views(mailbox: &Mailbox) -> Result<Vec<JobView>, Failure> {
    mailbox.outbox.all().map_err(|error| {
        let message = format!("the outbox of the job cannot be read: {error}");
        Failure::new(Code::StateUnwritable, message)
    })
}

pub(super) fn choose(given: &str, known: &[JobId]) -> Result<JobId, Failure> {
    let wanted = given.to_ascii_lowercase();
    let fits = |job: &&JobId| !wanted.is_empty() && job.to_string().starts_with(&wanted);
    let found: Vec<JobId> = known.iter().filter(fits).copied().collect();
    match found[..] {
        [job] => Ok(job),
        [] => Err(unknown(given)),
        _ => {
            let message = format!("the id {given:?} fits {} jobs", found.len());
            Err(Failure::new(Code::UnknownJob, message).next(["run-loop", "job", "list"]))
        }
    }
}

fn unknown(given: &str) -> Failure {
    let message = format!("no delegated job has the id {given:?}");
    Failure::new(Code::UnknownJob, message).next(["run-loop", "job", "list"])
}

#[cfg(test)]
mod tests;
