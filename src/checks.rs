//! The built-in reviewer: deterministic, free, and without a model.
//!
//! Owns: rules on what changed ([`examine`] reads blobs before it runs anything), and running the
//! project's commands in the slot's own tree. Never: decides about the run; a doubt of its own
//! (git, a missing command, a time limit) leaves the slot without a verdict, and what was found
//! until then stays as claims. The rules are data: `checks/rules/`, `checks/rule.rs`. What it
//! finds and what it cannot is told in `docs/checks.md`. Tests: `tests/checks.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::checks::cache::{Cached, Caches};
use crate::checks::command::{Configured, Meaning, Ran, Runner};
use crate::checks::error::Error;
use crate::checks::finding::{Findings, Found};
use crate::checks::output::Places;
use crate::checks::report::Report;
use crate::checks::scan::Scanned;
use crate::checks::secret::SecretRules;
use crate::domain::code::Code;
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::finding::Claim;
use crate::domain::identity::Pin;
use crate::domain::job::{Ended, Reading, Review};
use crate::domain::policy::Policy;
use crate::domain::run_spec::CheckSpec;
use crate::domain::severity::Severity;
use crate::domain::verdict::{Coverage, Verdict};
use crate::git::Git;
use crate::process::guard::GuardProgram;

mod blob;
mod cache;
mod changed;
mod command;
mod entry;
mod environment;
mod error;
mod finding;
mod git;
mod guarded;
mod output;
mod report;
mod rule;
mod scan;
pub(crate) mod secret;
pub mod setup;
mod text;

/// Everything the reviewer works with.
#[derive(Debug, Clone)]
pub struct ChecksJob {
    /// Git.
    pub git: Git,
    /// The review store, which holds the snapshot and sees the base.
    pub git_dir: PathBuf,
    /// What is under review.
    pub pin: Pin,
    /// What reviewers are shown of it.
    pub evidence: Evidence,
    /// The project's commands; empty: rules only, nothing of the change is executed.
    pub checks: Vec<CheckSpec>,
    /// Commands run before them.
    pub setup: Vec<String>,
    /// Folders kept between uses of the tree.
    pub cache: Vec<String>,
    /// The time limit of each `setup` command, in seconds.
    pub setup_timeout: u64,
    /// Findings at least this bad block.
    pub fail_on: Severity,
    /// What the base allows.
    pub policy: Policy,
    /// The slot's own tree, opened and proved to hold the snapshot.
    pub tree: PathBuf,
    /// The job's folder, for captured output; of this attempt alone.
    pub scratch: PathBuf,
    /// What commands may see of the environment; keys are dropped from it.
    pub env: BTreeMap<OsString, OsString>,
    /// Where `cache` folders lie, of this repository and slot alone.
    pub cache_home: PathBuf,
    /// The program that guards commands; `GuardProgram::own()` in the program itself.
    pub guard: GuardProgram,
}

/// What came of it.
#[derive(Debug)]
pub struct ChecksOutcome {
    /// How it ended: 0, or why there is no verdict.
    pub ended: Ended,
    /// The report for people, Markdown; promoted as evidence.
    pub report: Vec<u8>,
    /// What the report says.
    pub reading: Reading,
}

/// Examines a change: rules on blobs, then the project's commands.
///
/// Commands run only where configured, and only when the scan ended. The first one that gives no
/// verdict ends the job; commands that fail are findings, and the others still run.
pub async fn examine(job: &ChecksJob, stop: CancellationToken) -> ChecksOutcome {
    let mut work = Work::new(job);
    // When this future is dropped, the scan on its own thread ends too.
    let scan_stop = stop.child_token();
    let guard = scan_stop.clone().drop_guard();
    let scanning = {
        let job = job.clone();
        tokio::task::spawn_blocking(move || scan_all(&job, &scan_stop))
    };
    match scanning.await {
        Ok((findings, result)) => {
            work.findings = findings;
            match result {
                Ok(scanned) => work.scanned = Some(scanned),
                Err(Error::Stopped) => {
                    work.give_up(Ended::Stopped, "the scan was stopped".to_owned());
                }
                Err(error) => work.fail(error.into_failure()),
            }
        }
        Err(error) => work.fail(Failure::new(
            Code::NoVerdict,
            format!("the scan of the change broke off: {error}"),
        )),
    }
    drop(guard.disarm());
    if work.no_verdict.is_none() && !(job.checks.is_empty() && job.setup.is_empty()) {
        work.run_commands(&stop).await;
    }
    work.conclude()
}

/// Everything that is known without running anything of the change.
fn scan_all(job: &ChecksJob, stop: &CancellationToken) -> (Findings, Result<Scanned, Error>) {
    let mut findings = Findings::new(&job.policy.allow_findings);
    guarded::examine(&job.evidence, &job.checks, &job.setup, &mut findings);
    let base = job.git.on(&job.git_dir);
    let scanned = scan::scan(&base, &job.pin, &job.evidence, stop, &mut findings);
    if let Ok(scanned) = &scanned {
        let allowed = &job.policy.allow_unreviewed;
        entry::examine(&job.evidence, scanned, allowed, &mut findings);
    }
    (findings, scanned)
}

/// The state of one examination.
struct Work<'j> {
    job: &'j ChecksJob,
    findings: Findings,
    scanned: Option<Scanned>,
    commands: Vec<Ran>,
    caches: Vec<Cached>,
    /// Why there is no verdict, and how that counts as an end.
    no_verdict: Option<(Ended, String)>,
}

impl<'j> Work<'j> {
    fn new(job: &'j ChecksJob) -> Self {
        Self {
            job,
            findings: Findings::new(&job.policy.allow_findings),
            scanned: None,
            commands: Vec::new(),
            caches: Vec::new(),
            no_verdict: None,
        }
    }

    fn give_up(&mut self, ended: Ended, problem: String) {
        self.no_verdict.get_or_insert((ended, problem));
    }
    fn fail(&mut self, failure: Failure) {
        let problem = failure.message.clone();
        self.give_up(Ended::NotStarted { failure }, problem);
    }

    async fn run_commands(&mut self, stop: &CancellationToken) {
        let job = self.job;
        let prepared = SecretRules::embedded()
            .map_err(|error| Error::from(error).into_failure())
            .and_then(|rules| {
                let bash = command::find_bash(&job.env, &job.tree)?;
                let caches = Caches::bring(&job.tree, &job.cache_home, &job.cache)?;
                Ok((rules, bash, caches))
            });
        let (rules, bash, mut caches) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => return self.fail(failure),
        };
        let env = environment::without_secrets(&job.env, rules);
        let runner = Runner {
            bash,
            tree: &job.tree,
            scratch: &job.scratch,
            guard: &job.guard,
            env: &env,
            places: Places::new(&job.tree, &job.scratch, &job.env),
            rules,
        };
        for (index, configured) in configured(job).into_iter().enumerate() {
            let ran = runner.run(configured, index + 1, stop).await;
            let (meaning, told) = (ran.meaning(), ran.told(rules));
            self.commands.push(ran);
            match meaning {
                Meaning::Passed => {}
                Meaning::Failed(words) => self.findings.push(Found {
                    rule: rule::COMMAND,
                    path: None,
                    lines: None,
                    detail: words,
                    more: told,
                    pre_existing: false,
                }),
                Meaning::NoVerdict { ended, problem } => {
                    self.give_up(ended, problem);
                    break;
                }
            }
        }
        caches.keep();
        self.caches = caches.folders;
    }

    fn conclude(self) -> ChecksOutcome {
        let job = self.job;
        let claims = self.findings.claims();
        let blocks = claims.iter().any(|claim| claim.blocks(job.fail_on));
        let verdict = if blocks {
            Verdict::NotPass
        } else {
            Verdict::Pass
        };
        let (ended, problems) = match self.no_verdict {
            None => (Ended::Exited { code: 0 }, Vec::new()),
            Some((ended, problem)) => (ended, vec![problem]),
        };
        let outcome = if problems.is_empty() {
            verdict.to_string()
        } else {
            "no verdict".to_owned()
        };
        let secret_rules: Vec<_> =
            SecretRules::embedded().map_or_else(|_| Vec::new(), |rules| rules.rules().collect());
        let report = Report {
            pin: &job.pin,
            evidence: &job.evidence,
            fail_on: job.fail_on,
            outcome: &outcome,
            problems: &problems,
            claims: &claims,
            scanned: self.scanned.as_ref(),
            commands: &self.commands,
            caches: &self.caches,
            secret_rules: &secret_rules,
        }
        .render();
        let reading = if problems.is_empty() {
            Reading::Review(Review {
                verdict,
                summary: summary(&claims, job, self.commands.len()),
                findings: claims,
                prior: Vec::new(),
                plan: Vec::new(),
                unanswered: Vec::new(),
                coverage: Coverage::Full,
                receipts: u32::try_from(job.evidence.parts.len()).unwrap_or(u32::MAX),
            })
        } else {
            Reading::Invalid {
                problems,
                claimed: blocks.then_some(Verdict::NotPass),
                claims,
                open: Vec::new(),
            }
        };
        ChecksOutcome {
            ended,
            report: hidden(report),
            reading,
        }
    }
}

/// The commands in order: `setup` first.
fn configured(job: &ChecksJob) -> Vec<Configured> {
    let setup = job.setup.iter().enumerate().map(|(index, run)| Configured {
        name: format!("setup {}", index + 1),
        run: run.clone(),
        timeout: job.setup_timeout,
        setup: true,
    });
    let checks = job.checks.iter().map(|check| Configured {
        name: check.name.clone(),
        run: check.run.clone(),
        timeout: check.timeout,
        setup: false,
    });
    setup.chain(checks).collect()
}

fn summary(claims: &[Claim], job: &ChecksJob, commands: usize) -> String {
    let blocking = claims
        .iter()
        .filter(|claim| claim.blocks(job.fail_on))
        .count();
    format!(
        "{} changed files, {commands} commands: {} findings, {blocking} of them block.",
        job.evidence.files.len(),
        claims.len()
    )
}

/// The report with every known form of secret hidden once more, whatever part wrote it.
fn hidden(report: String) -> Vec<u8> {
    match SecretRules::embedded() {
        Ok(rules) => rules.redact(&report).into_bytes(),
        Err(_) => report.into_bytes(),
    }
}
