//! The world's side of delegated jobs: who says what while it works, and what it remembers of it over
//! every crash. Messages lie in the inbox until they are answered.

use std::collections::{BTreeMap, BTreeSet};

use run_loop::domain::delegation::{Dispatch, Fence, JobRequest, Signal};
use run_loop::domain::effect::{Effect, Outcome, Timer};
use run_loop::domain::id::{EffectId, JobId, MessageId};
use run_loop::domain::job::{Job, Role};
use run_loop::domain::time::Timestamp;
use run_loop::engine::{DelegationRecord, InputKind, Phase};

use super::Driver;
use crate::delegations::submission;
use crate::world::{Answer, Deed, Fate, Helper, Then, delegated, slot_index, stamp};

/// What the world remembers of delegated jobs.
#[derive(Debug, Clone, Default)]
pub struct Desk {
    /// What dispatches handed over, by their folder.
    pub handed: BTreeMap<JobId, Outcome>,
    /// What was sent and not refused, in order.
    mail: Vec<Letter>,
    said: BTreeSet<String>,
    /// Steps of work whose writing was done by somebody that it was left to.
    written: BTreeSet<(u32, u32)>,
}

/// A message about jobs.
#[derive(Debug, Clone)]
pub struct Letter {
    key: String,
    message: MessageId,
    from: Option<Fence>,
    request: JobRequest,
    /// What it delegates to, where it does.
    helper: Option<Helper>,
}

impl Letter {
    fn new(key: String, from: Option<&Fence>, request: JobRequest) -> Self {
        let message = MessageId::mint(&stamp(0), &key);
        let from = from.cloned();
        Self {
            key,
            message,
            from,
            request,
            helper: None,
        }
    }
}

/// What may happen next.
#[derive(Debug, Clone)]
pub enum Act {
    Perform(EffectId, Box<Effect>),
    Say(Box<Letter>),
}

impl Act {
    pub fn is_timer(&self) -> bool {
        self.until().is_some()
    }
    /// Whether somebody is asked again after it.
    fn lifts_a_limit(&self) -> bool {
        matches!(self, Self::Perform(_, effect)
            if matches!(**effect, Effect::Timer { of: Timer::Limit, .. }))
    }
    /// The moment that a timer waits for.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Perform(_, effect) => match &**effect {
                Effect::Timer { until, .. } => Some(*until),
                _ => None,
            },
            Self::Say(_) => None,
        }
    }
}

impl Driver<'_> {
    /// Everything that may happen next: an agent speaks before it ends, and whoever waits for it gives
    /// up when nothing else can happen.
    pub fn acts(&self) -> Vec<Act> {
        let mut acts: Vec<Act> = self
            .letters()
            .into_iter()
            .map(|letter| Act::Say(Box::new(letter)))
            .collect();
        let mut waits = Vec::new();
        for (id, effect) in self.state.open_effects() {
            let act = Act::Perform(id, Box::new(effect.clone()));
            match effect {
                Effect::RunJob { job } if !self.may_end(job) => {}
                Effect::Delegate { dispatch } if !self.may_come_back(effect, dispatch) => {}
                Effect::AwaitJobs { .. } if !self.state.is_winding_up() => waits.push(act),
                _ => acts.push(act),
            }
        }
        // Whoever waits for a job that waits for its limit waits for longer than that.
        if acts
            .iter()
            .all(|act| act.is_timer() && !act.lifts_a_limit())
        {
            acts.extend(waits);
        }
        acts
    }

    /// What may be said now.
    pub fn letters(&self) -> Vec<Letter> {
        let runs = !matches!(self.state.phase, Phase::Unstarted | Phase::Ended { .. });
        if !runs || self.state.is_winding_up() || self.state.suspended.is_some() {
            return Vec::new();
        }
        let mut letters = Vec::new();
        for (_, effect) in self.state.open_effects() {
            match effect {
                Effect::RunJob { job } if !self.bought.contains_key(&job.id) => {
                    self.delegates(Some(&own(job)), self.plan(job), &mut letters);
                }
                Effect::Delegate { dispatch } if self.is_alive(effect, dispatch) => {
                    self.delegates(Some(&fence(dispatch)), self.nested(dispatch), &mut letters);
                    letters.extend(self.signal(dispatch));
                }
                _ => {}
            }
        }
        self.delegates(None, &self.world.delegating.strangers, &mut letters);
        let by_person = self.desk.mail.iter().filter(|letter| {
            let helper = letter.helper.as_ref();
            helper.is_some_and(|helper| helper.then == Then::AgainByPerson)
        });
        for letter in by_person {
            letters.extend(self.repeat(&letter.key, None));
        }
        letters
    }

    /// Sends a message, and the engine takes it.
    pub fn say(&mut self, letter: &Letter) {
        self.say_unseen(letter.clone());
        self.deliver(letter);
    }
    /// Sends a message that nobody takes: the engine died.
    pub fn say_unseen(&mut self, letter: Letter) {
        self.desk.said.insert(letter.key.clone());
        self.desk.mail.push(letter);
    }
    fn deliver(&mut self, letter: &Letter) {
        self.input(InputKind::Job {
            message: letter.message,
            from: letter.from.clone(),
            request: Box::new(letter.request.clone()),
        });
        if !self.state.messages.contains_key(&letter.message) {
            // It was refused, and whoever sent it was told.
            self.desk.mail.retain(|it| it.message != letter.message);
        }
    }
    /// What lies in the inbox is taken first; what was taken before says nothing new.
    pub fn drain(&mut self) {
        for letter in self.desk.mail.clone() {
            let known = self.state.messages.contains_key(&letter.message);
            let before = self.journal.len();
            self.deliver(&letter);
            assert!(!known || self.journal.len() == before, "{letter:?}");
        }
    }

    /// What a dispatch comes to.
    pub fn dispatched(&mut self, effect: &Effect, dispatch: &Dispatch) -> Outcome {
        if let Some(outcome) = self.desk.handed.get(&dispatch.folder) {
            return outcome.clone();
        }
        if self.state.is_unwanted(effect) {
            return delegated(run_loop::domain::job::Ended::Interrupted, false);
        }
        let nth = self.done(dispatch.job);
        let Some(helper) = self.helper(dispatch.job) else {
            return Fate::Reports.outcome();
        };
        let fate = helper.fate(nth);
        if nth == 0 && fate != Fate::CannotStart {
            self.write(dispatch.job, fate == Fate::Late);
        }
        let mut outcome = fate.outcome();
        if let Outcome::Delegated { outcome } = &mut outcome {
            outcome.ended_at = Timestamp::from_millis(i64::try_from(self.clock).unwrap());
        }
        self.desk.handed.insert(dispatch.folder, outcome.clone());
        outcome
    }

    /// A helper does what a writer left to it: once for the step. Who comes late leaves what nobody
    /// expects.
    fn write(&mut self, job: JobId, late: bool) {
        let mut at = job;
        while let Some(parent) = self
            .state
            .delegations
            .get(&at)
            .and_then(|it| it.submission.parent)
        {
            at = parent;
        }
        let Some(root) = self.state.jobs.get(&at).map(|record| &record.job) else {
            return;
        };
        let (role, round) = (root.role, root.round.0);
        if !role.writes() {
            return;
        }
        if late {
            self.content = 9;
        } else if self.desk.written.insert((role as u32, round))
            && let Some(next) = self.world.writes(role, round)
        {
            self.content = next;
        }
    }

    /// What a job of the loop delegates before it ends.
    fn plan(&self, job: &Job) -> &[Helper] {
        let (round, nth) = (job.round.0, self.nth(job));
        let delegates = if job.role == Role::Review {
            let slot = slot_index(&job.slot).unwrap();
            let begins = self.world.answer(slot, round, nth) != Answer::CannotStart;
            begins && !self.world.slots[slot].checks
        } else {
            self.world.deed(job.role, round, nth) != Deed::CannotStart
        };
        if delegates {
            self.world.helpers(job.role, round, nth)
        } else {
            &[]
        }
    }
    /// What a dispatch delegates before it ends: the first time.
    fn nested(&self, dispatch: &Dispatch) -> &[Helper] {
        let helper = self.helper(dispatch.job);
        let first = helper.filter(|_| self.done(dispatch.job) == 0);
        first.map_or(&[], |helper| &helper.helpers)
    }
    fn may_end(&self, job: &Job) -> bool {
        self.bought.contains_key(&job.id)
            || self.state.is_winding_up()
            || self.is_ready(&own(job), self.plan(job))
    }
    fn may_come_back(&self, effect: &Effect, dispatch: &Dispatch) -> bool {
        if !self.is_alive(effect, dispatch) {
            return true;
        }
        let ends = match self.fate(dispatch.job) {
            Fate::Endless => false,
            Fate::Late => self.is_given_up(),
            _ => true,
        };
        let ready = || self.is_ready(&fence(dispatch), self.nested(dispatch));
        ends && ready() && self.signal(dispatch).is_none()
    }
    /// Whether nobody waits for those any more who come late.
    fn is_given_up(&self) -> bool {
        let mut open = self.state.open.values();
        let waits = open.any(|it| matches!(it, Effect::AwaitJobs { .. } | Effect::RunJob { .. }));
        matches!(self.state.phase, Phase::Round { .. }) || !waits
    }
    /// Whether a dispatch runs on: it did not end, and nobody stops it.
    fn is_alive(&self, effect: &Effect, dispatch: &Dispatch) -> bool {
        !self.desk.handed.contains_key(&dispatch.folder) && !self.state.is_unwanted(effect)
    }

    /// What somebody may say of those whom it delegates to.
    fn delegates(&self, from: Option<&Fence>, helpers: &[Helper], letters: &mut Vec<Letter>) {
        for (nth, helper) in helpers.iter().enumerate() {
            let key = key(from, nth);
            if !self.desk.said.contains(&key) {
                let parent = from.map(|fence| fence.job);
                let submission = Box::new(submission(parent));
                let request = JobRequest::Submit { submission };
                let letter = Letter {
                    helper: Some(helper.clone()),
                    ..Letter::new(key, from, request)
                };
                letters.push(letter);
                continue;
            }
            let Some(record) = self.submitted(&key) else {
                continue;
            };
            let cancel = format!("cancel {key}");
            if helper.then.cancels() && !self.desk.said.contains(&cancel) {
                let (job, reason) = (record.id, "asked".to_owned());
                letters.push(Letter::new(
                    cancel,
                    from,
                    JobRequest::Cancel { job, reason },
                ));
            } else if helper.then.repeats() {
                letters.extend(self.repeat(&key, from));
            }
        }
    }
    /// That a job that is over is to be dispatched once more.
    fn repeat(&self, submitted: &str, from: Option<&Fence>) -> Option<Letter> {
        let key = format!("again {submitted}");
        let record = self.submitted(submitted)?;
        let due = !record.is_open() && !self.desk.said.contains(&key);
        let job = record.id;
        due.then(|| Letter::new(key, from, JobRequest::Redispatch { job }))
    }
    /// What a dispatch says of itself, after everything that it delegates.
    fn signal(&self, dispatch: &Dispatch) -> Option<Letter> {
        let signal = match self.fate(dispatch.job) {
            Fate::Asks => Signal::PermissionRequired,
            Fate::SaysDone => Signal::Completed,
            Fate::SaysFailed => Signal::Error,
            _ => return None,
        };
        let of = fence(dispatch);
        let key = format!("says {}", dispatch.folder);
        let mut first = Vec::new();
        self.delegates(Some(&of), self.nested(dispatch), &mut first);
        let detail = "as scripted".to_owned();
        let request = JobRequest::Signal {
            of: of.clone(),
            signal,
            detail,
        };
        let due = first.is_empty() && !self.desk.said.contains(&key);
        due.then(|| Letter::new(key, Some(&of), request))
    }
    /// Whether somebody said all that it says of those whom it delegates to, and those are over that it
    /// waits for.
    fn is_ready(&self, from: &Fence, helpers: &[Helper]) -> bool {
        helpers.iter().enumerate().all(|(nth, helper)| {
            let key = key(Some(from), nth);
            let said = |what: &str| self.desk.said.contains(&format!("{what} {key}"));
            if !self.desk.said.contains(&key) {
                return false;
            }
            let Some(record) = self.submitted(&key) else {
                return true;
            };
            let ends = !matches!(self.fate(record.id), Fate::Endless | Fate::Late);
            let over = !record.is_open() || !ends;
            (!helper.then.cancels() || said("cancel"))
                && (!helper.then.repeats() || said("again") || (record.is_open() && !ends))
                && (!helper.awaited || over)
        })
    }

    /// What came of the message that delegated a job, unless it was refused.
    fn submitted(&self, key: &str) -> Option<&DelegationRecord> {
        let letter = self.desk.mail.iter().find(|letter| letter.key == key)?;
        let job = self.state.messages.get(&letter.message)?;
        self.state.delegations.get(job)
    }
    fn letter(&self, job: JobId) -> Option<&Letter> {
        self.desk.mail.iter().find(|letter| {
            letter.helper.is_some() && self.state.messages.get(&letter.message) == Some(&job)
        })
    }
    fn helper(&self, job: JobId) -> Option<&Helper> {
        self.letter(job)?.helper.as_ref()
    }
    /// How many dispatches of a job are behind it, one that was cancelled among them.
    fn done(&self, job: JobId) -> usize {
        let record = &self.state.delegations[&job];
        let handed = record
            .dispatches
            .iter()
            .filter(|(dispatch, _)| self.desk.handed.contains_key(&dispatch.folder));
        let cancelled = self
            .letter(job)
            .is_some_and(|letter| self.desk.said.contains(&format!("cancel {}", letter.key)));
        handed.count() + usize::from(cancelled)
    }
    fn fate(&self, job: JobId) -> Fate {
        let nth = self.done(job);
        self.helper(job)
            .map_or(Fate::Reports, |helper| helper.fate(nth))
    }
}

fn own(job: &Job) -> Fence {
    Fence {
        job: job.id,
        attempt: job.attempt,
        token: job.token(),
    }
}

fn fence(dispatch: &Dispatch) -> Fence {
    Fence {
        job: dispatch.job,
        attempt: dispatch.attempt,
        token: dispatch.token.clone(),
    }
}

/// What delegating the `nth` job is called.
fn key(from: Option<&Fence>, nth: usize) -> String {
    from.map_or_else(
        || format!("stranger/{nth}"),
        |from| format!("{}.{}/{nth}", from.job, from.attempt),
    )
}
