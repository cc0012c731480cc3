//! The git program, hardened: what every git process of ours is given (design, section 5).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::error::{Error, name_of, path_shown, shown};
use crate::process::command::{Command, Output};

/// The oldest git that is supported: Ubuntu 22.04's.
const OLDEST: (u32, u32) = (2, 34);

/// Settings that no repository and no user can change for us.
///
/// The first six are the design's. `core.ignoreStat` would mark every entry we enter as
/// assume-unchanged, `core.safecrlf` and the advice only add text to standard error,
/// `add.ignoreErrors` makes partial trees, and `submodule.recurse` reaches into submodules.
/// `ext::` remotes are commands of a shell: git takes one from a repository's configuration only where that
/// allows it, too, and whoever works there can write both.
const SETTINGS: [&str; 15] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.commitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.ignoreStat=false",
    "core.safecrlf=false",
    "core.warnAmbiguousRefs=false",
    "advice.graftFileDeprecated=false",
    "advice.sparseIndexExpanded=false",
    "add.ignoreErrors=false",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
];

/// How long a remote may take to give what it has promised: hours of a slow one are given up, and not a big
/// repository on a common line.
pub const FETCH_LIMIT: Duration = Duration::from_mins(20);

/// What git is given of the user's environment; nothing else reaches it, `GIT_*` least of all.
#[derive(Debug, Clone, Default)]
pub struct GitEnvironment {
    /// `PATH`: where git, and the programs of allowed filters, are found.
    pub path: OsString,
    /// `HOME`: the user's own git configuration.
    pub home: Option<OsString>,
    /// `XDG_CONFIG_HOME`: the other place of it.
    pub xdg_config_home: Option<OsString>,
    /// The program to use instead of the first `git` on `path`.
    pub program: Option<PathBuf>,
    /// `GIT_ALLOW_PROTOCOL`: the only protocols that the user lets git use.
    pub allow_protocol: Option<OsString>,
    /// How long a remote may take that has promised objects; `None`: [`FETCH_LIMIT`].
    pub fetch_limit: Option<Duration>,
    /// Leave out the machine's configuration (`/etc/gitconfig`).
    pub no_system_config: bool,
    /// Capture every working tree by git programs alone: what is quicker is compared with that.
    pub captures_alone: bool,
}

impl GitEnvironment {
    /// An environment with a `PATH` alone.
    #[must_use]
    pub fn new(path: impl Into<OsString>) -> Self {
        Self {
            path: path.into(),
            ..Self::default()
        }
    }
}

/// The git program. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Git {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    program: PathBuf,
    env: BTreeMap<OsString, OsString>,
    version: (u32, u32),
    fetch_limit: Duration,
    captures_alone: bool,
}

impl Git {
    /// Finds git on a `PATH`, without the user's configuration.
    ///
    /// # Errors
    /// `GitTooOld` when there is none, or one older than 2.34.
    pub fn find(path_var: &OsStr) -> Result<Self, Failure> {
        Self::find_in(&GitEnvironment::new(path_var))
    }

    /// Finds git in an environment.
    ///
    /// # Errors
    /// `GitTooOld` when there is none, or one older than 2.34.
    pub fn find_in(environment: &GitEnvironment) -> Result<Self, Failure> {
        let program = match &environment.program {
            Some(program) if program.components().count() > 1 => program.clone(),
            Some(name) => on_path(&environment.path, name)?,
            None => on_path(&environment.path, Path::new("git"))?,
        };
        let env = variables(environment);
        let mut command = Command::new(&program, "/").arg("--version");
        command.env.clone_from(&env);
        let answer = finish(&command).map_err(|error| error.into_failure(Code::GitTooOld))?;
        let version = version_of(&answer).ok_or_else(|| {
            too_old(format!(
                "{} --version says {}, which names no version",
                path_shown(&program),
                shown(&answer)
            ))
        })?;
        if version < OLDEST {
            return Err(too_old(format!(
                "{} is git {}.{}; run-loop needs 2.34 or newer",
                path_shown(&program),
                version.0,
                version.1
            )));
        }
        Ok(Self {
            inner: Arc::new(Inner {
                program,
                env,
                version,
                fetch_limit: environment.fetch_limit.unwrap_or(FETCH_LIMIT),
                captures_alone: environment.captures_alone,
            }),
        })
    }

    /// How long a remote may take.
    #[must_use]
    pub(crate) fn fetch_limit(&self) -> Duration {
        self.inner.fetch_limit
    }

    /// Whether working trees are captured by git programs alone.
    #[must_use]
    pub(crate) fn captures_alone(&self) -> bool {
        self.inner.captures_alone
    }

    /// The version: major and minor.
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        self.inner.version
    }

    /// Where it lies.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.inner.program
    }

    /// A hardened git process that runs in `dir`; arguments and variables are added to it.
    #[must_use]
    pub fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(&self.inner.program, dir);
        command.env.clone_from(&self.inner.env);
        for setting in SETTINGS {
            command = command.arg("-c").arg(setting);
        }
        command
    }

    /// A hardened git process on a git directory, bare or not, without a working tree.
    #[must_use]
    pub fn on(&self, git_dir: &Path) -> Command {
        let mut option = OsString::from("--git-dir=");
        option.push(git_dir);
        self.command(git_dir).arg(option)
    }

    /// Runs git in `dir` and returns its standard output.
    ///
    /// # Errors
    /// When git cannot be run, ends with anything but 0, or says anything on standard error.
    pub fn run<S: AsRef<OsStr>>(
        &self,
        dir: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Vec<u8>, Error> {
        finish(&self.command(dir).args(args))
    }

    /// Runs git on a git directory and returns its standard output.
    ///
    /// # Errors
    /// As [`Git::run`].
    pub fn run_on<S: AsRef<OsStr>>(
        &self,
        git_dir: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Vec<u8>, Error> {
        finish(&self.on(git_dir).args(args))
    }
}

/// Runs a command made by [`Git::command`] and returns its standard output.
///
/// # Errors
/// As [`Git::run`].
pub fn finish(command: &Command) -> Result<Vec<u8>, Error> {
    let output = start(command)?;
    if output.status.success() {
        quiet(command, output)
    } else {
        Err(failed(command, output))
    }
}

/// Runs a command with its standard output in a file; as strict as [`finish`].
pub(crate) fn finish_into(command: &Command, file: std::fs::File) -> Result<(), Error> {
    let output = command.output_into(file).map_err(|source| Error::Start {
        command: name_of(command),
        source,
    })?;
    if output.status.success() {
        quiet(command, output).map(drop)
    } else {
        Err(failed(command, output))
    }
}

/// Runs a command that answers by its exit code: `Some` output for 0, `None` for a silent 1.
///
/// # Errors
/// Any other end, and anything on standard error.
pub fn ask(command: &Command) -> Result<Option<Vec<u8>>, Error> {
    let output = start(command)?;
    match output.status.code() {
        Some(0) => quiet(command, output).map(Some),
        Some(1) if output.stderr.is_empty() => Ok(None),
        Some(_) | None => Err(failed(command, output)),
    }
}

fn start(command: &Command) -> Result<Output, Error> {
    command.output().map_err(|source| Error::Start {
        command: name_of(command),
        source,
    })
}

fn quiet(command: &Command, output: Output) -> Result<Vec<u8>, Error> {
    if output.stderr.is_empty() {
        Ok(output.stdout)
    } else {
        Err(Error::Complained {
            command: name_of(command),
            stderr: output.stderr,
        })
    }
}

/// How a command failed.
pub(crate) fn failed(command: &Command, output: Output) -> Error {
    Error::Failed {
        command: name_of(command),
        status: output.status,
        stderr: output.stderr,
    }
}

fn variables(environment: &GitEnvironment) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> = [
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_GRAFT_FILE", "/dev/null"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", "true"),
        // Hints of newer git are for people; warnings stay.
        ("GIT_ADVICE", "0"),
        ("LC_ALL", "C"),
    ]
    .into_iter()
    .map(|(name, value)| (name.into(), value.into()))
    .collect();
    env.insert("PATH".into(), environment.path.clone());
    if let Some(home) = &environment.home {
        env.insert("HOME".into(), home.clone());
    }
    if let Some(folder) = &environment.xdg_config_home {
        env.insert("XDG_CONFIG_HOME".into(), folder.clone());
    }
    if let Some(protocols) = &environment.allow_protocol {
        env.insert("GIT_ALLOW_PROTOCOL".into(), protocols.clone());
    }
    if environment.no_system_config {
        env.insert("GIT_CONFIG_NOSYSTEM".into(), "1".into());
    }
    env
}

fn on_path(path: &OsStr, name: &Path) -> Result<PathBuf, Failure> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| {
            fs_err::metadata(file)
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
        .ok_or_else(|| too_old(format!("no `{}` on PATH", path_shown(name))))
}

fn too_old(message: String) -> Failure {
    Failure::new(Code::GitTooOld, message).next(["git", "--version"])
}

fn version_of(answer: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(answer).ok()?;
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor: String = numbers
        .next()?
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    Some((major, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn versions_are_read_in_every_vendors_form() {
        assert_eq!(version_of(b"git version 2.34.1\n"), Some((2, 34)));
        assert_eq!(
            version_of(b"git version 2.39.2 (Apple Git-143)\n"),
            Some((2, 39))
        );
        assert_eq!(version_of(b"git version 2.45.1.windows.1\n"), Some((2, 45)));
        assert_eq!(version_of(b"git version 3.0-rc1\n"), Some((3, 0)));
        assert_eq!(version_of(b"hub version 2.14\n"), None);
        assert_eq!(version_of(b""), None);
    }
}
