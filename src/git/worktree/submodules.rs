//! Initialising submodules, and taking back exactly one attempt at it (rows M-222 and M-223).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::Error;
use crate::git::error::{path_of, path_shown, shown};
use crate::git::index::list;
use crate::git::program::{Git, finish};
use crate::git::worktree::modules::Modules;
use crate::git::worktree::shared_config::SharedConfig;
use crate::process::command::Command;

/// One attempt, with what there was before it.
#[derive(Debug)]
pub(crate) struct Attempt {
    git: Git,
    root: PathBuf,
    admin: PathBuf,
    config: SharedConfig,
    modules: Modules,
}

impl Attempt {
    /// Looks at what there is; nothing is changed.
    pub(crate) fn begin(
        git: &Git,
        root: &Path,
        admin: &Path,
        common_dir: &Path,
    ) -> Result<Self, Error> {
        Ok(Self {
            git: git.clone(),
            root: root.to_owned(),
            admin: admin.to_owned(),
            config: SharedConfig::read(git, common_dir)?,
            modules: Modules::of(admin)?,
        })
    }

    /// Initialises and checks out every submodule, nested ones too. `transport` is what git needs
    /// of the user's environment to reach remotes.
    pub(crate) fn run(&self, transport: &BTreeMap<OsString, OsString>) -> Result<(), Error> {
        let mut command = self.git.command(&self.root).args([
            "submodule",
            "--quiet",
            "update",
            "--init",
            "--recursive",
        ]);
        for (name, value) in transport {
            command = command.env(name, value);
        }
        succeed(&command)?;
        // The final status proves that it is usable.
        let status = finish(&self.status())?;
        let odd = status
            .split(|byte| *byte == b'\n')
            .find(|line| line.starts_with(b"+") || line.starts_with(b"U"));
        match odd {
            None => Ok(()),
            Some(line) => Err(Error::answer("git submodule status", line)),
        }
    }

    fn status(&self) -> Command {
        self.git
            .command(&self.root)
            .args(["submodule", "status", "--recursive"])
    }

    /// Takes back what this attempt made in a working tree that was there before; what could not
    /// be taken back is returned.
    pub(crate) fn undo(&self) -> Vec<String> {
        let mut left = Vec::new();
        match Modules::of(&self.admin) {
            Ok(now) => {
                let new = |path: &&PathBuf| {
                    let known = self.modules.repositories.contains(path)
                        || self.modules.partial.contains(path);
                    !known
                };
                let mut made: Vec<&PathBuf> = now
                    .repositories
                    .iter()
                    .chain(&now.partial)
                    .filter(new)
                    .collect();
                made.sort();
                // A parent's folder takes its nested ones with it.
                let mut outermost: Vec<&PathBuf> = Vec::new();
                for path in made {
                    if !outermost.iter().any(|outer| path.starts_with(outer)) {
                        outermost.push(path);
                    }
                }
                for path in outermost {
                    left.extend(self.take_back(path));
                }
            }
            Err(error) => left.push(error.to_string()),
        }
        left.extend(self.restore_config());
        if let Err(error) = finish(&self.status()) {
            left.push(format!(
                "{} cannot tell the state of its submodules: {error}",
                path_shown(&self.root)
            ));
        }
        left
    }

    /// Puts the shared configuration back; what stays different is returned.
    pub(crate) fn restore_config(&self) -> Option<String> {
        self.config
            .restore()
            .err()
            .map(|error| format!("the configuration: {error}"))
    }

    /// Empties the folder of one submodule and deletes its repository, which this attempt cloned.
    fn take_back(&self, repository: &Path) -> Option<String> {
        let result = (|| -> Result<(), Error> {
            if let Some(path) = worktree_of(repository)?.filter(|path| path.starts_with(&self.root))
            {
                let parent = self.parent_of(&path);
                // Without `--force`: what somebody wrote there meanwhile makes it refuse.
                let command = self
                    .git
                    .command(parent)
                    .args(["submodule", "--quiet", "deinit", "--"])
                    .arg(path.strip_prefix(parent).unwrap_or(&path));
                succeed(&command)?;
            }
            Ok(fs_err::remove_dir_all(repository)?)
        })();
        result
            .err()
            .map(|error| format!("{}: {error}", path_shown(repository)))
    }

    /// The innermost working tree around a submodule's folder.
    fn parent_of<'p>(&'p self, path: &'p Path) -> &'p Path {
        path.ancestors()
            .skip(1)
            .take_while(|folder| *folder != self.root)
            .find(|folder| folder.join(".git").exists())
            .unwrap_or(&self.root)
    }
}

/// The folder that a submodule's repository says it is checked out in, if it is there.
fn worktree_of(repository: &Path) -> Result<Option<PathBuf>, Error> {
    let text = match fs_err::read(repository.join("config")) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Git writes this line itself, relative to the repository.
    let line = text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.trim_ascii().strip_prefix(b"worktree = "))
        .next_back();
    Ok(line.and_then(|path| fs_err::canonicalize(repository.join(path_of(path))).ok()))
}

/// A submodule's folder that holds files and is not initialised: cloning into it fails, and taking
/// the clone back would delete them (T-152).
pub(crate) fn refuse_occupied(git: &Git, root: &Path) -> Result<(), Failure> {
    let (entries, _) = list(&git.command(root))?;
    for entry in entries.iter().filter(|entry| entry.is_gitlink()) {
        let path = root.join(path_of(&entry.path));
        if fs_err::symlink_metadata(path.join(".git")).is_ok() {
            continue;
        }
        let occupied = match fs_err::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(Error::Io(error).into()),
            Ok(meta) if !meta.is_dir() => true,
            Ok(_) => fs_err::read_dir(&path).map_err(Error::Io)?.next().is_some(),
        };
        if occupied {
            let message = format!(
                "{} is a submodule that is not initialised, and holds files",
                path_shown(&path)
            );
            return Err(Failure::new(Code::DirtySubmodule, message).next([
                "ls".to_owned(),
                "-la".to_owned(),
                path.to_string_lossy().into_owned(),
            ]));
        }
    }
    Ok(())
}

/// Runs git for its effect: unlike an answer, it may say things on standard error.
pub(crate) fn succeed(command: &Command) -> Result<(), Error> {
    let name = crate::git::error::name_of(command);
    let output = command.output().map_err(|source| Error::Start {
        command: name.clone(),
        source,
    })?;
    if output.status.success() {
        tracing::debug!(command = %name, stderr = %shown(&output.stderr), "done");
        return Ok(());
    }
    Err(Error::Failed {
        command: name,
        status: output.status,
        stderr: output.stderr,
    })
}
