//! What reviewers are shown of a change, and what not.

use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;
use crate::domain::lines::Since;
use crate::domain::path::RepoPath;

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedFile {
    /// The path now; for a deleted file, the path it had.
    pub path: RepoPath,
    /// What happened to it.
    pub status: FileStatus,
    /// Where it came from, if it was renamed or copied.
    pub old_path: Option<RepoPath>,
    /// The mode before, as git prints it (`100644`); `000000` where there was none.
    pub old_mode: String,
    /// The mode now.
    pub new_mode: String,
    /// Bytes now; `None` for deleted files and submodules.
    pub size: Option<u64>,
    /// Lines added; `None` for binary files and submodules.
    pub added: Option<u64>,
    /// Lines removed; `None` for binary files and submodules.
    pub removed: Option<u64>,
    /// Why its bytes are not shown, where they are not.
    pub unreviewed: Option<UnreviewedKind>,
    /// Lines of the new file that the change added or edited: first and last, from 1.
    pub changed_lines: Vec<(u32, u32)>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// New.
    Added,
    /// Edited.
    Modified,
    /// Gone.
    Deleted,
    /// Moved, perhaps also edited.
    Renamed,
    /// Only the mode changed.
    ModeChanged,
    /// Became another kind of thing (file, link, submodule).
    TypeChanged,
}

/// Why a changed file's bytes are not shown to reviewers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum UnreviewedKind {
    /// The base's `review.exclude` names it.
    Excluded,
    /// It is binary by our rule (a NUL among the first 8,000 bytes, or not shown as text by git).
    Binary,
    /// It is a pointer of git-lfs.
    LfsPointer,
    /// It is a submodule: only its commit id changed here.
    Submodule,
}

impl UnreviewedKind {
    /// The name in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Excluded => "excluded",
            Self::Binary => "binary",
            Self::LfsPointer => "lfs-pointer",
            Self::Submodule => "submodule",
        }
    }
}

/// One part of the diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiffPart {
    /// Three digits or more, from `001`.
    pub name: String,
    /// The random text at the part's end that proves that it was opened.
    pub receipt: String,
    /// Bytes, with the receipt line.
    pub bytes: u64,
    /// Whether the part stands in the prompt; all parts lie as files.
    pub in_prompt: bool,
}

/// The evidence of one round: made once, the same for every slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Every changed file, in the order of its path.
    pub files: Vec<ChangedFile>,
    /// The diff's parts, in order.
    pub parts: Vec<DiffPart>,
    /// The hash of the whole diff, receipts left out.
    pub diff_sha256: Digest,
    /// The hash of `files.json`.
    pub files_sha256: Digest,
    /// What became of the lines of earlier trees of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub since: Vec<Since>,
    /// The folder that holds `files.json` and `parts/`, absolute; of this machine, never promoted.
    pub folder: String,
}

impl Evidence {
    /// Whether the prompt holds only a part of the diff.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.parts.iter().any(|part| !part.in_prompt)
    }
    /// How many lines were added and removed; `None` where a file has none that can be counted.
    #[must_use]
    pub fn changed_lines(&self) -> Option<u64> {
        let lines = |file: &ChangedFile| Some(file.added?.saturating_add(file.removed?));
        let mut files = self.files.iter();
        files.try_fold(0_u64, |sum, file| Some(sum.saturating_add(lines(file)?)))
    }
    /// Changed files whose bytes are not shown.
    pub fn unreviewed(&self) -> impl Iterator<Item = (&ChangedFile, UnreviewedKind)> {
        self.files
            .iter()
            .filter_map(|file| file.unreviewed.map(|kind| (file, kind)))
    }
}
