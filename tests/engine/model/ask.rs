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
                (passes && said).then_some(Slot::Passes)
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
                Answer::Pass | Answer::PassTakingBack => {
                    let bar = self.bar(content, Some(slot));
                    return bar.map_or(Slot::Passes, Slot::Refuses);
                }
                Answer::NotPassLow => return self.unless_left(slot, content, None, true),
                Answer::NotPass
                | Answer::NotPassUnexplained
                | Answer::NotPassStillOpen
                | Answer::PassWithBlocker => {
                    return claimed.map_or(Slot::Nothing, Slot::Refuses);
                }
                Answer::NotPassNew
                | Answer::NotPassNewAlone
                | Answer::NotPassNewButOpen
                | Answer::NotPassAgain => {
                    // Where what it found is lowered, nothing of it blocks.
                    let claim = claimed.filter(|claim| !self.resolved(*claim));
                    let silent = answer != Answer::NotPassNew;
                    return self.unless_left(slot, content, claim, silent);
                }
                Answer::PassButOpen => {
                    let bar = claimed.or_else(|| self.bar(content, Some(slot)));
                    return bar.map_or(Slot::Passes, Slot::Refuses);
                }
                Answer::Invalid | Answer::InvalidButOpen | Answer::InvalidNotPass => &mut re_ask,
                Answer::Silent
                | Answer::ExitsWithPerfectPass
                | Answer::KilledWithNotPass
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
        let own = || {
            let all = self.findings.iter();
            all.filter(move |it| it.slot == slot && it.rank == rank)
        };
        if answer == Answer::NotPassAgain {
            // On another content it lapses.
            let same = |it: &&Finding| it.key == format!("{slot} again") && it.content == content;
            let before = own().filter(|it| it.lowered.is_none()).rfind(same)?;
            return before.is_ruled().then_some(Why::Dismissed);
        }
        let new = matches!(
            answer,
            Answer::NotPassNew | Answer::NotPassNewAlone | Answer::NotPassNewButOpen
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
        let mut of_slot = self.findings.iter().filter(|it| it.slot == slot);
        let done = answer == Answer::NotPassNew || of_slot.all(|it| !it.blocks() || it.is_ruled());
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
            if here && finding.blocks() && finding.how == How::Open {
                self.settled.push((nth, finding.how));
                finding.how = How::Withdrawn;
            }
        }
    }

    /// What was called fixed or left for later, and is still there.
    fn open_again(&mut self, slot: usize) {
        for finding in &mut self.findings {
            let answered = matches!(finding.how, How::Fixed | How::Deferred);
            if finding.slot == slot && finding.blocks() && answered {
                finding.how = How::Open;
            }
        }
    }

    /// The findings of which an answer says that they are still there: a claim of its own.
    fn said_open(&mut self, answer: Answer, slot: usize, round: u32) -> Vec<usize> {
        let says_open = matches!(
            answer,
            Answer::PassButOpen
                | Answer::NotPassNewButOpen
                | Answer::NotPassStillOpen
                | Answer::InvalidButOpen
        );
        let held = |(_, finding): &(usize, &Finding)| {
            says_open && finding.slot == slot && finding.blocks() && !finding.is_ruled()
        };
        let all = self.findings.iter().enumerate();
        let open: Vec<usize> = all.filter(held).map(|(nth, _)| nth).collect();
        for nth in &open {
            self.findings[*nth].found = round;
        }
        if !open.is_empty() {
            self.open_again(slot);
        }
        open
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
        let blocks = matches!(
            answer,
            Answer::NotPass
                | Answer::PassWithBlocker
                | Answer::KilledWithNotPass
                | Answer::TimesOutWithNotPass
        );
        let placed = matches!(
            answer,
            Answer::NotPassNew
                | Answer::NotPassNewAlone
                | Answer::NotPassNewButOpen
                | Answer::NotPassAgain
        );
        let open = self.said_open(answer, slot, round);
        let keeps = !open.is_empty();
        if answer == Answer::PassTakingBack {
            self.take_back(slot, content);
        }
        let lowered = self.lowered(answer, (slot, rank), round, content);
        if placed || reads_all(answer) {
            let plans = self.plans;
            self.reports.push(Report {
                round,
                slot,
                rank,
                content,
                plans,
            });
        }
        let claims = blocks || placed || keeps || names_nothing(answer);
        let claim = claims.then(|| {
            let whole = matches!(answer, Answer::NotPass | Answer::NotPassStillOpen);
            let covered = whole || placed;
            self.claims.push(Claim {
                content,
                slot,
                covered,
                kept_alone: keeps && !placed,
                open,
                mends_all: answer == Answer::NotPassNew,
            });
            self.claims.len() - 1
        });
        let mut raise_as = |key: String, claim, lowered| {
            self.findings.push(Finding {
                claim,
                slot,
                found: round,
                content,
                key,
                rank,
                lowered,
                how: How::Open,
                mended: None,
            });
        };
        match answer {
            Answer::NotPassAgain => raise_as(format!("{slot} again"), claim, lowered),
            Answer::NotPassNew | Answer::NotPassNewAlone | Answer::NotPassNewButOpen => {
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
            | Answer::PassWithBlocker
            | Answer::NotPass
            | Answer::NotPassUnexplained
            | Answer::NotPassStillOpen
            | Answer::NotPassLow
    )
}

/// Whether an answer is a NOT PASS that finds nothing itself.
fn names_nothing(answer: Answer) -> bool {
    matches!(
        answer,
        Answer::NotPassUnexplained | Answer::NotPassStillOpen | Answer::InvalidNotPass
    )
}
