//! What was claimed, and what became of it.

use std::collections::BTreeMap;

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
    /// Findings of before of which it said that they are still there, unless a ruling had settled that and
    /// it claims something besides.
    pub(super) open: Vec<usize>,
    /// Those of them that a ruling had settled.
    pub(super) settled: Vec<usize>,
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
    /// Its slot says of other content that it was wrong: that is no ruling.
    TakenBack,
    Upheld,
    Sustained,
    Overruled,
}

impl How {
    pub(super) fn is_settled(self) -> bool {
        matches!(
            self,
            Self::Fixed | Self::Withdrawn | Self::TakenBack | Self::Overruled
        )
    }
}

pub(super) struct Finding {
    /// The claim it blocks by; a finding below the bar has none.
    pub(super) claim: Option<usize>,
    /// What its report claims.
    pub(super) beside: Option<usize>,
    pub(super) slot: usize,
    /// The newest round in which somebody of its slot said that it is there.
    pub(super) found: u32,
    pub(super) content: u8,
    /// The round in which it was raised.
    pub(super) raised: u32,
    pub(super) key: String,
    /// Whether it cites line 1, and that was followed up to now.
    pub(super) placed: bool,
    /// The first one that it repeats.
    pub(super) again: Option<usize>,
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
        self.blocks() && self.waits_for_its_slot()
    }
    /// The same whether it blocks or not.
    pub(super) fn waits_for_its_slot(&self) -> bool {
        let settled = matches!(self.how, How::Fixed | How::TakenBack);
        let confirmed = settled && self.mended.is_some_and(|at| at > self.found);
        !self.is_ruled() && !confirmed
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
    /// How what blocks stood when it closed, and after the turn that followed.
    pub(super) stood: BTreeMap<usize, How>,
    pub(super) left: Option<BTreeMap<usize, How>>,
    /// How many plans had been written.
    pub(super) plans: u32,
    pub(super) untouched: bool,
}

impl Model<'_> {
    /// How what blocks stands; of what is found again, what was said last.
    pub(super) fn standing(&self) -> BTreeMap<usize, How> {
        let all = self.findings.iter().enumerate();
        let blocking = all.filter(|(_, it)| it.blocks());
        blocking
            .map(|(nth, it)| {
                let how = match it.how {
                    How::TakenBack => How::Withdrawn,
                    how => how,
                };
                (it.again.unwrap_or(nth), how)
            })
            .collect()
    }

    /// Whether all stands as when the last round closed, or as after an earlier turn on its content.
    pub(super) fn stands_as_before(&self) -> bool {
        let last = self.rounds.last().and_then(Option::as_ref);
        last.is_some_and(|last| last.stood == self.standing()) || self.turned_before()
    }

    /// Whether all stands as after an earlier turn on the content of the last round.
    pub(super) fn turned_before(&self) -> bool {
        let now = self.standing();
        let Some((Some(last), earlier)) = self.rounds.split_last() else {
            return false;
        };
        let mut earlier = earlier.iter().flatten();
        earlier.any(|it| it.content == last.content && it.left.as_ref() == Some(&now))
    }

    /// Whether something of before or of its own is named by a claim that bars this content.
    pub(super) fn names_why(&self, content: u8) -> bool {
        let mut claims = self.claims.iter().enumerate();
        claims.any(|(nth, claim)| {
            let mut all = self.findings.iter().enumerate();
            claim.content == content
                && !self.resolved(nth)
                && all.any(|(id, it)| {
                    let named = it.claim == Some(nth) || claim.open.contains(&id);
                    named && it.blocks() && !self.is_ruled_here(id, content)
                })
        })
    }

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

    /// Whether somebody found something of its slot again in the round of a claim, or since.
    pub(super) fn is_outdone(&self, claim: usize, content: u8) -> bool {
        let Claim { slot, round, .. } = &self.claims[claim];
        let left = |it: &Finding| it.slot == *slot && it.is_unconfirmed() && it.content != content;
        self.findings
            .iter()
            .any(|it| left(it) && it.found >= *round)
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
        let all = self.rounds.iter().zip(1..);
        let rounds = all.filter_map(|(round, nth)| Some((round.as_ref()?, nth)));
        let passed = rounds.filter(|(it, _)| it.untouched && it.slots[slot] == Slot::Passes);
        let refused = unnamed.map(|(_, claim)| claim.round).max();
        refused > passed.map(|(_, nth)| nth).max()
    }

    /// Whether everything that a claim calls open is of its slot, and no ruling was there before.
    pub(super) fn is_of_own(&self, claim: usize) -> bool {
        let claim = &self.claims[claim];
        claim.open.iter().all(|nth| {
            let finding = &self.findings[*nth];
            finding.slot == claim.slot && !claim.settled.contains(nth)
        })
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
