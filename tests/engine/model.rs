//! The reference model: the exit code that a scripted world must lead to, computed by walking the
//! design's sentences in order. It shares no code with the engine and knows no events.

use run_loop::domain::effect::MeasurePoint;
use run_loop::domain::job::Role;
use run_loop::domain::severity::Severity;

use crate::world::{Answer, Arbiter, Crew, Deed, Motion, Planned, World, is_same_line, key};

/// How a slot ended a round; a refusal with the claim that it rests on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Passes,
    Refuses(usize),
    Nothing,
}

/// Somebody claimed NOT PASS on a content.
struct Claim {
    content: u8,
    slot: usize,
    /// Whether it is the valid NOT PASS of a reviewer that read everything.
    covered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Open,
    Fixed,
    Refuted,
    Deferred,
    Withdrawn,
    Upheld,
    Sustained,
    Overruled,
}

struct Finding {
    /// The claim it blocks by; a finding below the bar has none.
    claim: Option<usize>,
    slot: usize,
    content: u8,
    key: String,
    /// Whether the slot's own agent raised it, not a fallback.
    by_own: bool,
    /// Whether it would block by its words and does not, since it came late or was dismissed.
    lowered: Option<Why>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    Late,
    Dismissed,
}

impl Finding {
    fn blocks(&self) -> bool {
        self.claim.is_some() && self.lowered.is_none()
    }
    fn is_ruled(&self) -> bool {
        matches!(self.how, How::Withdrawn | How::Overruled)
    }
    fn stands(&self) -> bool {
        let settled = matches!(self.how, How::Fixed | How::Withdrawn | How::Overruled);
        self.blocks() && !settled
    }
}

/// A round that ended with a verdict against the content.
struct Refused {
    content: u8,
    slots: Vec<Slot>,
    untouched: bool,
}

struct Model<'a> {
    world: &'a World,
    content: u8,
    claims: Vec<Claim>,
    findings: Vec<Finding>,
    /// Reports that were valid and read everything: round, slot, content.
    reports: Vec<(u32, usize, u8)>,
    /// The rounds that closed; `None` where one was void.
    rounds: Vec<Option<Refused>>,
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
    };
    model.run().unwrap_or_else(|exit| exit)
}

#[derive(PartialEq, Eq)]
enum After {
    Still,
    Stale,
    Tripped,
    Unknown,
}

impl Model<'_> {
    fn run(&mut self) -> Result<u8, u8> {
        let world = self.world;
        if let Some(crew) = &world.crew {
            if crew.planned == Planned::Planner {
                self.step(Role::Plan, 1, None)?;
                let (answered, _) = self.step(Role::Challenge, 1, None)?;
                if answered && crew.objects {
                    self.step(Role::Refine, 1, None)?;
                }
            }
            if !crew.review_only {
                self.step(Role::Implement, 1, None)?;
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
        let reviewed = self.content;
        if reviewed == 0 {
            return Err(if round == 1 { 3 } else { 4 });
        }
        let refused = self.rounds.iter().flatten();
        let before = refused
            .filter(|refused| refused.content == reviewed)
            .count()
            > 0;
        if world.crew.is_some() && before && self.barred(reviewed) {
            return Err(7);
        }
        if world.evidence_fails_in == Some(round) {
            return Err(5);
        }
        let carried: Vec<Option<Slot>> = (0..world.slots.len())
            .map(|slot| self.carried(slot, reviewed))
            .collect();
        let asked = |slot: &usize| carried[*slot].is_none();
        if (0..world.slots.len())
            .filter(asked)
            .any(|slot| world.slots[slot].tree_fails_in == Some(round))
        {
            return Err(3);
        }
        let mut slots = Vec::new();
        for (slot, carried) in carried.into_iter().enumerate() {
            let how = carried.unwrap_or_else(|| self.ask(slot, round, reviewed));
            if how == Slot::Passes {
                // Who passes the content as it is has answered what it raised on other content.
                for finding in &mut self.findings {
                    if finding.slot == slot && finding.stands() && finding.content != reviewed {
                        finding.how = How::Fixed;
                    }
                }
            }
            slots.push(how);
        }
        let sealed = self.after(round, MeasurePoint::Sealed, reviewed);
        match sealed {
            After::Stale => {
                self.rounds.push(None);
                return Ok(None);
            }
            After::Unknown => return Err(5),
            After::Still | After::Tripped => {
                let refuses = slots.iter().any(|slot| matches!(slot, Slot::Refuses(_)));
                let stands = self.findings.iter().any(Finding::stands);
                if refuses || self.barred(reviewed) || stands {
                    self.rounds.push(Some(Refused {
                        content: reviewed,
                        slots,
                        untouched: sealed == After::Still,
                    }));
                    return Ok(None);
                }
                if !enough(world, &slots) || sealed == After::Tripped {
                    return Err(5);
                }
            }
        }
        match self.after(round, MeasurePoint::BeforePromotion, reviewed) {
            After::Stale => {
                self.rounds.push(None);
                Ok(None)
            }
            After::Unknown | After::Tripped => Err(5),
            After::Still => Ok(Some(if world.promotion_fails { 6 } else { 0 })),
        }
    }

    /// What follows a round that did not pass, up to the next one.
    fn turn(&mut self, crew: &Crew, after: u32) -> Result<(), u8> {
        let (before, reviewed) = (after + 1, self.content);
        let (mut worked, mut changed) = (false, false);
        let failed_twice = self.rounds.iter().rev().take(2).flatten().count() == 2;
        let planned = crew.planned != Planned::Nobody;
        let open =
            |finding: &Finding| finding.how == How::Open && finding.lowered != Some(Why::Dismissed);
        let blocking_open = |finding: &Finding| finding.how == How::Open && finding.blocks();
        if failed_twice && crew.planner && planned && self.findings.iter().any(blocking_open) {
            changed |= self.step(Role::Refine, before, None)?.1;
            worked = true;
        }
        if self.findings.iter().any(open) {
            let (answered, moved) = self.step(Role::Correct, before, None)?;
            (worked, changed) = (true, changed | moved);
            self.dispose(answered, Role::Correct, before, &open, |said| match said {
                0 => Some(How::Fixed),
                1 | 2 => Some(How::Refuted),
                3 => Some(How::Deferred),
                _ => None,
            });
        }
        for slot in 0..self.world.slots.len() {
            let refuted = |finding: &Finding| {
                finding.how == How::Refuted && finding.blocks() && finding.slot == slot
            };
            if self.world.slots[slot].checks || !self.findings.iter().any(refuted) {
                continue;
            }
            let (answered, moved) = self.step(Role::Readjudicate, before, Some(slot))?;
            (worked, changed) = (true, changed | moved);
            let rule = |said| match said {
                0 => Some(How::Withdrawn),
                1 => Some(How::Upheld),
                _ => None,
            };
            self.dispose(answered, Role::Readjudicate, before, &refuted, rule);
        }
        let upheld = |finding: &Finding| finding.how == How::Upheld && finding.blocks();
        if self.findings.iter().any(upheld) {
            let own = |finding: &Finding| upheld(finding) && finding.by_own;
            match crew.arbiter {
                Arbiter::Nobody | Arbiter::Creator => return Err(8),
                Arbiter::Reviewer if self.findings.iter().any(own) => return Err(8),
                Arbiter::Impartial | Arbiter::Reviewer => {}
            }
            let (answered, moved) = self.step(Role::Arbitrate, before, None)?;
            (worked, changed) = (true, changed | moved);
            let rule = |said| match said {
                2 => Some(How::Sustained),
                3 => Some(How::Overruled),
                _ => None,
            };
            self.dispose(answered, Role::Arbitrate, before, &upheld, rule);
        }
        let sustained = |finding: &Finding| finding.how == How::Sustained && finding.blocks();
        if self.findings.iter().any(sustained) {
            let (answered, moved) = self.step(Role::Comply, before, None)?;
            (worked, changed) = (true, changed | moved);
            let rule = |said| (said == 0).then_some(How::Fixed);
            self.dispose(answered, Role::Comply, before, &sustained, rule);
        }
        if !worked {
            return Err(1);
        }
        let last = self.rounds.iter().flatten().last();
        let last = last.map_or(reviewed, |refused| refused.content);
        if !changed && self.barred(last) {
            return Err(7);
        }
        Ok(())
    }

    /// What an agent says of the findings it is asked about; of others, whatever it says.
    fn dispose(
        &mut self,
        answered: bool,
        role: Role,
        before: u32,
        asked: &dyn Fn(&Finding) -> bool,
        means: impl Fn(u64) -> Option<How>,
    ) {
        for finding in &mut self.findings {
            if answered
                && asked(finding)
                && let Some(how) = means(self.world.says(role, before, &finding.key))
            {
                finding.how = how;
            }
        }
    }

    /// One step of work: whether it was answered, and whether the content is another one since.
    fn step(&mut self, role: Role, before: u32, slot: Option<usize>) -> Result<(bool, bool), u8> {
        let world = self.world;
        let writes = matches!(role, Role::Implement | Role::Correct | Role::Comply);
        let rules = matches!(role, Role::Readjudicate | Role::Arbitrate);
        let no_tree = slot.is_some_and(|slot| world.slots[slot].tree_fails_in == Some(before));
        if world.pin_fails_in == Some(before) || no_tree {
            return Err(3);
        }
        let pinned = self.content;
        let (mut answered, mut re_asked) = (false, false);
        for nth in 1.. {
            let deed = world.deed(role, before, nth);
            if deed == Deed::CannotStart {
                // A reviewer's failure is a missing verdict, whatever it was asked.
                return Err(if role == Role::Readjudicate { 5 } else { 6 });
            }
            if let Some(next) = world.writes(role, before).filter(|_| writes) {
                self.content = next;
            }
            match deed {
                Deed::Limited => continue,
                Deed::Invalid if !re_asked => {
                    re_asked = true;
                    continue;
                }
                Deed::Invalid | Deed::Silent if role == Role::Plan => return Err(6),
                Deed::Exits | Deed::TimesOut if !rules => return Err(6),
                deed => answered = deed == Deed::Answers,
            }
            break;
        }
        let motion = world.motion(before, MeasurePoint::AfterWork);
        match motion {
            Motion::Still | Motion::Base | Motion::Elsewhere => {}
            Motion::Content(next) => self.content = next,
            Motion::Unholdable => return Err(if writes { 6 } else { 4 }),
            Motion::Switched => return Err(6),
            Motion::Tripped | Motion::GitFails => return Err(5),
        }
        let changed = self.content != pinned;
        if motion == Motion::Elsewhere && writes && !changed {
            return Err(6);
        }
        if role == Role::Implement && !changed && pinned == 0 {
            return Err(6);
        }
        Ok((answered, changed))
    }

    fn after(&mut self, round: u32, point: MeasurePoint, reviewed: u8) -> After {
        match self.world.motion(round, point) {
            Motion::Still | Motion::Elsewhere => After::Still,
            Motion::Content(next) => {
                self.content = next;
                if next == reviewed {
                    After::Still
                } else {
                    After::Stale
                }
            }
            Motion::Base | Motion::Unholdable => After::Stale,
            Motion::Tripped | Motion::Switched => After::Tripped,
            Motion::GitFails => After::Unknown,
        }
    }

    /// Whether everything that a claim rests on was taken back or overruled.
    fn resolved(&self, claim: usize) -> bool {
        let mut findings = self
            .findings
            .iter()
            .filter(|finding| finding.claim == Some(claim))
            .peekable();
        findings.peek().is_some()
            && findings.all(|finding| finding.is_ruled() || finding.lowered.is_some())
    }

    fn bar(&self, content: u8, slot: Option<usize>) -> Option<usize> {
        let mut claims = self.claims.iter().enumerate();
        let bars = |(nth, claim): &(usize, &Claim)| {
            let here = claim.content == content && slot.is_none_or(|slot| slot == claim.slot);
            here && !self.resolved(*nth)
        };
        claims.find(bars).map(|(nth, _)| nth)
    }

    fn barred(&self, content: u8) -> bool {
        self.bar(content, None).is_some()
    }

    /// How a slot stands without being asked, since the last round was on this very content.
    fn carried(&self, slot: usize, content: u8) -> Option<Slot> {
        let last = self.rounds.last()?.as_ref()?;
        if last.content != content || !last.untouched {
            return None;
        }
        match last.slots[slot] {
            Slot::Passes => Some(Slot::Passes),
            Slot::Refuses(claim) => {
                let free = self.bar(content, Some(slot)).is_none();
                let passes = free && self.claims[claim].covered && self.resolved(claim);
                passes.then_some(Slot::Passes)
            }
            Slot::Nothing => None,
        }
    }

    /// Asks one slot: attempt, one re-ask for an invalid report, one fresh attempt for a failure on
    /// the way, each fallback once.
    fn ask(&mut self, slot: usize, round: u32, content: u8) -> Slot {
        let world = self.world;
        let (mut re_ask, mut fresh, mut rank) = (1, 1, 0);
        for attempt in 1.. {
            let answer = world.answer(slot, round, attempt);
            let claimed = self.record(answer, slot, round, attempt, content, rank);
            let again = match answer {
                // Nobody's failure: somebody is asked again, and nothing is spent.
                Answer::Limited => continue,
                Answer::Pass | Answer::NotPassLow => {
                    let bar = self.bar(content, Some(slot));
                    return bar.map_or(Slot::Passes, Slot::Refuses);
                }
                Answer::NotPass | Answer::NotPassUnexplained | Answer::PassWithBlocker => {
                    return claimed.map_or(Slot::Nothing, Slot::Refuses);
                }
                Answer::NotPassNew | Answer::NotPassNewAlone | Answer::NotPassAgain => {
                    // Where what it found is lowered, nothing of it blocks.
                    let claim = claimed.filter(|claim| !self.resolved(*claim));
                    let bar = claim.or_else(|| self.bar(content, Some(slot)));
                    return bar.map_or(Slot::Passes, Slot::Refuses);
                }
                Answer::PassButOpen => {
                    let bar = claimed.or_else(|| self.bar(content, Some(slot)));
                    return bar.map_or(Slot::Passes, Slot::Refuses);
                }
                Answer::Invalid | Answer::InvalidNotPass => &mut re_ask,
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

    /// Why what an answer finds on line 1 does not block, if it does not.
    fn lowered(&self, answer: Answer, slot: usize, round: u32, content: u8) -> Option<Why> {
        if self.world.slots[slot].checks {
            return None;
        }
        let own = || self.findings.iter().filter(move |it| it.slot == slot);
        if answer == Answer::NotPassAgain {
            // On another content it lapses.
            let same = |it: &&Finding| it.key == format!("{slot} again") && it.content == content;
            let before = own().filter(|it| it.lowered.is_none()).rfind(same)?;
            return before.is_ruled().then_some(Why::Dismissed);
        }
        if !matches!(answer, Answer::NotPassNew | Answer::NotPassNewAlone) {
            return None;
        }
        let of_slot = |it: &&(u32, usize, u8)| it.1 == slot && it.0 < round;
        let reports: Vec<_> = self.reports.iter().filter(of_slot).collect();
        let done = answer == Answer::NotPassNew || own().all(|it| !it.blocks() || it.is_ruled());
        let late = reports.len() >= 2 && is_same_line(reports.last()?.2, content) && done;
        late.then_some(Why::Late)
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
            Answer::NotPassNew | Answer::NotPassNewAlone | Answer::NotPassAgain
        );
        // That something of before is still there is a claim of its own.
        let held =
            |finding: &Finding| finding.slot == slot && finding.blocks() && !finding.is_ruled();
        let keeps = answer == Answer::PassButOpen && self.findings.iter().any(held);
        if keeps {
            for finding in &mut self.findings {
                if finding.slot == slot && finding.blocks() && finding.how == How::Fixed {
                    finding.how = How::Open;
                }
            }
        }
        let lowered = self.lowered(answer, slot, round, content);
        let read_all = placed
            || matches!(
                answer,
                Answer::Pass
                    | Answer::PassButOpen
                    | Answer::PassWithBlocker
                    | Answer::NotPass
                    | Answer::NotPassUnexplained
                    | Answer::NotPassLow
            );
        if read_all {
            self.reports.push((round, slot, content));
        }
        let claims = blocks
            || placed
            || keeps
            || matches!(answer, Answer::NotPassUnexplained | Answer::InvalidNotPass);
        let claim = claims.then(|| {
            let covered = answer == Answer::NotPass || placed;
            self.claims.push(Claim {
                content,
                slot,
                covered,
            });
            self.claims.len() - 1
        });
        let mut raise_as = |key: String, claim, lowered| {
            self.findings.push(Finding {
                claim,
                slot,
                content,
                key,
                by_own: rank == 0,
                lowered,
                how: How::Open,
            });
        };
        match answer {
            Answer::NotPassAgain => raise_as(format!("{slot} again"), claim, lowered),
            Answer::NotPassNew | Answer::NotPassNewAlone => {
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

fn enough(world: &World, slots: &[Slot]) -> bool {
    let passed = slots.iter().filter(|slot| **slot == Slot::Passes).count();
    let readers = world.slots.iter().filter(|slot| !slot.checks).count();
    let readers_passed = slots
        .iter()
        .zip(&world.slots)
        .filter(|(slot, script)| **slot == Slot::Passes && !script.checks)
        .count();
    let quorum = world
        .quorum
        .map_or(slots.len(), |least| least.max(1) as usize);
    passed >= quorum && (readers == 0 || readers_passed > 0)
}
