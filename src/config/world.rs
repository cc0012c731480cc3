//! What resolution needs from outside, handed in by the caller.

use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// Reads a file at the base, by its path in the repository; `None` where there is none.
pub type ReadBase<'a> = dyn Fn(&str) -> Result<Option<Vec<u8>>, Failure> + 'a;

/// Finds a program, by name or by absolute path, on the user's `PATH`.
pub type Find<'a> = dyn Fn(&str) -> Result<PathBuf, Failure> + 'a;

/// Files at the base and programs on the machine.
pub struct World<'a> {
    /// Folders whose programs the change under review can alter: source root, control root.
    pub repository: &'a [PathBuf],
    /// Reads a file at the base.
    pub read_base: &'a ReadBase<'a>,
    /// How programs are found.
    pub programs: Programs<'a>,
}

/// How programs are found.
#[derive(Clone, Copy)]
pub enum Programs<'a> {
    /// On the machine: for a run.
    Found(&'a Find<'a>),
    /// Not at all: a definition is the same on every machine, also where its program is missing.
    AsWritten,
}

impl std::fmt::Debug for Programs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Found(_) => "Found",
            Self::AsWritten => "AsWritten",
        })
    }
}

impl std::fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("repository", &self.repository)
            .finish_non_exhaustive()
    }
}

impl World<'_> {
    /// The absolute path of an agent's program. One inside the repository is refused, however it
    /// was found: the change under review could alter its own reviewer.
    ///
    /// # Errors
    /// `AgentNotRunnable`.
    pub fn program(&self, agent: &str, program: &str) -> Result<String, Failure> {
        let find = match self.programs {
            Programs::Found(find) => find,
            Programs::AsWritten => return Ok(program.to_owned()),
        };
        let refused = |message: String| {
            Failure::new(Code::AgentNotRunnable, message)
                .next(["run-loop", "config", "show", "--origin"])
        };
        if program.contains('/') && !Path::new(program).is_absolute() {
            return Err(refused(format!(
                "the agent {agent} runs {program:?}, a program inside the repository; this \
                 version runs only programs outside of it: install it, and name it by its \
                 absolute path or as found on PATH"
            )));
        }
        let found = find(program).map_err(|failure| Failure {
            message: format!("the agent {agent} cannot be run: {}", failure.message),
            ..failure
        })?;
        self.outside(agent, &found)
    }

    /// The native binary of a launcher that was found, where one of the places beside it has it.
    ///
    /// # Errors
    /// `AgentNotRunnable`, when it lies inside the repository.
    pub fn native(
        &self,
        agent: &str,
        launcher: &str,
        places: &[String],
    ) -> Result<String, Failure> {
        let Programs::Found(find) = self.programs else {
            return Ok(launcher.to_owned());
        };
        let found = native_beside(Path::new(launcher), places)
            .filter(|path| path.to_str().is_some_and(|path| find(path).is_ok()));
        match found {
            Some(path) => self.outside(agent, &path),
            None => Ok(launcher.to_owned()),
        }
    }

    fn outside(&self, agent: &str, found: &Path) -> Result<String, Failure> {
        let refused = |message: String| {
            Failure::new(Code::AgentNotRunnable, message)
                .next(["run-loop", "config", "show", "--origin"])
        };
        // Links are followed: what counts is where the bytes lie.
        let real = fs_err::canonicalize(found)
            .map_err(|error| refused(format!("the agent {agent} cannot be run: {error}")))?;
        if let Some(root) = self
            .repository
            .iter()
            .find(|root| found.starts_with(root) || real.starts_with(root))
        {
            return Err(refused(format!(
                "the program of the agent {agent}, {}, lies inside the repository {}, where the \
                 change under review can alter it",
                found.display(),
                root.display()
            )));
        }
        found.to_str().map(str::to_owned).ok_or_else(|| {
            refused(format!(
                "the program of the agent {agent}, {}, is not UTF-8",
                found.display()
            ))
        })
    }
}

/// The file of a native binary beside a launcher, links followed, where one of the places has it.
#[must_use]
pub fn native_beside(launcher: &Path, places: &[String]) -> Option<PathBuf> {
    let real = fs_err::canonicalize(launcher).ok()?;
    let folder = real.parent()?;
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    places.iter().find_map(|place| {
        let place = place
            .replace("{arch}", arch)
            .replace("{cpu}", std::env::consts::ARCH);
        fs_err::canonicalize(folder.join(place)).ok()
    })
}
