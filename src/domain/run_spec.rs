//! Everything a run is bound to, frozen in its first event.

use serde::{Deserialize, Serialize};

use crate::domain::agent::Agent;
use crate::domain::delegation::Submission;
use crate::domain::digest::Digest;
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::isolation::Isolation;
use crate::domain::job::{Job, Role};
use crate::domain::limits::Limits;
use crate::domain::oid::Oid;
use crate::domain::policy::Policy;
use crate::domain::severity::Severity;
use crate::domain::slot::Slot;
use crate::domain::template::Template;

/// A run, as resolved by validation. Paths are absolute paths of this machine.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The run's id.
    pub loop_id: LoopId,
    /// The command line that started the run, program first: it can be run again.
    pub command: Vec<String>,
    /// What the change is for, as given.
    pub task: Option<String>,
    /// The working tree under review.
    pub source_root: String,
    /// The repository's main working tree, or the source root: owns promoted evidence.
    pub control_root: String,
    /// The repository's common directory.
    pub common_dir: String,
    /// What the change is judged against.
    pub base: BaseSpec,
    /// Who implements and corrects; without one, a NOT PASS ends the run.
    pub creator: Option<Agent>,
    /// Who plans.
    pub planner: Option<Agent>,
    /// Who arbitrates; by default the planner.
    pub arbiter: Option<Agent>,
    /// Whether nothing is implemented (`--review-only`).
    pub review_only: bool,
    /// Where the plan comes from.
    pub plan: PlanSource,
    /// The reviewer positions.
    pub panel: Vec<Slot>,
    /// The rules of the review.
    pub review: ReviewSpec,
    /// Commands of the `checks` reviewer.
    pub checks: Vec<CheckSpec>,
    /// Commands run in the `checks` tree before the checks.
    pub setup: Vec<String>,
    /// Folders kept between uses of the `checks` tree, outside it.
    pub cache: Vec<String>,
    /// A job's budget in seconds, where its agent states none.
    pub job_timeout: u64,
    /// What the run may spend.
    #[serde(default)]
    pub limits: Limits,
    /// What an approval must fulfil.
    pub policy: Policy,
    /// Where promoted evidence lies, relative to the control root.
    pub reports: String,
    /// Content filters that may run besides LFS (`--allow-filter`).
    pub allow_filters: Vec<String>,
    /// Whether an unfinished merge or rebase is accepted (`--allow-in-progress`).
    pub allow_in_progress: bool,
    /// Whether snapshots are kept as refs in the user's repository (`--keep-snapshots`).
    pub keep_snapshots: bool,
    /// Prompt templates of the base, which stand for the built-in ones of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<Template>,
    /// Agents that a job may delegate to, by their names in the configuration.
    #[serde(default)]
    pub roster: Vec<Agent>,
    /// Configured agents that no job may delegate to, since they cannot be asked here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfit: Vec<Unfit>,
    /// Whether open jobs without a parent are waited for, too (`--wait-open-jobs`).
    #[serde(default)]
    pub wait_open_jobs: bool,
    /// The job, of a run of one job: such a run reviews nothing and approves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single: Option<Submission>,
    /// The hash of the effective configuration.
    pub config_sha256: Digest,
    /// The version of `run-loop`.
    pub engine_version: String,
}

impl RunSpec {
    /// The command that starts such a run again, for the same working tree from wherever it is pasted.
    #[must_use]
    pub fn again(&self) -> Vec<String> {
        let here = ["--worktree".to_owned(), self.source_root.clone()];
        let Some((program, given)) = self.command.split_first() else {
            return Vec::new();
        };
        let mut options = given.iter();
        let mut others = Vec::new();
        while let Some(word) = options.next() {
            if word == "--" {
                others.push(word.clone());
                others.extend(options.by_ref().cloned());
            } else if word == "--worktree" {
                options.next();
            } else if !word.starts_with("--worktree=") {
                others.push(word.clone());
            }
        }
        let program = vec![program.clone()];
        if self.single.is_some() {
            // It is an option of the sub-command.
            [program, others, here.into()].concat()
        } else {
            [program, here.into(), others].concat()
        }
    }
    /// How many slots read the change.
    #[must_use]
    pub fn readers(&self) -> usize {
        self.panel.iter().filter(|slot| slot.is_reader()).count()
    }
    /// Whether all readers see the source tree itself though the base asks for review trees: the gate
    /// takes none of them. One that cannot see this machine has the diff alone, always; one that only
    /// steps in for another says nothing of that one.
    #[must_use]
    pub fn lacks_isolation(&self) -> bool {
        let lowered = self.review.isolation == Isolation::Env
            && self.review.isolation_at_base == Isolation::Worktree;
        let mut readers = self.panel.iter().filter(|slot| slot.is_reader());
        lowered && self.readers() > 0 && readers.all(|slot| !slot.agent.remote)
    }
    /// Whether less blocks than the base asks for (`--fail-on`): the gate takes no approval of it.
    #[must_use]
    pub fn is_lenient(&self) -> bool {
        let asked = self.review.fail_on_at_base;
        self.readers() > 0 && asked.is_some_and(|asked| self.review.fail_on > asked)
    }
    /// Everybody who may be asked: who reviews and who steps in, who plans, writes and rules, and whom
    /// jobs may delegate to.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.cast()
            .chain(&self.roster)
            .chain(self.single.as_ref().map(|single| &single.agent))
    }
    /// Every agent that the run itself asks, fallbacks too; not those that only its jobs may ask.
    pub fn cast(&self) -> impl Iterator<Item = &Agent> {
        let panel = self.panel.iter();
        let reviewers = panel.flat_map(|slot| std::iter::once(&slot.agent).chain(&slot.fallback));
        reviewers
            .chain(&self.creator)
            .chain(&self.planner)
            .chain(&self.arbiter)
    }
    /// Who does a job of the run itself.
    #[must_use]
    pub fn agent_of(&self, job: &Job) -> Option<&Agent> {
        match job.role {
            Role::Plan | Role::Refine => self.planner.as_ref(),
            Role::Challenge | Role::Implement | Role::Correct | Role::Comply => {
                self.creator.as_ref()
            }
            Role::Arbitrate => self.arbiter.as_ref(),
            Role::Readjudicate | Role::Review => {
                let slot = self.panel.iter().find(|slot| slot.name == job.slot)?;
                slot.agent_at(job.rank)
            }
        }
    }
}

/// An agent that cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unfit {
    /// Its name in the configuration.
    pub name: String,
    /// Why.
    pub failure: Failure,
}

/// Where a run's plan comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PlanSource {
    /// There is none: the creator plans by itself.
    Nobody,
    /// The planner writes one, the creator challenges it, the planner refines it (`--plan`).
    Planner,
    /// A file that was checked before any job (`--plan-file`, rows M-040 to M-043).
    File {
        /// Where it was read.
        path: String,
        /// Its text.
        text: String,
        /// The text's hash.
        sha256: Digest,
    },
}

/// What the change is judged against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BaseSpec {
    /// The merge base of this ref and HEAD (`--base`).
    MergeBase {
        /// As given on the command line.
        given: String,
        /// The full ref name or object id that it was resolved to, once.
        resolved: String,
        /// The tip at the start.
        tip: Oid,
        /// Whether the tip itself must be an ancestor of HEAD (`review.base: ancestor`).
        must_be_ancestor: bool,
    },
    /// The source HEAD at the start: no `--base` was given.
    StartHead {
        /// That commit.
        head: Oid,
    },
}

/// The rules of the review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewSpec {
    /// How many rounds at most.
    pub max_rounds: u32,
    /// Whether a small change gets fewer, since nobody said how many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rounds_scale: bool,
    /// Findings at least this bad block.
    pub fail_on: Severity,
    /// How bad they are that the base asks to block: what `run-loop gate` goes by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on_at_base: Option<Severity>,
    /// How many slots must have a verdict.
    pub quorum: Quorum,
    /// How reviewers are kept apart from the source.
    pub isolation: Isolation,
    /// How the base asks that they be kept apart: what `run-loop gate` goes by.
    #[serde(default)]
    pub isolation_at_base: Isolation,
    /// Whether remote reviewers may judge by the diff alone (`--remote-review diff-only`).
    pub remote_diff_only: bool,
    /// How many jobs run at once.
    pub max_parallel: u32,
    /// How many bytes of the diff stand in a prompt.
    pub diff_cap: u64,
    /// Globs of paths whose bytes are not shown.
    pub exclude: Vec<String>,
}

/// Up to so many changed lines a change gets so many rounds, where nobody said how many. With three, the
/// last one is the first in which late wishes are advisory, and follows the planner's one refinement.
const SCALE: [(u64, u32); 2] = [(20, 3), (200, 4)];

impl ReviewSpec {
    /// With what the base asks to block.
    #[must_use]
    pub fn at_base(mut self, fail_on: Severity) -> Self {
        self.fail_on_at_base = Some(fail_on);
        self
    }
    /// How many rounds a run gets in which reviewers were shown this: by the largest change among them,
    /// so that what grows is not cut short. Binary files and submodules count as large.
    #[must_use]
    pub fn rounds<'a>(&self, shown: impl Iterator<Item = &'a Evidence>) -> u32 {
        if !self.rounds_scale {
            return self.max_rounds;
        }
        let largest = shown.map(|it| it.changed_lines().unwrap_or(u64::MAX)).max();
        let fits = |lines: u64| SCALE.iter().find(|(most, _)| lines <= *most);
        let rounds = largest.and_then(fits).map_or(self.max_rounds, |it| it.1);
        rounds.min(self.max_rounds)
    }
}

/// How many slots must have a verdict. It forgives missing verdicts only, never a NOT PASS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quorum {
    /// Every slot.
    All,
    /// At least this many.
    AtLeast(u32),
}

/// One command of the `checks` reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSpec {
    /// Its name in reports.
    pub name: String,
    /// The command line, run by `bash -c` with `pipefail`.
    pub run: String,
    /// Its time limit in seconds.
    pub timeout: u64,
}
