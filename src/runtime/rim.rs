//! Everything a run's effects need of the world, opened once.

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::agent::confined;
use crate::agent::job_folder::JobFolder;
use crate::agent::redact::Secrets;
use crate::agent::version::Versions;
use crate::domain::agent::Agent;
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId, RoundNumber};
use crate::domain::slot::SlotName;
use crate::domain::work;
use crate::engine::State;

use crate::git::program::Git;
use crate::git::repository::Repository;
use crate::git::review_tree::{self, ReviewTrees};
use crate::git::store::ReviewStore;
use crate::process::confine::{self, Confine};
use crate::process::guard::GuardProgram;
use crate::random;
use crate::store::state_folder::shown_by;
use crate::store::{Access, Artifacts, Folder, Inbox, Outbox, RunLock};

/// The world, as one run sees it.
#[derive(Debug)]
pub struct Rim {
    /// The git program.
    pub git: Git,
    /// The source's repository.
    pub repository: Repository,
    /// Where snapshots live.
    pub store: ReviewStore,
    /// The review trees of the run.
    pub trees: ReviewTrees,
    /// The run's large outputs.
    pub artifacts: Artifacts,
    /// The lock on the source root: while it is held nobody else drives a loop here.
    pub lock: RunLock,
    /// Our folder for what can be made again: job folders, review trees, stores.
    pub cache: PathBuf,
    /// Messages to the run.
    pub inbox: Inbox,
    /// Answers to them.
    pub outbox: Outbox,
    /// The program that guards every attempt.
    pub guard: GuardProgram,
    /// The environment that jobs get theirs from, by the allow-list.
    pub environment: BTreeMap<OsString, OsString>,
    /// The versions of agents' programs, each asked once.
    pub versions: Versions,
}

impl Rim {
    /// What nothing that a job leaves may show: whatever anybody of the run is given and others are not.
    #[must_use]
    pub fn secrets(&self, state: &State) -> Secrets {
        secrets(state, &self.environment)
    }
    /// Notes them for whoever takes the job over, perhaps in another shell.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn note_secrets(&self, state: &State, folder: &JobFolder) -> Result<(), Failure> {
        let key = random::bytes()
            .map_err(|error| Failure::new(Code::StateUnwritable, error.to_string()))?;
        folder.note_secrets(&self.secrets(state).note(key))
    }
    /// Where a round's evidence lies.
    #[must_use]
    pub fn evidence_folder(&self, run: LoopId, round: RoundNumber) -> PathBuf {
        self.evidence_of(run).join(round.to_string())
    }
    /// Where the evidence of a run's rounds lies.
    #[must_use]
    pub fn evidence_of(&self, run: LoopId) -> PathBuf {
        self.cache.join("evidence").join(run.to_string())
    }
    /// What a job of this agent may not reach that may not write: the work of other jobs and slots,
    /// and the runs' own records. It writes its own folder, what its program keeps of its own, and
    /// its tree where nobody else's work is there. `None` where it is not to be confined, or cannot:
    /// the source root may hold the runs' records, and whoever may read it reads all of it.
    ///
    /// # Errors
    /// Where what its program keeps of its own is no such thing.
    pub fn confine(
        &self,
        agent: &Agent,
        folder: &JobFolder,
        position: Option<&SlotName>,
        tree: &Path,
        writable: bool,
    ) -> Result<Option<Confine>, Failure> {
        let state = self.repository.common_dir.join("run-loop");
        let hidden = [&*self.cache, &*state];
        let is_apart = writable || confine::can_hide(&hidden, tree);
        if !is_apart || confine::landlock_version().is_none() {
            return Ok(None);
        }
        let store = self.store.git_dir();
        let source = &self.repository.source_root;
        let kept = [&**source, &self.repository.common_dir, store, &self.cache];
        let Some(besides) = confined::writes(agent, &self.environment, &kept)? else {
            return Ok(None);
        };
        // Nobody needs to write there, and what lies there is what holds the program back.
        let own = position.filter(|_| agent.reads_from_elsewhere());
        let own = own.map(|position| folder.own_of(position));
        let mut readable = vec![store];
        readable.extend(own.as_deref());
        let mut written = vec![folder.path()];
        written.extend(besides.iter().map(PathBuf::as_path));
        let its_tree = if writable {
            &mut written
        } else {
            &mut readable
        };
        its_tree.push(tree);
        let owned = |paths: Vec<&Path>| paths.into_iter().map(Into::into).collect();
        Ok(Some(Confine {
            hidden: owned(hidden.to_vec()),
            readable: owned(readable),
            writable: owned(written),
        }))
    }
    /// Where `cache:` folders of the `checks` tree lie: they outlive the run, by repository.
    #[must_use]
    pub fn warm_folder(&self, slot: &SlotName) -> PathBuf {
        let key = Digest::of(self.repository.common_dir.as_os_str().as_bytes());
        self.cache
            .join("warm")
            .join(&key.as_str()[..16])
            .join(slot.as_str())
    }
    /// A folder for a job's captured output that no agent sees.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch_folder(&self, run: LoopId, job: JobId) -> Result<PathBuf, Failure> {
        let relative = PathBuf::from(format!("jobs/{run}/{job}.capture"));
        Folder::open(&self.cache)
            .and_then(|cache| cache.make_descend(&relative, Access::Private))
            .map_err(|error| {
                let message = format!("the folder {} cannot be made: {error}", relative.display());
                shown_by(
                    Failure::new(Code::StateUnwritable, message),
                    &self.cache,
                    &error,
                )
            })?;
        Ok(self.cache.join(relative))
    }
    /// The capture folder of a dispatch.
    #[must_use]
    pub fn capture_folder(&self, run: LoopId, folder: JobId) -> PathBuf {
        self.cache.join(format!("jobs/{run}/{folder}.capture"))
    }
    /// The capture folders of the commands in a job's scratch folder.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn scratch_folders(&self, run: LoopId, job: JobId) -> std::io::Result<Vec<PathBuf>> {
        let folder = self.cache.join(format!("jobs/{run}/{job}.capture"));
        folders_in(&folder)
    }
    /// The parts of the diff that stand in the prompt, after the round's evidence was found to be
    /// what it was when it was made: it lies where a process of the same user could write.
    ///
    /// # Errors
    /// When something of it is missing or edited: nobody may be asked then.
    pub fn parts_in_prompt(&self, evidence: &Evidence) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let root = PathBuf::from(&evidence.folder);
        for (name, sha256) in [
            ("files.json", &evidence.files_sha256),
            ("diff.patch", &evidence.diff_sha256),
        ] {
            let path = root.join(name);
            let bytes = fs_err::read(&path)
                .map_err(|error| Failure::new(Code::EvidenceFailed, error.to_string()))?;
            if Digest::of(&bytes) != *sha256 {
                let message = format!("{} is not what was written there", path.display());
                return Err(Failure::new(Code::EvidenceFailed, message));
            }
        }
        let folder = root.join("parts");
        let shown = evidence.parts.iter().filter(|part| part.in_prompt);
        shown
            .map(|part| {
                let path = folder.join(format!("{}.patch", part.name));
                let bytes = fs_err::read(&path)
                    .map_err(|error| Failure::new(Code::EvidenceFailed, error.to_string()))?;
                Ok((part.name.clone(), bytes))
            })
            .collect()
    }
    /// Removes the job folders and the evidence of a run, but what names that begin so hold of how things
    /// were before a step of work; what is left over, each with its reason.
    #[must_use]
    pub fn remove_job_folders(&self, run: LoopId, step: Option<&str>) -> Vec<String> {
        remove_job_folders(&self.cache, run, step)
    }
}

/// What nothing may show that a job of this run leaves.
pub(crate) fn secrets(state: &State, environment: &BTreeMap<OsString, OsString>) -> Secrets {
    let of_run = state.run.iter().flat_map(|run| run.agents());
    let delegated = state.delegations.values();
    let delegated = delegated.map(|record| &record.submission.agent);
    Secrets::of(of_run.chain(delegated), environment)
}

/// Removes the job folders and the evidence of a run, but what is compared with after a step of work that
/// is still to end; what is left over, each with its reason.
#[must_use]
pub(crate) fn remove_job_folders(cache: &Path, run: LoopId, step: Option<&str>) -> Vec<String> {
    let of_run = |kind: &str| cache.join(kind).join(run.to_string());
    let mut left = Vec::new();
    left.extend(remove_folder(&of_run("jobs")));
    let evidence = of_run("evidence");
    match step {
        None => left.extend(remove_folder(&evidence)),
        Some(step) => remove_beside(&evidence, step, &mut left),
    }
    left
}

/// Removes a folder that is there, also with folders in it that a job closed to everybody; what is left over,
/// each with its reason. A link is not followed: what is one is not ours.
fn remove_folder(folder: &Path) -> Vec<String> {
    match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Vec::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![format!("{}: {error}", folder.display())],
    }
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Vec::new();
    };
    let opened = review_tree::folder::Folder::open(parent)
        .and_then(|parent| Ok((parent, CString::new(name.as_bytes())?)));
    match opened {
        Ok((parent, name)) => parent.remove(&name),
        Err(error) => vec![error.to_string()],
    }
}

/// Removes all in a run's evidence but how things were before a step of work.
fn remove_beside(evidence: &Path, step: &str, left: &mut Vec<String>) {
    if !evidence.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        return;
    }
    let kept = work::KINDS.map(|kind| OsString::from(format!("{step}.{kind}")));
    let entries = match fs_err::read_dir(evidence) {
        Ok(entries) => entries,
        Err(error) => return left.push(error.to_string()),
    };
    for entry in entries {
        let removed = entry.and_then(|entry| {
            if kept.contains(&entry.file_name()) {
                Ok(Vec::new())
            } else if entry.file_type()?.is_dir() {
                Ok(remove_folder(&entry.path()))
            } else {
                fs_err::remove_file(entry.path()).map(|()| Vec::new())
            }
        });
        left.extend(removed.unwrap_or_else(|error| vec![error.to_string()]));
    }
}

/// The folders in a folder, links not followed; none where it is not there.
pub(crate) fn folders_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(found) if !found.is_dir() => return Ok(Vec::new()),
        Ok(_) | Err(_) => {}
    }
    let mut folders = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}
