//! What can go wrong between us and git.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::process::command::Command;
use crate::store::state_folder::is_full;

/// A git process or its answer that cannot be relied on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program could not be run.
    #[error("cannot run `{command}`")]
    Start {
        /// The command.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// It ended with something else than success.
    #[error("`{command}` ended with {status}: {}", shown(stderr))]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        stderr: Vec<u8>,
    },
    /// It succeeded, but complained: its answer may be wrong (design, section 5).
    #[error("`{command}` succeeded but said: {}", shown(stderr))]
    Complained {
        /// The command.
        command: String,
        /// What it said.
        stderr: Vec<u8>,
    },
    /// It answered in a form that we do not know.
    #[error("`{command}` gave an answer that makes no sense: {answer}")]
    Answer {
        /// The command.
        command: String,
        /// The part that makes no sense.
        answer: String,
    },
    /// An object holds other bytes than those that its id stands for.
    #[error(
        "object {oid} does not hold what its id stands for: somebody wrote other bytes in its place"
    )]
    NotGenuine {
        /// The object.
        oid: Oid,
    },
    /// A commit leads to another one only by commits that say something else than their ids stand for.
    #[error("commit {from} does not lead to {to}, though git was made to say so")]
    NoWay {
        /// Where it starts.
        from: Oid,
        /// Where it should lead.
        to: Oid,
    },
    /// A later commit than the base is in both histories.
    #[error(
        "both histories have {later}, which is later than {base}, though git was made to name that their base"
    )]
    NotBest {
        /// What git names.
        base: Oid,
        /// What both have, too.
        later: Oid,
    },
    /// Nobody knows what git makes of an index.
    #[error("the index is no index that git writes: somebody wrote odd entries into it")]
    OddIndex,
    /// A setting has a value that is neither on nor off.
    #[error("{name} is `{value}`, which git takes for neither on nor off")]
    NoSwitch {
        /// The setting.
        name: String,
        /// Its value.
        value: String,
    },
    /// What a promisor remote alone has is not here.
    #[error(
        "what only the promisor remote {} has could not be fetched: {why}",
        path_shown(remote)
    )]
    NotFetched {
        /// Its name.
        remote: PathBuf,
        /// The repository that knows it by this name.
        git_dir: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// A path is something else than what it must be.
    #[error("{path} in {rev} is no regular file (mode {mode})")]
    NotAFile {
        /// The revision.
        rev: String,
        /// The path in it.
        path: String,
        /// Its mode.
        mode: String,
    },
    /// A file or folder of ours or of the repository cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// An answer of `command` that makes no sense.
    pub(crate) fn answer(command: &str, answer: &[u8]) -> Self {
        Self::Answer {
            command: command.to_owned(),
            answer: shown(answer),
        }
    }
    /// This as what a user sees, under a code that the caller knows to be right.
    #[must_use]
    pub fn into_failure(self, code: Code) -> Failure {
        let mut message = self.to_string();
        if let Self::Start { source, .. } = &self {
            message = format!("{message}: {source}");
        }
        self.helped(Failure::new(code, message))
    }
    /// A failure with the command that helps where this is its reason.
    pub(crate) fn helped(&self, failure: Failure) -> Failure {
        if self.is_full() {
            // Which one it is, that of the repository or that of the cache, is seen there.
            return failure.next(["df", "-h"]);
        }
        match self {
            Self::NotGenuine { .. } | Self::NoWay { .. } | Self::NotBest { .. } => {
                failure.next(["git", "fsck", "--full"])
            }
            Self::NoSwitch { name, .. } => {
                failure.next(["git", "config", "--show-origin", "--get-all", name.as_str()])
            }
            // It shows whether the remote answers, and to whom.
            Self::NotFetched {
                remote, git_dir, ..
            } => failure.next([
                "git".to_owned(),
                format!("--git-dir={}", git_dir.to_string_lossy()),
                "ls-remote".to_owned(),
                remote.to_string_lossy().into_owned(),
            ]),
            Self::Start { .. }
            | Self::Failed { .. }
            | Self::Complained { .. }
            | Self::Answer { .. }
            | Self::OddIndex
            | Self::NotAFile { .. }
            | Self::Io(_) => failure,
        }
    }
    /// Whether a disk is full, or what the user may have of it is used up.
    pub(crate) fn is_full(&self) -> bool {
        if let Self::Io(error) = self {
            return is_full(error);
        }
        let said = String::from_utf8_lossy(self.stderr());
        let words = [
            "No space left on device",
            "Disk quota exceeded",
            "Out of diskspace",
            // Of these it gives no reason; what it writes goes to files of ours.
            "unknown write failure on standard output",
            "failed to write new configuration file",
        ];
        words.iter().any(|words| said.contains(words)) || said.lines().any(is_cut_short)
    }
    /// What git said on standard error, where that is the fault.
    #[must_use]
    pub fn stderr(&self) -> &[u8] {
        match self {
            Self::Failed { stderr, .. } | Self::Complained { stderr, .. } => stderr,
            Self::Start { .. }
            | Self::Answer { .. }
            | Self::NotGenuine { .. }
            | Self::NoWay { .. }
            | Self::NotBest { .. }
            | Self::OddIndex
            | Self::NoSwitch { .. }
            | Self::NotFetched { .. }
            | Self::NotAFile { .. }
            | Self::Io(_) => &[],
        }
    }
}

/// Whether git could write no more of a file that it checks out: of that alone it gives no reason.
fn is_cut_short(line: &str) -> bool {
    let file = line.strip_prefix("error: unable to write file ");
    file.is_some_and(|file| !file.contains(": "))
}

/// Without a better code, a git error is a failed tool of ours (exit 6).
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        error.into_failure(Code::GitFailed)
    }
}

/// Bytes of git's for people: one line, control characters escaped, bounded.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const CAP: usize = 2_000;
    let text: Vec<String> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| RepoPath::new(line).to_string())
        .collect();
    let mut text = text.join("; ");
    if let Some((cut, _)) = text.char_indices().nth(CAP) {
        text.truncate(cut);
        text.push_str(" …");
    }
    text
}

/// A command as people know it: without the settings that every call of ours carries.
pub(crate) fn name_of(command: &Command) -> String {
    let mut words = vec!["git".to_owned()];
    let mut args = command.args.iter();
    while let Some(arg) = args.next() {
        if arg == "-c" {
            let _setting = args.next();
        } else {
            words.push(arg.to_string_lossy().into_owned());
        }
    }
    words.truncate(12);
    RepoPath::new(words.join(" ").into_bytes()).to_string()
}

/// A path for a message.
pub(crate) fn path_shown(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    RepoPath::new(path.as_os_str().as_bytes()).to_string()
}

/// A path from git's bytes.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}
