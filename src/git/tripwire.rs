//! What no job may touch, as digests (design, section 6).

mod published;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::identity::{Parts, Tripwire};
use crate::domain::layout;
use crate::domain::run_spec::RunSpec;
use crate::git::config::GitConfig;
use crate::git::error::{Error, path_of};
use crate::git::facts::Facts;
use crate::git::repository::Repository;
use crate::git::tripwire::published::Others;

/// Reads the tripwire of a run; `index` is the digest that the capture took, `before` the tripwire that
/// it is compared with.
pub(crate) fn read(
    repo: &Repository,
    facts: &Facts,
    config: &GitConfig,
    index: Digest,
    spec: &RunSpec,
    before: Option<&Tripwire>,
) -> Result<Tripwire, Failure> {
    let failed = |error| Failure::from(Error::Io(error));
    let digest = |places: &[&Path]| digest(places).map_err(failed);
    let mut hooks = vec![repo.common_dir.join("hooks")];
    if let Some(path) = config.last("core.hookspath") {
        hooks.push(repo.source_root.join(path_of(path)));
    }
    let hooks: Vec<&Path> = hooks.iter().map(AsRef::as_ref).collect();
    let (shared, own) = (repo.common_dir.join("info"), repo.git_dir.join("info"));
    let (approvals, ours) = approvals(spec);
    let others = Others::of(repo, &approvals, &ours)?;
    let mut manifests = others.digest(&[]).map_err(failed)?;
    if let Some(before) = before
        && before.manifests != manifests
        && others.are_as(&before.manifests)?
    {
        manifests = before.manifests.clone();
    }
    Ok(Tripwire {
        head_ref: facts
            .branch
            .clone()
            .unwrap_or_else(|| "detached".to_owned()),
        branch_tip: facts.head.clone(),
        config: config.local_digest(),
        hooks: digest(&hooks)?,
        info: digest(&[&shared, &own])?,
        index,
        manifests,
        parts: Box::new(Parts {
            config: known(config.local_parts()),
            hooks: known(parts(&hooks).map_err(failed)?),
            info: known(parts(&[&shared, &own]).map_err(failed)?),
        }),
    })
}

/// The names, where there are not too many of them to be noted with every measurement.
fn known(all: BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
    (all.len() <= Parts::MOST).then_some(all)
}

/// What lies in such folders, each by its name and a short digest.
fn parts(places: &[&Path]) -> io::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for place in places {
        let is_folder = fs_err::symlink_metadata(place).is_ok_and(|meta| meta.is_dir());
        let paths = if is_folder {
            let names = names_in(place)?
                .into_iter()
                .filter(|name| counts(place, name));
            names.map(|name| place.join(name)).collect()
        } else {
            vec![place.to_path_buf()]
        };
        let folder = place.file_name().unwrap_or_default();
        for path in paths {
            let name = path.strip_prefix(place).unwrap_or(&path);
            let shown = Path::new(folder).join(name).display().to_string();
            let digest = digest(&[&path])?;
            // One name may lie in the folder of all working trees and in that of one.
            let noted: &mut String = all
                .entry(shown.trim_end_matches('/').to_owned())
                .or_default();
            noted.push_str(&digest.as_str()[..16]);
        }
    }
    Ok(all)
}

/// The folder of the manifests, and the name of the run's own.
fn approvals(spec: &RunSpec) -> (PathBuf, String) {
    let reports = Path::new(&spec.control_root).join(&spec.reports);
    let own = layout::manifest_name(spec.loop_id);
    (reports.join(layout::APPROVALS), own)
}

/// What lies in a folder, in the order of the bytes of its name.
fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        names.push(entry?.file_name());
    }
    names.sort();
    Ok(names)
}

/// The digest of whole folders: names, kinds, modes, bytes; links by their target, unfollowed.
fn digest(places: &[&Path]) -> io::Result<Digest> {
    let mut hasher = Sha256::new();
    for place in places {
        feed(&mut hasher, place)?;
    }
    Ok(Digest::from_hasher(hasher))
}

fn feed(hasher: &mut Sha256, path: &Path) -> io::Result<()> {
    let meta = match fs_err::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            hasher.update(b"absent;");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    hasher.update(format!("{:o};", meta.mode()));
    if meta.is_symlink() {
        field(hasher, fs_err::read_link(path)?.as_os_str().as_bytes());
    } else if meta.is_dir() {
        let mut names = names_in(path)?;
        names.retain(|name| counts(path, name));
        hasher.update(format!("{};", names.len()));
        for name in names {
            field(hasher, name.as_bytes());
            feed(hasher, &path.join(name))?;
        }
    } else if meta.is_file() {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = fs_err::OpenOptions::new();
        file.read(true)
            .custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
        let mut file = file.open(path)?;
        let mut inner = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => inner.update(&buffer[..read]),
            }
        }
        hasher.update(inner.finalize());
    }
    Ok(())
}

/// Git itself writes `info/refs` when it packs; it is read only by old http clients.
fn counts(folder: &Path, name: &OsStr) -> bool {
    !(name == "refs" && folder.ends_with("info"))
}

/// Bytes with their length before them, so that no two lists of names feed the same bytes.
fn field(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update(format!("{};", bytes.len()));
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::{digest, parts};

    /// U34: what moved among the hooks is told by its name; a folder that is not there holds nothing.
    #[test]
    fn what_lies_there_has_a_digest_each() {
        let folder = tempfile::tempdir().unwrap();
        let (hooks, info) = (folder.path().join("hooks"), folder.path().join("info"));
        for place in [&hooks, &info] {
            fs_err::create_dir(place).unwrap();
        }
        fs_err::write(hooks.join("pre-commit"), "exit 0").unwrap();
        fs_err::write(info.join("refs"), "").unwrap();
        let now = || parts(&[&hooks, &info]).unwrap();
        let before = now();
        let names: Vec<&str> = before.keys().map(String::as_str).collect();
        assert_eq!(names, ["hooks/pre-commit"]);
        fs_err::write(hooks.join("pre-commit"), "exit 1").unwrap();
        assert_ne!(before, now());
        fs_err::remove_file(hooks.join("pre-commit")).unwrap();
        assert!(now().is_empty());
        fs_err::remove_dir(&hooks).unwrap();
        assert!(now().keys().all(|name| name == "hooks"));
    }

    #[test]
    fn every_kind_of_change_moves_the_digest_and_nothing_is_followed_or_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = folder.path().join("hooks");
        let now = || digest(&[&hooks]).unwrap();
        let mut seen = vec![now()];
        let mut moved = |what: &str| {
            let digest = now();
            assert!(!seen.contains(&digest), "{what} is seen");
            seen.push(digest);
        };
        fs_err::create_dir(&hooks).unwrap();
        moved("a new folder");
        fs_err::write(hooks.join("pre-commit"), "exit 0").unwrap();
        moved("a new file");
        fs_err::write(hooks.join("pre-commit"), "exit 1").unwrap();
        moved("an edit of the same size");
        let executable = std::fs::Permissions::from_mode(0o755);
        fs_err::set_permissions(hooks.join("pre-commit"), executable).unwrap();
        moved("a mode");
        symlink("/nonexistent", hooks.join("post-merge")).unwrap();
        moved("a link");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            hooks.join("fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        moved("a FIFO");
        fs_err::rename(hooks.join("pre-commit"), hooks.join("pre-push")).unwrap();
        moved("a rename");
    }
}
