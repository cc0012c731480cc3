//! What jobs do that plan, write or rule.

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::Finding;
use run_loop::domain::job::{
    AnswerAction, Ended, Job, JobOutcome, Reading, Reply, Role, Ruling, RulingKind,
};

use crate::world::World;
use crate::world::review::{ended_with, limited};
use crate::world::script::Deed;

impl World {
    /// What an agent does when it is asked the `nth` time for this work.
    pub fn deed(&self, role: Role, round: u32, nth: u32) -> Deed {
        let deeds = &self.crew.as_ref().unwrap().deeds;
        deeds[(round * 5 + role as u32 * 3 + nth) as usize % deeds.len()]
    }
    /// What a writing job leaves as content, where it leaves another one.
    pub fn writes(&self, role: Role, round: u32) -> Option<u8> {
        let writes = &self.crew.as_ref().unwrap().writes;
        writes[(round * 3 + role as u32) as usize % writes.len()]
    }
    /// What is said of a finding: 0 to 3, or nothing. An agent may say what its role may not, and
    /// speaks of every finding there is, asked or not. In a quarrelsome mood nobody gives in before the
    /// arbiter speaks.
    pub fn says(&self, role: Role, round: u32, finding: &str) -> u64 {
        let mood = self.crew.as_ref().unwrap().mood;
        let key = format!("{mood} {role:?} {round} {finding}");
        let digest = Digest::of(key.as_bytes());
        let said = u64::from_str_radix(&digest.as_str()[..8], 16).unwrap() % 6;
        let quarrels = mood.is_multiple_of(4);
        match role {
            Role::Correct | Role::Readjudicate if quarrels => 1,
            Role::Arbitrate if quarrels => 2 + said % 2,
            _ => said,
        }
    }
    fn reply(&self, job: &Job, findings: &[Finding]) -> Reply {
        let said = |finding: &Finding| self.says(job.role, job.round.0, &finding.claim.title);
        let note = || "as scripted".to_owned();
        match job.role {
            Role::Plan | Role::Refine | Role::Implement | Role::Review => Reply::Text,
            Role::Challenge => Reply::Challenge {
                objections: if self.crew.as_ref().unwrap().objects {
                    vec![note()]
                } else {
                    Vec::new()
                },
            },
            Role::Correct | Role::Comply => Reply::Answers {
                answers: findings
                    .iter()
                    .filter_map(|finding| {
                        let action = match said(finding) {
                            0 => AnswerAction::Fixed,
                            1 | 2 => AnswerAction::Refuted,
                            3 => AnswerAction::Deferred,
                            _ => return None,
                        };
                        Some(run_loop::domain::job::Answer {
                            finding: finding.id,
                            action,
                            note: note(),
                        })
                    })
                    .collect(),
            },
            Role::Readjudicate | Role::Arbitrate => Reply::Rulings {
                rulings: findings
                    .iter()
                    .filter_map(|finding| {
                        let ruling = match said(finding) {
                            0 => RulingKind::Withdrawn,
                            1 => RulingKind::Upheld,
                            2 => RulingKind::Sustained,
                            3 => RulingKind::Overruled,
                            _ => return None,
                        };
                        Some(Ruling {
                            finding: finding.id,
                            ruling,
                            note: note(),
                        })
                    })
                    .collect(),
            },
        }
    }
    /// A job that plans, writes or rules.
    pub(super) fn work(
        &self,
        job: &Job,
        nth: u32,
        findings: &[Finding],
        content: &mut u8,
    ) -> JobOutcome {
        let deed = self.deed(job.role, job.round.0, nth);
        if job.role.writes()
            && deed != Deed::CannotStart
            && !self.leaves_it(job.role, job.round.0, nth)
            && let Some(next) = self.writes(job.role, job.round.0)
        {
            *content = next;
        }
        let reply = || Reading::Reply {
            reply: self.reply(job, findings),
        };
        let exited = |code| Ended::Exited { code };
        let (ended, reading) = match deed {
            Deed::Answers => (exited(0), reply()),
            Deed::Invalid => {
                let problems = vec!["as scripted".to_owned()];
                let (claimed, claims) = (None, Vec::new());
                (
                    exited(0),
                    Reading::Invalid {
                        problems,
                        claimed,
                        claims,
                        open: Vec::new(),
                    },
                )
            }
            Deed::Silent => (exited(0), Reading::Silent),
            // What a job says that failed or was stopped is not heard.
            Deed::Exits => (exited(1), reply()),
            Deed::TimesOut => (Ended::TimedOut, reply()),
            Deed::Limited => (limited(), reply()),
            Deed::CannotStart => {
                let failure = Failure::new(Code::AgentNotRunnable, "as scripted");
                (Ended::NotStarted { failure }, Reading::Silent)
            }
        };
        ended_with(ended, reading)
    }
}
