//! Messages as they are read: from the run's inbox, and from those of its jobs.
//!
//! A message becomes an input or is refused; either way it is answered, and its file goes once
//! the event is durable. The file of a damaged one stays: who sent it is told, and takes it away. What an agent wrote counts only for the dispatch whose inbox it lies in.

mod asked;
mod told;
mod weighed;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

pub use self::asked::{Submitted, submission};
pub use self::told::failure_of;
pub(super) use self::weighed::Weighed;
use self::weighed::Worth;
use crate::domain::code::Code;
use crate::domain::delegation::Fence;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, MessageId};
use crate::engine::{InputKind, State, Weight};
use crate::runtime::drive::Observer;
use crate::runtime::rim::Rim;
use crate::store::Inbox;
use crate::store::inbox::Received;
use crate::store::mailbox::INBOX;

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
        let mut messages = 0;
        for received in received {
            if messages == AT_ONCE {
                break;
            }
            match received {
                Received::Message(message) => {
                    messages += 1;
                    let id = message.id;
                    if !self.take(state, place, id, observer) {
                        continue;
                    }
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
                Received::Damaged {
                    name,
                    message,
                    reason,
                } => {
                    let place_of = place.map_or_else(String::new, |job| job.to_string());
                    if self.told.len() < TOLD_MAX && self.told.insert(format!("{place_of}/{name}"))
                    {
                        let failure = damaged(state, place, &name, &reason);
                        observer.note(&format!("{failure}; next: {}", failure.next));
                        if let Some(message) = message {
                            self.tell(state, place, message, Err(failure));
                        }
                    }
                }
            }
        }
        taken
    }

    /// Takes a message out of the hands of whoever sent it: it is no more withdrawn, and something is made
    /// of it. One that cannot be taken is told once, and tried again.
    fn take(
        &mut self,
        state: &State,
        place: Option<JobId>,
        id: MessageId,
        observer: &mut dyn Observer,
    ) -> bool {
        let error = match self.in_inbox(state, place, |inbox| inbox.take(id)) {
            Ok(taken) => return taken,
            Err(error) => error,
        };
        if self.told.len() < TOLD_MAX && self.told.insert(format!("untaken/{id}")) {
            observer.note(&format!(
                "message {id} cannot be taken, so nothing follows from it: {error}"
            ));
        }
        false
    }

    /// Does something in the inbox of the run or of a dispatch.
    fn in_inbox<T>(
        &self,
        state: &State,
        place: Option<JobId>,
        act: impl FnOnce(&Inbox) -> io::Result<T>,
    ) -> io::Result<T> {
        let Some(folder) = place else {
            return act(&self.rim.inbox);
        };
        let run = state.run.as_ref().map(|run| run.loop_id);
        let run = run.ok_or_else(|| io::Error::other("the run has not begun"))?;
        let inbox = self.folder_of(run, folder, INBOX)?;
        act(&Inbox::in_folder(inbox, run))
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
    let open = state.open_effects();
    open.filter_map(|(_, effect)| effect.dispatched()).collect()
}

/// What is told of a message that is not as it was written: it asked for nothing.
fn damaged(state: &State, place: Option<JobId>, name: &str, reason: &str) -> Failure {
    let message = format!("the message {name} is damaged and not acted on: {reason}");
    let failure = Failure::new(Code::MessageDamaged, message);
    match (place, &state.run) {
        (None, Some(run)) => failure.next(["run-loop", "status", &run.loop_id.to_string()]),
        // Within the job it shows what became of the others.
        (Some(_), _) | (None, None) => failure.next(["run-loop", "job", "list"]),
    }
}

fn refused(message: &str) -> Failure {
    Failure::new(Code::JobRefused, message).next(["run-loop", "job", "list"])
}
