//! The facts of an approved round, as plain data: what a permit is granted on.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::digest::Digest;
use crate::domain::event::Settlement;
use crate::domain::evidence::Evidence;
use crate::domain::finding::{Finding, Word};
use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::job::{Job, JobOutcome};
use crate::domain::lines::Since;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::SlotName;
use crate::domain::time::Timestamp;

/// Everything about the last round, taken from the engine's state. It is believed to nothing:
/// [`Permit::grant`](crate::promote::Permit::grant) checks it again.
#[derive(Debug, Clone)]
pub struct ApprovedRound {
    /// What the run is bound to.
    pub spec: RunSpec,
    /// When the run was started.
    pub started_at: Timestamp,
    /// The round.
    pub round: RoundNumber,
    /// What was measured when it opened.
    pub pinned: Pin,
    /// What was measured when the last report was sealed.
    pub sealed: Remeasured,
    /// What was measured right before promotion.
    pub before_promotion: Remeasured,
    /// What reviewers were shown.
    pub evidence: Evidence,
    /// Every slot of the panel.
    pub slots: Vec<SettledSlot>,
    /// Every finding of the run that was raised on this content, of any attempt.
    pub findings: Vec<Finding>,
    /// What became of the lines of earlier trees, as it was known in each earlier round.
    pub since: Vec<(RoundNumber, Vec<Since>)>,
    /// Every finding of the run.
    pub ledger: Vec<Finding>,
    /// Every review of the run, in the order of its dispatch.
    pub reviews: Vec<EndedJob>,
    /// What was measured when each round of the run opened, this one and earlier ones.
    pub rounds: Vec<(RoundNumber, Pin)>,
    /// The reviews by which slots passed in earlier rounds, but for void ones.
    pub passed: BTreeSet<JobId>,
    /// The earlier rounds in which no word counts that something is mended.
    pub void: BTreeSet<RoundNumber>,
    /// What was said of each finding, in order.
    pub words: BTreeMap<FindingId, Vec<Word>>,
    /// Jobs in which the creator answered findings, in their order.
    pub answers: Vec<EndedJob>,
    /// The job that wrote the plan that each round went by, where a planner wrote it.
    pub plans: BTreeMap<RoundNumber, JobId>,
    /// Jobs of the run that ruled on findings (re-adjudication, arbitration), in their order.
    pub rulings: Vec<EndedJob>,
    /// The plan that was worked by at the end, with its hash.
    pub plan: Option<(String, Digest)>,
}

impl ApprovedRound {
    /// Whether a round was on the identity that is approved: this one, or an earlier one with the
    /// same base and content tree that went by the same plan. Of a round without a pin it is not known,
    /// so it was not.
    #[must_use]
    pub fn is_on_identity(&self, number: RoundNumber) -> bool {
        if number >= self.round {
            return number == self.round;
        }
        let mut pins = self
            .rounds
            .iter()
            .filter(|(other, _)| *other == number)
            .map(|(_, pin)| &pin.identity)
            .peekable();
        let (base, content) = (
            &self.pinned.identity.base,
            &self.pinned.identity.content_tree,
        );
        self.plans.get(&number) == self.plans.get(&self.round)
            && pins.peek().is_some()
            && pins.all(|other| other.base == *base && other.content_tree == *content)
    }
}

/// A slot at the end of its attempts.
#[derive(Debug, Clone)]
pub struct SettledSlot {
    /// The slot.
    pub slot: SlotName,
    /// How it stands.
    pub settlement: Settlement,
    /// All of its reviews on this identity: of this round, and of earlier ones on the same.
    pub jobs: Vec<EndedJob>,
}

/// A job with what came back.
#[derive(Debug, Clone)]
pub struct EndedJob {
    /// What was asked.
    pub job: Job,
    /// What came back.
    pub outcome: JobOutcome,
    /// The content that it was asked on, where that is known.
    pub content: Option<Oid>,
}
