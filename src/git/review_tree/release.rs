//! Giving back everything that a run's review trees took.

use std::ffi::{CStr, CString};
use std::io;
use std::path::Path;

use super::folder::{Folder, Place, is_folder, shown};
use super::root::{IDS, NEW_OWNER, OWNER, Places, QUARANTINE, Root, path_of, remove_draft};
use crate::domain::id::LoopId;

/// How what is kept ends that has a name of ours and is another folder than was made: somebody's, or one of a
/// cache that was copied or lies on another disk now.
pub(crate) const NOT_OURS: &str = "is not a folder that we made";

/// Removes the folder of a run; what is not surely ours stays, and is returned with its reason.
pub(super) fn release(cache_root: &Path, loop_id: LoopId, expected: Option<Place>) -> Vec<String> {
    let root = match path_of(cache_root, loop_id) {
        Ok(path) => Root::existing(path, loop_id),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    };
    let root = match root {
        Ok(Some(root)) => root,
        Ok(None) => return Vec::new(),
        Err(error) => {
            let shown = cache_root.join("trees").join(loop_id.to_string());
            return vec![format!("{}: {error}", shown.display())];
        }
    };
    let path = root.path().to_owned();
    if expected.is_some_and(|place| place != root.place()) {
        return vec![format!("{}: is another folder than before", path.display())];
    }
    let mut left = Vec::new();
    if let Err(error) = emptied(&root, &mut left) {
        left.push(error.to_string());
    }
    if left.is_empty()
        && let Err(error) = remove_root(&root)
    {
        left.push(error.to_string());
    }
    left.into_iter()
        .map(|what| format!("{}/{what}", path.display()))
        .collect()
}

fn emptied(root: &Root, left: &mut Vec<String>) -> io::Result<()> {
    let folder = root.folder();
    // A removal that was killed may have taken them already: they go when no slot is left.
    let open = |name| match folder.open_in(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    };
    let (ids, quarantine) = (open(IDS)?, open(QUARANTINE)?);
    if let Some(quarantine) = quarantine {
        for name in quarantine.names()? {
            let record = CString::new([b".q-", name.to_bytes()].concat());
            let record = record.map_err(io::Error::other)?;
            let places = places(root, ids.as_ref(), &record);
            slot(&quarantine, &name, places, ".quarantine/", left);
        }
    }
    for name in folder.names()? {
        if [OWNER, NEW_OWNER, IDS, QUARANTINE].contains(&name.as_c_str()) {
            continue;
        }
        if name.to_bytes().starts_with(b".new-") {
            if let Err(error) = remove_draft(folder, &name) {
                left.push(format!("{}: {error}", shown(&name)));
            }
            continue;
        }
        let places = places(root, ids.as_ref(), &name);
        slot(folder, &name, places, "", left);
    }
    Ok(())
}

/// The record of a slot; one that cannot be read is none, and the slot stays.
fn places(root: &Root, ids: Option<&Folder>, name: &CStr) -> Option<Places> {
    use std::os::unix::ffi::OsStrExt as _;
    let stat = ids?.stat(name).ok()??;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
        return None;
    }
    let name = std::ffi::OsStr::from_bytes(name.to_bytes());
    let text = fs_err::read(root.path().join(".ids").join(name)).ok()?;
    serde_json::from_slice(&text).ok()
}

fn slot(parent: &Folder, name: &CStr, places: Option<Places>, at: &str, left: &mut Vec<String>) {
    let mut keep = |name: &str, why: &str| left.push(format!("{at}{name}: {why}"));
    let stat = match parent.stat(name) {
        Ok(Some(stat)) => stat,
        Ok(None) => return,
        Err(error) => return keep(&shown(name), &error.to_string()),
    };
    if !is_folder(&stat) {
        // A link or a file in a slot's place: the name is ours, what it points at is not.
        left.extend(
            parent
                .remove(name)
                .into_iter()
                .map(|what| format!("{at}{what}")),
        );
        return;
    }
    let place = match parent.place_of(name) {
        Ok(place) => place,
        Err(error) => return keep(&shown(name), &error.to_string()),
    };
    let Some(places) = places.filter(|places| Some(places.slot) == place) else {
        return keep(&shown(name), NOT_OURS);
    };
    let at = format!("{at}{}/", shown(name));
    if let Err(error) = contents(parent, name, &places, &at, left) {
        left.push(format!("{at}: {error}"));
    }
}

fn contents(
    parent: &Folder,
    name: &CStr,
    places: &Places,
    at: &str,
    left: &mut Vec<String>,
) -> io::Result<()> {
    let before = left.len();
    let folder = parent.open_in(name)?;
    for child in folder.names()? {
        let ours = match child.to_bytes() {
            b"tree" => vec![places.tree],
            b"git" => vec![places.git],
            _ => Vec::new(),
        };
        // A folder under a name of ours that is not ours was moved here by somebody.
        let foreign = !ours.is_empty()
            && folder
                .place_of(&child)?
                .is_some_and(|place| !ours.contains(&place));
        if foreign {
            left.push(format!("{at}{}: {NOT_OURS}", shown(&child)));
        } else {
            left.extend(
                folder
                    .remove(&child)
                    .into_iter()
                    .map(|what| format!("{at}{what}")),
            );
        }
    }
    if left.len() == before {
        parent.remove_empty(name)?;
    }
    Ok(())
}

fn remove_root(root: &Root) -> io::Result<()> {
    let folder = root.folder();
    for name in [QUARANTINE, IDS, OWNER] {
        if let Some(left) = folder.remove(name).pop() {
            return Err(io::Error::other(left));
        }
    }
    fs_err::remove_dir(root.path())
}
