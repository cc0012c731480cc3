//! A source under review, as the command makes it: the git under test, a store, a pin.

use std::path::Path;

use run_loop::domain::digest::Digest;
use run_loop::domain::failure::Failure;
use run_loop::domain::id::{LoopId, RoundNumber};
use run_loop::domain::identity::{Pin, Remeasured};
use run_loop::domain::isolation::Isolation;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{PlanSource, Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::git::base::{BaseRule, resolve};
use run_loop::git::measure::measure;
use run_loop::git::snapshot::pin;
use run_loop::git::{Git, GitEnvironment, Repository, ReviewStore};

use super::repo::{Repo, git_program};

/// The git under test, without the machine's and the user's configuration.
pub fn git() -> Git {
    Git::find_in(&environment()).unwrap()
}

/// Its environment, to be changed by a test.
pub fn environment() -> GitEnvironment {
    GitEnvironment {
        path: std::env::var_os("PATH").unwrap(),
        program: Some(git_program()),
        no_system_config: true,
        ..GitEnvironment::default()
    }
}

/// The repository as found from a folder.
pub fn discover(dir: &Path) -> Repository {
    Repository::discover(&git(), dir).unwrap()
}

/// The open store of a repository, in a cache folder beside it.
pub fn store(repo: &Repo, found: &Repository) -> ReviewStore {
    ReviewStore::open(&git(), found, &repo.beside("cache")).unwrap()
}

/// A source under review, ready to be pinned.
pub struct Source {
    pub git: Git,
    pub found: Repository,
    pub store: ReviewStore,
    pub spec: RunSpec,
}

impl Source {
    /// The main working tree, judged against `base`.
    pub fn of(repo: &Repo, base: &str) -> Self {
        Self::at(repo, repo.root(), Some(base), git())
    }
    /// A working tree of the repository, by a certain git.
    pub fn at(repo: &Repo, root: &Path, base: Option<&str>, git: Git) -> Self {
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
            creator: None,
            planner: None,
            arbiter: None,
            review_only: true,
            plan: PlanSource::Nobody,
            panel: Vec::new(),
            review: ReviewSpec {
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
                exclude: Vec::new(),
            },
            checks: Vec::new(),
            setup: Vec::new(),
            cache: Vec::new(),
            job_timeout: 3600,
            limits: run_loop::domain::limits::Limits::default(),
            policy: Policy::default(),
            reports: ".agents/reports".to_owned(),
            allow_filters: Vec::new(),
            allow_in_progress: false,
            keep_snapshots: false,
            templates: Vec::new(),
            roster: Vec::new(),
            unfit: Vec::new(),
            wait_open_jobs: false,
            single: None,
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
    pub fn try_pin(&self, round: u32) -> Result<Pin, Failure> {
        let index = || std::fs::read(self.found.git_dir.join("index")).ok();
        let before = index();
        let pin = pin(
            &self.git,
            &self.found,
            &self.store,
            &self.spec,
            RoundNumber(round),
            None,
        )?;
        if before.is_some() && before == index() {
            self.is_read_as_by_git(&pin);
        }
        Ok(pin)
    }
    /// What was read of the index is what git lists, flags as they are stored.
    #[track_caller]
    fn is_read_as_by_git(&self, pin: &Pin) {
        let listing = super::repo::git_command(&self.found.source_root)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .args(["-c", "sparse.expectFilesOutsideOfPatterns=true"])
            .args(["-c", "core.fsmonitor=false"])
            .args(["ls-files", "-v", "-s", "-z"])
            .output()
            .unwrap();
        assert!(listing.status.success(), "{listing:?}");
        assert_eq!(pin.tripwire.index, Digest::of(&listing.stdout));
    }
    #[track_caller]
    pub fn pin(&self) -> Pin {
        self.try_pin(1).unwrap()
    }
    pub fn try_measure(&self, pinned: &Pin) -> Result<Remeasured, Failure> {
        measure(&self.git, &self.found, &self.store, &self.spec, pinned)
    }
    #[track_caller]
    pub fn measure(&self, pinned: &Pin) -> Remeasured {
        self.try_measure(pinned).unwrap()
    }
}
