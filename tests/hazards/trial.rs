//! One hazard: the tree of a pin, compared with plain git's own, or its refusal.

use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::identity::Pin;
use run_loop::git::{Git, GitEnvironment};

use crate::support::agents::executable;
use crate::support::reading;
use crate::support::reference::{Untouched, reference_with};
use crate::support::repo::{Repo, git_command, git_program};
use crate::support::source::{Source, environment};

/// A working tree with a hazard, and how plain git is asked about it.
pub(crate) struct Trial<'a> {
    repo: &'a Repo,
    root: PathBuf,
    /// The working tree that plain git is asked about: a full one beside a sparse one.
    model: PathBuf,
    /// Settings without which plain git would look less carefully than we do.
    careful: Vec<&'a str>,
    allowed: Vec<String>,
    environment: GitEnvironment,
}

impl<'a> Trial<'a> {
    pub(crate) fn of(repo: &'a Repo) -> Self {
        Self::at(repo, repo.root())
    }
    /// A working tree that is not the main one of `repo`.
    pub(crate) fn at(repo: &'a Repo, root: &Path) -> Self {
        Self {
            repo,
            root: root.to_owned(),
            model: root.to_owned(),
            careful: Vec::new(),
            allowed: Vec::new(),
            environment: environment(),
        }
    }
    pub(crate) fn model(mut self, model: &Path) -> Self {
        model.clone_into(&mut self.model);
        self
    }
    pub(crate) fn careful(mut self, setting: &'a str) -> Self {
        self.careful.push(setting);
        self
    }
    pub(crate) fn allow(mut self, filter: &str) -> Self {
        self.allowed.push(filter.to_owned());
        self
    }
    pub(crate) fn home(mut self, home: &Path) -> Self {
        self.environment.home = Some(home.into());
        self
    }
    /// Puts a folder of programs before the others.
    pub(crate) fn programs(mut self, folder: &Path) -> Self {
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(&self.environment.path);
        self.environment.path = path;
        self
    }
    fn source(&self) -> Source {
        self.source_in(&self.environment)
    }
    /// Of which git programs alone take captures.
    fn by_git(&self) -> Source {
        self.source_in(&GitEnvironment {
            captures_alone: true,
            ..self.environment.clone()
        })
    }
    fn source_in(&self, environment: &GitEnvironment) -> Source {
        let git = Git::find_in(environment).unwrap();
        let mut source = Source::at(self.repo, &self.root, Some("HEAD"), git);
        source.spec.allow_filters.clone_from(&self.allowed);
        source
    }
    /// Pins and measures: both have plain git's tree, and the repository stays as it was.
    #[track_caller]
    pub(crate) fn same(&self) -> Seen {
        let before = Untouched::of(self.repo, &self.root);
        let source = self.source();
        reading::agree(&source.git, &source.found.source_root);
        let pin = source.pin();
        assert_eq!(source.measure(&pin).pin, pin);
        assert_eq!(self.by_git().pin(), pin, "by git alone, and as it is taken");
        assert_eq!(before, Untouched::of(self.repo, &self.root));
        let home = self.environment.home.as_deref();
        let mut env = vec![("PATH", self.environment.path.as_os_str())];
        env.extend(home.map(|home: &OsStr| ("HOME", home)));
        if home.is_some() {
            env.push(("GIT_CONFIG_GLOBAL", OsStr::new("/nonexistent")));
        }
        let expected = reference_with(&self.model, &self.careful, &env);
        let seen = Seen { source, pin };
        assert_eq!(
            seen.pin.identity.tree.as_str(),
            expected,
            "we hold:\n{}\ngit holds:\n{}",
            seen.listing(seen.pin.identity.tree.as_str()),
            seen.listing(&expected),
        );
        assert!(!seen.listing(&expected).contains(" missing"));
        seen
    }
    /// Refuses with this code, names the thing, and touches nothing.
    #[track_caller]
    pub(crate) fn refused(&self, code: Code, named: &str) -> Failure {
        let before = Untouched::of(self.repo, &self.root);
        let source = self.source();
        reading::agree(&source.git, &source.found.source_root);
        let failure = source.try_pin(1).unwrap_err();
        assert_eq!(self.by_git().try_pin(1).unwrap_err(), failure);
        assert_eq!(before, Untouched::of(self.repo, &self.root));
        assert_eq!(failure.code, code, "{failure}");
        assert!(failure.message.contains(named), "{failure}");
        assert_ne!(failure.next.0[1], "explain", "a next command that helps");
        failure
    }
}

/// See [`Trial::same`].
#[track_caller]
pub(crate) fn same(repo: &Repo) -> Seen {
    Trial::of(repo).same()
}

/// See [`Trial::refused`].
#[track_caller]
pub(crate) fn refused(repo: &Repo, code: Code, named: &str) -> Failure {
    Trial::of(repo).refused(code, named)
}

/// A pin that has plain git's tree. What it holds is asserted beside it, so that a fault that both
/// have shows too.
pub(crate) struct Seen {
    pub(crate) source: Source,
    pub(crate) pin: Pin,
}

impl Seen {
    /// The file's content in the snapshot, read from the store alone.
    #[track_caller]
    pub(crate) fn shows(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let found = self.blob(path);
        let shown = found.as_deref().map(String::from_utf8_lossy);
        assert_eq!(
            found.as_deref(),
            Some(content.as_ref()),
            "{path}: {shown:?}"
        );
        self
    }
    #[track_caller]
    pub(crate) fn lacks(&self, path: &str) -> &Self {
        assert_eq!(self.mode(path), "", "{path} is in the snapshot");
        self
    }
    /// `100644` and the like.
    #[track_caller]
    pub(crate) fn has_mode(&self, path: &str, mode: &str) -> &Self {
        assert_eq!(self.mode(path), mode, "{path}");
        self
    }
    #[track_caller]
    pub(crate) fn is_clean(&self) -> &Self {
        assert!(!self.pin.dirty);
        self
    }
    fn blob(&self, path: &str) -> Option<Vec<u8>> {
        let output = git_command(self.source.store.git_dir())
            .args(["cat-file", "blob", &format!("{}:{path}", self.pin.snapshot)])
            .output()
            .unwrap();
        output.status.success().then_some(output.stdout)
    }
    fn mode(&self, path: &str) -> String {
        let output = git_command(self.source.store.git_dir())
            .args(["--literal-pathspecs", "ls-tree", "-z"])
            .args([self.pin.snapshot.as_str(), "--", path])
            .output()
            .unwrap();
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        line.split(' ').next().unwrap().to_owned()
    }
    /// Every entry of a tree with its size, which git has to look up in the object.
    fn listing(&self, tree: &str) -> String {
        let output = git_command(self.source.store.git_dir())
            .args(["ls-tree", "-r", "-l", tree])
            .output()
            .unwrap();
        let words = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&words).into_owned()
    }
}

/// A program.
pub(crate) fn script(path: &Path, text: &str) {
    let folder = path.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    executable(folder, name, &format!("#!/bin/sh\n{text}\n"));
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn remove(repo: &Repo, path: &str) {
    let path = repo.root().join(path);
    if std::fs::symlink_metadata(&path).unwrap().is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

pub(crate) fn link(repo: &Repo, target: &str, path: &str) {
    std::os::unix::fs::symlink(target, repo.root().join(path)).unwrap();
}

pub(crate) fn set_mtime(path: &Path, time: SystemTime) {
    // Without opening: it may be written to by nobody.
    let file = File::open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// A moment in whole seconds, a little in the past.
pub(crate) fn moment() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000)
}

/// The git under test, as a path.
pub(crate) fn real_git() -> PathBuf {
    std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(git_program()))
        .find(|file| file.is_file())
        .unwrap()
}
