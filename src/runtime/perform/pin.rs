//! A round or a step of work opens: the source is captured into the review store.

use std::path::PathBuf;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::job::Role;
use crate::domain::run_spec::RunSpec;
use crate::domain::work::before;
use crate::git::{branches, snapshot, staged, unheld};
use crate::runtime::rim::Rim;
use crate::store::{Access, Folder};

pub(super) fn perform(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    work: Option<Role>,
) -> Result<Pin, Failure> {
    let pin = snapshot::pin(&rim.git, &rim.repository, &rim.store, run, round, work)?;
    if let Some(role) = work.filter(|role| role.writes()) {
        let tips = branches::tips(&rim.git, &rim.repository)?;
        let marks = unheld::marks(&rim.git, &rim.repository)?;
        let held = format!("{}/{round}-{}-staged", run.loop_id, role.as_str());
        let staged = staged::keep(&rim.git, &rim.repository, &rim.store, &pin, &held)?;
        let staged = staged.map_or_else(String::new, |commit| commit.to_string());
        let (folder, name) = before_file(rim, run, round, role)?;
        let all = [
            (BRANCHES, tips),
            (UNHELD, marks),
            (STAGED, staged.into_bytes()),
        ];
        for (kind, bytes) in all {
            folder
                .write(format!("{name}.{kind}"), &bytes, Access::Private)
                .map_err(|error| unwritable(&error))?;
        }
    }
    Ok(pin)
}

/// The branches, as they were before a step of work.
pub(super) const BRANCHES: &str = "branches";
/// HEAD's commits and the stash, as they were before a step of work.
pub(super) const UNHELD: &str = "unheld";
/// The commit that has what was in the index alone before a step of work; empty where nothing was.
pub(super) const STAGED: &str = "staged";

/// Where is kept how things were before a step of work: a folder of ours, and how names begin.
pub(super) fn before_file(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    role: Role,
) -> Result<(Folder, String), Failure> {
    let relative = PathBuf::from(format!("evidence/{}", run.loop_id));
    let folder = Folder::open(&rim.cache)
        .and_then(|cache| cache.make_descend(&relative, Access::Private))
        .map_err(|error| unwritable(&error))?;
    Ok((folder, before(round, role)))
}

fn unwritable(error: &std::io::Error) -> Failure {
    let message = format!("the branches before a job cannot be kept: {error}");
    Failure::new(Code::StateUnwritable, message)
}
