//! What the configuration is made from, read where it lies: the base, the working copy, the
//! user's folder.

use std::path::Path;

use crate::cli::environment::Environment;
use crate::config::load::FILE_NAME;
use crate::config::sources::{File, Sources, WorkingCopy};
use crate::config::trust::{self, Trust};
use crate::config::yaml::SIZE_CAP;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::git::{self, Git, Repository, object};

/// The user's own file, if there is one.
///
/// # Errors
/// `ConfigInvalid` when something is there and cannot be read.
pub(crate) fn user_file(environment: &Environment) -> Result<Option<File>, Failure> {
    let Some(folder) = environment.config_folder() else {
        return Ok(None);
    };
    let path = folder.join("config.yaml");
    let name = path.display().to_string();
    let refused = |what: &dyn std::fmt::Display| {
        Failure::new(
            Code::ConfigInvalid,
            format!("{name} cannot be read: {what}"),
        )
        .next(["ls".to_owned(), "-l".to_owned(), name.clone()])
    };
    match fs_err::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(&error)),
        Ok(data) if !data.is_file() => return Err(refused(&"it is no regular file")),
        Ok(data) if data.len() > u64::try_from(SIZE_CAP).unwrap_or(u64::MAX) => {
            return Err(refused(&"it is too large"));
        }
        Ok(_) => {}
    }
    let bytes = fs_err::read(&path).map_err(|error| refused(&error))?;
    Ok(Some(File { name, bytes }))
}

/// The user's own profiles, `profiles/NAME.yaml` beside the user's file.
///
/// # Errors
/// `ConfigInvalid` when something is there and cannot be read.
pub(crate) fn profiles(environment: &Environment) -> Result<Vec<File>, Failure> {
    let Some(folder) = environment.config_folder() else {
        return Ok(Vec::new());
    };
    let folder = folder.join("profiles");
    let refused = |path: &Path, what: &dyn std::fmt::Display| {
        let name = path.display().to_string();
        Failure::new(
            Code::ConfigInvalid,
            format!("{name} cannot be read: {what}"),
        )
        .next(["ls".to_owned(), "-l".to_owned(), name])
    };
    let entries = match fs_err::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(refused(&folder, &error)),
        Ok(entries) => entries,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| refused(&folder, &error))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let data = fs_err::metadata(&path).map_err(|error| refused(&path, &error))?;
        if !data.is_file() || data.len() > u64::try_from(SIZE_CAP).unwrap_or(u64::MAX) {
            return Err(refused(&path, &"it is no regular file, or too large"));
        }
        let bytes = fs_err::read(&path).map_err(|error| refused(&path, &error))?;
        let name = path.display().to_string();
        Ok(File { name, bytes })
    };
    paths.into_iter().map(read).collect()
}

/// `run-loop.yaml` at a commit, if it is there.
///
/// # Errors
/// When git fails, or something else than a regular file lies there.
pub(crate) fn base_file(git: &Git, git_dir: &Path, base: &Oid) -> Result<Option<File>, Failure> {
    let name = format!("{FILE_NAME} at {}", base.short());
    let bytes = at_base(git, git_dir, base, FILE_NAME)?;
    Ok(bytes.map(|bytes| File { name, bytes }))
}

/// A file at a commit, by its path in the repository; `None` where there is none.
///
/// # Errors
/// `ConfigInvalid` when a link or a folder lies there; else when git fails.
pub(crate) fn at_base(
    git: &Git,
    git_dir: &Path,
    base: &Oid,
    path: &str,
) -> Result<Option<Vec<u8>>, Failure> {
    object::blob(git, git_dir, &format!("{base}:{path}")).map_err(|error| {
        if matches!(error, git::Error::NotAFile { .. }) {
            let tree = format!("{}:", base.short());
            Failure::new(Code::ConfigInvalid, error.to_string())
                .next(["git", "ls-tree", &tree, path])
        } else {
            error.into()
        }
    })
}

/// Everything but options and variables, for a repository and its base.
///
/// # Errors
/// As its parts.
pub(crate) fn sources(
    environment: &Environment,
    git: &Git,
    repository: &Repository,
    base: &Oid,
) -> Result<Sources, Failure> {
    let base_file = base_file(git, &repository.git_dir, base)?;
    let working_copy = match (&base_file, trust::working_copy(&repository.source_root)) {
        // Beside a file at the base it counts for nothing, so neither does what is wrong with it.
        (Some(_), read) => read.ok().flatten().map(|bytes| (bytes, false)),
        (None, read) => match read? {
            None => None,
            Some(bytes) => {
                let trusted = is_trusted(environment, repository, &bytes)?;
                Some((bytes, trusted))
            }
        },
    };
    let name = repository.source_root.join(FILE_NAME).display().to_string();
    Ok(Sources {
        base_file,
        working_copy: working_copy.map(|(bytes, trusted)| WorkingCopy {
            file: File { name, bytes },
            trusted,
        }),
        user_file: user_file(environment)?,
        profiles: profiles(environment)?,
        overrides: Vec::new(),
    })
}

fn is_trusted(
    environment: &Environment,
    repository: &Repository,
    bytes: &[u8],
) -> Result<bool, Failure> {
    match environment.config_folder() {
        None => Ok(false),
        Some(folder) => Ok(Trust::read(&folder)?.holds(&trust_name(repository), bytes)),
    }
}

/// What a repository is called in the list of trusted files: its common directory, so that trust
/// holds in all its working trees.
pub(crate) fn trust_name(repository: &Repository) -> String {
    repository.common_dir.to_string_lossy().into_owned()
}
