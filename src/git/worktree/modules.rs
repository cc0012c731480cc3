//! The repositories of a working tree's submodules: they lie in its git directory and go with it,
//! also those that are checked out nowhere (row M-230).

use std::io;
use std::path::{Path, PathBuf};

use crate::git::Error;
use crate::git::error::path_shown;
use crate::git::object::resolves;
use crate::git::program::{Git, finish};
use crate::git::worktree::commits::oids;
use crate::git::worktree::{Risk, commits_shown, lines};

/// Every repository under a `modules` folder, nested ones too, and what is no whole repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Modules {
    /// Their git directories.
    pub(crate) repositories: Vec<PathBuf>,
    /// Folders that hold something and are no repository.
    pub(crate) partial: Vec<PathBuf>,
}

impl Modules {
    /// Looks under the git directory of a working tree.
    pub(crate) fn of(admin: &Path) -> io::Result<Self> {
        let mut found = Self::default();
        found.search(&admin.join("modules"))?;
        found.repositories.sort();
        Ok(found)
    }
    /// Whether there is anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.repositories.is_empty() && self.partial.is_empty()
    }

    fn search(&mut self, folder: &Path) -> io::Result<()> {
        let entries = match fs_err::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let (mut folders, mut names) = (Vec::new(), Vec::new());
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
            names.push(entry.file_name());
        }
        let has = |name: &str| names.iter().any(|found| found == name);
        if has("HEAD") {
            self.repositories.push(folder.to_owned());
            return self.search(&folder.join("modules"));
        }
        // Names of submodules may hold slashes: a folder of nothing but folders is on the way.
        if names.len() > folders.len() || has("objects") || has("refs") {
            self.partial.push(folder.to_owned());
            return Ok(());
        }
        folders.iter().try_for_each(|folder| self.search(folder))
    }
}

/// What would be lost with these repositories.
pub(crate) fn at_risk(git: &Git, modules: &Modules) -> Vec<Risk> {
    let mut risks: Vec<Risk> = modules
        .partial
        .iter()
        .map(|folder| Risk::unknown(folder, &"it is no whole repository"))
        .collect();
    for repository in &modules.repositories {
        match of_repository(git, repository) {
            Ok(found) => risks.extend(found),
            Err(error) => risks.push(Risk::unknown(repository, &error)),
        }
    }
    risks
}

/// What of one repository no remote-tracking ref holds (rows M-228 and M-229).
fn of_repository(git: &Git, dir: &Path) -> Result<Vec<Risk>, Error> {
    let shown = path_shown(dir);
    let option = format!("--git-dir={}", dir.to_string_lossy());
    if !resolves(git, dir, "HEAD")? {
        return Ok(vec![Risk::unknown(
            dir,
            &"its HEAD names no commit: a repository that was never completed",
        )]);
    }
    let mut risks = Vec::new();
    let stashes = fs_err::symlink_metadata(dir.join("logs/refs/stash"))
        .is_ok_and(|meta| meta.len() > 0)
        || resolves(git, dir, "refs/stash")?;
    if stashes {
        risks.push(Risk::new(
            format!("stashes of the submodule repository {shown}"),
            ["git", &option, "stash", "list"],
        ));
    }
    let unpushed = rev_list(
        git,
        dir,
        // HEAD and every local ref, be it branch, tag or note; a stash is told of once.
        &["--exclude=refs/remotes/*", "--exclude=refs/stash", "--all"],
    )?;
    if let Some(newest) = unpushed.first() {
        risks.push(Risk::new(
            format!(
                "{} of the submodule repository {shown} that no remote has, {newest} the newest",
                commits_shown(unpushed.len())
            ),
            [
                "git",
                &option,
                "log",
                "--oneline",
                "--exclude=refs/stash",
                "--all",
                "--not",
                "--remotes",
            ],
        ));
    }
    risks.extend(other_objects(git, dir, &shown, &option)?);
    if risks.is_empty() {
        let passed = rev_list(git, dir, &["--reflog"])?;
        if let Some(newest) = passed.first() {
            risks.push(Risk::new(
                format!(
                    "{} that only the reflogs of the submodule repository {shown} hold, {newest} \
                     the newest",
                    commits_shown(passed.len())
                ),
                [
                    "git",
                    &option,
                    "log",
                    "--oneline",
                    "--reflog",
                    "--not",
                    "--remotes",
                ],
            ));
        }
    }
    Ok(risks)
}

fn rev_list(git: &Git, dir: &Path, from: &[&str]) -> Result<Vec<crate::domain::oid::Oid>, Error> {
    let command = git
        .on(dir)
        .arg("rev-list")
        .args(from)
        .args(["--not", "--remotes"]);
    oids("git rev-list", &finish(&command)?)
}

/// Local refs that name something else than a commit: no walk over commits sees what they hold.
fn other_objects(git: &Git, dir: &Path, shown: &str, option: &str) -> Result<Vec<Risk>, Error> {
    let command = git.on(dir).args([
        "for-each-ref",
        "--format=%(refname) %(objecttype) %(*objecttype)",
    ]);
    let answer = finish(&command)?;
    let mut risks = Vec::new();
    for line in lines(&answer)? {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let (Some(name), Some(kind)) = (words.next(), words.next()) else {
            return Err(Error::answer("git for-each-ref", line.as_bytes()));
        };
        let named = words.next().unwrap_or(kind);
        if named != "commit" && !name.starts_with("refs/remotes/") {
            risks.push(Risk::new(
                format!("{name} of the submodule repository {shown}, which names a {named}"),
                ["git", option, "show", name],
            ));
        }
    }
    Ok(risks)
}
