//! Keeping a program from reading and writing what is not its own, by the kernel's Landlock.
//!
//! # What is promised, and what is not
//!
//! - It may write what is named writable, and devices such as `/dev/null`; nothing else.
//! - It may read and run what was there when it was started, hidden folders left out: of a folder
//!   on the way to one it sees neither the list nor what is made in it later.
//! - From Landlock's version 6 on it may signal nobody outside. Its network is not touched, and
//!   neither are sockets of services that would do something for it.
//! - What is readable or writable is so with everything below: nothing hidden can lie in it.
//! - Links are not followed when rules are made: what they lead to has rules of its own.
//! - It looks into no other process, nor into what one was given in its environment, also as root.
//! - What is hidden is hidden under every path that a mount gives it.

mod mounts;

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};
use serde::{Deserialize, Serialize};

/// The newest rights that are asked for; a kernel that lacks some is given the others.
const NEWEST: ABI = ABI::V6;
/// The oldest version that keeps the promise about writing: the ones before let a program cut any
/// file short.
const OLDEST: i32 = 3;
/// Devices that every program may write to.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/random",
    "/dev/urandom",
    "/dev/ptmx",
    "/dev/pts",
];

/// What a program may not reach. Paths are strings of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confine {
    /// Folders that it may not even read.
    pub hidden: Vec<OsString>,
    /// What it may read although it lies in a hidden folder.
    pub readable: Vec<OsString>,
    /// What it may write, in a hidden folder or not.
    pub writable: Vec<OsString>,
}

/// Rules that are made, and what proves that they hold: applied between fork and exec.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) ruleset: RulesetCreated,
    /// What must still open: a program that sees nothing would find nothing.
    pub(crate) open: Vec<CString>,
    /// What must not.
    pub(crate) closed: Vec<CString>,
}

impl Confine {
    /// Makes the rules.
    ///
    /// # Errors
    /// When something of it is not there, or the kernel refuses.
    pub(crate) fn rules(&self) -> io::Result<Rules> {
        let hidden = names(self.hidden.iter().map(Path::new))?;
        let all = AccessFs::from_all(NEWEST);
        let ruleset = Ruleset::default()
            .handle_access(all)
            .and_then(|ruleset| ruleset.scope(Scope::Signal))
            .and_then(Ruleset::create)
            .map_err(other)?;
        let mut maker = Maker { ruleset, hidden };
        maker.readable_but_hidden(Path::new("/"))?;
        for path in &self.readable {
            maker.allow(Path::new(path), AccessFs::from_read(NEWEST))?;
        }
        let nodes = AccessFs::MakeChar | AccessFs::MakeBlock;
        for path in &self.writable {
            maker.allow(Path::new(path), all & !nodes)?;
        }
        let device = AccessFs::ReadFile
            | AccessFs::ReadDir
            | AccessFs::WriteFile
            | AccessFs::Truncate
            | AccessFs::IoctlDev;
        for path in DEVICES.iter().map(Path::new).filter(|path| path.exists()) {
            maker.allow(path, device)?;
        }
        let there = maker.hidden.iter().filter(|path| path.is_dir());
        let closed = there
            .map(|path| c_string(path))
            .collect::<io::Result<_>>()?;
        let open = self.writable.iter().chain(&self.readable);
        Ok(Rules {
            open: open
                .map(|path| c_string(Path::new(path)))
                .collect::<io::Result<_>>()?,
            closed,
            ruleset: maker.ruleset,
        })
    }
}

/// Where a path really leads, links followed; what is not there yet lies where it would be made.
#[must_use]
pub fn real(path: &Path) -> PathBuf {
    followed(path, LINKS)
}

/// As many links in a row as the system follows.
const LINKS: u32 = 40;

fn followed(path: &Path, links: u32) -> PathBuf {
    if let Ok(real) = fs_err::canonicalize(path) {
        return real;
    }
    let Some(above) = path.parent() else {
        return path.to_owned();
    };
    let above = followed(above, links);
    let Some(name) = path.file_name() else {
        // `..` of what is not there.
        return above.parent().map(Path::to_owned).unwrap_or(above);
    };
    let path = above.join(name);
    match fs_err::read_link(&path) {
        // It leads to what is not there either, or to what is on the way now.
        Ok(target) if links > 0 => followed(&above.join(target), links - 1),
        Ok(_) | Err(_) => path,
    }
}

/// Every path under which these can be reached, links followed.
///
/// # Errors
/// When the system does not tell what is mounted.
pub fn names<'a>(paths: impl IntoIterator<Item = &'a Path>) -> io::Result<Vec<PathBuf>> {
    let mounts = mounts::Mounts::read()?;
    let mut names = Vec::new();
    for path in paths {
        names.extend(mounts.names(&real(path))?);
    }
    Ok(names)
}

/// Whether a folder may be allowed while the others stay hidden: rights hold for everything below,
/// so none of them may lie in it. Where the system does not tell, they may.
#[must_use]
pub fn can_hide(hidden: &[&Path], allowed: &Path) -> bool {
    let allowed = real(allowed);
    names(hidden.iter().copied())
        .is_ok_and(|hidden| !hidden.iter().any(|path| path.starts_with(&allowed)))
}

struct Maker {
    ruleset: RulesetCreated,
    hidden: Vec<PathBuf>,
}

impl Maker {
    /// Lets a folder be read; where a hidden one lies in it, everything else in it.
    fn readable_but_hidden(&mut self, path: &Path) -> io::Result<()> {
        if self.hidden.iter().any(|hidden| hidden == path) {
            return Ok(());
        }
        let towards: Vec<PathBuf> = self
            .hidden
            .iter()
            .filter_map(|hidden| {
                let rest = hidden.strip_prefix(path).ok()?;
                Some(path.join(rest.components().next()?))
            })
            .collect();
        if towards.is_empty() {
            return self.allow(path, AccessFs::from_read(NEWEST));
        }
        let entries = match fs_err::read_dir(path) {
            // Others' folders may be passed through and not listed.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => towards,
            Err(error) => return Err(error),
            Ok(entries) => entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<Result<_, _>>()?,
        };
        for entry in entries {
            match fs_err::symlink_metadata(&entry) {
                Ok(found) if found.is_symlink() => {}
                Ok(_) => self.readable_but_hidden(&entry)?,
                // Gone meanwhile, or not ours to look at.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn allow(&mut self, path: &Path, access: BitFlags<AccessFs>) -> io::Result<()> {
        // Gone meanwhile, or not ours to open: nothing is allowed then. What must be reachable is
        // tried by the child itself.
        let Ok(file) = PathFd::new(path) else {
            return Ok(());
        };
        let access = if path.is_dir() {
            access
        } else {
            access & AccessFs::from_file(NEWEST)
        };
        (&mut self.ruleset)
            .add_rule(PathBeneath::new(file, access))
            .map(|_| ())
            .map_err(other)
    }
}

fn other(error: RulesetError) -> io::Error {
    io::Error::other(error)
}

fn c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

/// The version of Landlock that the kernel has; `None` where it has none, it is turned off, or it is
/// too old to keep a program from writing.
#[must_use]
pub fn landlock_version() -> Option<i32> {
    // A ruleset that is applied tells; it holds for the thread alone, which ends at once.
    let asked = std::thread::spawn(|| {
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V1))
            .and_then(Ruleset::create)
            .and_then(RulesetCreated::restrict_self);
        match ruleset.ok()?.landlock {
            LandlockStatus::Available {
                effective_abi,
                kernel_abi,
            } => enough(kernel_abi.unwrap_or(effective_abi as i32)),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        }
    });
    asked.join().ok().flatten()
}

/// The version, where it keeps what is promised.
fn enough(version: i32) -> Option<i32> {
    (version >= OLDEST).then_some(version)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{can_hide, enough, real};

    /// Before version 3 nothing kept a program from truncating files: that is no confinement, and
    /// must not be recorded as one.
    #[test]
    fn a_kernel_that_lets_files_be_cut_short_confines_nobody() {
        assert_eq!([1, 2].map(enough), [None, None]);
        assert_eq!([3, 6].map(enough), [Some(3), Some(6)]);
    }

    #[test]
    fn links_are_followed_as_far_as_there_is_something() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs_err::create_dir_all(root.join("there/below")).unwrap();
        std::os::unix::fs::symlink(root.join("there"), root.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
        for (named, expected) in [
            ("link/below", "there/below"),
            ("link/new/newer/", "there/new/newer"),
            ("new/../link", "there"),
            ("dangling/new", "nowhere/new"),
            ("link/below/..", "there"),
        ] {
            assert_eq!(real(&root.join(named)), root.join(expected), "{named}");
        }
        assert!(can_hide(
            &[&root.join("link/below")],
            &root.join("there/other")
        ));
        assert!(!can_hide(&[&root.join("link/below")], &root.join("there")));
        assert!(!can_hide(&[Path::new("/x/y")], Path::new("/")));
    }
}
