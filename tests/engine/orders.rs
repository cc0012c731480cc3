//! Thousands of random orders: the end is the model's, whatever comes first.

#[path = "orders/desk.rs"]
mod desk;

use std::collections::BTreeMap;

use proptest::prelude::*;
use run_loop::domain::code::Code;
use run_loop::domain::effect::{Done, Effect, Outcome};
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::failure::Failure;
use run_loop::domain::id::{EffectId, JobId};
use run_loop::domain::identity::Remeasured;
use run_loop::domain::job::{Ended, Job, Role};
use run_loop::domain::limits::Allowed;
use run_loop::engine::{Input, InputKind, Phase, State, check, fold, step};

use crate::cancelled::measures_what_is_left;
use crate::laws::jobs_are_kept;
use crate::model;
use crate::promoted::unearned;
use crate::world::{World, any_worlds, delegated, interrupted, late, look, oid, opened, stamp};
use desk::Act;
pub use desk::Desk;

/// A run driven to its end, with every invariant checked after every event.
pub struct Driver<'a> {
    pub world: &'a World,
    pub state: State,
    pub journal: Vec<Event>,
    pub content: u8,
    /// Reports that were handed over: what the world remembers over every crash.
    pub bought: BTreeMap<JobId, Outcome>,
    /// What it remembers of delegated jobs.
    pub desk: Desk,
    /// Whether time passes only when nothing else can happen.
    pub in_time: bool,
    /// What was there at the newest measurement, and when something was published.
    measured: Option<u8>,
    published: Option<u8>,
    clock: u64,
}

impl<'a> Driver<'a> {
    pub fn new(world: &'a World) -> Self {
        let content = world.first_content;
        Self {
            world,
            state: State::default(),
            journal: Vec::new(),
            content,
            bought: BTreeMap::new(),
            desk: Desk::default(),
            in_time: false,
            measured: None,
            published: None,
            clock: 0,
        }
    }
    /// A run whose journal is this, taken up again in a world that remembers these reports.
    pub fn resumed(
        world: &'a World,
        journal: &[Event],
        content: u8,
        bought: &BTreeMap<JobId, Outcome>,
        resume: InputKind,
    ) -> Self {
        let mut driver = Self::new(world);
        driver.content = content;
        driver.journal = journal.to_vec();
        driver.bought.clone_from(bought);
        driver.taken_up(resume)
    }
    /// This run, taken up again by another engine: the world remembers.
    pub fn again(&self) -> Self {
        self.taken_up(resume())
    }
    /// The same, with this allowed.
    pub fn again_with(&self, allowed: Allowed) -> Self {
        self.taken_up(InputKind::Resume {
            allowed,
            ran: None,
            found: None,
            gone: None,
        })
    }
    fn taken_up(&self, mut resume: InputKind) -> Self {
        let mut driver = Self::new(self.world);
        driver.content = self.content;
        driver.bought.clone_from(&self.bought);
        driver.desk.clone_from(&self.desk);
        driver.journal.clone_from(&self.journal);
        driver.state = State::replay(&self.journal);
        // Time goes on, whoever looks at it.
        let newest = driver.state.stamp.map_or(0, |stamp| stamp.at.as_millis());
        driver.clock = self.clock.max(u64::try_from(newest).unwrap()) + 1_000_000;
        if let InputKind::Resume { found, .. } = &mut resume {
            *found = Some(driver.look());
        }
        driver.input(resume);
        driver.drain();
        driver
    }
    pub fn input(&mut self, kind: InputKind) {
        self.clock += 1;
        for event in step(
            &self.state,
            Input {
                stamp: stamp(self.clock),
                kind,
            },
        ) {
            fold(&mut self.state, &event);
            check(&self.state).unwrap_or_else(|violation| panic!("{violation:?} after {event:?}"));
            self.journal.push(event);
        }
    }
    /// Performs what `pick` chooses of what may happen next; false when the run is over.
    pub fn perform(&mut self, pick: usize) -> bool {
        let mut acts = self.acts();
        if self.in_time && !acts.iter().all(Act::is_timer) {
            acts.retain(|act| !act.is_timer());
        } else if self.in_time {
            // Of several moments the first one comes first.
            acts.sort_by_key(Act::until);
            acts.truncate(1);
        }
        let Some(act) = acts.get(pick % acts.len().max(1)) else {
            // What is parked is taken up again, by whoever waited for the limit or made room.
            let parked = |failure: &Failure| matches!(failure.code, Code::Parked | Code::HeldUp);
            let takes_up = self.state.suspended.as_ref().is_some_and(parked);
            if takes_up {
                self.input(resume());
                self.drain();
            }
            return takes_up;
        };
        match act {
            Act::Say(letter) => self.say(letter),
            Act::Perform(effect, what) => {
                let outcome = Box::new(self.outcome(what));
                let effect = *effect;
                self.input(InputKind::Done { effect, outcome });
            }
        }
        true
    }
    /// What the world does for an effect. A report that lies there is read, never bought again.
    fn outcome(&mut self, effect: &Effect) -> Outcome {
        if let Effect::Timer { until, .. } = effect {
            let elapsed = !self.state.is_winding_up();
            if elapsed {
                self.clock = self.clock.max(u64::try_from(until.as_millis()).unwrap());
            }
            return Outcome::TimerEnded { elapsed };
        }
        if let Effect::AwaitJobs { until, .. } = effect
            && !self.state.is_winding_up()
        {
            self.clock = self.clock.max(u64::try_from(until.as_millis()).unwrap());
        }
        if let Effect::Delegate { dispatch } = effect {
            return self.dispatched(effect, dispatch);
        }
        if let (Effect::Release, true) = (effect, self.state.is_being_put_aside()) {
            let (left, found) = (Vec::new(), Some(self.look()));
            return Outcome::Released { left, found };
        }
        if let (Effect::OpenTree { slot, .. }, true) = (effect, self.has_room()) {
            return opened(slot);
        }
        let Effect::RunJob { job } = effect else {
            let findings = self.state.findings.clone();
            let outcome = self.world.perform(effect, &mut self.content, &findings);
            match effect {
                Effect::Measure { .. } => self.measured = Some(self.content),
                // What comes after the last measurement is the gate's to find.
                Effect::Promote { .. } => self.published = self.measured,
                _ => {}
            }
            return outcome;
        };
        if let Some(outcome) = self.bought.get(&job.id) {
            return outcome.clone();
        }
        if self.state.is_winding_up() {
            return interrupted();
        }
        let nth = self.nth(job);
        let findings = self.state.findings.clone();
        let outcome = self.world.job(job, nth, &mut self.content, &findings);
        self.bought.insert(job.id, outcome.clone());
        outcome
    }
    /// Whether the run was held up by a tree once, and somebody made room.
    fn has_room(&self) -> bool {
        self.journal.iter().any(|event| match event {
            Event::RunParking { failure, .. } => failure.code == Code::HeldUp,
            _ => false,
        })
    }
    /// How often a job's place was asked for this, with this time.
    fn nth(&self, job: &Job) -> u32 {
        let before = self.state.jobs.values().filter(|record| {
            let (other, role) = (&record.job, job.role);
            let same = other.round == job.round && other.slot == job.slot && other.role == role;
            // A slot's agents are asked one after the other for a verdict, and each for itself to rule.
            let same = same && (role == Role::Review || other.rank == job.rank);
            same && other.id != job.id && self.bought.contains_key(&record.job.id)
        });
        u32::try_from(before.count()).unwrap() + 1
    }
    /// An open effect was performed, and the engine died before its outcome was recorded; false where
    /// it could not come to its end yet.
    pub fn perform_unseen(&mut self, effect: EffectId) -> bool {
        let act = self.acts().into_iter().find_map(|act| match act {
            Act::Perform(id, what) if id == effect => Some(what),
            Act::Perform(..) | Act::Say(_) => None,
        });
        act.map(|effect| drop(self.outcome(&effect))).is_some()
    }
    /// The engine of this run died while jobs ran: nothing of them was handed over. False where none did.
    pub fn lose_all(&mut self) -> bool {
        let open = self.state.open_effects();
        let jobs: Vec<(EffectId, Outcome)> = open
            .filter_map(|(id, effect)| match effect {
                Effect::Delegate { .. } => Some((id, delegated(Ended::Interrupted, false))),
                Effect::RunJob { .. } => Some((id, interrupted())),
                _ => None,
            })
            .collect();
        for (effect, outcome) in &jobs {
            self.input(InputKind::Done {
                effect: *effect,
                outcome: Box::new(outcome.clone()),
            });
        }
        !jobs.is_empty()
    }
    /// What whoever looks finds beside a measurement that was asked for: between steps, as it was found last.
    fn look(&self) -> Box<Remeasured> {
        let mut found = look(self.content);
        if let (Phase::Between, Some(last)) = (&self.state.phase, &self.state.watched) {
            found.pin.tripwire = last.tripwire.clone();
        }
        found
    }
    pub fn start(&mut self) {
        self.input(InputKind::Start(Box::new(self.world.spec())));
    }
    /// Drives the run until it ends or is put aside.
    pub fn run(&mut self, pick: impl FnMut() -> usize) -> u8 {
        self.drive(pick);
        if let Some(failure) = &self.state.suspended {
            return failure.code.exit().code();
        }
        let end = self.state.end();
        let end = end.unwrap_or_else(|| panic!("the run never ends: {:?}", self.journal));
        end.exit().code()
    }
    fn drive(&mut self, mut pick: impl FnMut() -> usize) {
        for _ in 0..5_000 {
            if !self.perform(pick()) {
                break;
            }
        }
    }
}

/// An engine takes the run up again.
pub fn resume() -> InputKind {
    InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: None,
        gone: None,
    }
}

/// Somebody asks the run to stop.
pub fn stop(cause: StopCause) -> InputKind {
    InputKind::Stop {
        cause,
        message: None,
    }
}

/// A small generator of picks from one number.
pub fn picks(mut seed: u64) -> impl FnMut() -> usize {
    move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 40).unwrap()
    }
}

/// Whether the end of each step of work has all that was lost by it or left elsewhere (issue 5, item
/// 2).
fn tells_what_is_left(journal: &[Event]) -> bool {
    let mut found = None;
    for event in journal {
        match event {
            Event::EffectDone { outcome, .. } => {
                if let Outcome::Measured {
                    result: Done::Ok(measured),
                } = &**outcome
                {
                    found = Some((&measured.lost, &measured.elsewhere));
                }
            }
            Event::WorkClosed {
                lost, elsewhere, ..
            } if found.take() != Some((lost, elsewhere)) => return false,
            _ => {}
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue 2: no PASS with a moved identity, no lost claim, every run ends, in any order.
    /// T-054, T-055, T-056 (M-129): a correction, a compliance or an arbitration that cannot be started ends
    /// the run, also where the next round would pass. T-007, T-008, T-009, T-010, T-175, S31, V08, V18, V21, P15 as the model states them.
    #[test]
    fn every_order_ends_as_the_model_says(world in any_worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        let exit = driver.run(picks(seed));
        prop_assert_eq!(exit, model::exit(&world));
        prop_assert!(tells_what_is_left(&driver.journal));
        prop_assert!(measures_what_is_left(&driver.journal));
        prop_assert_eq!(jobs_are_kept(&driver), Ok(()));
        // What is over stays over, and says nothing more.
        let before = driver.journal.len();
        driver.input(stop(StopCause::Terminate));
        driver.input(resume());
        prop_assert_eq!(driver.journal.len(), before);
    }
}

proptest! {
    // One law each, which the orders above would break too: fewer worlds find it.
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// A request to stop at any moment ends the run as stopped, or as it would have ended where
    /// its end was already decided; never as approved where it would not have been.
    #[test]
    fn a_stop_at_any_moment_ends_the_run(world in any_worlds(), seed in any::<u64>(), at in 0_usize..60) {
        let mut driver = Driver::new(&world);
        driver.start();
        let mut pick = picks(seed);
        for _ in 0..at {
            driver.perform(pick());
        }
        driver.input(stop(StopCause::Interrupt));
        let exit = driver.run(&mut pick);
        prop_assert!(exit == 130 || exit == model::exit(&world), "ended {exit}");
        prop_assert_eq!(jobs_are_kept(&driver), Ok(()));
        prop_assert_eq!(unearned(&world, &driver.journal), None);
        if driver.state.suspended.is_some() {
            // Put aside it does nothing, and resumed it ends as if nobody had asked.
            let before = driver.journal.len();
            driver.input(stop(StopCause::Terminate));
            prop_assert_eq!(driver.journal.len(), before);
            let mut again = driver.again();
            prop_assert_eq!(again.run(pick), model::exit(&world));
            prop_assert_eq!(jobs_are_kept(&again), Ok(()));
            prop_assert_eq!(unearned(&world, &again.journal), None);
        }
    }

    /// Issue 4: `cancel` at any moment, also of a run that was interrupted: it ends for good and never
    /// as approved, unless it was decided before. What a job left that may write is measured all the same.
    #[test]
    fn a_cancelled_run_is_never_approved(
        mut world in any_worlds(), seed in any::<u64>(), at in 0_usize..60, interrupted_first in any::<bool>(),
    ) {
        if let Some(crew) = &mut world.crew {
            crew.loses = vec![true; 5];
        }
        let mut driver = Driver::new(&world);
        driver.start();
        let mut pick = picks(seed);
        for _ in 0..at {
            driver.perform(pick());
        }
        // What lies aside is taken up before anything is asked of it.
        if driver.state.suspended.is_some() {
            driver = driver.again();
        }
        let decided = driver.state.promotion.is_some();
        if interrupted_first {
            driver.input(stop(StopCause::Interrupt));
            driver.run(&mut pick);
            driver = driver.again();
        }
        driver.input(stop(StopCause::Cancel));
        let exit = driver.run(pick);
        prop_assert!(driver.state.end().is_some());
        prop_assert!(measures_what_is_left(&driver.journal));
        prop_assert!(exit == 143 || exit == model::exit(&world), "ended {exit}");
        prop_assert_eq!(jobs_are_kept(&driver), Ok(()));
        prop_assert_eq!(unearned(&world, &driver.journal), None);
        if exit == 0 {
            let asked = driver.journal.iter().position(|event| matches!(event, Event::StopRequested { cause: StopCause::Cancel, .. }));
            let promoting = driver.journal.iter().position(|event| matches!(event, Event::EffectRequested { effect, .. } if matches!(**effect, Effect::Promote { .. })));
            prop_assert!(decided || asked.is_none() || promoting < asked, "a cancelled run was approved");
        }
        let before = driver.journal.len();
        driver.input(resume());
        driver.input(stop(StopCause::Cancel));
        prop_assert_eq!(driver.journal.len(), before);
    }

    /// T-118, design, section 4: who comes after everybody gave up voids what was read, and is part of
    /// what is approved, or comes after it was measured for the last time.
    #[test]
    fn what_is_written_late_is_never_approved_unread(world in late(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        let exit = driver.run(picks(seed));
        prop_assert_eq!(jobs_are_kept(&driver), Ok(()));
        let shown = driver.state.rounds.last().and_then(|round| round.pin.clone());
        prop_assert!(exit != 0 || shown.map(|pin| pin.identity.tree) == driver.published.map(oid));
    }

    /// Every claim of every report is in the ledger of a run that was not stopped.
    #[test]
    fn no_claim_is_lost(world in any_worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        for (id, record) in &driver.state.jobs {
            let claims = match record.outcome.as_ref().map(|outcome| &outcome.reading) {
                Some(run_loop::domain::job::Reading::Review(review)) => review.findings.len(),
                Some(run_loop::domain::job::Reading::Invalid { claims, .. }) => claims.len(),
                Some(_) | None => 0,
            };
            let recorded = driver.state.findings.iter().filter(|finding| finding.job == *id).count();
            prop_assert_eq!(recorded, claims);
        }
    }

    /// An outcome that comes twice, or for an effect that was never asked for, changes nothing.
    #[test]
    fn a_second_outcome_changes_nothing(world in any_worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        let mut pick = picks(seed);
        loop {
            let first = driver.state.open_effects().next().map(|(id, effect)| (id, effect.clone()));
            let Some((id, effect)) = first else { break };
            let mut elsewhere = driver.content;
            let findings = driver.state.findings.clone();
            let outcome = Box::new(world.perform(&effect, &mut elsewhere, &findings));
            prop_assert!(driver.perform(pick()), "nothing can happen: {:?}", driver.state.open);
            if driver.state.open.contains_key(&id) {
                continue;
            }
            let before = driver.journal.len();
            driver.input(InputKind::Done { effect: id, outcome: outcome.clone() });
            driver.input(InputKind::Done { effect: EffectId(9_999), outcome });
            prop_assert_eq!(driver.journal.len(), before);
        }
    }
}
