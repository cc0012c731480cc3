//! Folders that are kept between uses of the tree of the `checks` (`cache:`), outside it.
//!
//! A folder is moved into the tree before the commands and out after them. The commands run code
//! under review, which may put links anywhere in the tree: every folder on the way is opened
//! without following links, and what is no plain folder is left alone. Two runs never share one:
//! the second finds none and works cold.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, renameat, statat};
use rustix::io::Errno;

use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// The folders of one use of the tree.
#[derive(Debug)]
pub(crate) struct Caches {
    tree: OwnedFd,
    home: OwnedFd,
    /// Each configured folder.
    pub(crate) folders: Vec<Cached>,
}

/// One configured folder.
#[derive(Debug)]
pub(crate) struct Cached {
    /// As configured.
    pub(crate) path: String,
    /// Whether an earlier use left it.
    pub(crate) warm: bool,
    /// Why it is not kept for the next use.
    pub(crate) lost: Option<String>,
}

impl Caches {
    /// Moves what earlier uses left into the tree.
    ///
    /// # Errors
    /// When a configured path is not usable, or the reviewed tree has something there.
    pub(crate) fn bring(tree: &Path, home: &Path, paths: &[String]) -> Result<Self, Failure> {
        for path in paths {
            usable(path)?;
        }
        make_private(home).map_err(|error| {
            let message = format!(
                "the cache folder {} cannot be used: {error}",
                home.display()
            );
            Failure::new(Code::NoVerdict, message).next([
                "ls".to_owned(),
                "-ld".to_owned(),
                home.display().to_string(),
            ])
        })?;
        let mut caches = Self {
            tree: open_root(tree)?,
            home: open_root(home)?,
            folders: Vec::new(),
        };
        for path in paths {
            let cached = caches.bring_one(path)?;
            caches.folders.push(cached);
        }
        Ok(caches)
    }

    fn bring_one(&self, path: &str) -> Result<Cached, Failure> {
        let mut cached = Cached {
            path: path.to_owned(),
            warm: false,
            lost: None,
        };
        let refuse = |what: &str| {
            let message = format!("cache folder `{path}`: the reviewed tree has {what}");
            Failure::new(Code::NoVerdict, message).next(["git", "ls-files", "-s", "--", path])
        };
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            // The tree lacks the folder around it: nothing to bring, nothing in the way.
            Err(Errno::NOENT) => return Ok(cached),
            Err(_) => return Err(refuse("a link or a file on the way to it")),
        };
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Ok(_) => return Err(refuse("something in its place")),
            Err(error) => return Err(refuse(&format!("something odd there ({error})"))),
        }
        cached.warm = is_folder(&self.home, &key(path))
            && renameat(&self.home, key(path), &parent, name).is_ok();
        Ok(cached)
    }

    /// Moves the folders out of the tree, for the next use.
    pub(crate) fn keep(&mut self) {
        for index in 0..self.folders.len() {
            let path = self.folders[index].path.clone();
            self.folders[index].lost = self.keep_one(&path).err();
        }
    }

    fn keep_one(&self, path: &str) -> Result<(), String> {
        let (parent, name) = match self.parent(path) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(format!("a folder on the way to it is none ({error})")),
        };
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.to_string()),
            Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::Directory => {
                return Err("a command made something else of it".to_owned());
            }
            Ok(_) => {}
        }
        match renameat(&parent, name, &self.home, key(path)) {
            Ok(()) => Ok(()),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Err("another run left its own".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The folder around a path of the tree, opened without following links, and the last name.
    fn parent<'p>(&self, path: &'p str) -> Result<(OwnedFd, &'p str), Errno> {
        let mut folder = openat(&self.tree, ".", folder_flags(), Mode::empty())?;
        let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
        for component in parents.split('/').filter(|component| !component.is_empty()) {
            folder = openat(&folder, component, folder_flags(), Mode::empty())?;
        }
        Ok((folder, name))
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn open_root(path: &Path) -> Result<OwnedFd, Failure> {
    rustix::fs::open(path, folder_flags(), Mode::empty()).map_err(|error| {
        let message = format!("{} is no plain folder: {error}", path.display());
        Failure::new(Code::NoVerdict, message)
    })
}

fn make_private(home: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(home)
}

fn is_folder(at: &OwnedFd, name: &str) -> bool {
    statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

/// A path as one name: `a/b` and `a%2Fb` stay apart.
fn key(path: &str) -> String {
    path.replace('%', "%25").replace('/', "%2F")
}

fn usable(path: &str) -> Result<(), Failure> {
    let odd = |component: &str| {
        matches!(component, "" | "." | "..") || component.eq_ignore_ascii_case(".git")
    };
    if path.split('/').any(odd) || path.contains('\0') || key(path).len() > 200 {
        let message = format!(
            "cache folder `{}` is no relative path of plain names",
            path.escape_debug()
        );
        return Err(
            Failure::new(Code::NoVerdict, message).next(["run-loop", "config", "show", "--origin"])
        );
    }
    Ok(())
}
