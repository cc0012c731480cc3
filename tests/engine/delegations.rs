//! Delegated jobs: tokens and attempts fence every message, the first end wins, and every prefix
//! of a journal with jobs in it resumes to the same end.

use run_loop::domain::delegation::{
    Closed, Fence, JobRequest, PARENT_ENDED, Signal, Submission, TREE_MAX, WALL_CLOCK_TIMEOUT,
};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::id::{EffectId, JobId, MessageId};
use run_loop::domain::job::Ended;
use run_loop::domain::limits::{Allowed, Reset};
use run_loop::domain::run_spec::RunSpec;
use run_loop::domain::time::Timestamp;
use run_loop::domain::trouble::Trouble;
use run_loop::engine::{Input, InputKind, Refusal, State, Weight, check, fold, step, weigh};

use crate::world::{Answer, SlotScript, World, delegated, helper, stamp, stored};

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
    fn single() -> Self {
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
    fn message(&mut self) -> MessageId {
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
    fn signal(&mut self, of: Fence, signal: Signal, detail: &str) -> Weight {
        let detail = detail.to_owned();
        self.ask(Some(of.clone()), JobRequest::Signal { of, signal, detail })
    }
    fn closed(&self, job: JobId) -> Option<&Closed> {
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
}

/// T-070, T-071, rows M-141 to M-143: a message counts for the dispatch that is under way alone.
#[test]
fn a_stale_attempt_never_counts() {
    let mut run = Run::single();
    let job = *run.state.delegations.keys().next().unwrap();
    let first = run.fence(job);
    let forged = Fence {
        token: "0".repeat(32),
        ..first.clone()
    };
    let stale = Weight::Refused(Refusal::Stale(job));
    assert_eq!(run.signal(forged, Signal::Completed, ""), stale);
    run.ends(job, delegated(Ended::Exited { code: 3 }, false));
    // The run of one job ended with it; in a loop the job can be dispatched once more.
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let first = run.fence(job);
    run.ends(job, delegated(Ended::Exited { code: 3 }, false));
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
    let second = run.fence(job);
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert_ne!(first.token, second.token);
    let stale = Weight::Refused(Refusal::Stale(job));
    for signal in [Signal::Started, Signal::Completed, Signal::Error] {
        assert_eq!(run.signal(first.clone(), signal, ""), stale);
    }
    let mixed = Fence {
        token: first.token.clone(),
        ..second.clone()
    };
    assert_eq!(run.signal(mixed, Signal::Completed, ""), stale);
    assert_eq!(run.closed(job), None);
    assert_eq!(run.signal(second, Signal::Completed, "done"), Weight::New);
}

/// T-185, rows M-153 and M-140: the first end wins; said again it is a no-op, another is refused,
/// and nothing comes after it.
#[test]
fn the_first_end_wins() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let fence = run.fence(job);
    assert_eq!(
        run.signal(fence.clone(), Signal::Started, ""),
        Weight::Activity
    );
    assert_eq!(
        run.signal(fence.clone(), Signal::Completed, "all"),
        Weight::New
    );
    assert_eq!(
        run.signal(fence.clone(), Signal::Completed, "all"),
        Weight::Repeat
    );
    let over = Weight::Refused(Refusal::Over(job, "completed"));
    assert_eq!(run.signal(fence.clone(), Signal::Completed, "less"), over);
    assert_eq!(run.signal(fence.clone(), Signal::Error, "all"), over);
    // The terminal barrier.
    assert_eq!(run.signal(fence.clone(), Signal::Progress, ""), over);
    assert_eq!(run.signal(fence, Signal::PermissionRequired, "rm"), over);
    let reason = "asked".to_owned();
    assert_eq!(run.ask(None, JobRequest::Cancel { job, reason }), over);
    // Its process is still there: closed, and open all the same.
    assert!(run.state.delegations[&job].is_open());
    run.ends(job, delegated(Ended::Exited { code: 1 }, false));
    let detail = "all".to_owned();
    assert_eq!(run.closed(job), Some(&Closed::Completed { detail }));
    assert!(!run.state.delegations[&job].is_open());
}

/// Cancelling is idempotent, and what was cancelled is stopped and stays so.
#[test]
fn a_cancelled_job_is_stopped_and_stays_cancelled() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let cancel = |reason: &str| JobRequest::Cancel {
        job,
        reason: reason.to_owned(),
    };
    let (_, effect) = run
        .effect(|it| matches!(it, Effect::Delegate { .. }))
        .unwrap();
    assert!(!run.state.is_unwanted(&effect));
    assert_eq!(run.ask(None, cancel("target_not_found")), Weight::New);
    assert!(run.state.is_unwanted(&effect));
    assert_eq!(run.ask(None, cancel("other")), Weight::Repeat);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert_eq!(run.closed(job).unwrap().kind(), "target_not_found");
}

/// T-115, row M-108: parents must be known, and a job asks about its own tree alone.
#[test]
fn a_job_reaches_its_own_tree_alone() {
    let (mut run, asked) = Run::reviewing();
    let stranger = JobId::mint(&stamp(9_999), "stranger");
    let unknown = Err(Refusal::Unknown(stranger));
    assert_eq!(run.submit(None, Some(stranger)), unknown);
    let mine = run.submit(Some(asked), Some(asked)).unwrap();
    let deeper = run.submit(Some(mine), Some(mine)).unwrap();
    let theirs = run.submit(None, None).unwrap();
    assert!(run.state.descends_from(deeper, asked));
    assert!(!run.state.descends_from(theirs, asked));
    let cancel = |job| JobRequest::Cancel {
        job,
        reason: "asked".to_owned(),
    };
    let fence = run.fence(mine);
    let below = |job| Weight::Refused(Refusal::NotBelow(job));
    assert_eq!(run.ask(Some(fence.clone()), cancel(theirs)), below(theirs));
    assert_eq!(run.ask(Some(fence.clone()), cancel(mine)), below(mine));
    assert_eq!(
        run.ask(Some(fence.clone()), cancel(asked)),
        Weight::Refused(Refusal::OfLoop(asked))
    );
    assert_eq!(
        run.submit(Some(mine), Some(theirs)),
        Err(Refusal::NotBelow(theirs))
    );
    assert_eq!(run.ask(Some(fence), cancel(deeper)), Weight::New);
}

/// T-114: a tree is bounded.
#[test]
fn a_tree_holds_fifty_jobs() {
    let (mut run, asked) = Run::reviewing();
    let mut parent = asked;
    for _ in 0..TREE_MAX {
        parent = run.submit(None, Some(parent)).unwrap();
    }
    assert_eq!(run.submit(None, Some(parent)), Err(Refusal::Full(TREE_MAX)));
    assert_eq!(run.submit(None, Some(asked)), Err(Refusal::Full(TREE_MAX)));
    // Another tree is not full.
    assert!(run.submit(None, None).is_ok());
}

/// A loop's own job ends by its report alone; what it delegated ends with it, before the report
/// is judged.
#[test]
fn what_a_reviewer_delegated_ends_with_it() {
    let (mut run, asked) = Run::reviewing();
    let fence = run.fence(asked);
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let of_loop = Weight::Refused(Refusal::OfLoop(asked));
    assert_eq!(run.signal(fence, Signal::Completed, "PASS"), of_loop);
    assert!(run.perform(|effect| matches!(effect, Effect::RunJob { .. })));
    assert_eq!(run.closed(job).unwrap().kind(), PARENT_ENDED);
    let measuring = |run: &Run| {
        run.effect(|it| matches!(it, Effect::Measure { .. }))
            .is_some()
    };
    assert!(
        !measuring(&run),
        "the report was judged while a sub-job may still run"
    );
    run.ends(job, delegated(Ended::Interrupted, false));
    assert!(measuring(&run));
    // Nothing can be delegated inside a job that ended.
    assert!(run.submit(None, Some(asked)).is_err());
    assert!(matches!(run.into_end(), Some(End::Approved { .. })));
}

/// How a job without a message of its own is closed, and how a run of it ends.
#[test]
fn an_outcome_closes_the_job() {
    let code = |ended, with_report| {
        let mut run = Run::single();
        let job = *run.state.delegations.keys().next().unwrap();
        run.ends(job, delegated(ended, with_report));
        let kind = run.closed(job).map(|closed| closed.kind().to_owned());
        (run.into_end().unwrap().exit().code(), kind.unwrap())
    };
    assert_eq!(code(Ended::Exited { code: 0 }, true), (0, String::new()));
    assert_eq!(code(Ended::Exited { code: 0 }, false).0, 6);
    assert_eq!(code(Ended::Exited { code: 2 }, true).0, 6);
    assert_eq!(code(Ended::Signalled { signal: 11 }, true).0, 6);
    assert_eq!(code(Ended::Lost, true).0, 6);
    let late = (7, WALL_CLOCK_TIMEOUT.to_owned());
    assert_eq!(code(Ended::TimedOut, true), late);
    let failure = run_loop::domain::failure::Failure::new(
        run_loop::domain::code::Code::AgentNotRunnable,
        "no program",
    );
    assert_eq!(code(Ended::NotStarted { failure }, false).0, 126);
}

/// Point 6: silence is told once for each dispatch, and ends nothing.
#[test]
fn silence_is_told_once_and_ends_nothing() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    let attempt = 1;
    for job in [asked, job] {
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 0);
    }
    assert_eq!(run.closed(job), None);
    let attempt = 2;
    assert_eq!(run.input(InputKind::Silent { job, attempt }), 0);
    run.ends(job, delegated(Ended::Exited { code: 1 }, false));
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
    assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
    assert!(matches!(run.into_end(), Some(End::Approved { .. })));
}

/// Point 6: a permission question is relayed once, and the job runs on.
#[test]
fn a_permission_question_is_relayed_once() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    for job in [asked, job] {
        let fence = run.fence(job);
        let ask = Signal::PermissionRequired;
        assert_eq!(run.signal(fence.clone(), ask, "may I?"), Weight::New);
        assert_eq!(run.signal(fence.clone(), ask, "may I?"), Weight::Repeat);
        // Another one is another one.
        assert_eq!(run.signal(fence, ask, "may I now?"), Weight::New);
        assert!(run.state.fence_of(job).is_some());
        let blocked = run.state.blocked_of(job).unwrap();
        assert_eq!(blocked.question(), Some("may I now?"));
    }
}

/// Point 6: what is printed after a question shows that somebody answered it, and after a silence that
/// it is over; then both are told anew.
#[test]
fn what_is_printed_ends_a_stall() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    let attempt = 1;
    let ask = Signal::PermissionRequired;
    for job in [asked, job] {
        let heard = |question| InputKind::Heard {
            job,
            attempt,
            question,
        };
        let fence = run.fence(job);
        // Nothing had stalled.
        assert_eq!(run.input(heard(None)), 0);
        assert_eq!(run.signal(fence.clone(), ask, "may I?"), Weight::New);
        // Seen before that question, or of another attempt.
        assert_eq!(run.input(heard(None)), 0);
        let of_another = InputKind::Heard {
            job,
            attempt: 2,
            question: Some(1),
        };
        assert_eq!(run.input(of_another), 0);
        assert_eq!(run.input(heard(Some(1))), 1);
        assert_eq!(run.state.blocked_of(job).unwrap().question(), None);
        assert_eq!(run.input(heard(Some(1))), 0);
        assert_eq!(run.signal(fence, ask, "may I?"), Weight::New);
        // A silence is over; what was not there at the last look is waited on still.
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
        assert_eq!(run.input(heard(Some(1))), 1);
        let blocked = run.state.blocked_of(job).unwrap();
        assert_eq!(
            (blocked.question(), blocked.number()),
            (Some("may I?"), Some(2))
        );
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
    }
    let view =
        |run: &Run| run.state.delegations[&job].view(run.state.run.as_ref().unwrap().loop_id);
    assert_eq!(view(&run).blocked.as_deref(), Some("may I?"));
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert_eq!(view(&run).blocked, None);
}

/// What an agent asks is written to the journal, so it has an end.
#[test]
fn questions_without_end_are_not_relayed() {
    let (mut run, _) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    let fence = run.fence(job);
    let news = (0..100).filter(|n| {
        let question = format!("may I do {n}?");
        run.signal(fence.clone(), Signal::PermissionRequired, &question) == Weight::New
    });
    assert_eq!(news.count(), 50);
}

/// A run of one job that was interrupted dispatches it again under a new token.
#[test]
fn an_interrupted_job_is_dispatched_again() {
    let mut run = Run::single();
    let job = *run.state.delegations.keys().next().unwrap();
    let first = run.fence(job);
    let cause = StopCause::Interrupt;
    run.input(InputKind::Stop {
        cause,
        message: None,
    });
    run.ends(job, delegated(Ended::Interrupted, false));
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some() && run.closed(job).is_none());
    run.input(crate::orders::resume());
    let second = run.fence(job);
    assert_eq!((second.attempt, second.token == first.token), (2, false));
    assert!(matches!(run.into_end(), Some(End::Completed { .. })));
}

/// Issue 6, 7 (A-057, T-183): an answer that does not fit its schema is asked for once more with the
/// reason, and then the job has failed; what the job says of itself does not count meanwhile.
#[test]
fn an_answer_that_does_not_fit_is_asked_for_once_more() {
    let misfit = |reason: Option<&str>| {
        let mut outcome = delegated(Ended::Exited { code: 0 }, true);
        if let Outcome::Delegated { outcome } = &mut outcome {
            outcome.misfit = reason.map(str::to_owned);
        }
        outcome
    };
    let again = |run: &Run, job: JobId| {
        let (newest, _) = run.state.delegations[&job].dispatches.last().unwrap();
        (newest.attempt, newest.again.clone())
    };
    for (second, exit) in [(None, 0), (Some("at /b"), 6)] {
        let mut run = Run::start(|spec| {
            spec.panel.clear();
            spec.single = Some(Submission {
                schema: Some(stored("schema")),
                ..submission(None)
            });
        });
        let job = *run.state.delegations.keys().next().unwrap();
        let fence = run.fence(job);
        let said = run.signal(fence.clone(), Signal::Completed, "done");
        assert_eq!((said, run.closed(job)), (Weight::Activity, None));
        run.ends(job, misfit(Some("at /a")));
        assert_eq!(run.closed(job), None);
        assert_eq!(again(&run, job), (2, Some("at /a".to_owned())));
        assert_ne!(run.fence(job).token, fence.token);
        run.ends(job, misfit(second));
        let closed = run.closed(job).unwrap().clone();
        assert_eq!(run.into_end().unwrap().exit().code(), exit, "{closed:?}");
        if exit != 0 {
            assert_eq!(closed.detail(), "output_invalid: at /b");
        }
    }
}

/// That an answer did not fit is told to whoever answers next after it, and to nobody later: what was
/// cut short meanwhile is asked as it was, what fits or fails is over.
#[test]
fn a_redispatch_is_not_told_of_an_older_misfit() {
    let misfit = |reason: &str| {
        let mut outcome = delegated(Ended::Exited { code: 0 }, true);
        if let Outcome::Delegated { outcome } = &mut outcome {
            outcome.misfit = Some(reason.to_owned());
        }
        outcome
    };
    let exited = |code| delegated(Ended::Exited { code }, true);
    let told = Some("at /a".to_owned());
    for (second, third) in [
        (exited(0), None),
        (exited(3), None),
        (misfit("at /b"), None),
        (delegated(Ended::TimedOut, false), None),
        (limited_dispatch(60), told.clone()),
        (delegated(Ended::Stopped, false), told.clone()),
    ] {
        let (mut run, asked) = Run::reviewing();
        let submission = Box::new(Submission {
            schema: Some(stored("schema")),
            ..submission(Some(asked))
        });
        let fence = run.fence(asked);
        run.ask(Some(fence), JobRequest::Submit { submission });
        let job = *run.state.delegations.keys().next().unwrap();
        run.ends(job, misfit("at /a"));
        let again = |run: &Run| {
            let (newest, _) = run.state.delegations[&job].dispatches.last().unwrap();
            (newest.attempt, newest.again.clone())
        };
        assert_eq!(again(&run), (2, told.clone()));
        run.ends(job, second);
        if run.closed(job).is_some() {
            assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
        }
        if let Some((id, _)) = run.effect(Effect::is_timer) {
            run.clock = 70_000;
            run.done(id, Outcome::TimerEnded { elapsed: true });
        }
        assert_eq!(again(&run), (3, third));
    }
}

/// A message is taken once, whatever was written of its answer.
#[test]
fn a_message_that_is_read_twice_says_nothing_new() {
    let (mut run, asked) = Run::reviewing();
    let message = run.message();
    let from = Some(run.fence(asked));
    let request = Box::new(JobRequest::Submit {
        submission: Box::new(submission(Some(asked))),
    });
    let kind = InputKind::Job {
        message,
        from,
        request,
    };
    assert!(run.input(kind.clone()) > 0);
    let job = run.state.messages[&message];
    assert_eq!(run.input(kind), 0);
    assert_eq!(run.state.delegations.keys().collect::<Vec<_>>(), [&job]);
}

/// Design, section 9: every prefix of a journal with jobs in it resumes to the same end.
#[test]
fn every_prefix_resumes_to_the_same_end() {
    let (mut run, asked) = Run::reviewing();
    let mine = run.submit(Some(asked), Some(asked)).unwrap();
    let other = run.submit(None, None).unwrap();
    let fence = run.fence(mine);
    run.signal(fence, Signal::Completed, "done");
    run.ends(mine, delegated(Ended::Exited { code: 0 }, true));
    run.ends(other, delegated(Ended::Exited { code: 1 }, false));
    let world = run.world.clone();
    while run.perform(|_| true) {}
    assert!(matches!(run.state.end(), Some(End::Approved { .. })));
    for cut in 1..run.journal.len() {
        let journal = run.journal[..cut].to_vec();
        let mut again = Run {
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

/// A dispatch that a limit of its provider ended.
pub fn limited_dispatch(seconds: u64) -> Outcome {
    let ended = Ended::Failed {
        code: 1,
        trouble: Trouble::RateLimit,
        message: "busy".to_owned(),
    };
    let Outcome::Delegated { mut outcome } = delegated(ended, false) else {
        unreachable!()
    };
    outcome.spent.reset = Some(Reset::In { seconds });
    Outcome::Delegated { outcome }
}

/// Issue 4.7: a limit is no error of a delegated job. A run that has nothing else to do is parked,
/// and asks the same again when it is taken up.
#[test]
fn a_limit_parks_a_run_of_one_job() {
    let mut run = Run::single();
    let job = *run.state.delegations.keys().next().unwrap();
    run.ends(job, limited_dispatch(7200));
    assert_eq!(run.closed(job), None);
    let until = run.state.parking.as_ref().unwrap().until.unwrap();
    assert_eq!(until, Timestamp::from_millis(7_200_001));
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some() && run.state.end().is_none());
    let view = run.state.delegations[&job].view(run.state.run.as_ref().unwrap().loop_id);
    assert!(view.detail.starts_with("limit: until "), "{}", view.detail);
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
    });
    assert_eq!(run.fence(job).attempt, 2);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.into_end(), Some(End::Completed { .. })));
}

/// While its parent works the run waits in place, up to the moment at which the limit is lifted.
#[test]
fn a_limit_is_waited_for_while_the_parent_works() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    run.ends(job, limited_dispatch(60));
    assert!(run.state.parking.is_none() && run.closed(job).is_none());
    let is_timer = |effect: &Effect| effect.is_timer();
    let (id, timer) = run.effect(is_timer).unwrap();
    let Effect::Timer { until, .. } = timer else {
        unreachable!()
    };
    assert_eq!(until, Timestamp::from_millis(60_001));
    // Another one that is lifted earlier is woken for by itself.
    run.clock = 70_000;
    run.done(id, Outcome::TimerEnded { elapsed: true });
    assert_eq!(run.fence(job).attempt, 2);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.closed(job), Some(Closed::Completed { .. })));
}

/// A limit that is met again and again is nobody's failure: while its parent works the job waits.
#[test]
fn limits_without_end_fail_no_job() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    for _ in 0..30 {
        run.ends(job, limited_dispatch(60));
        assert_eq!(run.closed(job), None);
        // Only the first is still in force when it is told: the world's outcomes have one time.
        run.clock = run.clock.max(60_001);
        if let Some((id, _)) = run.effect(Effect::is_timer) {
            run.done(id, Outcome::TimerEnded { elapsed: true });
        }
    }
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.closed(job), Some(Closed::Completed { .. })));
}

/// The same limit, told at this moment.
fn limited_now(run: &Run) -> Outcome {
    let Outcome::Delegated { mut outcome } = limited_dispatch(60) else {
        unreachable!()
    };
    outcome.ended_at = Timestamp::from_millis(i64::try_from(run.clock).unwrap());
    Outcome::Delegated { outcome }
}

/// A run that is taken up again and again, by a timer of the machine's, asks each time; one that waits
/// in place does so up to its 24th limit, and is then parked as well.
#[test]
fn limits_without_end_park_the_run_and_fail_no_job() {
    for wait in [false, true] {
        let mut run = Run::single();
        let job = *run.state.delegations.keys().next().unwrap();
        let (mut waited, mut parked) = (0, 0);
        for _ in 0..40 {
            let limit = limited_now(&run);
            run.ends(job, limit);
            assert_eq!(run.closed(job), None);
            if run.effect(Effect::is_timer).is_none() {
                while run.perform(|_| true) {}
                assert!(run.state.suspended.is_some() && run.state.end().is_none());
                let allowed = Allowed {
                    wait: wait && parked == 0,
                    ..Allowed::default()
                };
                parked += 1;
                run.input(InputKind::Resume { allowed, ran: None });
            }
            if let Some((id, Effect::Timer { until, .. })) = run.effect(Effect::is_timer) {
                waited += 1;
                run.clock = u64::try_from(until.as_millis()).unwrap();
                run.done(id, Outcome::TimerEnded { elapsed: true });
            }
        }
        // The first was met before anybody said that the run waits.
        assert_eq!((waited, parked), if wait { (23, 18) } else { (0, 40) });
        run.ends(job, delegated(Ended::Exited { code: 0 }, true));
        assert!(matches!(run.into_end(), Some(End::Completed { .. })));
    }
}

/// Who asks for a job once more wants it to be waited for as it was at first.
#[test]
fn a_redispatch_forgets_the_limits() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    run.ends(job, limited_dispatch(7200));
    let reason = "asked".to_owned();
    assert_eq!(
        run.ask(None, JobRequest::Cancel { job, reason }),
        Weight::New
    );
    assert_eq!(run.state.delegations[&job].limited, 1);
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
    assert_eq!(run.state.delegations[&job].limited, 0);
    assert_eq!(run.fence(job).attempt, 2);
}
