//! Driving a run to its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::domain::code::Code;
use crate::domain::effect::{Effect, Outcome};
use crate::domain::end::End;
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::EffectId;
use crate::engine::{Input, InputKind, State, fold, step};
use crate::runtime::clock;
use crate::runtime::messages::{Messages, Taken};
use crate::runtime::perform;
use crate::runtime::restore;
use crate::runtime::rim::Rim;
use crate::runtime::signals::Signals;
use crate::runtime::unperformed;
use crate::runtime::watch::Watch;
use crate::store::journal::Journal;

/// Who is told of every event, once it is durable.
pub trait Observer {
    /// One event, and the state after it.
    fn event(&mut self, state: &State, event: &Event);
    /// Something that is to be known and is no event.
    fn note(&mut self, text: &str);
}

/// A finished effect.
type Finished = (EffectId, Outcome);

/// What is being performed, and how it is stopped.
struct Performing {
    rim: Arc<Rim>,
    tasks: TaskTracker,
    stops: BTreeMap<EffectId, CancellationToken>,
    /// Effects that a dead engine may have begun.
    inherited: BTreeSet<EffectId>,
    /// Ends what is under way without grace.
    kill: CancellationToken,
    sender: mpsc::Sender<Finished>,
    /// When this engine began, by a clock that stands still while the machine sleeps.
    began: Instant,
}

/// How often messages are looked for.
const INBOX_POLL: Duration = Duration::from_millis(250);

/// How often is noted how long the engine has run: what a run that is taken up again is known to have
/// run.
const BEAT: Duration = Duration::from_secs(2);

/// Drives a run from its first input to its end: everything is journaled before it is performed.
///
/// # Errors
/// When the journal cannot be written. Every process of the run is gone by then.
pub async fn drive(
    rim: Arc<Rim>,
    journal: &mut Journal,
    state: &mut State,
    first: InputKind,
    observer: &mut dyn Observer,
    signals: &mut Signals,
) -> Result<End, Failure> {
    // This clock stands still while the machine sleeps.
    let began = Instant::now();
    // Bounded: a performer that has finished can wait until its outcome is taken.
    let (sender, mut finished) = mpsc::channel(16);
    let kill = CancellationToken::new();
    let tasks = TaskTracker::new();
    let mut performing = Performing {
        rim,
        tasks,
        stops: BTreeMap::new(),
        inherited: state.open.keys().copied().collect(),
        kill,
        sender,
        began,
    };
    let mut messages = Messages::new(Arc::clone(&performing.rim));
    let mut watch = Watch::new(Arc::clone(&performing.rim));
    let mut poll = tokio::time::interval(INBOX_POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Messages that lie there come before anything is performed.
    let mut inputs: Vec<Taken> = vec![Taken::alone(first)];
    inputs.extend(messages.read(state, observer));
    let mut stopping = false;
    loop {
        for taken in inputs.drain(..) {
            let weighed = Messages::weigh(state, &taken);
            let (input, letter) = taken.split();
            let before = state.clone();
            match take(journal, state, input, observer) {
                Ok(events) => {
                    restore::told_beside(&performing.rim, (&before, state), &events, observer);
                }
                Err(failure) => {
                    finished.close();
                    performing.abandon().await;
                    return Err(failure);
                }
            }
            // Who is answered finds the job shown.
            messages.show(state);
            messages.done(state, letter, weighed, observer);
        }
        performing.follow(state);
        if let Some(end) = rest(state) {
            note(journal, state, began);
            finished.close();
            performing.abandon().await;
            return Ok(end);
        }
        inputs = loop {
            tokio::select! {
                Some((effect, outcome)) = finished.recv() => {
                    performing.stops.remove(&effect);
                    // What a job asked for comes before its end.
                    let mut inputs = messages.read(state, observer);
                    let outcome = Box::new(outcome);
                    inputs.push(Taken::alone(InputKind::Done { effect, outcome }));
                    break inputs;
                }
                _ = beat.tick() => note(journal, state, began),
                _ = poll.tick() => {
                    let mut read = messages.read(state, observer);
                    let silent = watch.look(state, Instant::now());
                    read.extend(silent.into_iter().map(Taken::alone));
                    if !read.is_empty() {
                        break read;
                    }
                }
                cause = signals.next() => {
                    if stopping {
                        performing.kill.cancel();
                        continue;
                    }
                    stopping = true;
                    break vec![Taken::alone(InputKind::Stop { cause, message: None })];
                }
            }
        };
    }
}

/// Notes how long this engine has driven the run.
fn note(journal: &Journal, state: &State, began: Instant) {
    if let Some(since) = state.budget.since {
        let ran = began.elapsed().as_millis();
        journal.beat(since, u64::try_from(ran).unwrap_or(u64::MAX));
    }
}

/// How the run ended or was put aside, once it is.
fn rest(state: &State) -> Option<End> {
    let aside = || {
        state
            .suspended
            .clone()
            .map(|failure| End::Failed { failure })
    };
    state.end().cloned().or_else(aside)
}

/// Takes one input: steps, journals, folds, tells. Gives what was journaled.
pub(super) fn take(
    journal: &mut Journal,
    state: &mut State,
    kind: InputKind,
    observer: &mut dyn Observer,
) -> Result<Vec<Event>, Failure> {
    let stamp = clock::stamp().map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("the system gives no randomness: {error}"),
        )
    })?;
    let events = step(state, Input { stamp, kind });
    journal.append(&events)?;
    for event in &events {
        fold(state, event);
        observer.event(state, event);
    }
    Ok(events)
}

impl Performing {
    /// Performs `open - performing`, and stops what is under way when the run winds up.
    fn follow(&mut self, state: &State) {
        // What is no longer asked for is stopped, and its outcome means nothing.
        for (id, stop) in &self.stops {
            if !state.open.contains_key(id) {
                stop.cancel();
            }
        }
        for (id, effect) in state.open_effects() {
            if !self.stops.contains_key(&id) {
                self.start(id, effect.clone(), state);
            }
            if state.is_unwanted(effect)
                && let Some(stop) = self.stops.get(&id)
            {
                stop.cancel();
            }
        }
    }

    fn start(&mut self, id: EffectId, effect: Effect, state: &State) {
        let stop = CancellationToken::new();
        tracing::debug!(effect = id.0, "performing");
        self.stops.insert(id, stop.clone());
        let again = self.inherited.remove(&id);
        let (rim, sender, kill) = (
            Arc::clone(&self.rim),
            self.sender.clone(),
            self.kill.clone(),
        );
        let run_left = state.budget.left(self.began.elapsed());
        // What the effect may look at is the state that requested it.
        let state = Arc::new(state.clone());
        let performed = effect.clone();
        let performing = self.tasks.spawn(async move {
            perform::perform(rim, performed, state, again, run_left, stop, kill).await
        });
        self.tasks.spawn(async move {
            let outcome = unperformed::awaited(performing, &effect).await;
            // The receiver is gone only when the run has already ended.
            drop(sender.send((id, outcome)).await);
        });
    }

    /// Ends everything under way and waits until it is gone.
    async fn abandon(self) {
        for stop in self.stops.values() {
            stop.cancel();
        }
        self.tasks.close();
        drop(self.sender);
        self.tasks.wait().await;
    }
}
