//! Messages to a run: one file for each in `runs/<id>/inbox/`, named by the message's id.
//!
//! A sender writes the file whole (temporary name, fsync, rename). The run's engine reads it,
//! records what follows together with the message's id, and removes the file once that is durable.
//! So a message that is read a second time, after a crash in between, says nothing new.

use std::ffi::OsString;
use std::io;

use serde::{Deserialize, Serialize};

use crate::domain::failure::Failure;
use crate::domain::id::{LoopId, MessageId};
use crate::store::folder::{Access, Folder};
use crate::store::state_folder::{StateFolder, unwritable};

const FOLDER: &str = "inbox";
const VERSION: u32 = 1;
/// How large a message may be.
const CAP: u64 = 64 * 1024;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// End the run for good.
    Cancel,
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
    /// Hands a message over, durably.
    ///
    /// # Errors
    /// When it cannot be written; then nothing of it is there.
    pub fn send(&self, message: &Message) -> Result<(), Failure> {
        let name = file_name(message.id);
        let written = serde_json::to_vec(message)
            .map_err(io::Error::other)
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
            reason,
        };
        let bytes = match self.folder.read(name, CAP) {
            Ok(bytes) => bytes,
            Err(error) => return damaged(error.to_string()),
        };
        let message: Message = match serde_json::from_slice(&bytes) {
            Ok(message) => message,
            Err(error) => return damaged(error.to_string()),
        };
        if message.version != VERSION {
            return damaged(format!("its version {} is not known", message.version));
        }
        if message.run != self.run || OsString::from(file_name(message.id)) != *name {
            return damaged("it is for another run, or under another message's name".to_owned());
        }
        Received::Message(message)
    }
    /// Removes a message whose event is durable. One that is gone already is no matter.
    pub fn done(&self, id: MessageId) {
        // One that stays says nothing new when it is read again.
        drop(self.folder.remove_file(file_name(id)));
    }
}

fn file_name(id: MessageId) -> String {
    format!("{id}.json")
}

/// Files under a temporary name are not there yet.
fn is_message(name: &OsString) -> bool {
    name.to_string_lossy().ends_with(".json")
}
