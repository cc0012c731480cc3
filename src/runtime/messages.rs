//! Messages as they are read: from the run's inbox, and from those of its jobs.
//!
//! A message becomes an input or is refused; either way it is answered, and its file goes once
//! the event is durable. What an agent wrote counts only for the dispatch whose inbox it lies in.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::contract::structured;
use crate::domain::code::Code;
use crate::domain::delegation::{Fence, JobRequest, Signal, Submission, detail};
use crate::domain::digest::Digest;
use crate::domain::effect::Effect;
use crate::domain::event::StopCause;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId, MessageId};
use crate::domain::job::Stored;
use crate::domain::run_spec::RunSpec;
use crate::engine::{InputKind, Refusal, State, Weight, weigh};
use crate::runtime::drive::Observer;
use crate::runtime::rim::Rim;
use crate::store::inbox::{Ask, Message, Received, Request};
use crate::store::mailbox::{Answer, INBOX, OUTBOX};
use crate::store::{Access, Folder, Inbox, Outbox};

/// How many messages of one inbox are taken at once: no job holds the engine up.
const AT_ONCE: usize = 32;
/// How many damaged files are told.
const TOLD_MAX: usize = 100;
/// In a capture folder: when the dispatch last said that it makes progress.
pub(super) const ACTIVITY: &str = "activity";

/// Reads messages; each damaged file is told once.
pub(super) struct Messages {
    rim: Arc<Rim>,
    told: BTreeSet<String>,
    /// Whose inboxes cannot be read now.
    unreadable: BTreeSet<String>,
    /// What was last written to outboxes.
    shown: BTreeMap<JobId, u64>,
    /// What each dispatch said last.
    said: BTreeMap<JobId, u64>,
}

/// An input, and the message that it came with.
pub(super) struct Taken {
    /// The input.
    pub(super) input: InputKind,
    letter: Option<Letter>,
}

/// A message that is to be answered.
struct Letter {
    message: MessageId,
    /// The folder of the dispatch in whose inbox it lies; `None` for the run's.
    place: Option<JobId>,
    /// The message alone asks for an answer; `cancel` looks at the run.
    answered: bool,
}

impl Taken {
    /// An input without a message.
    pub(super) fn alone(input: InputKind) -> Self {
        let letter = None;
        Self { input, letter }
    }
}

/// What a message about jobs is worth, seen before it is taken.
pub(super) struct Weighed(Option<Worth>);

struct Worth {
    weight: Weight,
    about: Option<JobId>,
    /// What it says; the same said again is no progress.
    said: u64,
    /// Whether whoever says it waits.
    waits: bool,
}

impl Messages {
    pub(super) fn new(rim: Arc<Rim>) -> Self {
        Self {
            rim,
            told: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            shown: BTreeMap::new(),
            said: BTreeMap::new(),
        }
    }

    /// What lies in the run's inbox and in those of the dispatches that are under way.
    pub(super) fn read(&mut self, state: &State, observer: &mut dyn Observer) -> Vec<Taken> {
        let read = self.rim.inbox.read();
        let received = self.or_told("the run", read, observer);
        let mut taken = self.sorted(state, None, None, received, observer);
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return taken;
        };
        for (job, folder) in under_way(state) {
            let fence = state.fence_of(job);
            let inbox = self.folder_of(run, folder, INBOX);
            let read = match inbox {
                Ok(folder) => Inbox::in_folder(folder, run).read(),
                // Not made yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => Err(Failure::new(Code::StateUnwritable, error.to_string())),
            };
            let received = self.or_told(&format!("job {job}"), read, observer);
            taken.extend(self.sorted(state, Some(folder), fence.as_ref(), received, observer));
        }
        taken
    }

    /// What was read. An inbox that cannot be read is told once, and read again a quarter of a
    /// second later: whoever asks gets no answer meanwhile.
    fn or_told(
        &mut self,
        whose: &str,
        read: Result<Vec<Received>, Failure>,
        observer: &mut dyn Observer,
    ) -> Vec<Received> {
        match read {
            Ok(received) => {
                self.unreadable.remove(whose);
                received
            }
            Err(failure) => {
                if self.unreadable.insert(whose.to_owned()) {
                    let text = format!(
                        "the inbox of {whose} cannot be read, so nobody's messages arrive: {}",
                        failure.message
                    );
                    observer.note(&text);
                }
                Vec::new()
            }
        }
    }

    fn sorted(
        &mut self,
        state: &State,
        place: Option<JobId>,
        fence: Option<&Fence>,
        received: Vec<Received>,
        observer: &mut dyn Observer,
    ) -> Vec<Taken> {
        let mut taken = Vec::new();
        for received in received.into_iter().take(AT_ONCE) {
            match received {
                Received::Message(message) => {
                    let id = message.id;
                    match self.input(state, place, fence, message) {
                        Ok(input) => taken.push(Taken {
                            letter: Some(Letter {
                                message: id,
                                place,
                                answered: matches!(input, InputKind::Job { .. }),
                            }),
                            input,
                        }),
                        Err(failure) => {
                            observer.note(&format!("a message was refused: {}", failure.message));
                            self.answer(state, place, id, Err(failure));
                        }
                    }
                }
                Received::Damaged { name, reason } => {
                    let text = format!("the message {name} is damaged and not acted on: {reason}");
                    if self.told.len() < TOLD_MAX && self.told.insert(name) {
                        observer.note(&text);
                    }
                }
            }
        }
        taken
    }

    /// The input that a message is; what it lacks is looked up here, and nothing is decided.
    fn input(
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
        if place.is_some() != from.is_some() {
            return Err(refused("the message does not say rightly who sends it"));
        }
        if let (Some(from), Some(fence)) = (&from, fence)
            && from.job != fence.job
        {
            return Err(refused("the message lies in the inbox of another job"));
        }
        let request = match ask {
            Ask::Submit {
                agent,
                prompt,
                budget,
                parent,
                schema,
            } => {
                let bytes = self.beside(state, place, |inbox| inbox.prompt(id))?;
                if Digest::of(&bytes) != prompt.sha256 {
                    return Err(refused("the prompt is not the one that the message names"));
                }
                if bytes.iter().all(u8::is_ascii_whitespace) {
                    return Err(refused("the prompt is empty"));
                }
                let schema = match schema {
                    Some(named) => {
                        let bytes = self.beside(state, place, |inbox| inbox.schema(id))?;
                        if Digest::of(&bytes) != named.sha256 {
                            return Err(refused(
                                "the schema is not the one that the message names",
                            ));
                        }
                        // Whoever sends a message may have skipped it.
                        structured::check(&bytes)
                            .map_err(|reason| refused(&format!("the schema: {reason}")))?;
                        Some(self.rim.artifacts.put(&bytes)?)
                    }
                    None => None,
                };
                let asked = Submitted {
                    budget,
                    parent,
                    prompt: self.rim.artifacts.put(&bytes)?,
                    schema,
                };
                let submission = submission(run_of(state)?, &agent, asked)?;
                JobRequest::Submit {
                    submission: Box::new(submission),
                }
            }
            Ask::Signal {
                of,
                signal,
                detail: words,
            } => JobRequest::Signal {
                of,
                signal,
                detail: detail(&words),
            },
            Ask::Cancel { job, reason } => JobRequest::Cancel {
                job,
                reason: detail(&reason),
            },
            Ask::Redispatch { job } => JobRequest::Redispatch { job },
        };
        Ok(InputKind::Job {
            message: id,
            from,
            request: Box::new(request),
        })
    }

    /// What lies beside a message in the inbox of the run or of a job.
    fn beside(
        &self,
        state: &State,
        place: Option<JobId>,
        read: impl FnOnce(&Inbox) -> io::Result<Vec<u8>>,
    ) -> Result<Vec<u8>, Failure> {
        let read = match place {
            None => read(&self.rim.inbox),
            Some(folder) => {
                let run = run_of(state)?.loop_id;
                self.folder_of(run, folder, INBOX)
                    .and_then(|folder| read(&Inbox::in_folder(folder, run)))
            }
        };
        read.map_err(|error| refused(&format!("what it comes with cannot be read: {error}")))
    }

    /// What the message is worth before it is taken.
    pub(super) fn weigh(state: &State, taken: &Taken) -> Weighed {
        let InputKind::Job {
            message,
            from,
            request,
        } = &taken.input
        else {
            return Weighed(None);
        };
        let about = match &**request {
            JobRequest::Submit { .. } => state.messages.get(message).copied(),
            JobRequest::Signal { of, .. } => Some(of.job),
            JobRequest::Cancel { job, .. } | JobRequest::Redispatch { job } => Some(*job),
        };
        let waits = matches!(
            &**request,
            JobRequest::Signal {
                signal: Signal::PermissionRequired,
                ..
            }
        );
        Weighed(Some(Worth {
            weight: weigh(state, *message, from.as_ref(), request),
            about,
            said: mark_of(format!("{request:?}").as_bytes()),
            waits,
        }))
    }

    /// Answers the message once what followed from it is durable, and removes it.
    pub(super) fn done(
        &mut self,
        state: &State,
        taken_letter: Option<LetterOf>,
        weighed: Weighed,
        observer: &mut dyn Observer,
    ) {
        let Some(LetterOf(letter)) = taken_letter else {
            return;
        };
        if !letter.answered {
            self.rim.inbox.done(letter.message);
            return;
        }
        let Weighed(Some(worth)) = weighed else {
            return;
        };
        if let Some(folder) = letter.place
            && self.goes_on(folder, &worth)
        {
            self.active(state, folder);
        }
        let Worth { weight, about, .. } = worth;
        let result = match weight {
            Weight::New => match state.messages.get(&letter.message) {
                Some(job) => Ok(*job),
                None => Err(refused("the message was not taken")),
            },
            Weight::Repeat | Weight::Activity => {
                about.ok_or_else(|| refused("the message says nothing"))
            }
            Weight::Refused(refusal) => Err(failure_of(&refusal)),
        };
        if let Err(failure) = &result {
            observer.note(&format!("a message was refused: {}", failure.message));
        }
        self.answer(state, letter.place, letter.message, result);
    }

    /// Whether a message says that its dispatch makes progress. What was said before shows that it is
    /// alive, a question that it waits.
    fn goes_on(&mut self, folder: JobId, worth: &Worth) -> bool {
        let granted = match worth.weight {
            Weight::New | Weight::Activity => true,
            Weight::Repeat | Weight::Refused(_) => false,
        };
        let known = self.said.get(&folder) == Some(&worth.said);
        if granted {
            self.said.insert(folder, worth.said);
        }
        granted && !known && !worth.waits
    }

    /// Notes that a dispatch makes progress: chatter is no fact of the run.
    fn active(&self, state: &State, folder: JobId) {
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return;
        };
        let capture = self.rim.capture_folder(run, folder);
        // Without it the job only looks less busy than it is.
        drop(Folder::open(&capture).and_then(|it| it.write(ACTIVITY, b"", Access::Private)));
    }

    fn answer(
        &self,
        state: &State,
        place: Option<JobId>,
        message: MessageId,
        result: Result<JobId, Failure>,
    ) {
        let answer = Answer::new(message, result);
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return;
        };
        // Who asked may be gone, with its folder: nobody reads the answer then.
        match place {
            None => {
                drop(self.rim.outbox.answer(&answer));
                self.rim.inbox.done(message);
            }
            Some(folder) => {
                let outbox = self.folder_of(run, folder, OUTBOX).map(Outbox::in_folder);
                drop(outbox.and_then(|outbox| outbox.answer(&answer)));
                if let Ok(inbox) = self.folder_of(run, folder, INBOX) {
                    Inbox::in_folder(inbox, run).done(message);
                }
            }
        }
    }

    /// Writes into the outbox of every job above it where a delegated job stands.
    pub(super) fn show(&mut self, state: &State) {
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return;
        };
        for record in state.delegations.values() {
            let view = record.view(run);
            let Ok(bytes) = serde_json::to_vec(&view) else {
                continue;
            };
            let mark = mark_of(&bytes);
            if self.shown.get(&record.id) == Some(&mark) {
                continue;
            }
            self.shown.insert(record.id, mark);
            let report = record
                .outcome()
                .and_then(|outcome| outcome.report.as_ref())
                .and_then(|stored| self.rim.artifacts.get(&stored.sha256).ok());
            for (job, folder) in under_way(state) {
                if state.descends_from(record.id, job) {
                    let outbox = self.folder_of(run, folder, OUTBOX).map(Outbox::in_folder);
                    drop(outbox.and_then(|outbox| outbox.show(&view, report.as_deref())));
                }
            }
        }
    }

    fn folder_of(&self, run: LoopId, folder: JobId, name: &str) -> io::Result<Folder> {
        let below = PathBuf::from(format!("jobs/{run}/{folder}/{name}"));
        Folder::open(&self.rim.cache)?.descend(&below)
    }
}

/// The letter of a taken message, apart from its input.
pub(super) struct LetterOf(Letter);

impl Taken {
    /// Takes the letter and the input apart.
    pub(super) fn split(self) -> (InputKind, Option<LetterOf>) {
        (self.input, self.letter.map(LetterOf))
    }
}

fn mark_of(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// The jobs whose dispatches are under way, each with the name of its folder.
pub(super) fn under_way(state: &State) -> Vec<(JobId, JobId)> {
    state
        .open_effects()
        .filter_map(|(_, effect)| match effect {
            Effect::RunJob { job } => Some((job.id, job.id)),
            Effect::Delegate { dispatch } => Some((dispatch.job, dispatch.folder)),
            Effect::Pin { .. }
            | Effect::MakeEvidence { .. }
            | Effect::OpenTree { .. }
            | Effect::AwaitJobs { .. }
            | Effect::Timer { .. }
            | Effect::Measure { .. }
            | Effect::Promote { .. }
            | Effect::Release => None,
        })
        .collect()
}

/// What is submitted, whoever is asked.
#[derive(Debug)]
pub struct Submitted {
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
/// When the run knows no such agent, or it cannot be delegated to.
pub fn submission(run: &RunSpec, agent: &str, asked: Submitted) -> Result<Submission, Failure> {
    let found = run.roster.iter().find(|known| known.name == agent);
    let Some(agent) = found.cloned() else {
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
    Ok(Submission {
        parent: asked.parent,
        budget: asked.budget.or(agent.timeout).unwrap_or(run.job_timeout),
        agent,
        prompt: asked.prompt,
        schema: asked.schema,
    })
}

fn run_of(state: &State) -> Result<&RunSpec, Failure> {
    let run = state.run.as_deref();
    run.ok_or_else(|| refused("the run has not begun"))
}

fn refused(message: &str) -> Failure {
    Failure::new(Code::JobRefused, message).next(["run-loop", "job", "list"])
}

/// The failure of a refused message.
fn failure_of(refusal: &Refusal) -> Failure {
    let code = match refusal {
        Refusal::Unknown(_) => Code::UnknownJob,
        Refusal::RunEnds
        | Refusal::Stale(_)
        | Refusal::Over(..)
        | Refusal::OfLoop(_)
        | Refusal::NotBelow(_)
        | Refusal::Full(_)
        | Refusal::NotOver(_)
        | Refusal::Nowhere => Code::JobRefused,
    };
    Failure::new(code, refusal.to_string()).next(["run-loop", "job", "list"])
}
