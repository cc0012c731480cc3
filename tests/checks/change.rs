//! A change in a real repository, with evidence made by plain git, and what the checks say of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use run_loop::checks::{ChecksJob, ChecksOutcome, examine};
use run_loop::domain::digest::Digest;
use run_loop::domain::evidence::{ChangedFile, Evidence, FileStatus, UnreviewedKind};
use run_loop::domain::finding::Claim;
use run_loop::domain::identity::{Identity, Pin, Tripwire};
use run_loop::domain::job::{Ended, Reading};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::policy::{AllowFinding, Policy};
use run_loop::domain::run_spec::CheckSpec;
use run_loop::domain::severity::Severity;
use run_loop::domain::verdict::{Coverage, Verdict};
use run_loop::git::Git;
use tokio_util::sync::CancellationToken;

use crate::support::repo::{Repo, git, git_command};

/// A repository whose `main` is the base and whose HEAD is the snapshot.
pub(crate) struct Change {
    pub(crate) repo: Repo,
    pub(crate) job: ChecksJob,
}

/// Makes a change: `base` fills the base, `edit` makes commits on a branch of it.
pub(crate) fn change(base: impl FnOnce(&Repo), edit: impl FnOnce(&Repo)) -> Change {
    let repo = Repo::new();
    base(&repo);
    repo.commit("base");
    repo.git(&["switch", "-q", "-c", "feature"]);
    edit(&repo);
    repo.commit("change");
    let job = job(&repo);
    Change { repo, job }
}

/// A change whose base is the first commit.
pub(crate) fn edit(edit: impl FnOnce(&Repo)) -> Change {
    change(|_| {}, edit)
}

impl Change {
    pub(crate) fn check(mut self, name: &str, run: &str) -> Self {
        self.job.checks.push(CheckSpec {
            name: name.to_owned(),
            run: run.to_owned(),
            timeout: 60,
        });
        self
    }
    pub(crate) fn allow(mut self, rule: &str, paths: &str) -> Self {
        self.job.policy.allow_findings.push(AllowFinding {
            rule: rule.to_owned(),
            paths: paths.to_owned(),
        });
        self
    }
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.job.env.insert(name.into(), value.into());
        self
    }
    /// Examines it.
    pub(crate) fn examine(&self) -> Examined {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let outcome = runtime.block_on(examine(&self.job, CancellationToken::new()));
        Examined::new(outcome)
    }
}

/// What the checks said.
pub(crate) struct Examined {
    pub(crate) ended: Ended,
    pub(crate) report: String,
    pub(crate) reading: Reading,
}

impl Examined {
    pub(crate) fn new(outcome: ChecksOutcome) -> Self {
        let report = String::from_utf8(outcome.report).unwrap();
        assert!(
            report.len() < 1 << 20,
            "the content tree leaves out 1 MiB at most"
        );
        Self {
            ended: outcome.ended,
            report,
            reading: outcome.reading,
        }
    }
    pub(crate) fn claims(&self) -> &[Claim] {
        match &self.reading {
            Reading::Review(review) => &review.findings,
            Reading::Invalid { claims, .. } => claims,
            Reading::Reply { .. } | Reading::Silent => &[],
        }
    }
    /// Findings as `rule path:line`, those that block with a `!` before them.
    pub(crate) fn found(&self) -> Vec<String> {
        let claims = self.claims().iter();
        claims
            .map(|claim| {
                let rule = claim.title.split(':').next().unwrap();
                let path = claim
                    .path
                    .as_ref()
                    .map_or(String::new(), |p| format!(" {p}"));
                let line = claim.line.map_or(String::new(), |line| format!(":{line}"));
                let mark = if claim.blocks(Severity::Medium) {
                    "!"
                } else {
                    ""
                };
                format!("{mark}{rule}{path}{line}")
            })
            .collect()
    }
    #[track_caller]
    pub(crate) fn verdict(&self) -> Verdict {
        assert_eq!(self.ended, Ended::Exited { code: 0 }, "{}", self.report);
        match &self.reading {
            Reading::Review(review) => {
                assert_eq!(review.coverage, Coverage::Full);
                assert_eq!(review.receipts, 1);
                review.verdict
            }
            other @ (Reading::Invalid { .. } | Reading::Reply { .. } | Reading::Silent) => {
                panic!("no verdict: {other:?}")
            }
        }
    }
    #[track_caller]
    pub(crate) fn passes(&self) {
        assert_eq!(self.verdict(), Verdict::Pass, "{}", self.report);
    }
    /// It has no verdict; returns the problems.
    #[track_caller]
    pub(crate) fn no_verdict(&self) -> String {
        assert!(!self.ended.is_success(), "{:?}", self.ended);
        match &self.reading {
            Reading::Invalid { problems, .. } => problems.join("\n"),
            other @ (Reading::Review(_) | Reading::Reply { .. } | Reading::Silent) => {
                panic!("a verdict: {other:?}")
            }
        }
    }
    /// Everything that leaves the reviewer, as one text.
    pub(crate) fn everything(&self) -> String {
        format!("{}{:?}{:?}", self.report, self.ended, self.reading)
    }
}

/// The job, with the evidence as plain git sees it.
pub(crate) fn job(repo: &Repo) -> ChecksJob {
    let oid = |rev: &str| Oid::parse(&repo.git(&["rev-parse", rev])).unwrap();
    let base = oid(&repo.git(&["merge-base", "main", "HEAD"]));
    let tree = repo.beside("tree");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "--detach",
        tree.to_str().unwrap(),
        "HEAD",
    ]);
    let scratch = repo.beside("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let digest = || Digest::of(b"");
    ChecksJob {
        git: Git::find(&path).unwrap(),
        git_dir: repo.root().join(".git"),
        evidence: evidence(repo, base.as_str()),
        pin: Pin {
            identity: Identity {
                head: oid("HEAD"),
                tree: oid("HEAD^{tree}"),
                content_tree: oid("HEAD^{tree}"),
                base: base.clone(),
            },
            snapshot: oid("HEAD"),
            base_tip: None,
            base_content_tree: oid(&format!("{base}^{{tree}}")),
            branch: None,
            commits: 1,
            behind: 0,
            dirty: false,
            only_evidence: false,
            alone: None,
            tripwire: Tripwire {
                head_ref: "refs/heads/feature".to_owned(),
                branch_tip: base,
                config: digest(),
                hooks: digest(),
                info: digest(),
                index: digest(),
                manifests: digest(),
                parts: Box::default(),
            },
            notices: Vec::new(),
        },
        checks: Vec::new(),
        setup: Vec::new(),
        cache: Vec::new(),
        setup_timeout: 60,
        fail_on: Severity::Medium,
        policy: Policy::default(),
        tree,
        scratch,
        env: BTreeMap::from([("PATH".into(), path)]),
        cache_home: repo.beside("cache"),
        guard: crate::support::guard(),
    }
}

/// The changed files, read from the text that git prints for people.
fn evidence(repo: &Repo, base: &str) -> Evidence {
    let raw = git_command(repo.root())
        .args(["diff", "--raw", "-z", "-M", base, "HEAD"])
        .output()
        .unwrap()
        .stdout;
    let mut fields = raw
        .split(|byte| *byte == 0)
        .filter(|field| !field.is_empty());
    let mut files = Vec::new();
    while let Some(head) = fields.next() {
        let head = std::str::from_utf8(head).unwrap();
        let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let first = RepoPath::new(fields.next().unwrap());
        let (old_path, path) = match words[4].as_bytes()[0] {
            b'R' => (Some(first), RepoPath::new(fields.next().unwrap())),
            _ => (None, first),
        };
        files.push(changed_file(repo, base, &words, path, old_path));
    }
    Evidence {
        files,
        parts: vec![run_loop::domain::evidence::DiffPart {
            name: "001".to_owned(),
            receipt: "0".repeat(32),
            bytes: 1,
            in_prompt: true,
        }],
        diff_sha256: Digest::of(b""),
        files_sha256: Digest::of(b""),
        since: Vec::new(),
        folder: "/nowhere".to_owned(),
    }
}

fn changed_file(
    repo: &Repo,
    base: &str,
    words: &[&str],
    path: RepoPath,
    old_path: Option<RepoPath>,
) -> ChangedFile {
    let (old_mode, new_mode) = (words[0].to_owned(), words[1].to_owned());
    let status = match words[4].as_bytes()[0] {
        b'A' => FileStatus::Added,
        b'D' => FileStatus::Deleted,
        b'R' => FileStatus::Renamed,
        b'T' => FileStatus::TypeChanged,
        _ if words[2] == words[3] => FileStatus::ModeChanged,
        _ => FileStatus::Modified,
    };
    // A whole file needs no question; a large change would ask thousands.
    if matches!(status, FileStatus::Added | FileStatus::Deleted) && new_mode != "160000" {
        let text = std::fs::read(repo.root().join(path.as_str().unwrap())).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').count();
        let binary = text.contains(&0);
        return ChangedFile {
            size: (status == FileStatus::Added).then_some(text.len() as u64),
            added: (!binary).then_some(lines as u64),
            removed: (!binary).then_some(0),
            unreviewed: None,
            changed_lines: if binary || text.is_empty() {
                Vec::new()
            } else {
                vec![(1, u32::try_from(lines).unwrap())]
            },
            path,
            status,
            old_path,
            old_mode,
            new_mode,
        };
    }
    let mut paths = vec![path.as_str().unwrap().to_owned()];
    paths.extend(
        old_path
            .iter()
            .map(|path| path.as_str().unwrap().to_owned()),
    );
    let diff = |args: &[&str]| {
        let mut all = vec!["diff", "-M", "--no-ext-diff"];
        all.extend(args);
        all.extend([base, "HEAD", "--"]);
        all.extend(paths.iter().map(String::as_str));
        git(repo.root(), &all)
    };
    let numbers = diff(&["--numstat"]);
    let count = |index: usize| numbers.split('\t').nth(index).and_then(|n| n.parse().ok());
    let submodule = [&old_mode, &new_mode].iter().any(|mode| *mode == "160000");
    let changed_lines = diff(&["-U0"])
        .lines()
        .filter(|line| line.starts_with("@@"))
        .filter_map(|line| {
            let new = line.split('+').nth(1)?.split(' ').next()?;
            let (first, count) = new.split_once(',').unwrap_or((new, "1"));
            let (first, count): (u32, u32) = (first.parse().ok()?, count.parse().ok()?);
            (count > 0).then(|| (first, first + count - 1))
        })
        .collect();
    ChangedFile {
        path,
        status,
        old_path,
        size: (new_mode != "000000" && !submodule).then_some(0),
        added: if submodule {
            None
        } else {
            count(0).or_else(|| numbers.is_empty().then_some(0))
        },
        removed: if submodule {
            None
        } else {
            count(1).or_else(|| numbers.is_empty().then_some(0))
        },
        unreviewed: submodule.then_some(UnreviewedKind::Submodule),
        old_mode,
        new_mode,
        changed_lines,
    }
}

/// A secret as a text that no scanner of this file sees.
pub(crate) fn github_token() -> String {
    format!("gh{}_{}", "p", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4")
}

/// The folder that the job's commands see as their own.
pub(crate) fn tree_of(change: &Change) -> PathBuf {
    change.job.tree.clone()
}
