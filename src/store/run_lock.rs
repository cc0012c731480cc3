//! One loop per source root at a time.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::store::file_lock::FileLock;
use crate::store::folder::{Access, Folder};
use crate::store::owner::Owner;
use crate::store::state_folder::{StateFolder, unwritable};

/// How large an owner record may be.
const OWNER_CAP: u64 = 64 * 1024;

/// The lock of one source root, held by this process until it is dropped or dies.
#[derive(Debug)]
#[must_use = "the source is locked as long as this lives"]
pub struct RunLock {
    lock: FileLock,
    run: LoopId,
}

impl RunLock {
    /// Locks a source root (canonical path) for a run.
    ///
    /// # Errors
    /// [`Code::LoopRunning`] when another loop holds it.
    pub fn acquire(state: &StateFolder, source_root: &Path, run: LoopId) -> Result<Self, Failure> {
        let (name, record) = names(source_root);
        let refused = |error: std::io::Error| unwritable(&state.locks().path().join(&name), &error);
        let Some(lock) = FileLock::acquire(state.locks(), &name).map_err(refused)? else {
            return Err(running(state.locks(), &record, source_root));
        };
        let owner = Owner::this_process(run, source_root.display().to_string());
        let bytes = serde_json::to_vec_pretty(&owner).map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("the owner record has no JSON form: {error}"),
            )
        })?;
        let written = state.locks().write(&record, &bytes, Access::Private);
        written.map_err(refused)?;
        Ok(Self { lock, run })
    }
    /// The run that now drives a source root; `None` when no loop runs there.
    pub fn holder(state: &StateFolder, source_root: &Path) -> Result<Holder, Failure> {
        let (name, record) = names(source_root);
        let held = FileLock::is_held(state.locks(), &name)
            .map_err(|error| unwritable(&state.locks().path().join(&name), &error))?;
        Ok(if held {
            Holder::Held(read(state.locks(), &record).map(Box::new))
        } else {
            Holder::Free
        })
    }
    /// Who held the lock of a source root last, or holds it; `None` when nobody ever did.
    ///
    /// # Errors
    /// When there is a record that cannot be read: then nobody knows.
    pub fn last_owner(state: &StateFolder, source_root: &Path) -> Result<Option<Owner>, Failure> {
        let (_, record) = names(source_root);
        let unreadable =
            |error: std::io::Error| unwritable(&state.locks().path().join(&record), &error);
        match state.locks().read(&record, OWNER_CAP) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| unreadable(error.into())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(error)),
        }
    }
    /// The run it was taken for.
    #[must_use]
    pub fn run(&self) -> LoopId {
        self.run
    }
    /// Proof that the lock is held, for what must not happen without it.
    pub fn proof(&self) -> LockProof<'_> {
        LockProof { lock: self }
    }
}

/// Who holds the lock of a source root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// Nobody.
    Free,
    /// Somebody, who said so in this record; `None` when the record cannot be read.
    Held(Option<Box<Owner>>),
}

/// Proof that this process holds a source root's lock. Only [`RunLock::proof`] makes one.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct LockProof<'a> {
    lock: &'a RunLock,
}

impl LockProof<'_> {
    /// The run that holds the lock.
    #[must_use]
    pub fn run(&self) -> LoopId {
        self.lock.run
    }
    /// Checks that the locked file is still the one at its path: if it was replaced, another
    /// loop may hold the new one.
    pub fn check(&self) -> Result<(), Failure> {
        if self.lock.lock.is_still_there() {
            return Ok(());
        }
        Err(Failure::new(
            Code::StateUnwritable,
            format!(
                "the lock file {} was removed or replaced while run {} held it",
                self.lock.lock.path().display(),
                self.lock.run
            ),
        )
        .next(["run-loop", "status"]))
    }
}

/// The names of a source root's lock and owner record.
fn names(source_root: &Path) -> (String, String) {
    let key = match within(source_root) {
        Some(name) => Digest::of(&[b"working tree\n", &*name].concat()),
        // Nothing says what it is: whatever bytes its path has.
        None => Digest::of(source_root.as_os_str().as_bytes()),
    };
    (format!("{key}.lock"), format!("{key}.owner.json"))
}

/// Which of its repository's working trees a folder is, whatever path leads to it: through another mount it
/// has another one. `None` where that cannot be told.
fn within(source_root: &Path) -> Option<Vec<u8>> {
    const CAP: u64 = 64 * 1024;
    let link = source_root.join(".git");
    if link.is_dir() {
        return Some(Vec::new());
    }
    let folder = Folder::open(source_root).ok()?;
    let bytes = folder.read(".git", CAP).ok()?;
    let path = bytes.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    let path = Path::new(OsStr::from_bytes(path));
    let is_linked = path.parent()?.file_name()? == "worktrees";
    Some(if is_linked {
        path.file_name()?.as_bytes().to_vec()
    } else {
        Vec::new()
    })
}

fn read(locks: &Folder, record: &str) -> Option<Owner> {
    serde_json::from_slice(&locks.read(record, OWNER_CAP).ok()?).ok()
}

fn running(locks: &Folder, record: &str, source_root: &Path) -> Failure {
    running_on(source_root, read(locks, record).as_ref())
}

/// The refusal while a source root is locked, or may be on another machine.
pub(crate) fn running_on(source_root: &Path, owner: Option<&Owner>) -> Failure {
    let who = owner.map_or_else(
        || "a run that left no readable record".to_owned(),
        |owner| {
            let host = owner
                .host
                .as_ref()
                .map_or_else(String::new, |host| format!(" on {host}"));
            format!("run {} (process {}{host})", owner.run, owner.pid)
        },
    );
    Failure::new(
        Code::LoopRunning,
        format!("{} is locked by {who}", source_root.display()),
    )
    .next(match owner {
        Some(owner) => vec![
            "run-loop".to_owned(),
            "status".to_owned(),
            owner.run.to_string(),
        ],
        None => ["run-loop", "status"].map(str::to_owned).to_vec(),
    })
}
