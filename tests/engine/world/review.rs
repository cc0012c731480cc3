//! What reviewers answer.

use run_loop::domain::code::Code;
use run_loop::domain::confinement::Confinement;
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::{Claim, Disposition};
use run_loop::domain::id::FindingId;
use run_loop::domain::job::{Ended, JobOutcome, Prior, Reading, Review};
use run_loop::domain::severity::Severity;
use run_loop::domain::spent::Spent;
use run_loop::domain::time::Timestamp;
use run_loop::domain::trouble::Trouble;
use run_loop::domain::verdict::{Coverage, Verdict};

use crate::world::script::Answer;
use crate::world::{oid, stored};

pub fn claim(severity: Severity, key: &str) -> Claim {
    Claim {
        title: format!("{key} {severity}"),
        severity,
        blocking: false,
        path: None,
        line: None,
        end_line: None,
        body: String::new(),
        pre_existing: false,
        blob: None,
    }
}

/// What a reviewer speaks about.
pub(super) struct Said {
    pub(super) key: String,
    pub(super) slot: usize,
    pub(super) content: u8,
    /// What its slot found before, and whether that has a place.
    pub(super) before: Vec<(FindingId, bool)>,
    /// What other slots found in earlier rounds.
    pub(super) theirs: Vec<(FindingId, bool)>,
}

impl Said {
    fn prior(&self, disposition: Disposition) -> Vec<Prior> {
        self.words(&self.before, disposition)
    }
    fn words(&self, findings: &[(FindingId, bool)], disposition: Disposition) -> Vec<Prior> {
        let all = findings.iter();
        all.map(|(finding, placed)| Prior {
            finding: *finding,
            disposition,
            note: "as scripted".to_owned(),
            blob: placed.then(|| oid(self.content)),
        })
        .collect()
    }
    /// A claim on line 1 of the one file.
    fn placed(&self, severity: Severity, title: String) -> Claim {
        Claim {
            title,
            path: Some("src".into()),
            line: Some(1),
            blob: Some(oid(self.content)),
            ..claim(severity, "")
        }
    }
}

fn review(verdict: Verdict, coverage: Coverage, findings: Vec<Claim>) -> Reading {
    reviewed(verdict, coverage, findings, Vec::new())
}

pub fn reviewed(
    verdict: Verdict,
    coverage: Coverage,
    findings: Vec<Claim>,
    prior: Vec<Prior>,
) -> Reading {
    Reading::Review(Review {
        verdict,
        summary: String::new(),
        findings,
        prior,
        plan: Vec::new(),
        unanswered: Vec::new(),
        coverage,
        receipts: 0,
    })
}

pub fn ended_with(ended: Ended, reading: Reading) -> JobOutcome {
    JobOutcome {
        ended,
        report: Some(stored("report")),
        prompt: Some(stored("prompt")),
        stderr: None,
        reading,
        spent: Spent::default(),
        confinement: Confinement::None,
        started_at: Timestamp::from_millis(0),
        ended_at: Timestamp::from_millis(1),
        outlived: Vec::new(),
    }
}

/// What an agent answers that speaks of no earlier finding.
pub fn answered(answer: Answer, key: &str) -> JobOutcome {
    let said = Said {
        key: key.to_owned(),
        slot: 0,
        content: 1,
        before: Vec::new(),
        theirs: Vec::new(),
    };
    outcome(answer, &said)
}

pub(super) fn limited() -> Ended {
    Ended::Failed {
        code: 1,
        trouble: Trouble::RateLimit,
        message: "as scripted".to_owned(),
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each answer")]
pub(super) fn outcome(answer: Answer, said: &Said) -> JobOutcome {
    use Verdict::{NotPass, Pass};
    let key = said.key.as_str();
    let new = |prior| {
        let title = format!("{key} {}", Severity::Medium);
        let claims = vec![said.placed(Severity::Medium, title)];
        reviewed(NotPass, Coverage::Full, claims, prior)
    };
    let pass = || review(Pass, Coverage::Full, Vec::new());
    let blocker = || vec![claim(Severity::Low, key), claim(Severity::High, key)];
    let not_pass = || review(NotPass, Coverage::Full, blocker());
    let invalid = |claimed| Reading::Invalid {
        problems: vec!["as scripted".to_owned()],
        claimed,
        claims: Vec::new(),
        open: Vec::new(),
    };
    let exited = |code| Ended::Exited { code };
    let (ended, reading) = match answer {
        Answer::Pass => (exited(0), pass()),
        Answer::PassUncovered => (exited(0), review(Pass, Coverage::None, Vec::new())),
        Answer::PassWithBlocker => (exited(0), review(Pass, Coverage::Full, blocker())),
        Answer::NotPass => (exited(0), not_pass()),
        Answer::NotPassUnexplained => (exited(0), review(NotPass, Coverage::Full, Vec::new())),
        Answer::NotPassStillOpen => {
            let prior = said.prior(Disposition::Open);
            (
                exited(0),
                reviewed(NotPass, Coverage::Full, Vec::new(), prior),
            )
        }
        Answer::NotPassLow => (
            exited(0),
            review(NotPass, Coverage::Full, vec![claim(Severity::Low, key)]),
        ),
        Answer::NotPassNew => (exited(0), new(said.prior(Disposition::Fixed))),
        Answer::NotPassNewWithdrawing => (exited(0), new(said.prior(Disposition::Withdrawn))),
        Answer::NotPassNewAlone => (exited(0), new(Vec::new())),
        Answer::NotPassNewButOpen => (exited(0), new(said.prior(Disposition::Open))),
        Answer::NotPassAgain => {
            let claim = said.placed(Severity::High, format!("{} again", said.slot));
            (exited(0), review(NotPass, Coverage::Full, vec![claim]))
        }
        Answer::PassTakingBack => {
            let prior = said.prior(Disposition::Withdrawn);
            (exited(0), reviewed(Pass, Coverage::Full, Vec::new(), prior))
        }
        Answer::PassButOpen => {
            let prior = said.prior(Disposition::Open);
            (exited(0), reviewed(Pass, Coverage::Full, Vec::new(), prior))
        }
        Answer::PassButTheirsOpen => {
            let prior = said.words(&said.theirs, Disposition::Open);
            (exited(0), reviewed(Pass, Coverage::Full, Vec::new(), prior))
        }
        Answer::NotPassTheirsOpen => {
            let prior = said.words(&said.theirs, Disposition::Open);
            (
                exited(0),
                reviewed(NotPass, Coverage::Full, Vec::new(), prior),
            )
        }
        Answer::Invalid => (exited(0), invalid(Some(Pass))),
        Answer::InvalidButOpen => {
            let reading = Reading::Invalid {
                problems: vec!["as scripted".to_owned()],
                claimed: None,
                claims: Vec::new(),
                open: said.before.iter().map(|(finding, _)| *finding).collect(),
            };
            (exited(0), reading)
        }
        Answer::InvalidNotPass => (exited(0), invalid(Some(NotPass))),
        Answer::Silent => (exited(0), Reading::Silent),
        Answer::ExitsWithPerfectPass => (exited(1), pass()),
        Answer::KilledWithNotPass => (Ended::Signalled { signal: 9 }, not_pass()),
        Answer::KilledStillOpen => {
            let prior = said.prior(Disposition::Open);
            let reading = reviewed(NotPass, Coverage::Full, Vec::new(), prior);
            (Ended::Signalled { signal: 9 }, reading)
        }
        Answer::TimesOutWithPass => (Ended::TimedOut, pass()),
        Answer::TimesOutWithNotPass => (Ended::TimedOut, not_pass()),
        Answer::Limited => (limited(), pass()),
        Answer::CannotStart => {
            let failure = Failure::new(Code::AgentNotRunnable, "as scripted");
            (Ended::NotStarted { failure }, Reading::Silent)
        }
    };
    ended_with(ended, reading)
}
