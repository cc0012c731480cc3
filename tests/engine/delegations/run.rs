//! A run whose jobs delegate, driven by hand.

use run_loop::domain::delegation::{Closed, Fence, JobRequest, Signal, Submission};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::event::Event;
use run_loop::domain::id::{EffectId, JobId, MessageId};
use run_loop::domain::run_spec::RunSpec;
use run_loop::engine::{Input, InputKind, Refusal, State, Weight, check, fold, step, weigh};

use crate::world::{Answer, Delegating, SlotScript, World, helper, stamp, stored};

/// A run with one reviewer, or of one job.
pub struct Run {
    pub world: World,
    pub state: State,
    pub journal: Vec<Event>,
    pub clock: u64,
    pub content: u8,
}

pub fn submission(parent: Option<JobId>) -> Submission {
    Submission {
        parent,
        agent: helper(),
        prompt: stored("prompt"),
        budget: 100,
        schema: None,
        continues: None,
    }
}

pub fn world() -> World {
    World {
        crew: None,
        slots: vec![SlotScript {
            checks: false,
            fallbacks: 0,
            answers: vec![Answer::Pass],
            tree_fails_in: None,
        }],
        max_rounds: 2,
        max_parallel: 4,
        quorum: None,
        motions: Vec::new(),
        first_content: 1,
        pin_fails_in: None,
        evidence_fails_in: None,
        promotion_fails: false,
        limits: run_loop::domain::limits::Limits::default(),
        cost: None,
        delegating: Delegating::default(),
    }
}

impl Run {
    pub fn start(change: impl FnOnce(&mut RunSpec)) -> Self {
        Self::start_in(world(), change)
    }
    pub fn start_in(world: World, change: impl FnOnce(&mut RunSpec)) -> Self {
        let mut spec = world.spec();
        change(&mut spec);
        let mut run = Self {
            content: world.first_content,
            world,
            state: State::default(),
            journal: Vec::new(),
            clock: 0,
        };
        run.input(InputKind::Start(Box::new(spec)));
        run
    }
    /// A run whose one reviewer was just asked.
    pub fn reviewing() -> (Self, JobId) {
        Self::start(|_| ()).until_asked()
    }
    pub fn until_asked(self) -> (Self, JobId) {
        let mut run = self;
        loop {
            let asked = run
                .state
                .open_effects()
                .find_map(|(_, effect)| match effect {
                    Effect::RunJob { job } => Some(job.id),
                    _ => None,
                });
            if let Some(job) = asked {
                return (run, job);
            }
            assert!(run.perform(|_| true));
        }
    }
    /// A run of one job.
    pub fn single() -> Self {
        Self::start(|spec| {
            spec.panel.clear();
            spec.single = Some(submission(None));
        })
    }
    pub fn input(&mut self, kind: InputKind) -> usize {
        self.clock += 1;
        let stamp = stamp(self.clock);
        let events = step(&self.state, Input { stamp, kind });
        for event in &events {
            fold(&mut self.state, event);
            check(&self.state).unwrap();
            self.journal.push(event.clone());
        }
        events.len()
    }
    pub fn message(&mut self) -> MessageId {
        self.clock += 1;
        MessageId::mint(&stamp(self.clock), "message")
    }
    /// Asks, and says what it was worth.
    pub fn ask(&mut self, from: Option<Fence>, request: JobRequest) -> Weight {
        let message = self.message();
        let weight = weigh(&self.state, message, from.as_ref(), &request);
        let kind = InputKind::Job {
            message,
            from,
            request: Box::new(request),
        };
        let events = self.input(kind);
        assert_eq!(events > 0, weight == Weight::New, "{weight:?}");
        weight
    }
    pub fn submit(&mut self, from: Option<JobId>, parent: Option<JobId>) -> Result<JobId, Refusal> {
        let before: Vec<JobId> = self.state.delegations.keys().copied().collect();
        let fence = from.map(|job| self.fence(job));
        let submission = Box::new(submission(parent));
        match self.ask(fence, JobRequest::Submit { submission }) {
            Weight::New => {}
            Weight::Refused(refusal) => return Err(refusal),
            other => panic!("{other:?}"),
        }
        let mut new = self.state.delegations.keys();
        Ok(*new.find(|job| !before.contains(job)).unwrap())
    }
    pub fn fence(&self, job: JobId) -> Fence {
        self.state.fence_of(job).unwrap()
    }
    pub fn signal(&mut self, of: Fence, signal: Signal, detail: &str) -> Weight {
        let detail = detail.to_owned();
        self.ask(Some(of.clone()), JobRequest::Signal { of, signal, detail })
    }
    pub fn closed(&self, job: JobId) -> Option<&Closed> {
        self.state.delegations[&job].closed.as_ref()
    }
    pub fn effect(&self, pick: impl Fn(&Effect) -> bool) -> Option<(EffectId, Effect)> {
        let mut open = self.state.open_effects();
        open.find(|(_, effect)| pick(effect))
            .map(|(id, effect)| (id, effect.clone()))
    }
    pub fn done(&mut self, effect: EffectId, outcome: Outcome) {
        let outcome = Box::new(outcome);
        self.input(InputKind::Done { effect, outcome });
    }
    /// Performs an open effect as the world does; false where none fits.
    pub fn perform(&mut self, pick: impl Fn(&Effect) -> bool) -> bool {
        let Some((id, effect)) = self.effect(pick) else {
            return false;
        };
        let findings = self.state.findings.clone();
        let outcome = self.world.perform(&effect, &mut self.content, &findings);
        self.done(id, outcome);
        true
    }
    /// The dispatch of a job comes back so.
    pub fn ends(&mut self, job: JobId, outcome: Outcome) {
        let is_it = |effect: &Effect| matches!(effect, Effect::Delegate { dispatch } if dispatch.job == job);
        let (id, _) = self.effect(is_it).unwrap();
        self.done(id, outcome);
    }
    pub fn into_end(mut self) -> Option<End> {
        while self.perform(|_| true) {}
        self.state.end().cloned()
    }
    /// Performs what is open to the end, which is a PASS; every prefix of its journal resumes to one.
    pub fn passes_from_every_cut(mut self) {
        let world = self.world.clone();
        while self.perform(|_| true) {}
        assert!(matches!(self.state.end(), Some(End::Approved { .. })));
        for cut in 1..self.journal.len() {
            let journal = self.journal[..cut].to_vec();
            let mut again = Self {
                world: world.clone(),
                state: State::replay(&journal),
                journal,
                clock: 1_000_000,
                content: 1,
            };
            again.input(crate::orders::resume());
            let end = again.into_end();
            assert!(
                matches!(end, Some(End::Approved { .. })),
                "cut {cut}: {end:?}"
            );
        }
    }
}
