//! The folder of a run's review trees, and which folders in it are ours.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use super::folder::{Folder, Place};
use super::{Error, SlotFolders, c_name, nothing_left};
use crate::domain::id::LoopId;
use crate::domain::slot::SlotName;

/// The file that says whose folder it is.
pub(super) const OWNER: &CStr = c".owner";
/// The owner file while it is written.
pub(super) const NEW_OWNER: &CStr = c".owner.new";
/// The folder of records: which folders we made.
pub(super) const IDS: &CStr = c".ids";
/// The folder of slots that are in doubt.
pub(super) const QUARANTINE: &CStr = c".quarantine";

/// The folders of a slot, by device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Places {
    pub(super) slot: Place,
    pub(super) tree: Place,
    pub(super) git: Place,
}

/// The run's folder, open.
#[derive(Debug)]
pub(super) struct Root {
    folder: Folder,
    path: PathBuf,
}

/// Where a run's trees lie; the cache root itself may be reached through links of the user.
pub(super) fn path_of(cache_root: &Path, loop_id: LoopId) -> io::Result<PathBuf> {
    let cache_root = fs_err::canonicalize(cache_root)?;
    Ok(cache_root.join("trees").join(loop_id.to_string()))
}

/// What stands in the owner file.
pub(super) fn owner(loop_id: LoopId) -> String {
    format!("review trees of run-loop\nrun {loop_id}\n")
}

impl Root {
    /// Makes the folder where needed, and checks that it is ours.
    pub(super) fn ensure(cache_root: &Path, loop_id: LoopId) -> Result<Self, Error> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(cache_root)?;
        let path = path_of(cache_root, loop_id)?;
        let trees = path.parent().unwrap_or(&path);
        builder.recursive(false);
        for folder in [trees, &path] {
            match builder.create(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error.into());
                }
                Ok(()) | Err(_) => check_ours(&Folder::open(folder)?, folder)?,
            }
        }
        let folder = Folder::open(&path)?;
        // Only a folder that was just made, by us or by a try that died, has no more in it. The
        // owner file comes last, whole: with it the folder is complete.
        let names = folder.names()?;
        if is_begun(&names) {
            for name in [IDS, QUARANTINE] {
                if !names.iter().any(|known| known.as_c_str() == name) {
                    folder.create(name)?;
                }
            }
            fs_err::write(path.join(".owner.new"), owner(loop_id))?;
            folder.rename(NEW_OWNER, &folder, OWNER)?;
        }
        let root = Self { folder, path };
        root.check_owner(loop_id)?;
        Ok(root)
    }

    /// Opens the folder of a run where there is one.
    pub(super) fn existing(path: PathBuf, loop_id: LoopId) -> Result<Option<Self>, Error> {
        let name = c_name(&loop_id.to_string())?;
        let opened = Folder::open(path.parent().unwrap_or(&path)).and_then(|t| t.open_in(&name));
        let folder = match opened {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        check_ours(&folder, &path)?;
        let names = folder.names()?;
        if is_begun(&names) {
            // Its making died before it held anything.
            for name in names {
                if name.as_c_str() == NEW_OWNER {
                    nothing_left(&folder.remove(&name))?;
                } else {
                    folder.remove_empty(&name)?;
                }
            }
            let trees = Folder::open(path.parent().unwrap_or(&path))?;
            trees.remove_empty(&c_name(&loop_id.to_string())?)?;
            return Ok(None);
        }
        let root = Self { folder, path };
        root.check_owner(loop_id)?;
        Ok(Some(root))
    }

    fn check_owner(&self, loop_id: LoopId) -> Result<(), Error> {
        let file = self.path.join(".owner");
        let is_file = fs_err::symlink_metadata(&file).is_ok_and(|meta| meta.is_file());
        if !is_file || fs_err::read(&file)? != owner(loop_id).as_bytes() {
            return Err(Error::Doubt(format!(
                "{} does not name this run",
                file.display()
            )));
        }
        Ok(())
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }
    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
    /// Which folder it is.
    pub(super) fn place(&self) -> Place {
        self.folder.place()
    }

    /// Opens the folders of a slot, if they are the recorded ones, reached through no link.
    pub(super) fn open_slot(&self, slot: &SlotName, places: &Places) -> Result<SlotFolders, Error> {
        // Git is given paths, so the path must lead to the folder that is open here.
        if Folder::open(&self.path)?.place() != self.place() {
            return Err(Error::Doubt(format!(
                "{} was replaced",
                self.path.display()
            )));
        }
        let name = c_name(slot.as_str())?;
        let open = |folder: &Folder, name: &CStr, place: Place| {
            if folder.place_of(name)? == Some(place) {
                return Ok(folder.open_in(name)?);
            }
            let name = super::folder::shown(name);
            Err(Error::Doubt(format!(
                "{name} of {slot} is not the folder that we made"
            )))
        };
        let folder = open(&self.folder, &name, places.slot)?;
        let tree = open(&folder, c"tree", places.tree)?;
        open(&folder, c"git", places.git)?;
        Ok(SlotFolders { slot: folder, tree })
    }

    /// Makes the folder of a slot with its two folders, written down before it gets its name: a
    /// crash leaves nothing under the slot's name that nobody knows to be ours.
    pub(super) fn create_slot(&self, slot: &SlotName) -> Result<Places, Error> {
        let draft = c_name(&format!(".new-{slot}"))?;
        if self.folder.stat(&draft)?.is_some() {
            remove_draft(&self.folder, &draft)?;
        }
        let folder = self.folder.create(&draft)?;
        let places = Places {
            slot: folder.place(),
            tree: folder.create(c"tree")?.place(),
            git: folder.create(c"git")?.place(),
        };
        self.remember(slot, &places)?;
        self.folder
            .rename(&draft, &self.folder, &c_name(slot.as_str())?)?;
        Ok(places)
    }

    /// Writes down which folders are ours, for the removal after a crash.
    pub(super) fn remember(&self, slot: &SlotName, places: &Places) -> Result<(), Error> {
        let text = serde_json::to_vec(places).map_err(io::Error::other)?;
        let path = self.path.join(".ids").join(slot.as_str());
        let draft = self.path.join(".ids").join(format!(".new-{slot}"));
        fs_err::write(&draft, text)?;
        fs_err::rename(&draft, &path)?;
        Ok(())
    }

    /// Moves what lies in a slot's place into the quarantine, with its record.
    pub(super) fn set_aside(&self, slot: &SlotName) -> Result<(), Error> {
        let name = c_name(slot.as_str())?;
        if self.folder.stat(&name)?.is_none() {
            return Ok(());
        }
        let (quarantine, ids) = (self.folder.open_in(QUARANTINE)?, self.folder.open_in(IDS)?);
        let mut number = 1_u32;
        let free = loop {
            let candidate = c_name(&format!("{slot}-{number}"))?;
            if quarantine.stat(&candidate)?.is_none() {
                break candidate;
            }
            number += 1;
        };
        // Its record is there under both names before it moves, whatever an older one says that was set
        // aside there: whenever this is killed, it is known to be ours.
        let path = self.path.join(IDS.to_string_lossy().as_ref());
        let known = path.join(slot.as_str());
        let is_known = fs_err::symlink_metadata(&known).is_ok_and(|found| found.is_file());
        if is_known {
            let draft = path.join(format!(".new-{slot}"));
            fs_err::write(&draft, fs_err::read(&known)?)?;
            fs_err::rename(
                &draft,
                path.join(format!(".q-{}", super::folder::shown(&free))),
            )?;
        }
        self.folder.rename(&name, &quarantine, &free)?;
        if is_known {
            nothing_left(&ids.remove(&name))?;
        }
        Ok(())
    }
}

/// Whether a folder holds nothing but the beginning of a run's: it has no owner file yet, which
/// comes last, and no slot.
fn is_begun(names: &[CString]) -> bool {
    let begun = [IDS, QUARANTINE, NEW_OWNER];
    names.iter().all(|name| begun.contains(&name.as_c_str()))
}

/// Removes what a crash left of a slot in the making: empty folders, and nothing else.
pub(super) fn remove_draft(root: &Folder, draft: &CStr) -> io::Result<()> {
    let folder = root.open_in(draft)?;
    for name in folder.names()? {
        folder.remove_empty(&name)?;
    }
    root.remove_empty(draft)
}

/// Refuses a folder of another user, and one that others can reach.
pub(super) fn check_ours(folder: &Folder, path: &Path) -> Result<(), Error> {
    let (owner, mode) = folder.owner_and_mode()?;
    if owner != rustix::process::geteuid().as_raw() {
        return Err(Error::Doubt(format!(
            "{} belongs to another user",
            path.display()
        )));
    }
    if mode.intersects(Mode::RWXG | Mode::RWXO) {
        return Err(Error::Doubt(format!(
            "{} is open to other users",
            path.display()
        )));
    }
    Ok(())
}
