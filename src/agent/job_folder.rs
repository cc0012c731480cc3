//! The folder of one job: what it is given, and where its report is expected.

use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;

use crate::agent::folder::Folder;
use crate::agent::report_file::{self, ReportFile};
use crate::domain::code::Code;
use crate::domain::confinement::Confinement;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::domain::seen::Seen;
use crate::domain::slot::SlotName;
use crate::store::mailbox::{CARD, Card, INBOX, OUTBOX};
use crate::store::state_folder::shown_by;

const PROMPT: &str = "prompt.md";
const EVIDENCE: &str = "evidence";
const FINDINGS: &str = "findings.json";
const REPORT: &str = "report.md";
const WRAP_UP: &str = "wrap-up.md";

const TEMPORARY: &str = "tmp";
const EMPTY: &str = "empty";
const FILES: &str = "files";
/// In the capture folder: which artifact the prompt is.
const PROMPT_HASH: &str = "prompt.sha256";
/// In the capture folder, which a confined job cannot write: there where the job is confined.
const CONFINED: &str = "landlock";
/// In the capture folder: where the job's program was started.
const DIRECTORY: &str = "directory";
/// In the capture folder: what tells the secrets again that nothing of the job may show.
const SECRETS: &str = "secrets";
const STDOUT: &str = "stdout";
/// More than any job's output may have, with the mark where it was cut.
const PRINTED_CAP: u64 = 65 << 20;
const STDERR: &str = "stderr";

/// A job's folder, `<cache>/jobs/<loop>/<job>/`, and beside it `<job>.capture/` for its output.
///
/// # Invariants
/// Made for one job and never used again: there is no earlier report in it (scenarios S11, V18).
#[derive(Debug)]
pub struct JobFolder {
    folder: Folder,
    capture: Folder,
}

impl JobFolder {
    /// Makes the folder: the prompt, and a copy of the round's evidence where the job may see it.
    /// What was made of it is removed when it cannot be completed (row M-103).
    ///
    /// # Errors
    /// When the folder exists, or anything of it cannot be written.
    pub fn create(
        cache_root: &Path,
        loop_id: LoopId,
        job: JobId,
        prompt: &[u8],
        evidence: Option<&Path>,
    ) -> Result<Self, Failure> {
        if prompt.iter().all(u8::is_ascii_whitespace) {
            // Row M-105.
            let message = format!("the prompt of job {job} is empty");
            return Err(Failure::new(Code::Internal, message));
        }
        Self::make(cache_root, loop_id, job, prompt, evidence).map_err(|error| {
            let message = format!("the folder of job {job} cannot be made: {error}");
            shown_by(
                Failure::new(Code::StateUnwritable, message),
                cache_root,
                &error,
            )
        })
    }

    fn make(
        cache_root: &Path,
        loop_id: LoopId,
        job: JobId,
        prompt: &[u8],
        evidence: Option<&Path>,
    ) -> io::Result<Self> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(cache_root)?;
        let jobs = Folder::open(cache_root)?.enter("jobs")?;
        let of_loop = jobs.enter(loop_id.to_string())?;
        let folder = of_loop.make(job.to_string())?;
        let made = of_loop.make(format!("{job}.capture")).and_then(|capture| {
            let job_folder = Self { folder, capture };
            job_folder.fill(prompt, evidence)?;
            Ok(job_folder)
        });
        if made.is_err() {
            // The first error is the one to tell.
            drop(remove(&of_loop.path().join(job.to_string())));
            drop(remove(&of_loop.path().join(format!("{job}.capture"))));
        }
        made
    }

    fn fill(&self, prompt: &[u8], evidence: Option<&Path>) -> io::Result<()> {
        self.folder.write(PROMPT, prompt)?;
        self.capture
            .write(PROMPT_HASH, Digest::of(prompt).as_str().as_bytes())?;
        for name in [INBOX, OUTBOX, TEMPORARY, EMPTY] {
            self.folder.make(name)?;
        }
        // Empty where there is none: programs refuse to start that are given a folder which is not
        // there.
        let copy = self.folder.make(EVIDENCE)?;
        if let Some(evidence) = evidence {
            Folder::open(evidence)?.copy_into(&copy)?;
        }
        Ok(())
    }

    /// Tells the job who it is: what its messages must carry.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn tell(&self, card: &Card) -> Result<(), Failure> {
        let written = card
            .encode()
            .and_then(|bytes| self.folder.write(CARD, &bytes));
        written.map_err(|error| self.unusable(&error))
    }

    /// Puts the findings of the run beside the evidence.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn show_findings(&self, findings: &[u8]) -> Result<(), Failure> {
        let written = self
            .folder
            .child(EVIDENCE)
            .and_then(|folder| folder.write(FINDINGS, findings));
        written.map_err(|error| self.unusable(&error))
    }

    /// Puts the diffs since earlier rounds beside the evidence.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn show_seen(&self, seen: &[Seen]) -> Result<(), Failure> {
        let write = |seen: &Seen| {
            let mut folder = self.folder.child(EVIDENCE)?;
            for name in seen.folder().split('/') {
                folder = folder.enter(name)?;
            }
            seen.parts()
                .iter()
                .try_for_each(|part| folder.write(format!("{}.patch", part.name), &part.bytes))
        };
        let mut shown = seen.iter().filter(|seen| !seen.parts().is_empty());
        shown
            .try_for_each(write)
            .map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &io::Error) -> Failure {
        let path = self.path();
        let message = format!("the folder {} cannot be used: {error}", path.display());
        shown_by(Failure::new(Code::StateUnwritable, message), path, error)
    }

    /// Where the copy of a job's evidence will lie, before its folder is made.
    #[must_use]
    pub fn evidence_of(cache_root: &Path, loop_id: LoopId, job: JobId) -> PathBuf {
        let of_loop = cache_root.join("jobs").join(loop_id.to_string());
        of_loop.join(job.to_string()).join(EVIDENCE)
    }

    /// The folder of a job whose engine is dead; `None` where it was not made, or not completed.
    ///
    /// # Errors
    /// When what lies there cannot be opened, or is not ours.
    pub fn find(cache_root: &Path, loop_id: LoopId, job: JobId) -> io::Result<Option<Self>> {
        let found = Folder::open(cache_root)
            .and_then(|cache| cache.child("jobs"))
            .and_then(|jobs| jobs.child(loop_id.to_string()))
            .and_then(|of_loop| {
                let folder = of_loop.child(job.to_string())?;
                let capture = of_loop.child(format!("{job}.capture"))?;
                Ok(Self { folder, capture })
            });
        match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }
    /// The hash of the prompt that the job was given; `None` where it cannot be told.
    pub(crate) fn prompt_hash(&self) -> Option<Digest> {
        let file = self.capture.read(PROMPT_HASH).ok()?;
        let path = self.capture.path().join(PROMPT_HASH);
        let mut text = String::new();
        let file = fs_err::File::from_parts(file.into(), path);
        file.take(256).read_to_string(&mut text).ok()?;
        Digest::parse(&text)
    }

    /// Notes what tells the secrets again that nothing of the job may show, before it is started.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn note_secrets(&self, note: &str) -> Result<(), Failure> {
        let written = self.capture.write(SECRETS, note.as_bytes());
        written.map_err(|error| self.unusable(&error))
    }
    /// That note; `None` where it cannot be told, or an engine that wrote none started the job.
    pub(crate) fn secrets_note(&self) -> Option<String> {
        secrets_note(self.capture.path())
    }
    /// Removes what the job printed and its report, and says why where the output was.
    pub(crate) fn forget_output(&self, why: &str) -> io::Result<()> {
        for (folder, name) in [
            (&self.folder, REPORT),
            (&self.capture, STDOUT),
            (&self.capture, STDERR),
        ] {
            if folder.stat(name)?.is_none() {
                continue;
            }
            remove_any(&folder.path().join(name))?;
            if name != REPORT {
                folder.write(name, format!("[run-loop: {why}]\n").as_bytes())?;
            }
        }
        Ok(())
    }

    /// What it printed on standard output by now: all that its guard keeps, or the end of a file that somebody
    /// else made longer.
    pub(crate) fn printed(&self) -> Option<Vec<u8>> {
        let file = self.capture.read(STDOUT).ok()?;
        let file = fs_err::File::from_parts(file.into(), self.stdout());
        let about = file.metadata().ok()?;
        if !about.is_file() {
            return None;
        }
        let mut file = file;
        let begins = about.len().saturating_sub(PRINTED_CAP);
        file.seek(io::SeekFrom::Start(begins)).ok()?;
        let mut bytes = Vec::new();
        file.take(PRINTED_CAP).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Notes what confines the job, before it is started.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn note_confinement(&self, confinement: Confinement) -> Result<(), Failure> {
        let written = match confinement {
            Confinement::None => Ok(()),
            Confinement::Landlock => self.capture.write(CONFINED, b""),
        };
        written.map_err(|error| Failure::new(Code::StateUnwritable, error.to_string()))
    }
    /// What confines the job, or did; nothing where that cannot be told.
    pub(crate) fn confinement(&self) -> Confinement {
        match self.capture.stat(CONFINED) {
            Ok(Some(_)) => Confinement::Landlock,
            Ok(None) | Err(_) => Confinement::None,
        }
    }

    /// Notes where the job's program works, before it is started.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn note_directory(&self, directory: &Path) -> Result<(), Failure> {
        let bytes = directory.as_os_str().as_bytes();
        let written = self.capture.write(DIRECTORY, bytes);
        written.map_err(|error| Failure::new(Code::StateUnwritable, error.to_string()))
    }
    /// Where the job's program was started.
    ///
    /// # Errors
    /// When that cannot be told.
    pub(crate) fn directory(&self) -> io::Result<PathBuf> {
        let file = self.capture.read(DIRECTORY)?;
        let path = self.capture.path().join(DIRECTORY);
        let mut bytes = Vec::new();
        let file = fs_err::File::from_parts(file.into(), path);
        // No path is as long as that.
        file.take(1 << 16).read_to_end(&mut bytes)?;
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
    /// The prompt, until the job has ended.
    #[must_use]
    pub fn prompt(&self) -> PathBuf {
        self.path().join(PROMPT)
    }
    /// The copy of the evidence.
    #[must_use]
    pub fn evidence(&self) -> PathBuf {
        self.path().join(EVIDENCE)
    }
    /// Where the report is expected, if the file is the job's channel.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.path().join(REPORT)
    }
    /// Where the job puts messages.
    #[must_use]
    pub fn inbox(&self) -> PathBuf {
        self.path().join(INBOX)
    }
    /// Where the note appears that the job's time is nearly over.
    #[must_use]
    pub fn wrap_up(&self) -> PathBuf {
        self.path().join(WRAP_UP)
    }
    /// Writes that note; a job that put something there has its own.
    pub(crate) fn note_wrap_up(&self, note: &[u8]) -> io::Result<()> {
        self.folder.write(WRAP_UP, note)
    }
    /// The job's temporary folder.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.path().join(TEMPORARY)
    }
    /// An empty folder: the working directory of a job that may see nothing here.
    #[must_use]
    pub fn empty(&self) -> PathBuf {
        self.path().join(EMPTY)
    }
    /// The capture folder: what the job's guard writes; the job is not told.
    #[must_use]
    pub fn capture(&self) -> &Path {
        self.capture.path()
    }
    /// Where standard output is captured; the job is not told.
    #[must_use]
    pub fn stdout(&self) -> PathBuf {
        self.capture.path().join(STDOUT)
    }
    /// Where standard error is captured; the job is not told.
    #[must_use]
    pub fn stderr(&self) -> PathBuf {
        self.capture.path().join(STDERR)
    }

    /// Makes files for the job's program, in a folder of their own.
    pub(crate) fn files<'a>(
        &self,
        files: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> io::Result<PathBuf> {
        fill(&self.folder.make(FILES)?, files)
    }
    /// The same in the folder that the readers of a position share, one after the other: a session goes
    /// on where it was begun. It is made anew for each of them, so that none leaves anything to the next.
    pub(crate) fn files_of<'a>(
        &self,
        position: &SlotName,
        files: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> io::Result<PathBuf> {
        let own = self.own_of(position);
        remove(&own)?;
        let (Some(of_loop), Some(name)) = (own.parent(), own.file_name()) else {
            return Err(io::Error::other("a job's folder lies nowhere"));
        };
        fill(&Folder::open(of_loop)?.make(name)?, files)
    }
    /// Where the readers of a position work whose program may not be started in the tree.
    #[must_use]
    pub fn own_of(&self, position: &SlotName) -> PathBuf {
        self.path().with_file_name(format!("{position}.own"))
    }
    /// Whether anything lies where the report is expected.
    pub(crate) fn has_report(&self) -> io::Result<bool> {
        Ok(self.folder.stat(REPORT)?.is_some())
    }
    /// Reads the report; only once the job's processes are gone.
    pub(crate) fn read_report(&self) -> ReportFile {
        report_file::read(&self.folder, REPORT)
    }
    /// Removes the prompt, which holds the job's nonce (row M-102).
    pub(crate) fn forget_prompt(&self) {
        // One that the job removed itself is gone as well; `remove` tells of what stays.
        drop(self.folder.unlink(PROMPT));
    }

    /// Removes everything; what could not be removed, each with its reason.
    #[must_use]
    pub fn remove(self) -> Vec<String> {
        [self.folder.path(), self.capture.path()]
            .into_iter()
            .filter_map(|path| remove(path).err())
            .map(|error| error.to_string())
            .collect()
    }
}

/// Makes files in a folder.
fn fill<'a>(top: &Folder, files: impl Iterator<Item = (&'a str, &'a [u8])>) -> io::Result<PathBuf> {
    for (path, content) in files {
        let mut names: Vec<&str> = path.split('/').collect();
        if names.iter().any(|name| ["", ".", ".."].contains(name)) {
            return Err(io::Error::other(format!("{path:?} is no path of a file")));
        }
        let Some(name) = names.pop() else {
            continue;
        };
        let mut inner: Option<Folder> = None;
        for folder in names {
            inner = Some(inner.as_ref().unwrap_or(top).enter(folder)?);
        }
        inner.as_ref().unwrap_or(top).write(name, content)?;
    }
    Ok(top.path().to_owned())
}

/// What tells the secrets again of a job with this capture folder.
#[must_use]
pub fn secrets_note(capture: &Path) -> Option<String> {
    let file = Folder::open(capture).ok()?.read(SECRETS).ok()?;
    let mut text = String::new();
    let file = fs_err::File::from_parts(file.into(), capture.join(SECRETS));
    file.take(1 << 20).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Removes whatever a job put there.
fn remove_any(path: &Path) -> io::Result<()> {
    if fs_err::symlink_metadata(path)?.is_dir() {
        fs_err::remove_dir_all(path)
    } else {
        fs_err::remove_file(path)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs_err::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::domain::time::{Stamp, Timestamp};

    /// A verdict stands at the end: of a file that somebody made longer than any guard does, that is read.
    #[test]
    fn the_end_of_what_was_printed_is_read() {
        let cache = tempfile::tempdir().unwrap();
        let stamp = Stamp {
            at: Timestamp::from_millis(0),
            seed: [7; 32],
        };
        let (run, job) = (LoopId::mint(&stamp, "run"), JobId::mint(&stamp, "job"));
        let folder = JobFolder::create(cache.path(), run, job, b"Do it.", None).unwrap();
        for length in [0, PRINTED_CAP, PRINTED_CAP + 1, PRINTED_CAP + 4096] {
            let mut file = fs_err::File::create(folder.stdout()).unwrap();
            file.set_len(length).unwrap();
            file.seek(io::SeekFrom::End(0)).unwrap();
            file.write_all(b"VERDICT: NOT PASS\n").unwrap();
            let printed = folder.printed().unwrap();
            assert!(printed.len() as u64 <= PRINTED_CAP, "{length}");
            assert!(printed.ends_with(b"VERDICT: NOT PASS\n"), "{length}");
        }
    }
}
