//! Writing what a permit allows, the manifest last.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::effect::Promotion;
use crate::domain::failure::Failure;
use crate::domain::layout;
use crate::domain::path::RepoPath;
use crate::domain::time::Timestamp;
use crate::promote::compose::{self, Artifacts, SlotFile};
use crate::promote::permit::Permit;
use crate::promote::{Manifest, Sidecar, canonical};
use crate::store::state_folder::shown_by;
use crate::store::{Access, Folder};

/// Publishes the evidence of an approved round under the control root.
///
/// Done again after a crash it accepts what is there byte by byte, and writes what is missing; a
/// manifest that this run published for another identity, and did not record, is replaced.
/// `artifact` gives stored bytes by their hash, which is checked; `now` is when it happens.
///
/// # Errors
/// [`Code::ReportsUnsafe`] when the folder on the way is a link, no folder, or somebody else's;
/// [`Code::PromotionFailed`] when a file cannot be written or is there with other bytes. What this
/// call wrote is then taken away again, and no manifest is there that was not there before.
pub fn publish(
    permit: &Permit<'_>,
    control_root: &Path,
    artifact: &mut dyn FnMut(&Digest) -> Result<Vec<u8>, Failure>,
    now: Timestamp,
) -> Result<Promotion, Failure> {
    let artifacts: &mut Artifacts<'_> = artifact;
    let composed = compose::compose(permit.round(), artifacts, now)?;
    permit.still_locked()?;
    let reports = permit.round().spec.reports.as_str();
    let folder = reports_folder(control_root, reports)?;
    let mut written = Written::default();
    let published = write_all(
        permit,
        &folder,
        &composed.files,
        composed.manifest,
        &mut written,
    );
    if published.is_err() {
        written.take_away();
    }
    let manifest = published?;
    let run = permit.round().spec.loop_id;
    let slot_file = |file: &SlotFile| format!("{reports}/{}/{}", file.slot, file.name);
    let path = layout::manifest_path(reports, run);
    let files = composed.files.iter().map(slot_file);
    let files = files.chain([path.clone()]);
    Ok(Promotion {
        manifest: RepoPath::from(path.as_str()),
        manifest_sha256: Digest::of(&manifest),
        files: files.map(|path| RepoPath::from(path.as_str())).collect(),
    })
}

/// Checks, before anything is paid for, that what is there of the reports folder is ours and no link.
/// Nothing is made.
///
/// # Errors
/// [`Code::ReportsUnsafe`].
pub fn usable(control_root: &Path, reports: &str) -> Result<(), Failure> {
    let mut path = control_root.to_owned();
    for component in Path::new(reports).join(layout::APPROVALS).components() {
        path.push(component);
        let found = match fs_err::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unsafe_folder(&path, &error.to_string())),
        };
        if found.is_symlink() {
            return Err(unsafe_folder(&path, "it is a link"));
        }
        if !found.is_dir() {
            return Err(unsafe_folder(&path, "it is no folder"));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            let owner = format!("it belongs to user {}", found.uid());
            return Err(unsafe_folder(&path, &owner));
        }
    }
    Ok(())
}

/// Opens or makes the reports folder, component by component, following no link.
fn reports_folder(control_root: &Path, reports: &str) -> Result<Folder, Failure> {
    let relative = Path::new(reports);
    let plain = |component| matches!(component, Component::Normal(_));
    if reports.is_empty() || !relative.components().all(plain) {
        return Err(unsafe_folder(relative, "is not a plain relative path"));
    }
    let mut folder = Folder::open(control_root)
        .map_err(|error| unsafe_folder(control_root, &error.to_string()))?;
    for component in relative.components() {
        folder = own_child(&folder, component.as_os_str().as_encoded_bytes())?;
    }
    Ok(folder)
}

/// A folder of ours in a folder, made if nothing is there.
fn own_child(parent: &Folder, name: &[u8]) -> Result<Folder, Failure> {
    let name = String::from_utf8_lossy(name);
    let path = parent.path().join(&*name);
    let refused = |error: std::io::Error| {
        let failure = unsafe_folder(&path, &error.to_string());
        shown_by(failure, parent.path(), &error)
    };
    let child = parent.make_child(&*name, Access::Shared).map_err(refused)?;
    let (owner, _) = child.owner_and_mode().map_err(refused)?;
    if owner == rustix::process::geteuid().as_raw() {
        Ok(child)
    } else {
        Err(unsafe_folder(&path, &format!("belongs to user {owner}")))
    }
}

fn unsafe_folder(path: &Path, reason: &str) -> Failure {
    Failure::new(
        Code::ReportsUnsafe,
        format!(
            "the reports folder {} cannot be used: {reason}",
            path.display()
        ),
    )
    .next(["ls", "-ld", "--", &path.to_string_lossy()])
}

/// Writes everything; the bytes of the manifest that is there at the end.
fn write_all(
    permit: &Permit<'_>,
    reports: &Folder,
    files: &[SlotFile],
    manifest: Manifest,
    written: &mut Written,
) -> Result<Vec<u8>, Failure> {
    let approvals = own_child(reports, layout::APPROVALS.as_bytes())?;
    let name = layout::manifest_name(manifest.loop_id);
    let path = approvals.path().join(&name);
    let (old, bytes) = match existing(&approvals, &name)? {
        None => (None, manifest_bytes(&manifest)?),
        Some(found) => {
            let (same, bytes) = compared(manifest, &found, &path)?;
            if !same {
                // A crash came before this run recorded it, and what it reviews moved since: nobody
                // attests it. It goes before anything that it names is written anew.
                take_back(&approvals, &name)?;
            }
            (same.then_some(found), bytes)
        }
    };
    for file in files {
        let folder = own_child(reports, file.slot.as_str().as_bytes())?;
        match existing(&folder, &file.name)? {
            Some(found) if found == file.bytes => {}
            // Left by a crash before the manifest: nothing counted yet, and HEAD may have moved
            // to the same content since, which the sidecar says.
            Some(found) if old.is_none() && is_left_over(&found, &file.bytes) => {
                written.write(folder, &file.name, &file.bytes)?;
            }
            Some(_) => return Err(other_bytes(&folder.path().join(&file.name))),
            None => written.write(folder, &file.name, &file.bytes)?,
        }
    }
    if old.is_none() {
        permit.still_locked()?;
        written.write(approvals, &name, &bytes)?;
    }
    Ok(bytes)
}

/// The manifest's bytes.
fn manifest_bytes(manifest: &Manifest) -> Result<Vec<u8>, Failure> {
    let bytes = canonical::to_bytes(manifest).map_err(|error| compose::broken(&error))?;
    compose::fits(&layout::manifest_name(manifest.loop_id), &bytes)?;
    Ok(bytes)
}

/// Whether the manifest that lies there is this one, but for its time, which it keeps; and the
/// bytes of this one.
///
/// What is there is this run's own, or it is left alone: a run publishes once, and records that.
pub(super) fn compared(
    mut manifest: Manifest,
    found: &[u8],
    path: &Path,
) -> Result<(bool, Vec<u8>), Failure> {
    let there: Manifest = canonical::from_bytes(found).map_err(|_| other_bytes(path))?;
    if there.loop_id != manifest.loop_id {
        return Err(other_bytes(path));
    }
    let now = std::mem::replace(&mut manifest.promoted_at, there.promoted_at);
    let kept = manifest_bytes(&manifest)?;
    if kept == found {
        return Ok((true, kept));
    }
    manifest.promoted_at = now;
    Ok((false, manifest_bytes(&manifest)?))
}

/// Removes a file durably.
pub(super) fn take_back(approvals: &Folder, name: &str) -> Result<(), Failure> {
    let removed = approvals.remove_file(name).and_then(|()| approvals.sync());
    removed.map_err(|error| {
        let message = format!("evidence cannot be taken away: {error}");
        Failure::new(Code::PromotionFailed, message)
    })
}

/// Whether both are sidecars of the same report of the same job.
fn is_left_over(found: &[u8], ours: &[u8]) -> bool {
    let read = |bytes| canonical::from_bytes::<Sidecar>(bytes).ok();
    let (Some(found), Some(ours)) = (read(found), read(ours)) else {
        return false;
    };
    let key = |sidecar: &Sidecar| (sidecar.loop_id, sidecar.job, sidecar.report_sha256.clone());
    key(&found) == key(&ours)
}

/// The bytes of a file that is there already; anything but a regular file is an error.
pub(super) fn existing(folder: &Folder, name: &str) -> Result<Option<Vec<u8>>, Failure> {
    match folder.read(name, layout::MAX_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(
            Code::PromotionFailed,
            format!("evidence cannot be promoted: {error}"),
        )),
    }
}

fn other_bytes(path: &Path) -> Failure {
    Failure::new(
        Code::PromotionFailed,
        format!("{} is already there with other content", path.display()),
    )
}

/// What this call wrote, to be taken away if it fails.
#[derive(Default)]
struct Written(Vec<(Folder, String)>);

impl Written {
    fn write(&mut self, folder: Folder, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let result = folder.write(name, bytes, Access::Shared).map_err(|error| {
            let message = format!("evidence could not be written: {error}");
            let failure = Failure::new(Code::PromotionFailed, message);
            shown_by(failure, folder.path(), &error)
        });
        // Noted even if it failed: the rename may have happened and the sync after it not.
        self.0.push((folder, name.to_owned()));
        result
    }
    /// Removes the files again, the newest first; a file that is not there is no matter.
    fn take_away(self) {
        for (folder, name) in self.0.into_iter().rev() {
            drop(folder.remove_file(&name));
            drop(folder.sync());
        }
    }
}
