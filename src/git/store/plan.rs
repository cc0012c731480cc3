//! What the store of a repository must look like, whether one does, and making it.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use super::mend::MARK;
use super::place::{check_ours, put, unusable};
use super::{packs, refresh};
use crate::domain::failure::Failure;
use crate::git::config::GitConfig;
use crate::git::error::{Error, shown};
use crate::git::program::Git;
use crate::git::quoted::quote;
use crate::git::repository::{ObjectFormat, Repository};

/// What a store turned out to be.
pub(super) enum State {
    Sound,
    Missing,
    /// Git complains, or a run found something: packs may be damaged.
    Doubtful(String),
    /// It is not what was made.
    Damaged(String),
}

/// What the store of a repository must look like.
pub(super) struct Plan {
    format: ObjectFormat,
    config: Vec<u8>,
    /// Whether objects may be missing.
    pub(super) promisor: bool,
}

impl Plan {
    /// What it must be for a repository.
    pub(super) fn of(git: &Git, repo: &Repository) -> Result<Self, Failure> {
        let config = GitConfig::read(&git.on(&repo.common_dir))?;
        let partial = config.last("extensions.partialclone");
        let mut promising = promising(&config);
        promising.extend(partial.map(<[u8]>::to_vec));
        let promisor = !promising.is_empty();
        let mut text = Vec::new();
        let extended = partial.is_some() || repo.object_format == ObjectFormat::Sha256;
        let version = u8::from(extended);
        text.extend_from_slice(
            format!(
                "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = true\n"
            )
            .as_bytes(),
        );
        if extended {
            text.extend_from_slice(b"[extensions]\n");
            if repo.object_format == ObjectFormat::Sha256 {
                text.extend_from_slice(b"\tobjectformat = sha256\n");
            }
            if let Some(remote) = partial {
                text.extend_from_slice(b"\tpartialclone = ");
                quote(&mut text, remote);
                text.push(b'\n');
            }
        }
        text.extend_from_slice(&promisor_settings(&config, &promising));
        if promisor {
            text.extend_from_slice(&protocol_settings(&config));
        }
        Ok(Self {
            format: repo.object_format,
            config: text,
            promisor,
        })
    }

    /// Whether the store at `git_dir` can be used; one that is not ours is refused.
    pub(super) fn examine(&self, git: &Git, git_dir: &Path) -> Result<State, Failure> {
        match fs_err::symlink_metadata(git_dir) {
            Ok(_) => check_ours(git_dir)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(State::Missing);
            }
            Err(error) => return Err(unusable(git_dir, error)),
        }
        match fs_err::read(git_dir.join(MARK)) {
            Ok(text) => return Ok(State::Doubtful(shown(&text))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(unusable(git_dir, error)),
        }
        let is_folder = |name: &str| {
            fs_err::symlink_metadata(git_dir.join(name)).is_ok_and(|meta| meta.is_dir())
        };
        let folders = [
            "objects",
            "objects/info",
            "objects/pack",
            "refs",
            "run-loop-tmp",
        ];
        if let Some(name) = folders.iter().find(|name| !is_folder(name)) {
            return Ok(State::Damaged(format!("no folder {name}")));
        }
        if !fs_err::read(git_dir.join("HEAD")).is_ok_and(|found| found == HEAD) {
            return Ok(State::Damaged("its HEAD is not as it was made".to_owned()));
        }
        let config = git_dir.join("config");
        let found = fs_err::read(&config).unwrap_or_default();
        if !is_of(&found, self.format) {
            return Ok(State::Damaged(
                "its config is not as it was made".to_owned(),
            ));
        }
        // What the repository says of its remotes changes, and no object of the store goes with it.
        put(&config, Some(&self.config)).map_err(|error| unusable(&config, error))?;
        Ok(match self.complaint(git, git_dir)? {
            None => State::Sound,
            Some(what) => State::Doubtful(what),
        })
    }

    /// Sets aside the packs of a store that are damaged, and says what else is damaged of it. The caller
    /// holds the store alone.
    pub(super) fn mend(
        &self,
        git: &Git,
        repo: &Repository,
        git_dir: &Path,
    ) -> Result<Option<String>, Failure> {
        // It may borrow from where nothing is any more.
        refresh(git_dir, repo).map_err(|error| unusable(git_dir, error))?;
        packs::set_aside(git, git_dir, self.format)?;
        put(&git_dir.join(MARK), None).map_err(|error| unusable(git_dir, error))?;
        let what = self.complaint(git, git_dir)?;
        if what.is_some() && self.complaint(git, &repo.common_dir)?.is_some() {
            // What the user's own objects are damaged by is no reason to give up ours.
            return Ok(None);
        }
        Ok(what)
    }

    /// What git says when it looks for an object that exists nowhere, and so opens every pack.
    pub(super) fn complaint(&self, git: &Git, git_dir: &Path) -> Result<Option<String>, Failure> {
        if self.promisor && git.version() < (2, 45) {
            // An older git would ask the network for the object.
            return Ok(None);
        }
        let nowhere = match self.format {
            ObjectFormat::Sha1 => "1".repeat(40),
            ObjectFormat::Sha256 => "1".repeat(64),
        };
        let command = git
            .on(git_dir)
            // Missing objects must not be fetched for this question.
            .env("GIT_NO_LAZY_FETCH", "1")
            .args([
                "-c",
                "extensions.partialClone=",
                "cat-file",
                "--batch-check",
            ])
            .stdin(format!("{nowhere}\n"));
        match crate::git::program::finish(&command) {
            Ok(answer) if answer == format!("{nowhere} missing\n").as_bytes() => Ok(None),
            Ok(answer) => Ok(Some(shown(&answer))),
            Err(error @ (Error::Failed { .. } | Error::Complained { .. })) => {
                Ok(Some(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes it, whole or not at all.
    pub(super) fn build(&self, git_dir: &Path) -> Result<(), Failure> {
        let work = || -> std::io::Result<()> {
            // Whole or not at all: made under another name, then moved.
            let parent = git_dir.parent().unwrap_or(git_dir);
            let fresh = tempfile::Builder::new()
                .prefix("new-")
                .permissions(std::fs::Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            for name in [
                "objects/info",
                "objects/pack",
                "refs/heads",
                "refs/tags",
                "run-loop-tmp",
            ] {
                DirBuilder::new()
                    .mode(0o700)
                    .recursive(true)
                    .create(fresh.path().join(name))?;
            }
            fs_err::write(fresh.path().join("HEAD"), HEAD)?;
            fs_err::write(fresh.path().join("config"), &self.config)?;
            fs_err::rename(fresh.path(), git_dir)?;
            // It is the store now, no longer a temporary folder.
            let _moved = fresh.keep();
            Ok(())
        };
        work().map_err(|error| unusable(git_dir, error))
    }
}

/// Whether a configuration of ours is one for this format of objects.
fn is_of(config: &[u8], format: ObjectFormat) -> bool {
    let text = String::from_utf8_lossy(config);
    let is_sha256 = text.lines().any(|line| line == "\tobjectformat = sha256");
    text.starts_with("[core]\n\trepositoryformatversion = ")
        && is_sha256 == (format == ObjectFormat::Sha256)
}

const HEAD: &[u8] = b"ref: refs/heads/none\n";

/// The remotes that are promisors to git: a filter makes one too, and a switch that is off unmakes none.
fn promising(config: &GitConfig) -> BTreeSet<Vec<u8>> {
    let mut all = config.subsections("remote", &["promisor"]);
    all.retain(|remote| config.is_ever_on(setting(remote, "promisor")));
    all.append(&mut config.subsections("remote", &["partialclonefilter"]));
    all
}

fn setting(remote: &[u8], key: &str) -> Vec<u8> {
    [&b"remote."[..], remote, b".", key.as_bytes()].concat()
}

/// Protocols that git uses for remotes that a repository names unless somebody forbids it.
const USUAL: [&[u8]; 5] = [b"http", b"https", b"git", b"ssh", b"file"];

/// Which protocols the repository keeps git from. One that git does not use by itself is none that a
/// repository allows us.
fn protocol_settings(config: &GitConfig) -> Vec<u8> {
    let mut text = Vec::new();
    let is_usual = |name: &[u8]| USUAL.contains(&name);
    let mut carry = |name: Option<&[u8]>| {
        let middle = name.map(|name| [b".", name].concat()).unwrap_or_default();
        let key = [&b"protocol"[..], &middle, b".allow"].concat();
        let Some(value) = config.last(key) else {
            return;
        };
        if value.eq_ignore_ascii_case(b"always") && !name.is_some_and(is_usual) {
            return;
        }
        text.extend_from_slice(b"[protocol");
        if let Some(name) = name {
            text.push(b' ');
            quote(&mut text, name);
        }
        text.extend_from_slice(b"]\n\tallow = ");
        quote(&mut text, value);
        text.push(b'\n');
    };
    carry(None);
    for name in config.subsections("protocol", &["allow"]) {
        carry(Some(&name));
    }
    text
}

/// What makes remotes promisors: without it, git calls their missing objects damage.
fn promisor_settings(config: &GitConfig, promising: &BTreeSet<Vec<u8>>) -> Vec<u8> {
    let mut text = Vec::new();
    for remote in promising {
        text.extend_from_slice(b"[remote ");
        quote(&mut text, remote);
        text.extend_from_slice(b"]\n");
        for key in ["url", "promisor", "partialclonefilter"] {
            let value = match key {
                "promisor" => Some(&b"true"[..]),
                key => config.last(setting(remote, key)),
            };
            if let Some(value) = value {
                text.extend_from_slice(format!("\t{key} = ").as_bytes());
                quote(&mut text, value);
                text.push(b'\n');
            }
        }
    }
    text
}
