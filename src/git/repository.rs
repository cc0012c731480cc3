//! Finding the repository and its working trees.

use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::git::config::GitConfig;
use crate::git::error::{Error, path_of, path_shown};
use crate::git::program::{Git, ask, finish};
use crate::git::read::{layout, or_program};

/// A repository, seen from one of its working trees. All paths are absolute, links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The working tree under review.
    pub source_root: PathBuf,
    /// Its git directory: for a linked worktree the one under `worktrees/`.
    pub git_dir: PathBuf,
    /// The directory that all working trees share.
    pub common_dir: PathBuf,
    /// The main working tree, or the source root: owns promoted evidence.
    pub control_root: PathBuf,
    /// How objects are named.
    pub object_format: ObjectFormat,
}

/// How objects are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFormat {
    /// 40 digits.
    Sha1,
    /// 64 digits.
    Sha256,
}

impl ObjectFormat {
    /// Git's name for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }
    /// That of an id, by its length.
    pub(crate) fn of(oid: &Oid) -> Self {
        if oid.as_str().len() == 40 {
            Self::Sha1
        } else {
            Self::Sha256
        }
    }
    /// How many bytes an id has.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

impl Repository {
    /// Finds the repository and the working tree that `dir` lies in.
    ///
    /// # Errors
    /// `NotARepository`, `NoWorkingTree` (a bare repository, or a folder inside `.git`), or what
    /// git says.
    pub fn discover(git: &Git, dir: &Path) -> Result<Self, Failure> {
        let dir = fs_err::canonicalize(dir)
            .map_err(|error| Failure::new(Code::NotARepository, error.to_string()))?;
        or_program(layout::of(&dir), || Self::by_program(git, &dir))
    }

    /// A bare repository itself, that `dir` lies in: what makes its first working tree needs no other.
    ///
    /// # Errors
    /// `NoWorkingTree` where it is not bare, or what git says.
    pub fn bare(git: &Git, dir: &Path) -> Result<Self, Failure> {
        let dir = fs_err::canonicalize(dir)
            .map_err(|error| Failure::new(Code::NotARepository, error.to_string()))?;
        let asked = finish(&git.command(&dir).args([
            "rev-parse",
            "--path-format=absolute",
            "--is-bare-repository",
            "--show-object-format",
            "--git-common-dir",
        ]));
        let answer = asked.map_err(|error| not_a_repository(&dir, error))?;
        let [bare, format, common_dir] = lines(&answer)[..] else {
            return Err(Error::answer("git rev-parse", &answer).into());
        };
        let common_dir = absolute(&dir, common_dir)?;
        if bare != b"true" {
            return Err(no_working_tree(&dir, &common_dir));
        }
        Ok(Self {
            source_root: common_dir.clone(),
            git_dir: common_dir.clone(),
            control_root: common_dir.clone(),
            object_format: object_format(format)?,
            common_dir,
        })
    }

    /// The branch that HEAD of the working tree names, in full; `None` for a detached one.
    ///
    /// # Errors
    /// When git fails.
    pub fn branch(&self, git: &Git) -> Result<Option<String>, Failure> {
        let command = git
            .on(&self.git_dir)
            .args(["symbolic-ref", "--quiet", "HEAD"]);
        let answer = ask(&command)?;
        Ok(answer.map(|name| String::from_utf8_lossy(name.trim_ascii_end()).into_owned()))
    }

    /// What the git program says of the repository that a canonical path lies in.
    ///
    /// # Errors
    /// As [`Repository::discover`].
    pub fn by_program(git: &Git, dir: &Path) -> Result<Self, Failure> {
        let asked = finish(&git.command(dir).args([
            "rev-parse",
            "--path-format=absolute",
            "--is-inside-work-tree",
            "--show-object-format",
            "--git-dir",
            "--git-common-dir",
        ]));
        let answer = asked.map_err(|error| not_a_repository(dir, error))?;
        let lines = lines(&answer);
        let [inside, format, git_dir, common_dir] = lines.as_slice() else {
            return Err(Failure::new(
                Code::NotARepository,
                format!("{} lies under a path with a line break", path_shown(dir)),
            ));
        };
        let object_format = object_format(format)?;
        let (git_dir, common_dir) = (absolute(dir, git_dir)?, absolute(dir, common_dir)?);
        if *inside != b"true" {
            return Err(no_working_tree(dir, &common_dir));
        }
        let top = git.run(dir, ["rev-parse", "--show-toplevel"])?;
        let source_root = absolute(dir, top.strip_suffix(b"\n").unwrap_or(&top))?;
        let control_root = control_root(git, &source_root, &git_dir, &common_dir)?;
        Ok(Self {
            source_root,
            git_dir,
            common_dir,
            control_root,
            object_format,
        })
    }

    /// Whether the source is a linked worktree.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// The folder of the repository's own objects.
    #[must_use]
    pub fn objects(&self) -> PathBuf {
        self.common_dir.join("objects")
    }
}

/// The working tree that `--worktree` names, beside the repository the command was started in
/// (row M-020).
///
/// # Errors
/// `WorktreeNotFound`, `WorktreeNotRoot`, `WorktreeForeign`, or as [`Repository::discover`].
pub fn worktree_source(
    git: &Git,
    control: &Repository,
    path: &Path,
) -> Result<Repository, Failure> {
    let shown = path_shown(path);
    let listing = [
        "git".to_owned(),
        "-C".to_owned(),
        control.source_root.to_string_lossy().into_owned(),
        "worktree".to_owned(),
        "list".to_owned(),
    ];
    let Ok(root) = fs_err::canonicalize(path) else {
        let message = format!("--worktree {shown}: there is no such folder");
        return Err(Failure::new(Code::WorktreeNotFound, message).next(listing));
    };
    if !root.is_dir() {
        let message = format!("--worktree {shown} is no folder");
        return Err(Failure::new(Code::WorktreeNotFound, message).next(listing));
    }
    let found = Repository::discover(git, &root)?;
    if found.common_dir != control.common_dir {
        let message = format!(
            "--worktree {shown} belongs to the repository {}, not to {}",
            path_shown(&found.common_dir),
            path_shown(&control.common_dir)
        );
        return Err(Failure::new(Code::WorktreeForeign, message).next(listing));
    }
    if found.source_root != root {
        let message = format!(
            "--worktree {shown} lies inside the working tree {}",
            path_shown(&found.source_root)
        );
        return Err(Failure::new(Code::WorktreeNotRoot, message).next(listing));
    }
    Ok(found)
}

/// The main working tree if there is one that can be found, else the source root.
///
/// Git writes down nowhere where the main working tree of a `--separate-git-dir` repository is;
/// from a linked worktree of such a one, the source root it is.
fn control_root(
    git: &Git,
    source_root: &Path,
    git_dir: &Path,
    common_dir: &Path,
) -> Result<PathBuf, Failure> {
    if git_dir == common_dir {
        return Ok(source_root.to_owned());
    }
    let config = GitConfig::read(&git.on(common_dir))?;
    if config.flag("core.bare")? {
        return Ok(source_root.to_owned());
    }
    let main = match config.last("core.worktree") {
        Some(path) => common_dir.join(path_of(path)),
        None if common_dir.file_name().is_some_and(|name| name == ".git") => common_dir.join(".."),
        None => return Ok(source_root.to_owned()),
    };
    let Ok(main) = fs_err::canonicalize(main) else {
        return Ok(source_root.to_owned());
    };
    // It counts only if git itself, asked there, names this repository.
    let there = Repository::by_program(git, &main);
    let same = there.is_ok_and(|it| it.source_root == main && it.git_dir == common_dir);
    Ok(if same { main } else { source_root.to_owned() })
}

fn object_format(name: &[u8]) -> Result<ObjectFormat, Error> {
    match name {
        b"sha1" => Ok(ObjectFormat::Sha1),
        b"sha256" => Ok(ObjectFormat::Sha256),
        other => Err(Error::answer("git rev-parse --show-object-format", other)),
    }
}

fn absolute(asked_in: &Path, answer: &[u8]) -> Result<PathBuf, Failure> {
    fs_err::canonicalize(asked_in.join(path_of(answer)))
        .map_err(|error| Failure::new(Code::NotARepository, error.to_string()))
}

fn lines(answer: &[u8]) -> Vec<&[u8]> {
    answer
        .strip_suffix(b"\n")
        .unwrap_or(answer)
        .split(|byte| *byte == b'\n')
        .collect()
}

fn not_a_repository(dir: &Path, error: Error) -> Failure {
    let text = String::from_utf8_lossy(error.stderr()).into_owned();
    if text.contains("not a git repository") {
        let message = format!("{} is in no git repository", path_shown(dir));
        return Failure::new(Code::NotARepository, message).next([
            "git".to_owned(),
            "-C".to_owned(),
            dir.to_string_lossy().into_owned(),
            "status".to_owned(),
        ]);
    }
    error.into_failure(Code::NotARepository)
}

fn no_working_tree(dir: &Path, common_dir: &Path) -> Failure {
    let message = format!(
        "{} lies in no working tree of {}; start in one, or name one with --worktree",
        path_shown(dir),
        path_shown(common_dir)
    );
    Failure::new(Code::NoWorkingTree, message).next([
        "git".to_owned(),
        format!("--git-dir={}", common_dir.to_string_lossy()),
        "worktree".to_owned(),
        "list".to_owned(),
    ])
}
