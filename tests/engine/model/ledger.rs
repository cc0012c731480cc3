//! What was claimed, and what became of it.

use crate::model::Model;

/// How a slot ended a round; a refusal with the claim that it rests on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Passes,
    Refuses(usize),
    /// Nothing of what it says blocks, and it leaves something of before standing.
    Leaves,
    Nothing,
}

/// Somebody claimed NOT PASS on a content.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each of them is known by itself"
)]
pub(super) struct Claim {
    pub(super) content: u8,
    pub(super) slot: usize,
    /// Its round.
    pub(super) round: u32,
    /// Whether it calls anything of before open, ruled on or not.
    pub(super) kept: bool,
    /// Whether it is the valid NOT PASS of a reviewer that read everything.
    pub(super) covered: bool,
    /// Findings of before of which it said that they are still there.
    pub(super) open: Vec<usize>,
    /// Whether it claims nothing besides.
    pub(super) kept_alone: bool,
    /// Whether it says of everything before that it is mended.
    pub(super) mends_all: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Open,
    Fixed,
    Refuted,
    Deferred,
    Withdrawn,
    Upheld,
    Sustained,
    Overruled,
}

impl How {
    pub(super) fn is_settled(self) -> bool {
        matches!(self, Self::Fixed | Self::Withdrawn | Self::Overruled)
    }
}

pub(super) struct Finding {
    /// The claim it blocks by; a finding below the bar has none.
    pub(super) claim: Option<usize>,
    pub(super) slot: usize,
    /// The newest round in which somebody of its slot said that it is there.
    pub(super) found: u32,
    pub(super) content: u8,
    /// The round in which it was raised.
    pub(super) raised: u32,
    pub(super) key: String,
    /// Whether the slot's own agent raised it, or which fallback.
    pub(super) rank: usize,
    /// Whether it would block by its words and does not, since it came late or was dismissed.
    pub(super) lowered: Option<Why>,
    pub(super) how: How,
    /// The content on which it was last taken back or overruled.
    pub(super) ruled_on: Option<u8>,
    /// The round in which its slot passed other content than it was found on; void with its round.
    pub(super) mended: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Late,
    /// As this one was.
    Dismissed(usize),
}

impl Finding {
    pub(super) fn blocks(&self) -> bool {
        self.claim.is_some() && self.lowered.is_none()
    }
    pub(super) fn is_ruled(&self) -> bool {
        matches!(self.how, How::Withdrawn | How::Overruled)
    }
    /// Whether nobody but the creator says that it is mended, if anybody does.
    pub(super) fn is_unconfirmed(&self) -> bool {
        let confirmed = self.how == How::Fixed && self.mended.is_some_and(|at| at > self.found);
        self.blocks() && !self.is_ruled() && !confirmed
    }
    pub(super) fn holds(&self) -> bool {
        !self.how.is_settled()
    }
    pub(super) fn stands(&self) -> bool {
        self.blocks() && self.holds()
    }
}

/// A report that was valid and read everything.
pub(super) struct Report {
    pub(super) round: u32,
    pub(super) slot: usize,
    pub(super) rank: usize,
    pub(super) content: u8,
    /// How many plans had been written.
    pub(super) plans: u32,
}

/// A round that ended with a verdict against the content.
pub(super) struct Refused {
    pub(super) content: u8,
    pub(super) slots: Vec<Slot>,
    /// How many plans had been written.
    pub(super) plans: u32,
    pub(super) untouched: bool,
}

impl Model<'_> {
    /// Whether everything that a claim rests on was taken back or overruled.
    pub(super) fn resolved(&self, claim: usize) -> bool {
        let mut findings = self
            .findings
            .iter()
            .filter(|finding| finding.claim == Some(claim))
            .peekable();
        let rests = findings.peek().is_some() || self.claims[claim].kept_alone;
        rests
            && findings.all(|it| {
                // A ruling on what was mended says nothing of what it was.
                let here = it.ruled_on == Some(self.claims[claim].content);
                it.lowered.is_some() || (it.is_ruled() && here)
            })
            && self.claims[claim].open.iter().all(|open| {
                let claim = &self.claims[claim];
                self.is_ruled_here(*open, claim.content)
            })
    }

    /// Whether a ruling holds for what is said on a content. In these worlds the one file is the whole
    /// content: there are no other contents with the same bytes in their place.
    pub(super) fn is_ruled_here(&self, finding: usize, content: u8) -> bool {
        let it = &self.findings[finding];
        it.is_ruled() && it.ruled_on == Some(content)
    }

    /// Whether a slot found something on other content and did not say since that it is mended.
    pub(super) fn leaves(&self, slot: usize, content: u8) -> bool {
        let left = |it: &Finding| it.slot == slot && it.is_unconfirmed() && it.content != content;
        self.findings.iter().any(left)
    }

    /// Whether a silent PASS would close what another agent of the slot is in dispute about: nobody said
    /// before this round that it is mended.
    pub(super) fn passes_over(&self, slot: usize, rank: usize, content: u8) -> bool {
        let mut all = self.findings.iter().enumerate();
        all.any(|(nth, it)| {
            let left = it.slot == slot && it.is_unconfirmed() && it.content != content;
            let held = self.before.get(nth).is_none_or(|how| !how.is_settled());
            left && it.rank != rank && held
        })
    }

    /// Whether a slot refused something, and was not there since to say that it is mended.
    pub(super) fn waits_for(&self, slot: usize) -> bool {
        let mut own = self.findings.iter().filter(|it| it.slot == slot);
        own.any(Finding::is_unconfirmed) || self.refuses(slot)
    }

    /// Whether a slot's last word is a NOT PASS that names nothing, and it passed in no later round.
    fn refuses(&self, slot: usize) -> bool {
        let claims = self.claims.iter().enumerate();
        let unnamed = claims.filter(|(nth, claim)| {
            let mut found = self.findings.iter();
            let named = found.any(|it| it.claim == Some(*nth));
            claim.slot == slot && !named && !claim.kept
        });
        let rounds = || {
            let all = self.rounds.iter().zip(1..);
            all.filter_map(|(round, nth)| Some((round.as_ref()?, nth)))
        };
        let left = rounds().filter(|(round, _)| round.slots[slot] == Slot::Leaves);
        let left = left.map(|(_, nth)| nth);
        let passed = rounds().filter(|(it, _)| it.untouched && it.slots[slot] == Slot::Passes);
        let refused = unnamed.map(|(_, claim)| claim.round).chain(left).max();
        refused > passed.map(|(_, nth)| nth).max()
    }

    pub(super) fn bar(&self, content: u8, slot: Option<usize>) -> Option<usize> {
        let mut claims = self.claims.iter().enumerate();
        let bars = |(nth, claim): &(usize, &Claim)| {
            let here = claim.content == content && slot.is_none_or(|slot| slot == claim.slot);
            here && !self.resolved(*nth)
        };
        claims.find(bars).map(|(nth, _)| nth)
    }

    pub(super) fn barred(&self, content: u8) -> bool {
        self.bar(content, None).is_some()
    }
}
