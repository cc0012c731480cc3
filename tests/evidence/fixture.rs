//! A repository with two commits, and the evidence of what lies between them.

use std::path::{Path, PathBuf};

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::evidence::{ChangedFile, Evidence};
use run_loop::domain::failure::Failure;
use run_loop::domain::identity::{Identity, Pin, Tripwire};
use run_loop::domain::isolation::Isolation;
use run_loop::domain::oid::Oid;
use run_loop::domain::run_spec::{Quorum, ReviewSpec};
use run_loop::domain::severity::Severity;
use run_loop::git::{Git, GitEnvironment, Repository, ReviewStore, evidence};

use crate::support::repo::{Repo, git_program};

pub(crate) const SEED: &str = "00112233445566778899aabbccddeeff";

/// The evidence of `main` against what is committed now.
pub(crate) struct Made {
    pub(crate) evidence: Evidence,
    pub(crate) folder: PathBuf,
}

impl Made {
    pub(crate) fn file(&self, path: &str) -> &ChangedFile {
        let found = self
            .evidence
            .files
            .iter()
            .find(|f| f.path.as_str() == Some(path));
        found.unwrap_or_else(|| panic!("{path} is not listed"))
    }
    pub(crate) fn diff(&self) -> Vec<u8> {
        std::fs::read(self.folder.join("diff.patch")).unwrap()
    }
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.diff()).unwrap()
    }
    pub(crate) fn paths(&self) -> Vec<String> {
        self.evidence
            .files
            .iter()
            .map(|f| f.path.to_string())
            .collect()
    }
    pub(crate) fn part(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join("parts").join(format!("{name}.patch"))).unwrap()
    }
}

/// The git under test, with the configuration of a user whose home is beside the repository.
pub(crate) fn git(repo: &Repo) -> Git {
    Git::find_in(&GitEnvironment {
        path: std::env::var_os("PATH").unwrap(),
        program: Some(git_program()),
        home: Some(repo.beside("home").into()),
        no_system_config: true,
        ..GitEnvironment::default()
    })
    .unwrap()
}

pub(crate) fn oid(repo: &Repo, rev: &str) -> Oid {
    Oid::parse(&repo.git(&["rev-parse", "--verify", rev])).unwrap()
}

/// A pin of two revisions whose trees hold no promoted evidence.
pub(crate) fn pin(repo: &Repo, base: &str, head: &str) -> Pin {
    let tree = |rev: &str| oid(repo, &format!("{rev}^{{tree}}"));
    let none = Digest::of(b"");
    Pin {
        identity: Identity {
            base: oid(repo, base),
            head: oid(repo, head),
            tree: tree(head),
            content_tree: tree(head),
        },
        snapshot: oid(repo, head),
        base_tip: None,
        base_content_tree: tree(base),
        branch: None,
        commits: 1,
        behind: 0,
        dirty: false,
        only_evidence: false,
        alone: None,
        tripwire: Tripwire {
            head_ref: "detached".to_owned(),
            branch_tip: oid(repo, head),
            config: none.clone(),
            hooks: none.clone(),
            info: none.clone(),
            index: none.clone(),
            manifests: none,
            parts: Box::default(),
        },
        notices: Vec::new(),
    }
}

pub(crate) fn review(exclude: &[&str]) -> ReviewSpec {
    ReviewSpec {
        max_rounds: 5,
        rounds_scale: false,
        fail_on: Severity::Medium,
        fail_on_at_base: None,
        quorum: Quorum::All,
        isolation: Isolation::Worktree,
        isolation_at_base: Isolation::Worktree,
        remote_diff_only: false,
        max_parallel: 4,
        diff_cap: 200_000,
        exclude: exclude.iter().map(|glob| (*glob).to_owned()).collect(),
    }
}

pub(crate) fn store(repo: &Repo) -> ReviewStore {
    let git = git(repo);
    let found = Repository::discover(&git, repo.root()).unwrap();
    ReviewStore::open(&git, &found, &repo.beside("cache")).unwrap()
}

pub(crate) fn try_make(
    repo: &Repo,
    pin: &Pin,
    exclude: &[&str],
    folder: &Path,
) -> Result<Evidence, Failure> {
    evidence::make(
        &git(repo),
        &store(repo),
        pin,
        &review(exclude),
        SEED,
        folder,
    )
}

/// The evidence between the first commit on `main` (tag `base`) and HEAD.
#[track_caller]
pub(crate) fn make(repo: &Repo, exclude: &[&str]) -> Made {
    let folder = repo.beside("cache").join("jobs/1/evidence");
    let evidence = try_make(repo, &pin(repo, "base", "HEAD"), exclude, &folder).unwrap();
    Made { evidence, folder }
}

/// Runs an edit between two commits and makes the evidence of it.
#[track_caller]
pub(crate) fn changed(before: impl FnOnce(&Repo), edit: impl FnOnce(&Repo)) -> (Repo, Made) {
    let repo = Repo::new();
    before(&repo);
    repo.commit("base");
    repo.git(&["tag", "base"]);
    edit(&repo);
    repo.commit("change");
    let made = make(&repo, &[]);
    (repo, made)
}

#[track_caller]
pub(crate) fn failed(result: Result<Evidence, Failure>, words: &str) {
    let failure = result.unwrap_err();
    assert_eq!(failure.code, Code::EvidenceFailed);
    assert!(failure.message.contains(words), "{}", failure.message);
}
