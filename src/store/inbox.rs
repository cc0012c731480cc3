//! Messages to a run: one file for each in `runs/<id>/inbox/`, named by the message's id, or in
//! the inbox of one of its jobs. A prompt lies beside its message, as `<id>.prompt`, and a schema for its
//! answer as `<id>.schema`.
//!
//! A sender writes the file whole (temporary name, fsync, rename). The run's engine reads it, takes it by
//! another name (`<id>.taken`), so that a sender who withdraws it knows whether it is carried out, records
//! what follows together with the message's id, and removes the file once that is durable. So a message that is read a second time, after a crash in between, says nothing new. It lies there
//! with its digest: one that is not as it was written asks for nothing.

use std::ffi::OsString;
use std::io;

use serde::{Deserialize, Serialize};

use crate::domain::agent::Choice;
use crate::domain::delegation::{Fence, Signal};
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId, MessageId};
use crate::domain::job::Stored;
use crate::domain::sealed::{seal, unseal};
use crate::store::folder::{Access, Folder};
use crate::store::state_folder::{StateFolder, unwritable};

const FOLDER: &str = "inbox";
const VERSION: u32 = 1;
/// How large a message may be.
const CAP: u64 = 64 * 1024;
/// How large a prompt may be.
pub const PROMPT_CAP: u64 = 8 << 20;

/// A message to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The version of this form.
    version: u32,
    /// Its id.
    pub id: MessageId,
    /// The run that it is for.
    pub run: LoopId,
    /// What is asked.
    pub request: Request,
}

/// What a message asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// End the run for good.
    Cancel,
    /// Something about delegated jobs.
    Job {
        /// The dispatch that asks; `None` for a person.
        from: Option<Fence>,
        /// What is asked.
        ask: Ask,
    },
}

/// What is asked about delegated jobs, before the engine looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// Delegate a job; the prompt lies beside the message.
    Submit {
        /// The agent's name in the configuration.
        agent: String,
        /// What the job states for its program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<Box<Choice>>,
        /// The prompt's hash and length.
        prompt: Stored,
        /// The budget in seconds; else the agent's, else the run's.
        budget: Option<u64>,
        /// The job inside which it is delegated.
        parent: Option<JobId>,
        /// The schema that its answer must fit; it lies beside the message too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Stored>,
        /// The job in whose session it goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        continues: Option<JobId>,
    },
    /// Something happened in a dispatch.
    Signal {
        /// Which.
        of: Fence,
        /// What.
        signal: Signal,
        /// Its words.
        detail: String,
    },
    /// End a job.
    Cancel {
        /// The job.
        job: JobId,
        /// Why.
        reason: String,
    },
    /// Dispatch a job once more.
    Redispatch {
        /// The job.
        job: JobId,
    },
}

impl Message {
    /// A message.
    #[must_use]
    pub fn new(id: MessageId, run: LoopId, request: Request) -> Self {
        Self {
            version: VERSION,
            id,
            run,
            request,
        }
    }
}

/// What lies in an inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A message.
    Message(Message),
    /// A file that is no message: it is never acted on, and it stays.
    Damaged {
        /// Its name.
        name: String,
        /// The message that the name is of, where it is one's: whoever sent it may wait for an answer.
        message: Option<MessageId>,
        /// What is wrong with it.
        reason: String,
    },
}

/// The inbox of one run.
#[derive(Debug)]
pub struct Inbox {
    folder: Folder,
    run: LoopId,
}

impl Inbox {
    /// Opens a run's inbox; the run's folder must be there.
    ///
    /// # Errors
    /// When it cannot be opened or made, or is no folder of ours.
    pub fn open(state: &StateFolder, run: LoopId) -> Result<Self, Failure> {
        let folder = state
            .run(run)
            .and_then(|run| run.make_child(FOLDER, Access::Private));
        folder
            .map(|folder| Self { folder, run })
            .map_err(|error| unwritable(&state.run_path(run).join(FOLDER), &error))
    }
    /// The inbox in this folder: that of a job of the run.
    #[must_use]
    pub fn in_folder(folder: Folder, run: LoopId) -> Self {
        Self { folder, run }
    }
    /// Puts a prompt beside a message that is still to be sent.
    ///
    /// # Errors
    /// When it cannot be written; then nothing of it is there (row M-103).
    pub fn put_prompt(&self, message: MessageId, prompt: &[u8]) -> io::Result<()> {
        self.folder
            .write(prompt_name(message), prompt, Access::Private)
    }
    /// The prompt beside a message.
    ///
    /// # Errors
    /// When it is not there, too large, or no regular file.
    pub fn prompt(&self, message: MessageId) -> io::Result<Vec<u8>> {
        self.folder.read(prompt_name(message), PROMPT_CAP)
    }
    /// Puts a schema beside a message that is still to be sent.
    ///
    /// # Errors
    /// When it cannot be written; then nothing of it is there.
    pub fn put_schema(&self, message: MessageId, schema: &[u8]) -> io::Result<()> {
        self.folder
            .write(schema_name(message), schema, Access::Private)
    }
    /// The schema beside a message.
    ///
    /// # Errors
    /// When it is not there, too large, or no regular file.
    pub fn schema(&self, message: MessageId) -> io::Result<Vec<u8>> {
        self.folder.read(schema_name(message), CAP)
    }
    /// Hands a message over, durably.
    ///
    /// # Errors
    /// When it cannot be written; then nothing of it is there.
    pub fn send(&self, message: &Message) -> Result<(), Failure> {
        let name = file_name(message.id);
        let written = seal(message)
            .map_err(io::Error::from)
            .and_then(|bytes| self.folder.write(&name, &bytes, Access::Private));
        written.map_err(|error| unwritable(&self.folder.path().join(&name), &error))
    }
    /// What lies there, oldest first: an id says when it was made.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn read(&self) -> Result<Vec<Received>, Failure> {
        let names = self.folder.names();
        let names = names.map_err(|error| unwritable(self.folder.path(), &error))?;
        let messages = names.into_iter().filter(is_message);
        Ok(messages.map(|name| self.received(&name)).collect())
    }
    fn received(&self, name: &OsString) -> Received {
        let damaged = |reason: String| Received::Damaged {
            name: name.to_string_lossy().into_owned(),
            message: message_of(name),
            reason,
        };
        let bytes = match self.folder.read(name, CAP) {
            Ok(bytes) => bytes,
            Err(error) => return damaged(error.to_string()),
        };
        let message: Message = match unseal(&bytes) {
            Ok(message) => message,
            Err(reason) => return damaged(reason),
        };
        if message.version != VERSION {
            return damaged(format!("its version {} is not known", message.version));
        }
        if message.run != self.run || message_of(name) != Some(message.id) {
            return damaged("it is for another run, or under another message's name".to_owned());
        }
        Received::Message(message)
    }
    /// Takes a message, before anything is made of it: whoever sent it can withdraw it no more. Whether it
    /// was there to be taken.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn take(&self, id: MessageId) -> io::Result<bool> {
        let taken = taken_name(id);
        match self.folder.rename(file_name(id), &taken) {
            Ok(()) => Ok(true),
            // An engine before us may have taken it, and died.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(self.folder.names()?.contains(&OsString::from(taken)))
            }
            Err(error) => Err(error),
        }
    }
    /// Withdraws a message. Whether it was still there: else somebody took it, and may carry it out.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn withdraw(&self, id: MessageId) -> io::Result<bool> {
        match self.folder.remove_file(file_name(id)) {
            Ok(()) => {
                self.done(id);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
    /// Removes a message whose event is durable. One that is gone already is no matter.
    pub fn done(&self, id: MessageId) {
        // One that stays says nothing new when it is read again.
        drop(self.folder.remove_file(file_name(id)));
        drop(self.folder.remove_file(taken_name(id)));
        drop(self.folder.remove_file(prompt_name(id)));
        drop(self.folder.remove_file(schema_name(id)));
    }
}

fn file_name(id: MessageId) -> String {
    format!("{id}.json")
}

/// What an engine calls a message that it took.
fn taken_name(id: MessageId) -> String {
    format!("{id}.taken")
}

/// The message of this file name.
fn message_of(name: &OsString) -> Option<MessageId> {
    let name = name.to_str()?;
    let sent = name.strip_suffix(".json");
    MessageId::parse(sent.or_else(|| name.strip_suffix(".taken"))?)
}

fn prompt_name(id: MessageId) -> String {
    format!("{id}.prompt")
}

fn schema_name(id: MessageId) -> String {
    format!("{id}.schema")
}

/// Files under a temporary name are not there yet.
fn is_message(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".json") || name.ends_with(".taken")
}
