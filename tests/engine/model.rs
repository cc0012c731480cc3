//! The reference model: the exit code that a scripted world must lead to, computed by walking the
//! design's sentences in order. It shares no code with the engine and knows no events.

#[path = "model/ask.rs"]
mod ask;
#[path = "model/ledger.rs"]
mod ledger;
#[path = "model/turn.rs"]
mod turn;

use run_loop::domain::effect::MeasurePoint;
use run_loop::domain::job::Role;

use crate::world::{Planned, World, is_same_line};
use ledger::{Claim, Finding, How, Refused, Report, Slot};
use turn::After;

struct Model<'a> {
    world: &'a World,
    content: u8,
    claims: Vec<Claim>,
    findings: Vec<Finding>,
    reports: Vec<Report>,
    /// The rounds that closed; `None` where one was void.
    rounds: Vec<Option<Refused>>,
    /// Whether the planner refined the plan by what failed: it does so once.
    refined: bool,
    /// How many plans were written by what failed.
    plans: u32,
    /// What reviewers settled in the round under way, and how it stood before.
    settled: Vec<(usize, How)>,
    /// How each finding stood when the round under way began.
    before: Vec<How>,
    /// What reviewers were shown last.
    shown: Option<u8>,
    /// Whether somebody was asked.
    asked: bool,
    /// How the run fails where nothing comes of a turn in which a job that rules broke off.
    broke_off: Option<u8>,
}

/// The exit code of an undisturbed run in this world.
pub fn exit(world: &World) -> u8 {
    let mut model = Model {
        world,
        content: world.first_content,
        claims: Vec::new(),
        findings: Vec::new(),
        reports: Vec::new(),
        rounds: Vec::new(),
        refined: false,
        plans: 0,
        settled: Vec::new(),
        before: Vec::new(),
        shown: None,
        asked: false,
        broke_off: None,
    };
    model.run().unwrap_or_else(|exit| exit)
}

impl Model<'_> {
    fn run(&mut self) -> Result<u8, u8> {
        let world = self.world;
        if let Some(crew) = &world.crew {
            if crew.planned == Planned::Planner {
                self.step(Role::Plan, 1)?;
                let (answered, _) = self.step(Role::Challenge, 1)?;
                if answered && crew.objects {
                    self.step(Role::Refine, 1)?;
                }
            }
            if !crew.review_only {
                self.step(Role::Implement, 1)?;
            }
        }
        for round in 1..=world.max_rounds {
            if let Some(exit) = self.round(round)? {
                return Ok(exit);
            }
            if let Some(Some(_)) = self.rounds.last() {
                let Some(crew) = &world.crew else {
                    return Ok(1);
                };
                if round == world.max_rounds {
                    return Ok(1);
                }
                self.turn(crew, round)?;
                let standing = self.standing();
                if let Some(Some(last)) = self.rounds.last_mut() {
                    last.left = Some(standing);
                }
            }
        }
        Ok(4)
    }

    /// One round; `None` where another one may follow.
    fn round(&mut self, round: u32) -> Result<Option<u8>, u8> {
        let world = self.world;
        if world.pin_fails_in == Some(round) {
            return Err(3);
        }
        self.settled.clear();
        self.before = self.findings.iter().map(|finding| finding.how).collect();
        let reviewed = self.content;
        if reviewed == 0 {
            return Err(if round == 1 { 3 } else { 4 });
        }
        if self.leads_nowhere(reviewed) {
            return Err(7);
        }
        if world.evidence_fails_in == Some(round) {
            return Err(5);
        }
        self.shows(reviewed);
        let carried: Vec<Option<Slot>> = (0..world.slots.len())
            .map(|slot| self.carried(slot, reviewed))
            .collect();
        if !self.asked && self.nobody_has_a_tree(round) {
            return Err(3);
        }
        // Where somebody was asked, whoever has no tree waits for one.
        self.asked = true;
        let mut slots = Vec::new();
        for (slot, carried) in carried.into_iter().enumerate() {
            let is_carried = carried.is_some();
            let how = carried.unwrap_or_else(|| self.ask(slot, round, reviewed));
            if how == Slot::Passes && !(is_carried && self.passed_last(slot)) {
                self.answered(slot, round, reviewed);
            }
            slots.push(how);
        }
        let sealed = self.after(round, MeasurePoint::Sealed, reviewed);
        match sealed {
            After::Stale => {
                self.void(round);
                return Ok(None);
            }
            After::Rebased => return Err(4),
            After::Unknown => return Err(5),
            After::Still | After::Touched | After::Tripped => {
                let says_no = |slot: &Slot| matches!(slot, Slot::Refuses(_) | Slot::Leaves);
                let refuses = slots.iter().any(says_no);
                let stands = self.findings.iter().any(Finding::stands);
                if refuses || self.barred(reviewed) || stands {
                    if sealed == After::Tripped {
                        return Err(1);
                    }
                    if sealed == After::Touched {
                        self.unsettle(round);
                    }
                    self.rounds.push(Some(Refused {
                        content: reviewed,
                        slots,
                        plans: self.plans,
                        stood: self.standing(),
                        left: None,
                        untouched: sealed == After::Still,
                    }));
                    return Ok(None);
                }
                if !self.enough(&slots) || sealed != After::Still {
                    return Err(5);
                }
            }
        }
        match self.after(round, MeasurePoint::BeforePromotion, reviewed) {
            After::Stale => {
                self.void(round);
                Ok(None)
            }
            After::Rebased => Err(4),
            After::Unknown | After::Touched | After::Tripped => Err(5),
            After::Still => Ok(Some(if world.promotion_fails { 6 } else { 0 })),
        }
    }

    /// Whether nobody can be asked: of as many as are asked at once nobody has a tree, and nothing was carried
    /// over. `checks` comes after all readers.
    fn nobody_has_a_tree(&self, round: u32) -> bool {
        let slots = &self.world.slots;
        let readers = slots.iter().any(|slot| !slot.checks);
        let first = slots.iter().filter(|slot| !(readers && slot.checks));
        let mut first = first.take(self.world.max_parallel.max(1) as usize);
        first.all(|slot| slot.tree_fails_in == Some(round))
    }

    /// Whether another round on a content can only say what was said.
    fn leads_nowhere(&self, reviewed: u8) -> bool {
        let mut refused = self.rounds.iter().flatten();
        let before = refused.any(|refused| refused.content == reviewed);
        let works = self.world.crew.is_some() && !self.world.reviews_own_work();
        let again = matches!(self.rounds.last(), Some(Some(last)) if last.content == reviewed);
        let says_the_same = !again || self.stands_as_before();
        works && before && self.barred(reviewed) && says_the_same
    }

    /// Reviewers are shown a content: lines are followed to it, or lost.
    fn shows(&mut self, reviewed: u8) {
        if !is_same_line(self.shown.unwrap_or(reviewed), reviewed) {
            for finding in &mut self.findings {
                finding.placed = false;
            }
        }
        self.shown = Some(reviewed);
    }

    /// Whether a slot passed in the last round, and said then what it had to say.
    fn passed_last(&self, slot: usize) -> bool {
        let last = self.rounds.last().and_then(Option::as_ref);
        last.is_some_and(|last| last.slots[slot] == Slot::Passes)
    }

    /// Who passes the content as it is has answered what it raised on other content.
    fn answered(&mut self, slot: usize, round: u32, reviewed: u8) {
        for (nth, finding) in self.findings.iter_mut().enumerate() {
            let unsaid = finding.slot == slot && finding.is_unconfirmed();
            // Another slot may have found it in this round.
            if unsaid && finding.content != reviewed && finding.found < round {
                self.settled.push((nth, finding.how));
                (finding.how, finding.mended) = (How::Fixed, Some(round));
            }
        }
    }

    /// A round is void.
    fn void(&mut self, round: u32) {
        self.unsettle(round);
        self.rounds.push(None);
    }

    /// What reviewers settled in a round stands as before, but for what was found again.
    fn unsettle(&mut self, round: u32) {
        for (nth, how) in std::mem::take(&mut self.settled).into_iter().rev() {
            let finding = &mut self.findings[nth];
            if !finding.holds() {
                finding.how = how;
            }
            if finding.mended == Some(round) {
                finding.mended = None;
            }
        }
    }

    fn enough(&self, slots: &[Slot]) -> bool {
        let world = self.world;
        let passed = slots.iter().filter(|slot| **slot == Slot::Passes).count();
        let readers = world.slots.iter().filter(|slot| !slot.checks).count();
        let readers_passed = slots
            .iter()
            .zip(&world.slots)
            .filter(|(slot, script)| **slot == Slot::Passes && !script.checks)
            .count();
        // A quorum forgives nobody who still has to say whether something is mended.
        let mut silent = (0..slots.len()).filter(|slot| slots[*slot] == Slot::Nothing);
        let quorum = world
            .quorum
            .map_or(slots.len(), |least| least.max(1) as usize);
        passed >= quorum
            && (readers == 0 || readers_passed > 0)
            && !silent.any(|slot| self.waits_for(slot))
    }
}
