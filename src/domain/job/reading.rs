//! What the report of a job says, as decoded by the contract of its role.

use serde::{Deserialize, Serialize};

use crate::domain::finding::{Claim, Disposition};
use crate::domain::id::FindingId;
use crate::domain::oid::Oid;
use crate::domain::severity::Severity;
use crate::domain::verdict::{Coverage, Verdict};

/// What a report says, as decoded by the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reading", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reading {
    /// A valid review.
    Review(Review),
    /// There is a report, and it is no verdict.
    Invalid {
        /// What is wrong, in words that can be said to the agent.
        problems: Vec<String>,
        /// A verdict decoded all the same; `NotPass` bars PASS for this identity.
        claimed: Option<Verdict>,
        /// Findings decoded all the same: claims never vanish.
        claims: Vec<Claim>,
        /// Earlier findings of which it says all the same that they still hold.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<FindingId>,
    },
    /// A valid answer of a job that is no review.
    Reply {
        /// What it says.
        reply: Reply,
    },
    /// There is no report, or it is blank.
    Silent,
}

impl Reading {
    /// Whether what was decoded, valid or not and however the job ended, claims NOT PASS: it bars PASS on the
    /// content (design, section 6: claims never vanish).
    #[must_use]
    pub fn claims_not_pass(&self, fail_on: Severity) -> bool {
        match self {
            Self::Review(review) => {
                let blocks = review.findings.iter().any(|claim| claim.blocks(fail_on));
                blocks || (review.verdict == Verdict::NotPass && review.findings.is_empty())
            }
            Self::Invalid {
                claimed, claims, ..
            } => {
                *claimed == Some(Verdict::NotPass)
                    || claims.iter().any(|claim| claim.blocks(fail_on))
            }
            Self::Reply { .. } | Self::Silent => false,
        }
    }
    /// The earlier findings of which the report says, valid or not, that they still hold.
    #[must_use]
    pub fn still_open(&self) -> Vec<FindingId> {
        match self {
            Self::Review(said) => {
                let open = said.prior.iter().filter(|prior| prior.disposition.holds());
                open.map(|prior| prior.finding).collect()
            }
            Self::Invalid { open, .. } => open.clone(),
            Self::Reply { .. } | Self::Silent => Vec::new(),
        }
    }
    /// The same with its words as they may be kept. What was judged by stays: ids, and paths of the
    /// snapshot, which are nobody's key.
    #[must_use]
    pub fn in_words(self, kept: &dyn Fn(&str) -> String) -> Self {
        let all = |said: Vec<String>| said.iter().map(|said| kept(said)).collect();
        match self {
            Self::Review(review) => Self::Review(review.in_words(kept)),
            Self::Invalid {
                problems,
                claimed,
                claims,
                open,
            } => Self::Invalid {
                problems: all(problems),
                claims: claims.into_iter().map(|it| it.in_words(kept)).collect(),
                claimed,
                open,
            },
            Self::Reply { reply } => Self::Reply {
                reply: match reply {
                    Reply::Text => Reply::Text,
                    Reply::Challenge { objections } => Reply::Challenge {
                        objections: all(objections),
                    },
                    Reply::Answers { mut answers } => {
                        for answer in &mut answers {
                            answer.note = kept(&answer.note);
                        }
                        Reply::Answers { answers }
                    }
                    Reply::Rulings { mut rulings } => {
                        for ruling in &mut rulings {
                            ruling.note = kept(&ruling.note);
                        }
                        Reply::Rulings { rulings }
                    }
                },
            },
            Self::Silent => Self::Silent,
        }
    }
    /// What lay at the path of an earlier finding when the report spoke of it, where that is known.
    #[must_use]
    pub fn blob_of(&self, finding: FindingId) -> Option<&Oid> {
        let Self::Review(said) = self else {
            return None;
        };
        let mut prior = said.prior.iter();
        prior.find(|prior| prior.finding == finding)?.blob.as_ref()
    }
}

/// What a job that is no review answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// A text that is taken as it is: a plan, or what an implementation says of itself.
    Text,
    /// Objections to a plan; none is fine.
    Challenge {
        /// What speaks against it.
        objections: Vec<String>,
    },
    /// What the creator did about findings.
    Answers {
        /// One for each finding it answers; what is not answered stays open.
        answers: Vec<Answer>,
    },
    /// What a reviewer or the arbiter ruled.
    Rulings {
        /// One for each finding it rules on.
        rulings: Vec<Ruling>,
    },
}

/// What the creator did about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The finding.
    pub finding: FindingId,
    /// What it did.
    pub action: AnswerAction,
    /// How, or why not; a refutation must give its reasons.
    pub note: String,
}

/// What a creator can do about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerAction {
    /// It mended it.
    Fixed,
    /// It says that the finding is wrong.
    Refuted,
    /// It leaves it for later.
    Deferred,
}

/// A ruling on a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruling {
    /// The finding.
    pub finding: FindingId,
    /// What was ruled.
    pub ruling: RulingKind,
    /// Why.
    pub note: String,
}

/// What can be ruled: the first two by the finding's reviewer, the others by the arbiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RulingKind {
    /// The reviewer takes it back.
    Withdrawn,
    /// The reviewer keeps it.
    Upheld,
    /// The arbiter agrees with the reviewer.
    Sustained,
    /// The arbiter agrees with the creator.
    Overruled,
}

/// A valid review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The verdict as given.
    pub verdict: Verdict,
    /// One paragraph.
    pub summary: String,
    /// The findings.
    pub findings: Vec<Claim>,
    /// What became of earlier findings, as it says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prior: Vec<Prior>,
    /// How far the plan's acceptance items are done, as it says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanAnswer>,
    /// The acceptance items of the plan that it says nothing of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<u32>,
    /// What was read.
    pub coverage: Coverage,
    /// Receipts that were shown, and right.
    pub receipts: u32,
}

impl Review {
    fn in_words(self, kept: &dyn Fn(&str) -> String) -> Self {
        let Self {
            verdict,
            summary,
            findings,
            mut prior,
            mut plan,
            unanswered,
            coverage,
            receipts,
        } = self;
        for said in &mut prior {
            said.note = kept(&said.note);
        }
        for answer in &mut plan {
            answer.note = kept(&answer.note);
        }
        Self {
            summary: kept(&summary),
            findings: findings.into_iter().map(|it| it.in_words(kept)).collect(),
            verdict,
            prior,
            plan,
            unanswered,
            coverage,
            receipts,
        }
    }
    /// Whether everything was read and every acceptance item answered: nothing passes by a report that
    /// is not whole, whatever word it ends with.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.coverage == Coverage::Full && self.unanswered.is_empty()
    }
    /// The acceptance items that the change deviates from, as it says.
    pub fn deviations(&self) -> impl Iterator<Item = &PlanAnswer> {
        let plan = self.plan.iter();
        plan.filter(|answer| answer.state == ItemState::Deviated)
    }
}

/// What a reviewer says of an earlier finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// The finding.
    pub finding: FindingId,
    /// What became of it.
    pub disposition: Disposition,
    /// Why.
    pub note: String,
    /// What lies at the finding's path in the tree that was reviewed, where that is a text file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Oid>,
}

/// What a reviewer says of one acceptance item of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanAnswer {
    /// The item's number.
    pub item: u32,
    /// How far it is done.
    pub state: ItemState,
    /// How one knows; for a deviation why it is so.
    pub note: String,
}

/// How far an acceptance item is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum ItemState {
    /// It holds.
    #[serde(rename = "met")]
    Met,
    /// It does not.
    #[serde(rename = "not met")]
    NotMet,
    /// Something else holds in its place, for a reason.
    #[serde(rename = "deviated")]
    Deviated,
}

impl ItemState {
    /// Reads the word of a report.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "met" => Some(Self::Met),
            "not met" => Some(Self::NotMet),
            "deviated" => Some(Self::Deviated),
            _ => None,
        }
    }
    /// The word of a report.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Deviated => "deviated",
        }
    }
}
