//! A round or a step of work opens: the source is captured into the review store.

use std::path::PathBuf;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::job::Role;
use crate::domain::look::IndexAlone;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::domain::work::{BRANCHES, STAGED, UNHELD, UNMERGED, before};
use crate::git::{branches, snapshot, staged, unheld, unmerged};
use crate::runtime::rim::Rim;
use crate::store::{Access, Folder};

pub(super) fn perform(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    work: Option<Role>,
) -> Result<Pin, Failure> {
    let mut pin = snapshot::pin(&rim.git, &rim.repository, &rim.store, run, round, work)?;
    if let Some(role) = work.filter(|role| role.writes()) {
        let tips = branches::tips(&rim.git, &rim.repository)?;
        let marks = unheld::marks(&rim.git, &rim.repository)?;
        let held = |kind| format!("{}/{}-{kind}", run.loop_id, before(round, role));
        let (git, repo, store) = (&rim.git, &rim.repository, &rim.store);
        let staged = staged::keep(git, repo, store, &pin, &held(STAGED))?;
        let sides = unmerged::keep(git, repo, store, &pin, &held(UNMERGED))?;
        let named = |commit: &Option<Oid>| {
            commit
                .as_ref()
                .map_or_else(String::new, ToString::to_string)
        };
        let (folder, name) = before_file(rim, run, round, role)?;
        let all = [
            (BRANCHES, tips),
            (UNHELD, marks),
            (STAGED, named(&staged).into_bytes()),
            (UNMERGED, named(&sides).into_bytes()),
        ];
        for (kind, bytes) in all {
            folder
                .write(format!("{name}.{kind}"), &bytes, Access::Private)
                .map_err(|error| unwritable(&error))?;
        }
        pin.alone = Some(IndexAlone {
            staged,
            unmerged: sides,
        });
    }
    Ok(pin)
}

/// Where is kept how things were before a step of work: a folder of ours, and how names begin.
pub(super) fn before_file(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    role: Role,
) -> Result<(Folder, String), Failure> {
    Ok((folder(rim, run)?, before(round, role)))
}

/// The folder of a run in which is kept how things were.
pub(super) fn folder(rim: &Rim, run: &RunSpec) -> Result<Folder, Failure> {
    let relative = PathBuf::from(format!("evidence/{}", run.loop_id));
    Folder::open(&rim.cache)
        .and_then(|cache| cache.make_descend(&relative, Access::Private))
        .map_err(|error| unwritable(&error))
}

pub(super) fn unwritable(error: &std::io::Error) -> Failure {
    let message = format!("how things were before a job cannot be kept: {error}");
    Failure::new(Code::StateUnwritable, message)
}
