//! Taking away what a promotion left whose end nobody recorded.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::layout;
use crate::domain::time::Timestamp;
use crate::promote::compose::{self, Artifacts};
use crate::promote::publish::{compared, existing, take_back};
use crate::promote::round::ApprovedRound;
use crate::store::Folder;

/// What became of what lay there; paths are relative to the control root.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Withdrawn {
    /// What is gone.
    pub removed: Vec<String>,
    /// What was changed since, and was left alone.
    pub kept: Vec<String>,
    /// What somebody gave to git since, and was left alone.
    pub tracked: Vec<String>,
}

/// Removes what a round has published under the control root, the manifest first: what it names is never
/// missing beside it. Only files that have the very bytes which were published are touched, and none that is
/// `tracked`; where the manifest is left alone, so is what it names.
///
/// Whoever calls knows that nothing of the round was recorded as published, and that no engine of the run
/// lives.
///
/// # Errors
/// When it cannot be told what was published, or what lies there; some of it may be gone then.
pub fn withdraw(
    round: &ApprovedRound,
    control_root: &Path,
    tracked: &BTreeSet<String>,
    artifact: &mut dyn FnMut(&Digest) -> Result<Vec<u8>, Failure>,
) -> Result<Withdrawn, Failure> {
    let mut withdrawn = Withdrawn::default();
    let reports = round.spec.reports.as_str();
    let opened = Folder::open(control_root).and_then(|root| root.descend(Path::new(reports)));
    let Some(folder) = there(opened)? else {
        return Ok(withdrawn);
    };
    let artifacts: &mut Artifacts<'_> = artifact;
    // Of the time, what lies there is believed.
    let composed = compose::compose(round, artifacts, Timestamp::from_millis(0))?;
    let run = round.spec.loop_id;
    if let Some(approvals) = there(folder.child(layout::APPROVALS))? {
        let name = layout::manifest_name(run);
        if let Some(found) = existing(&approvals, &name)? {
            let path = layout::manifest_path(reports, run);
            let same = compared(composed.manifest, &found, &approvals.path().join(&name));
            if !same.is_ok_and(|(same, _)| same) {
                withdrawn.kept.push(path);
                return Ok(withdrawn);
            }
            if tracked.contains(&path) {
                withdrawn.tracked.push(path);
                return Ok(withdrawn);
            }
            take_back(&approvals, &name)?;
            withdrawn.removed.push(path);
        }
    }
    for file in composed.files {
        let Some(folder) = there(folder.child(file.slot.as_str()))? else {
            continue;
        };
        let path = format!("{reports}/{}/{}", file.slot, file.name);
        match existing(&folder, &file.name)? {
            None => {}
            Some(found) if found == file.bytes && tracked.contains(&path) => {
                withdrawn.tracked.push(path);
            }
            Some(found) if found == file.bytes => {
                take_back(&folder, &file.name)?;
                withdrawn.removed.push(path);
            }
            Some(_) => withdrawn.kept.push(path),
        }
    }
    Ok(withdrawn)
}

/// A folder of ours; `None` where nothing is there. Nothing was published through a link.
fn there(opened: std::io::Result<Folder>) -> Result<Option<Folder>, Failure> {
    match opened {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("what was published cannot be looked at: {error}");
            Err(Failure::new(Code::ReportsUnsafe, message))
        }
    }
}
