//! Where promoted files are read: the control root's reports folder, or head's tree.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::layout;
use crate::domain::oid::Oid;
use crate::gate::question::Question;
use crate::git::object::{self, TreeEntry};
use crate::git::{Error, Git};
use crate::promote::{Manifest, canonical};
use crate::store::Folder;

/// A place of promoted files.
pub(super) struct Place<'a> {
    reports: &'a str,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// The control root's reports folder; `None` where there is none.
    Folder(Option<Folder>),
    /// A commit's files below the reports folder, by path.
    Tree {
        git: &'a Git,
        git_dir: &'a Path,
        entries: BTreeMap<String, TreeEntry>,
    },
}

/// A manifest that can be read.
pub(super) struct Found<'a> {
    /// Where its files lie.
    pub(super) place: &'a Place<'a>,
    /// Its path, relative to the control root.
    pub(super) path: String,
    /// The hash of its bytes.
    pub(super) sha256: Digest,
    /// What it says.
    pub(super) manifest: Manifest,
}

/// A manifest that cannot be read.
pub(super) struct Unreadable {
    /// The run that its name names.
    pub(super) run: LoopId,
    /// Why; names the file.
    pub(super) reason: String,
}

/// The manifests of a place.
pub(super) struct Manifests<'a> {
    /// Those that can be read.
    pub(super) found: Vec<Found<'a>>,
    /// Those that cannot.
    pub(super) unreadable: Vec<Unreadable>,
}

impl<'a> Place<'a> {
    /// A control root's reports folder, opened without following a link.
    pub(super) fn folder(reports: &'a str, control_root: &Path) -> Result<Self, Failure> {
        let mut folder = Folder::open(control_root).map_err(|error| damaged(&error.to_string()))?;
        for name in reports.split('/') {
            match folder.child(name) {
                Ok(child) => folder = child,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self {
                        reports,
                        kind: Kind::Folder(None),
                    });
                }
                Err(error) => return Err(damaged(&format!("the reports folder: {error}"))),
            }
        }
        Ok(Self {
            reports,
            kind: Kind::Folder(Some(folder)),
        })
    }
    /// The reports folder in the tree of a commit.
    pub(super) fn tree(question: &Question<'a>, commit: &Oid) -> Result<Self, Failure> {
        let (git, reports) = (question.request.git, question.policy.reports.as_str());
        let git_dir = question.request.repository.git_dir.as_path();
        let listing = object::tree_entries(git, git_dir, commit.as_str(), reports)?;
        let entries = listing
            .into_iter()
            .filter_map(|entry| Some((entry.path.as_str()?.to_owned(), entry)))
            .collect();
        Ok(Self {
            reports,
            kind: Kind::Tree {
                git,
                git_dir,
                entries,
            },
        })
    }

    /// The names of the files in the folder of the manifests.
    fn names(&self) -> Result<Vec<String>, Failure> {
        let folder = format!("{}/{}/", self.reports, layout::APPROVALS);
        match &self.kind {
            Kind::Folder(None) => Ok(Vec::new()),
            Kind::Folder(Some(reports)) => {
                let approvals = match reports.child(layout::APPROVALS) {
                    Ok(approvals) => approvals,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        return Ok(Vec::new());
                    }
                    Err(error) => return Err(damaged(&format!("the manifests: {error}"))),
                };
                let names = approvals
                    .names()
                    .map_err(|error| damaged(&error.to_string()))?;
                Ok(names
                    .into_iter()
                    .filter_map(|name| name.into_string().ok())
                    .collect())
            }
            Kind::Tree { entries, .. } => {
                let names = entries.keys().filter_map(|path| path.strip_prefix(&folder));
                Ok(names.map(str::to_owned).collect())
            }
        }
    }
    /// Every manifest; one that cannot be read spoils no other (scenario G02).
    pub(super) fn manifests(&'a self) -> Result<Manifests<'a>, Failure> {
        let mut all = Manifests {
            found: Vec::new(),
            unreadable: Vec::new(),
        };
        for name in self.names()? {
            let Some(run) = layout::manifest_run(&name) else {
                continue;
            };
            match self.manifest(run) {
                Ok(found) => all.found.push(found),
                Err(Unread::Damaged(reason)) => all.unreadable.push(Unreadable { run, reason }),
                Err(Unread::Git(failure)) => return Err(failure),
            }
        }
        Ok(all)
    }
    fn manifest(&'a self, run: LoopId) -> Result<Found<'a>, Unread> {
        let path = layout::manifest_path(self.reports, run);
        let bytes = self.read(&path)?;
        let manifest: Manifest = canonical::from_bytes(&bytes)
            .map_err(|error| Unread::Damaged(format!("{path} is {error}")))?;
        if manifest.loop_id == run {
            let sha256 = Digest::of(&bytes);
            Ok(Found {
                place: self,
                path,
                sha256,
                manifest,
            })
        } else {
            let reason = format!("{path} is the manifest of run {}", manifest.loop_id);
            Err(Unread::Damaged(reason))
        }
    }
    /// A promoted file, by its path relative to the control root: as the content tree has it, a
    /// regular file that is not executable and at most 1 MiB.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, Unread> {
        let gone = || Unread::Damaged(format!("{path} is missing"));
        match &self.kind {
            Kind::Folder(reports) => {
                let below = path
                    .strip_prefix(self.reports)
                    .and_then(|path| path.strip_prefix('/'));
                let place = below.and_then(|below| below.split_once('/'));
                let (Some(reports), Some((folder, name))) = (reports, place) else {
                    return Err(gone());
                };
                let read = reports
                    .child(folder)
                    .and_then(|folder| folder.read(name, layout::MAX_BYTES));
                read.map_err(|error| {
                    if error.kind() == io::ErrorKind::NotFound {
                        gone()
                    } else {
                        Unread::Damaged(error.to_string())
                    }
                })
            }
            Kind::Tree {
                git,
                git_dir,
                entries,
            } => {
                let entry = entries.get(path).ok_or_else(gone)?;
                let small = entry.size.is_some_and(|size| size <= layout::MAX_BYTES);
                if entry.mode != "100644" || !small {
                    let reason = format!("{path} has mode {} and is no evidence", entry.mode);
                    return Err(Unread::Damaged(reason));
                }
                object::read_blob(git, git_dir, &entry.oid).map_err(Unread::from)
            }
        }
    }
}

/// Why a promoted file cannot be read.
pub(super) enum Unread {
    /// It is not what it must be; the reason names it.
    Damaged(String),
    /// Git failed.
    Git(Failure),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Self::Git(error.into())
    }
}

impl From<Unread> for Failure {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Damaged(reason) => damaged(&reason),
            Unread::Git(failure) => failure,
        }
    }
}

/// The failure of evidence that is missing, edited or damaged.
pub(super) fn damaged(reason: &str) -> Failure {
    Failure::new(
        Code::GateDamaged,
        format!("the evidence is damaged: {reason}"),
    )
}
