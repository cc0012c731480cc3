//! The mailbox of a job: beside its `inbox/` lie `outbox/`, for answers, and `dispatch.json`,
//! which tells the job what its messages must carry.
//!
//! An agent can write to all of it, so nothing that the engine reads there decides anything by
//! itself: a message counts only with the token of the dispatch that is under way.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::domain::delegation::Fence;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId, MessageId};
use crate::domain::job_view::JobView;
use crate::domain::sealed::{seal, unseal};
use crate::store::folder::{Access, Folder};
use crate::store::inbox::Inbox;
use crate::store::state_folder::{StateFolder, unwritable};

/// The folder of messages.
pub const INBOX: &str = "inbox";
/// The folder of answers.
pub const OUTBOX: &str = "outbox";
/// The file that tells a dispatch who it is.
pub const CARD: &str = "dispatch.json";
const VERSION: u32 = 1;
/// How large a card, an answer or a view may be.
const CAP: u64 = 64 * 1024;
/// How large a report may be: what an engine takes from an agent.
const REPORT_CAP: u64 = 1 << 20;

/// What a dispatch is told of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    version: u32,
    /// The run.
    pub run: LoopId,
    /// The dispatch.
    pub fence: Fence,
}

impl Card {
    /// The card of a dispatch.
    #[must_use]
    pub fn new(run: LoopId, fence: Fence) -> Self {
        Self {
            version: VERSION,
            run,
            fence,
        }
    }
    /// As the bytes of its file.
    ///
    /// # Errors
    /// Never in practice: it is plain data.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        seal(self).map_err(io::Error::from)
    }
}

/// What came of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    version: u32,
    /// The message.
    pub message: MessageId,
    /// The job it was about, where it was granted.
    pub job: Option<JobId>,
    /// Why it was not granted.
    pub refused: Option<Failure>,
}

impl Answer {
    /// The answer to a message.
    #[must_use]
    pub fn new(message: MessageId, result: Result<JobId, Failure>) -> Self {
        let (job, refused) = match result {
            Ok(job) => (Some(job), None),
            Err(failure) => (None, Some(failure)),
        };
        Self {
            version: VERSION,
            message,
            job,
            refused,
        }
    }
}

/// Where answers lie.
#[derive(Debug)]
pub struct Outbox {
    folder: Folder,
}

impl Outbox {
    /// The outbox in this folder.
    #[must_use]
    pub fn in_folder(folder: Folder) -> Self {
        Self { folder }
    }
    /// Opens a run's outbox; the run's folder must be there.
    ///
    /// # Errors
    /// When it cannot be opened or made, or is no folder of ours.
    pub fn open(state: &StateFolder, run: LoopId) -> Result<Self, Failure> {
        let folder = state
            .run(run)
            .and_then(|run| run.make_child(OUTBOX, Access::Private));
        folder
            .map(Self::in_folder)
            .map_err(|error| unwritable(&state.run_path(run).join(OUTBOX), &error))
    }
    /// Writes an answer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn answer(&self, answer: &Answer) -> io::Result<()> {
        self.put(&answer_name(answer.message), answer)
    }
    /// Writes where a job stands, and its report once it has one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn show(&self, view: &JobView, report: Option<&[u8]>) -> io::Result<()> {
        if let Some(report) = report {
            let name = report_name(view.job);
            self.folder.write(name, report, Access::Private)?;
        }
        self.put(&view_name(view.job), view)
    }
    /// What came of a message; `None` while nothing did.
    ///
    /// # Errors
    /// When there is an answer that cannot be read.
    pub fn answered(&self, message: MessageId) -> io::Result<Option<Answer>> {
        self.get(&answer_name(message))
    }
    /// Where a job stands, as it was last written; `None` where nothing was.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn shown(&self, job: JobId) -> io::Result<Option<JobView>> {
        self.get(&view_name(job))
    }
    /// Every job that is shown here.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn all(&self) -> io::Result<Vec<JobView>> {
        let mut views = Vec::new();
        for name in self.folder.names()? {
            let name = name.to_string_lossy();
            let job = name
                .strip_prefix("job-")
                .and_then(|rest| rest.strip_suffix(".json"))
                .and_then(JobId::parse);
            if let Some(job) = job {
                views.extend(self.shown(job)?);
            }
        }
        Ok(views)
    }
    /// The report of a job that is shown here; `None` where it has none.
    ///
    /// # Errors
    /// When it cannot be read, or is not the one that is shown.
    pub fn report(&self, view: &JobView) -> io::Result<Option<Vec<u8>>> {
        let Some(sha256) = &view.report else {
            return Ok(None);
        };
        let bytes = self.folder.read(report_name(view.job), REPORT_CAP)?;
        if Digest::of(&bytes).as_str() == sha256 {
            Ok(Some(bytes))
        } else {
            Err(io::Error::other("its checksum does not fit"))
        }
    }
    fn put<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        self.folder.write(name, &seal(value)?, Access::Private)
    }
    fn get<T: Serialize + DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        none_if_missing(self.folder.read(name, CAP))?
            .map(|bytes| unseal(&bytes).map_err(io::Error::other))
            .transpose()
    }
}

fn none_if_missing<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn answer_name(message: MessageId) -> String {
    format!("{message}.json")
}

fn view_name(job: JobId) -> String {
    format!("job-{job}.json")
}

fn report_name(job: JobId) -> String {
    format!("report-{job}.md")
}

/// The mailbox, as the job inside it sees it.
#[derive(Debug)]
pub struct Mailbox {
    /// Who the job is.
    pub card: Card,
    /// Where it puts messages.
    pub inbox: Inbox,
    /// Where it finds answers.
    pub outbox: Outbox,
}

impl Mailbox {
    /// Opens the mailbox of the job whose inbox this is; `None` where it is not that job's (row
    /// M-108: an id may be inherited from another registry).
    #[must_use]
    pub fn of_job(inbox: &Path, job: &str) -> Option<Self> {
        let folder = Folder::open(inbox.parent()?).ok()?;
        let bytes = folder.read(CARD, CAP).ok()?;
        let card: Card = unseal(&bytes).ok()?;
        if card.version != VERSION || card.fence.job.to_string() != job {
            return None;
        }
        let inbox = Inbox::in_folder(folder.child(INBOX).ok()?, card.run);
        let outbox = Outbox::in_folder(folder.child(OUTBOX).ok()?);
        Some(Self {
            card,
            inbox,
            outbox,
        })
    }
}
