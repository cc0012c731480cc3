//! What the tests of this area share: the git under test, a store, a pin, and the reference tree.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use run_loop::domain::digest::Digest;
use run_loop::domain::failure::Failure;
use run_loop::domain::id::{LoopId, RoundNumber};
use run_loop::domain::identity::{Pin, Remeasured};
use run_loop::domain::isolation::Isolation;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::git::base::{BaseRule, resolve};
use run_loop::git::measure::measure;
use run_loop::git::snapshot::pin;
use run_loop::git::{Git, GitEnvironment, Repository, ReviewStore};

use crate::support::repo::{Repo, git_command, git_program};

/// The git under test, without the machine's and the user's configuration.
pub(crate) fn git() -> Git {
    Git::find_in(&environment()).unwrap()
}

/// Its environment, to be changed by a test.
pub(crate) fn environment() -> GitEnvironment {
    GitEnvironment {
        path: std::env::var_os("PATH").unwrap(),
        program: Some(git_program()),
        no_system_config: true,
        ..GitEnvironment::default()
    }
}

/// The repository as found from a folder.
pub(crate) fn discover(dir: &Path) -> Repository {
    Repository::discover(&git(), dir).unwrap()
}

/// The open store of a repository, in a cache folder beside it.
pub(crate) fn store(repo: &Repo, found: &Repository) -> ReviewStore {
    ReviewStore::open(&git(), found, &repo.beside("cache")).unwrap()
}

/// A source under review, ready to be pinned.
pub(crate) struct Source {
    pub(crate) git: Git,
    pub(crate) found: Repository,
    pub(crate) store: ReviewStore,
    pub(crate) spec: RunSpec,
}

impl Source {
    /// The main working tree, judged against `base`.
    pub(crate) fn of(repo: &Repo, base: &str) -> Self {
        Self::at(repo, repo.root(), Some(base), git())
    }
    /// A working tree of the repository, by a certain git.
    pub(crate) fn at(repo: &Repo, root: &Path, base: Option<&str>, git: Git) -> Self {
        let found = Repository::discover(&git, root).unwrap();
        let store = ReviewStore::open(&git, &found, &repo.beside("cache")).unwrap();
        let base = resolve(&git, &found, base, BaseRule::MergeBase).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let spec = RunSpec {
            loop_id: LoopId::parse("01890a5d-ac96-774b-bcce-b302099a8057").unwrap(),
            task: None,
            source_root: text(&found.source_root),
            control_root: text(&found.control_root),
            common_dir: text(&found.common_dir),
            base,
            panel: Vec::new(),
            review: ReviewSpec {
                max_rounds: 5,
                fail_on: Severity::Medium,
                quorum: Quorum::All,
                isolation: Isolation::Worktree,
                remote_diff_only: false,
                max_parallel: 4,
                diff_cap: 200_000,
                exclude: Vec::new(),
            },
            checks: Vec::new(),
            setup: Vec::new(),
            cache: Vec::new(),
            job_timeout: 3600,
            policy: Policy::default(),
            reports: ".agents/reports".to_owned(),
            allow_filters: Vec::new(),
            allow_in_progress: false,
            keep_snapshots: false,
            config_sha256: Digest::of(b""),
            engine_version: "0".to_owned(),
            command: Vec::new(),
        };
        Self {
            git,
            found,
            store,
            spec,
        }
    }
    pub(crate) fn try_pin(&self, round: u32) -> Result<Pin, Failure> {
        pin(
            &self.git,
            &self.found,
            &self.store,
            &self.spec,
            RoundNumber(round),
        )
    }
    #[track_caller]
    pub(crate) fn pin(&self) -> Pin {
        self.try_pin(1).unwrap()
    }
    pub(crate) fn try_measure(&self, pinned: &Pin) -> Result<Remeasured, Failure> {
        measure(&self.git, &self.found, &self.store, &self.spec, pinned)
    }
    #[track_caller]
    pub(crate) fn measure(&self, pinned: &Pin) -> Remeasured {
        self.try_measure(pinned).unwrap()
    }
}

/// The tree that plain git makes of a working tree, by an index seeded from HEAD plus the staged
/// entries: the usual recipe, with a new index and objects of its own. `config` are `-c` settings.
#[track_caller]
pub(crate) fn reference(root: &Path, config: &[&str]) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let run = |args: &[&str], stdin: Option<&Path>| {
        let mut command = git_command(root);
        for setting in config {
            command.args(["-c", setting]);
        }
        if let Some(path) = stdin {
            command.stdin(std::fs::File::open(path).unwrap());
        }
        let output = command
            .args(args)
            .env("GIT_INDEX_FILE", scratch.path().join("index"))
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        output.stdout
    };
    run(&["read-tree", "HEAD"], None);
    // What the user staged: ids and modes, but neither flags nor stat data.
    let staged = git_command(root)
        .args(["diff-index", "--cached", "--no-renames", "-z", "HEAD"])
        .output()
        .unwrap();
    assert!(staged.status.success(), "{staged:?}");
    let mut lines = Vec::new();
    let mut fields = staged.stdout.split(|byte| *byte == 0);
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        let about = std::str::from_utf8(about).unwrap();
        let words: Vec<&str> = about.split(' ').collect();
        if words[4] != "U" {
            lines.extend_from_slice(format!("{} {}\t", words[1], words[3]).as_bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
    }
    let file = scratch.path().join("staged");
    std::fs::write(&file, lines).unwrap();
    run(&["update-index", "-z", "--index-info"], Some(&file));
    run(&["add", "-A"], None);
    let tree = run(&["write-tree"], None);
    String::from_utf8(tree).unwrap().trim_end().to_owned()
}

/// Bytes, mode and, where it counts, mtime.
type FileState = (Vec<u8>, u32, Option<(i64, i64)>);

/// Everything of a repository that a pin must leave alone, by what a user can see and by bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Untouched {
    answers: BTreeMap<&'static str, String>,
    files: BTreeMap<PathBuf, FileState>,
}

impl Untouched {
    pub(crate) fn of(repo: &Repo, root: &Path) -> Self {
        // Bytes first: the questions below refresh the index.
        let mut files = BTreeMap::new();
        walk(repo.root(), &mut files);
        if root != repo.root() {
            walk(root, &mut files);
        }
        let ask = |args: &[&str]| {
            let output = git_command(root)
                .env("GIT_OPTIONAL_LOCKS", "0")
                .args(args)
                .output()
                .unwrap();
            assert!(output.status.success(), "git {args:?}: {output:?}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let answers = [
            ("refs", ask(&["for-each-ref"])),
            (
                "status",
                ask(&["status", "--porcelain=v2", "-uall", "--branch"]),
            ),
            ("stash", ask(&["stash", "list"])),
            ("worktrees", ask(&["worktree", "list", "--porcelain"])),
            ("config", ask(&["config", "--list", "--local"])),
        ]
        .into();
        Self { answers, files }
    }
}

/// Bytes and mode of every file; the mtime too, except of objects: git freshens those it would
/// otherwise write again, so that a garbage collection does not take them.
fn walk(folder: &Path, files: &mut BTreeMap<PathBuf, FileState>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let in_objects = path.components().any(|part| part.as_os_str() == "objects");
        let time = (!in_objects).then(|| (meta.mtime(), meta.mtime_nsec()));
        if meta.is_dir() {
            files.insert(path.clone(), (Vec::new(), meta.mode(), time));
            walk(&path, files);
        } else if meta.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            let bytes = target.into_os_string().into_encoded_bytes();
            files.insert(path, (bytes, meta.mode(), time));
        } else if meta.is_file() {
            files.insert(
                path.clone(),
                (std::fs::read(&path).unwrap(), meta.mode(), time),
            );
        }
    }
}
