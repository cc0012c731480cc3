//! A corpus as a source under review.

use std::path::Path;

use run_loop::domain::digest::Digest;
use run_loop::domain::id::{LoopId, RoundNumber};
use run_loop::domain::identity::Pin;
use run_loop::domain::isolation::Isolation;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{PlanSource, Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::git::base::{BaseRule, resolve};
use run_loop::git::measure::measure;
use run_loop::git::snapshot::pin;
use run_loop::git::{Git, GitEnvironment, Repository, ReviewStore};

use crate::corpus::Corpus;

/// The run that all figures are of.
pub const LOOP: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Everything that a pin needs.
#[derive(Debug)]
pub struct Source {
    pub git: Git,
    pub found: Repository,
    pub store: ReviewStore,
    pub spec: RunSpec,
}

impl Source {
    /// The corpus against `main`, with a review store below `cache`.
    pub fn open(corpus: &Corpus, cache: &Path) -> Self {
        let git = Git::find_in(&GitEnvironment {
            path: std::env::var_os("PATH").expect("a PATH"),
            no_system_config: true,
            ..GitEnvironment::default()
        })
        .expect("git is found");
        let found = Repository::discover(&git, &corpus.root()).expect("the corpus is a repository");
        let store = ReviewStore::open(&git, &found, cache).expect("the review store opens");
        let base = resolve(&git, &found, Some("main"), BaseRule::MergeBase).expect("main is there");
        let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
        let spec = RunSpec {
            loop_id: LoopId::parse(LOOP).expect("an id"),
            command: Vec::new(),
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
        };
        Self {
            git,
            found,
            store,
            spec,
        }
    }
    /// A round's first measurement.
    pub fn pin(&self) -> Pin {
        pin(
            &self.git,
            &self.found,
            &self.store,
            &self.spec,
            RoundNumber(2),
            None,
        )
        .expect("a pin")
    }
    /// A later one, of a source that did not move.
    pub fn measure(&self, pinned: &Pin) {
        let again = measure(&self.git, &self.found, &self.store, &self.spec, pinned)
            .expect("a measurement");
        assert_eq!(again.pin.identity, pinned.identity, "nothing moved");
    }
}
