//! What the source's refs say, read at one moment.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::run_spec::BaseSpec;
use crate::git::base::unborn;
use crate::git::error::{Error, path_of, path_shown};
use crate::git::object::resolves;
use crate::git::program::{Git, finish};
use crate::git::read::library::Library;
use crate::git::read::{Peel, Place, Read as _, Unsure, layout, or_program};
use crate::git::repository::Repository;

/// Where HEAD and the base stand.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The commit of HEAD.
    pub(crate) head: Oid,
    /// Its tree.
    pub(crate) head_tree: Oid,
    /// The branch (`refs/heads/…`) that HEAD names; `None` when it is detached.
    pub(crate) branch: Option<String>,
    /// The commit that `--base` names now.
    pub(crate) tip: Option<Oid>,
}

impl Facts {
    /// Reads them, and proves that the folder is still the working tree of the same repository.
    pub(crate) fn read(git: &Git, repo: &Repository, base: &BaseSpec) -> Result<Self, Failure> {
        or_program(Self::in_process(repo, base), || {
            Self::by_program(git, repo, base)
        })
    }

    fn in_process(repo: &Repository, base: &BaseSpec) -> Result<Self, Unsure> {
        let found = layout::of(&repo.source_root)?;
        let same = found.source_root == repo.source_root
            && found.git_dir == repo.git_dir
            && found.common_dir == repo.common_dir;
        if !same {
            let root = repo.source_root.to_string_lossy();
            return Err(Unsure::question(root, "another repository's"));
        }
        let library = Library::open(Place::new(&repo.git_dir))?;
        let head = library.head()?;
        let tip = match base {
            BaseSpec::MergeBase { resolved, .. } => library.peeled(resolved, Peel::Commit)?,
            BaseSpec::StartHead { .. } => None,
        };
        Ok(Self {
            head: head.commit,
            head_tree: head.tree,
            branch: head.branch,
            tip,
        })
    }

    fn by_program(git: &Git, repo: &Repository, base: &BaseSpec) -> Result<Self, Failure> {
        let rev = match base {
            BaseSpec::MergeBase { resolved, .. } => Some(format!("{resolved}^{{commit}}")),
            BaseSpec::StartHead { .. } => None,
        };
        let command = git
            .command(&repo.source_root)
            .args([
                "rev-parse",
                "--absolute-git-dir",
                "--show-toplevel",
                "HEAD^{commit}",
                "HEAD^{tree}",
            ])
            .args(&rev)
            .args(["--symbolic-full-name", "HEAD"]);
        let answer = match finish(&command) {
            Ok(answer) => answer,
            Err(error) => return Err(Self::missing(git, repo, base, error)),
        };
        let nonsense = || Error::answer("git rev-parse", &answer);
        let lines: Vec<&[u8]> = answer.split(|byte| *byte == b'\n').collect();
        let (places, rest) = lines.split_at_checked(2).ok_or_else(nonsense)?;
        let [git_dir, top] = places else {
            return Err(nonsense().into());
        };
        same_place(repo, git_dir, top)?;
        let words: Option<Vec<&str>> = rest
            .iter()
            .map(|line| std::str::from_utf8(line).ok())
            .collect();
        let words = words.ok_or_else(nonsense)?;
        let (head, head_tree, tip, branch) = match (words.as_slice(), &rev) {
            ([head, tree, tip, branch, ""], Some(_)) => (*head, *tree, Some(*tip), *branch),
            ([head, tree, branch, ""], None) => (*head, *tree, None, *branch),
            _ => return Err(nonsense().into()),
        };
        let oid = |text: &str| Oid::parse(text).ok_or_else(nonsense);
        Ok(Self {
            head: oid(head)?,
            head_tree: oid(head_tree)?,
            branch: (branch != "HEAD").then(|| branch.to_owned()),
            tip: tip.map(oid).transpose()?,
        })
    }

    /// What it is that git could not resolve.
    fn missing(git: &Git, repo: &Repository, base: &BaseSpec, error: Error) -> Failure {
        // A name that resolves to an object that is not there is damage, and no answer.
        let gone = |rev: &str| matches!(resolves(git, &repo.git_dir, rev), Ok(false));
        if gone("HEAD") {
            return unborn(repo);
        }
        if let BaseSpec::MergeBase {
            given, resolved, ..
        } = base
            && gone(resolved)
        {
            let message = format!("--base {given}: {resolved} names no commit any more");
            let root = repo.source_root.to_string_lossy().into_owned();
            return Failure::new(Code::BaseUnknown, message)
                .next(["git", "-C", &root, "branch", "--all", "--list"]);
        }
        error.into()
    }
}

fn same_place(repo: &Repository, git_dir: &[u8], top: &[u8]) -> Result<(), Failure> {
    let is = |answer: &[u8], path: &std::path::Path| {
        fs_err::canonicalize(path_of(answer)).is_ok_and(|found| found == path)
    };
    if is(git_dir, &repo.git_dir) && is(top, &repo.source_root) {
        return Ok(());
    }
    let message = format!(
        "{} is no longer the working tree of {}: git finds {} and {}",
        path_shown(&repo.source_root),
        path_shown(&repo.git_dir),
        path_shown(&path_of(top)),
        path_shown(&path_of(git_dir))
    );
    Err(Failure::new(Code::SnapshotRefused, message))
}
