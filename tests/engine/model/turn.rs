//! What comes between rounds, and what is measured.

use run_loop::domain::effect::MeasurePoint;
use run_loop::domain::job::Role;

use crate::model::Model;
use crate::model::ledger::{Finding, How, Slot, Why};
use crate::world::{Arbiter, Crew, Deed, Motion, Planned};

#[derive(PartialEq, Eq)]
pub(super) enum After {
    Still,
    Stale,
    /// A hook was added, or HEAD is on another branch: nothing goes on.
    Tripped,
    /// What passed in it is void, and nothing else.
    Touched,
    /// The base is another one since its ref moved.
    Rebased,
    Unknown,
}

impl Model<'_> {
    /// What follows a round that did not pass, up to the next one.
    pub(super) fn turn(&mut self, crew: &Crew, after: u32) -> Result<(), u8> {
        // Nobody corrects one's own work on one's own word alone: it is reviewed again.
        // What `checks` found beside a PASS is no opinion.
        let last = self.rounds.last().and_then(Option::as_ref);
        let passed = last.is_some_and(|last| last.slots[0] == Slot::Passes);
        if crew.own_work && !passed {
            return Ok(());
        }
        self.broke_off = None;
        let (before, reviewed) = (after + 1, self.content);
        let (mut worked, mut changed) = (false, false);
        let failed_twice = self.rounds.iter().rev().take(2).flatten().count() == 2;
        let planned = crew.planned != Planned::Nobody;
        let open = |finding: &Finding| {
            let later = finding.how == How::Deferred && finding.blocks();
            (finding.how == How::Open || later)
                && !matches!(finding.lowered, Some(Why::Dismissed(_)))
        };
        let blocking_open = |finding: &Finding| finding.how == How::Open && finding.blocks();
        let due = failed_twice && !self.refined && crew.planner && planned;
        if due && self.findings.iter().any(blocking_open) {
            self.refined = true;
            let (answered, moved) = self.step(Role::Refine, before)?;
            (worked, changed) = (true, changed | moved);
            self.plans += u32::from(answered);
        }
        if self.findings.iter().any(open) {
            let (answered, moved) = self.step(Role::Correct, before)?;
            (worked, changed) = (true, changed | moved);
            self.dispose(answered, Role::Correct, before, &open, |said| match said {
                0 => Some(How::Fixed),
                1 | 2 => Some(How::Refuted),
                3 => Some(How::Deferred),
                _ => None,
            });
        }
        let (ruled, moved) = self.readjudicate(before)?;
        (worked, changed) = (worked | ruled, changed | moved);
        let upheld = |finding: &Finding| finding.how == How::Upheld && finding.blocks();
        if self.findings.iter().any(upheld) {
            let own = |finding: &Finding| upheld(finding) && finding.rank == 0;
            match crew.arbiter {
                Arbiter::Nobody | Arbiter::Creator => return Err(8),
                Arbiter::Reviewer if self.findings.iter().any(own) => return Err(8),
                Arbiter::Impartial | Arbiter::Reviewer => {}
            }
            let pinned = self.content;
            let (answered, moved) = self.step(Role::Arbitrate, before)?;
            (worked, changed) = (true, changed | moved);
            let rule = |said| match said {
                2 => Some(How::Sustained),
                3 => Some(How::Overruled),
                _ => None,
            };
            self.dispose(answered, Role::Arbitrate, before, &upheld, rule);
            self.ruled(pinned);
        }
        let sustained = |finding: &Finding| finding.how == How::Sustained && finding.blocks();
        if self.findings.iter().any(sustained) {
            let (answered, moved) = self.step(Role::Comply, before)?;
            (worked, changed) = (true, changed | moved);
            let rule = |said| (said == 0).then_some(How::Fixed);
            self.dispose(answered, Role::Comply, before, &sustained, rule);
        }
        let last = self.rounds.iter().flatten().last();
        let last = last.map_or(reviewed, |refused| refused.content);
        let barred = self.barred(last);
        if !worked && barred && !self.names_why(last) {
            return Err(1);
        }
        let again = if barred {
            self.stands_as_before()
        } else {
            !worked && self.turned_before()
        };
        if !changed && again {
            return Err(self.broke_off.unwrap_or(7));
        }
        Ok(())
    }

    /// Each reviewer rules on what was refuted of its own: whether any did, and whether the content is
    /// another one since.
    fn readjudicate(&mut self, before: u32) -> Result<(bool, bool), u8> {
        let (mut ruled, mut changed) = (false, false);
        let slots = self.world.slots.iter().enumerate();
        let agents = slots
            .filter(|(_, script)| !script.checks)
            .flat_map(|(slot, script)| (0..=script.fallbacks).map(move |rank| (slot, rank)));
        for (slot, rank) in agents {
            let refuted = |finding: &Finding| {
                let own = finding.slot == slot && finding.rank == rank;
                finding.how == How::Refuted && finding.blocks() && own
            };
            if !self.findings.iter().any(refuted) {
                continue;
            }
            let pinned = self.content;
            let (answered, moved) = self.step(Role::Readjudicate, before)?;
            (ruled, changed) = (true, changed | moved);
            let rule = |said| match said {
                0 => Some(How::Withdrawn),
                1 => Some(How::Upheld),
                _ => None,
            };
            self.dispose(answered, Role::Readjudicate, before, &refuted, rule);
            self.ruled(pinned);
        }
        Ok((ruled, changed))
    }

    /// What was taken back or overruled just now was so on this content.
    fn ruled(&mut self, content: u8) {
        for finding in &mut self.findings {
            if finding.is_ruled() && finding.ruled_on.is_none() {
                finding.ruled_on = Some(content);
            }
        }
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
                (finding.how, finding.ruled_on) = (how, None);
            }
        }
    }

    /// One step of work: whether it was answered, and whether the content is another one since.
    pub(super) fn step(&mut self, role: Role, before: u32) -> Result<(bool, bool), u8> {
        let world = self.world;
        let writes = matches!(role, Role::Implement | Role::Correct | Role::Comply);
        let rules = matches!(role, Role::Readjudicate | Role::Arbitrate);
        if world.pin_fails_in == Some(before) {
            return Err(3);
        }
        self.asked = true;
        let pinned = self.content;
        let (mut answered, mut re_asked, mut refreshed) = (false, false, false);
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
                // What failed on the way may go well another time.
                Deed::Exits if rules && !refreshed => {
                    refreshed = true;
                    continue;
                }
                Deed::Invalid | Deed::Silent if role == Role::Plan => return Err(6),
                Deed::Exits | Deed::TimesOut if !rules => return Err(6),
                Deed::Exits | Deed::TimesOut => {
                    let code = if role == Role::Readjudicate { 5 } else { 6 };
                    self.broke_off.get_or_insert(code);
                }
                deed => answered = deed == Deed::Answers,
            }
            break;
        }
        let motion = world.motion(before, MeasurePoint::AfterWork);
        match motion {
            Motion::Still | Motion::Base | Motion::Elsewhere => {}
            Motion::Amended if writes => {}
            Motion::Rebased => return Err(4),
            Motion::Content(next) => self.content = next,
            Motion::Unholdable => return Err(if writes { 6 } else { 4 }),
            Motion::Switched => return Err(6),
            Motion::Tripped | Motion::Amended | Motion::GitFails => return Err(5),
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

    pub(super) fn after(&mut self, round: u32, point: MeasurePoint, reviewed: u8) -> After {
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
            Motion::Rebased => After::Rebased,
            Motion::Tripped | Motion::Switched => After::Tripped,
            Motion::Amended => After::Touched,
            Motion::GitFails => After::Unknown,
        }
    }
}
