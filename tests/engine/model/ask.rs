//! Asking the slots of a round.

use run_loop::domain::severity::Severity;

use crate::model::Model;
use crate::model::ledger::{Claim, Finding, How, Report, Slot, Why};
use crate::world::{Answer, is_same_line, key};

impl Model<'_> {
    /// How a slot stands without being asked, since the last round was on this very content.
    pub(super) fn carried(&self, slot: usize, content: u8) -> Option<Slot> {
        let last = self.rounds.last()?.as_ref()?;
        if last.content != content || !last.untouched || last.plans != self.plans {
            return None;
        }
        match last.slots[slot] {
            Slot::Passes => Some(Slot::Passes),
            Slot::Refuses(claim) => {
                let free = self.bar(content, Some(slot)).is_none();
                let passes = free && self.claims[claim].covered && self.resolved(claim);
                let said = self.claims[claim].mends_all || !self.leaves(slot, content);
                let last = !self.is_outdone(claim, content);
                if passes && said && last && self.is_of_own(claim) {
                    return Some(Slot::Passes);
                }
                // What `checks` found could only be found again.
                let stands = self.world.slots[slot].checks && !free;
                stands.then_some(Slot::Refuses(claim))
            }
            Slot::Leaves if self.world.slots[slot].checks => {
                let bar = self.bar(content, Some(slot));
                bar.map(|_| Slot::Leaves)
            }
            Slot::Leaves | Slot::Nothing => None,
        }
    }

    /// Asks one slot: attempt, one re-ask for an invalid report, one fresh attempt for a failure on
    /// the way, each fallback once.
    pub(super) fn ask(&mut self, slot: usize, round: u32, content: u8) -> Slot {
        let world = self.world;
        let (mut re_ask, mut fresh, mut rank) = (1, 1, 0);
        for attempt in 1.. {
            let answer = world.answer(slot, round, attempt);
            let claimed = self.record(answer, slot, round, attempt, content, rank);
            let again = match answer {
                // Nobody's failure: somebody is asked again, and nothing is spent.
                Answer::Limited => continue,
                Answer::Pass if self.passes_over(slot, rank, content) => return Slot::Leaves,
                Answer::Pass | Answer::PassTakingBack => {
                    let bar = self.bar(content, Some(slot));
                    return bar.map_or(Slot::Passes, Slot::Refuses);
                }
                Answer::NotPassLow => return self.unless_left(slot, content, None, true),
                Answer::NotPass
                | Answer::NotPassUnexplained
                | Answer::NotPassStillOpen
                | Answer::NotPassTheirsOpen
                | Answer::PassWithBlocker => {
                    return claimed.map_or(Slot::Nothing, Slot::Refuses);
                }
                Answer::NotPassNew
                | Answer::NotPassNewWithdrawing
                | Answer::NotPassNewAlone
                | Answer::NotPassNewButOpen
                | Answer::NotPassAgain => {
                    // Where what it found is lowered, nothing of it blocks.
                    let claim = claimed.filter(|claim| !self.resolved(*claim));
                    let silent = says_settled(answer).is_none();
                    return self.unless_left(slot, content, claim, silent);
                }
                Answer::PassButTheirsOpen
                    if claimed.is_none() && self.passes_over(slot, rank, content) =>
                {
                    return Slot::Leaves;
                }
                Answer::PassButOpen | Answer::PassButTheirsOpen => {
                    let bar = claimed.or_else(|| self.bar(content, Some(slot)));
                    return bar.map_or(Slot::Passes, Slot::Refuses);
                }
                Answer::Invalid | Answer::InvalidButOpen | Answer::InvalidNotPass => &mut re_ask,
                Answer::Silent
                | Answer::ExitsWithPerfectPass
                | Answer::KilledWithNotPass
                | Answer::KilledStillOpen
                | Answer::CannotStart => &mut fresh,
                Answer::TimesOutWithPass | Answer::TimesOutWithNotPass | Answer::PassUncovered => {
                    &mut 0
                }
            };
            if *again > 0 {
                *again -= 1;
            } else if rank < world.slots[slot].fallbacks {
                rank += 1;
            } else {
                break;
            }
        }
        Slot::Nothing
    }

    /// How a NOT PASS stands: by its own claim, by one of before, by what it leaves in silence, or it
    /// passes.
    fn unless_left(&self, slot: usize, content: u8, claim: Option<usize>, silent: bool) -> Slot {
        match claim {
            Some(claim) => Slot::Refuses(claim),
            None if silent && self.leaves(slot, content) => Slot::Leaves,
            None => {
                let bar = self.bar(content, Some(slot));
                bar.map_or(Slot::Passes, Slot::Refuses)
            }
        }
    }

    /// Why what an answer finds on line 1 does not block, if it does not.
    fn lowered(
        &self,
        answer: Answer,
        (slot, rank): (usize, usize),
        round: u32,
        content: u8,
    ) -> Option<Why> {
        // Nobody is lenient with oneself.
        if self.world.slots[slot].checks || self.world.reviews_own_work() {
            return None;
        }
        // Each agent of a slot is held by its own words.
        if answer == Answer::NotPassAgain {
            // On another content it lapses.
            let own = self.findings.iter().enumerate();
            let mut own = own.filter(|(_, it)| it.slot == slot && it.rank == rank);
            let same = |(_, it): &(usize, &Finding)| {
                let again = it.key == format!("{slot} again") && it.content == content;
                again && it.lowered.is_none()
            };
            let (before, _) = own.rfind(same)?;
            let holds = self.is_ruled_here(before, content);
            return holds.then_some(Why::Dismissed(before));
        }
        let new = matches!(
            answer,
            Answer::NotPassNew
                | Answer::NotPassNewWithdrawing
                | Answer::NotPassNewAlone
                | Answer::NotPassNewButOpen
        );
        if !new {
            return None;
        }
        // One's own reports, by the plan of now.
        let own = |it: &&Report| {
            let same = it.slot == slot && it.rank == rank && it.plans == self.plans;
            same && it.round < round
        };
        let reports: Vec<_> = self.reports.iter().filter(own).collect();
        let all = self.findings.iter().enumerate();
        let mut of_slot = all.filter(|(_, it)| it.slot == slot);
        let ruled = |nth| self.is_ruled_here(nth, content);
        let done =
            says_settled(answer).is_some() || of_slot.all(|(nth, it)| !it.blocks() || ruled(nth));
        let late = reports.len() >= 2 && is_same_line(reports.last()?.content, content) && done;
        late.then_some(Why::Late)
    }

    /// Only what one found in one's own work, and in this very content, is taken back by a word.
    fn take_back(&mut self, slot: usize, content: u8) {
        if !self.world.reviews_own_work() || slot != 0 {
            return;
        }
        for (nth, finding) in self.findings.iter_mut().enumerate() {
            let here = finding.slot == slot && finding.content == content;
            if here && finding.beside.is_some() && finding.how == How::Open {
                self.settled.push((nth, finding.how));
                (finding.how, finding.ruled_on) = (How::Withdrawn, Some(content));
            }
        }
    }

    /// What a whole NOT PASS calls mended or wrong of what its slot found on other content is so, unless somebody
    /// found it in this round.
    fn settle_besides(&mut self, answer: Answer, slot: usize, round: u32, content: u8) {
        let Some(how) = says_settled(answer) else {
            return;
        };
        for (nth, finding) in self.findings.iter_mut().enumerate() {
            let own = finding.slot == slot && finding.content != content;
            if own && finding.waits_for_its_slot() && finding.found < round {
                self.settled.push((nth, finding.how));
                (finding.how, finding.mended) = (how, Some(round));
            }
        }
    }

    /// The findings that block of which an answer says that they are still there: those that no ruling
    /// settled here, and those that one did. What was called fixed or left for later, or was ruled on
    /// elsewhere, is open again.
    fn said_open(
        &mut self,
        answer: Answer,
        slot: usize,
        round: u32,
        content: u8,
    ) -> (Vec<usize>, Vec<usize>) {
        let own = matches!(
            answer,
            Answer::PassButOpen
                | Answer::NotPassNewButOpen
                | Answer::NotPassStillOpen
                | Answer::KilledStillOpen
                | Answer::InvalidButOpen
        );
        let theirs = matches!(
            answer,
            Answer::PassButTheirsOpen | Answer::NotPassTheirsOpen
        );
        let held = |nth: &usize| {
            let finding = &self.findings[*nth];
            if finding.slot == slot {
                own
            } else {
                theirs && finding.raised < round
            }
        };
        let said: Vec<usize> = (0..self.findings.len()).filter(held).collect();
        let unruled = |nth: &usize| !self.is_ruled_here(*nth, content);
        let again: Vec<usize> = said.iter().copied().filter(unruled).collect();
        for nth in &said {
            self.findings[*nth].found = round;
        }
        for nth in &again {
            let finding = &mut self.findings[*nth];
            let answered = matches!(finding.how, How::Fixed | How::TakenBack | How::Deferred);
            if answered || finding.is_ruled() {
                finding.how = How::Open;
            }
        }
        let blocks = |nth: &usize| self.findings[*nth].blocks();
        let said = said.into_iter().filter(blocks);
        said.partition(|nth| again.contains(nth))
    }

    /// The finding that its slot always has, where its line was followed from before.
    fn repeats(&self, slot: usize) -> Option<usize> {
        let all = self.findings.iter().enumerate();
        let same = |(_, it): &(usize, &Finding)| {
            it.slot == slot && it.placed && it.key == format!("{slot} again")
        };
        let (nth, first) = all.rev().find(same)?;
        Some(first.again.unwrap_or(nth))
    }

    /// An agent gave a report that read everything.
    fn reported(&mut self, slot: usize, rank: usize, round: u32, content: u8) {
        self.reports.push(Report {
            round,
            slot,
            rank,
            content,
            plans: self.plans,
        });
    }

    /// Takes what an answer claims, however it ended.
    fn record(
        &mut self,
        answer: Answer,
        slot: usize,
        round: u32,
        attempt: u32,
        content: u8,
        rank: usize,
    ) -> Option<usize> {
        let blocks = blocks(answer);
        let placed = is_placed(answer);
        let (mut open, settled) = self.said_open(answer, slot, round, content);
        let kept = !open.is_empty() || !settled.is_empty();
        let keeps = !open.is_empty();
        // Nobody is lenient with oneself.
        let own_work = self.world.reviews_own_work() && slot == 0;
        if names_nothing(answer) && !own_work {
            open.extend(&settled);
        }
        if answer == Answer::PassTakingBack {
            self.take_back(slot, content);
        }
        let lowered = self.lowered(answer, (slot, rank), round, content);
        self.settle_besides(answer, slot, round, content);
        if placed || reads_all(answer) {
            self.reported(slot, rank, round, content);
        }
        let claims = blocks || placed || keeps || names_nothing(answer);
        let claim = claims.then(|| {
            let covered = is_whole(answer) || placed;
            self.claims.push(Claim {
                content,
                slot,
                round,
                kept,
                covered,
                kept_alone: !open.is_empty() && !placed,
                open,
                settled,
                mends_all: says_settled(answer).is_some(),
            });
            self.claims.len() - 1
        });
        let (again, beside) = (self.repeats(slot), claim);
        let mut raise_as = |key: String, claim, lowered| {
            let repeats = key == format!("{slot} again");
            self.findings.push(Finding {
                claim,
                beside,
                slot,
                found: round,
                content,
                raised: round,
                again: again.filter(|_| repeats),
                placed,
                key,
                rank,
                lowered,
                how: How::Open,
                ruled_on: None,
                mended: None,
            });
        };
        match answer {
            Answer::NotPassAgain => raise_as(format!("{slot} again"), claim, lowered),
            Answer::NotPassNew
            | Answer::NotPassNewWithdrawing
            | Answer::NotPassNewAlone
            | Answer::NotPassNewButOpen => {
                let key = format!("{} {}", key(slot, round, attempt), Severity::Medium);
                raise_as(key, claim, lowered);
            }
            _ => {}
        }
        let mut raise = |severity: Severity, claim| {
            let key = format!("{} {severity}", key(slot, round, attempt));
            raise_as(key, claim, None);
        };
        if blocks || answer == Answer::NotPassLow {
            raise(Severity::Low, None);
        }
        if blocks {
            raise(Severity::High, claim);
        }
        claim
    }
}

/// Whether an answer without a place is a verdict that read everything.
fn reads_all(answer: Answer) -> bool {
    matches!(
        answer,
        Answer::Pass
            | Answer::PassTakingBack
            | Answer::PassButOpen
            | Answer::PassButTheirsOpen
            | Answer::PassWithBlocker
            | Answer::NotPass
            | Answer::NotPassUnexplained
            | Answer::NotPassStillOpen
            | Answer::NotPassTheirsOpen
            | Answer::NotPassLow
    )
}

/// Whether an answer finds what blocks, without a place, beside what does not.
fn blocks(answer: Answer) -> bool {
    matches!(
        answer,
        Answer::NotPass
            | Answer::PassWithBlocker
            | Answer::KilledWithNotPass
            | Answer::TimesOutWithNotPass
    )
}

/// What a NOT PASS says became of everything of before, if it says so.
fn says_settled(answer: Answer) -> Option<How> {
    match answer {
        Answer::NotPassNew => Some(How::Fixed),
        Answer::NotPassNewWithdrawing => Some(How::TakenBack),
        _ => None,
    }
}

/// Whether an answer is a NOT PASS that cites line 1.
fn is_placed(answer: Answer) -> bool {
    matches!(
        answer,
        Answer::NotPassNew
            | Answer::NotPassNewWithdrawing
            | Answer::NotPassNewAlone
            | Answer::NotPassNewButOpen
            | Answer::NotPassAgain
    )
}

/// Whether an answer is another valid NOT PASS that read everything and may be resolved.
fn is_whole(answer: Answer) -> bool {
    matches!(
        answer,
        Answer::NotPass | Answer::NotPassStillOpen | Answer::NotPassTheirsOpen
    )
}

/// Whether an answer is a NOT PASS that finds nothing itself.
fn names_nothing(answer: Answer) -> bool {
    matches!(
        answer,
        Answer::NotPassUnexplained
            | Answer::NotPassStillOpen
            | Answer::NotPassTheirsOpen
            | Answer::KilledStillOpen
            | Answer::InvalidNotPass
    )
}
