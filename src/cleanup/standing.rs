//! Whether a run is dead: proved by free locks and by who wrote last, never by absence alone.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::id::{JobId, LoopId};
use crate::domain::work::before;
use crate::engine::{Phase, State};
use crate::process::guard::{Probe, probe, remains};
use crate::store::owner::{Engine, Life};
use crate::store::run_lock::{Holder, RunLock};
use crate::store::{Entry, Journal, StateFolder};

/// How a run stands.
#[derive(Debug)]
pub(crate) enum Standing {
    /// Nobody drives it, and nobody can.
    Dead(Box<Dead>),
    /// Nobody does, but guards still end its jobs.
    Guarded,
    /// Somebody does.
    InUse(String),
    /// It cannot be told.
    Unknown(String),
}

/// A dead run, as its journal tells it.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Dead {
    /// Whether it came to its end: then nothing of it is needed again.
    pub(crate) ended: bool,
    /// Whether it has any event.
    pub(crate) began: bool,
    /// How many events.
    pub(crate) events: usize,
    /// The jobs it dispatched.
    pub(crate) jobs: BTreeSet<JobId>,
    /// Those whose end it has not taken in.
    pub(crate) open_jobs: BTreeSet<JobId>,
    /// The rounds it opened.
    pub(crate) rounds: BTreeSet<String>,
    /// Its steps of work, by how the names begin of what is kept of before them.
    pub(crate) steps: BTreeSet<String>,
    /// The one that is under way.
    pub(crate) open_step: Option<String>,
}

/// Whether we hold the writer's lock ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    No,
    ByUs,
}

/// Judges a run. Nothing is changed.
pub(crate) fn judge(state: &StateFolder, run: LoopId, cache_root: &Path, held: Held) -> Standing {
    judged(state, run, cache_root, held).unwrap_or_else(Standing::Unknown)
}

fn judged(
    state: &StateFolder,
    run: LoopId,
    cache_root: &Path,
    held: Held,
) -> Result<Standing, String> {
    let told = |failure: crate::domain::failure::Failure| failure.message;
    if held == Held::No && Journal::is_driven(state, run).map_err(told)? {
        return Ok(Standing::InUse("an engine drives this run".to_owned()));
    }
    let (dead, source_root) = if Journal::never_began(state, run) {
        (Dead::default(), None)
    } else {
        read(&Journal::load(state, run).map_err(told)?)
    };
    let mut engine = Journal::last_engine(state, run).map_err(told)?;
    if let Some(root) = &source_root {
        let root = Path::new(root);
        let mine = |record: &crate::store::owner::Owner| record.run == run;
        match RunLock::holder(state, root).map_err(told)? {
            Holder::Free => {}
            Holder::Held(Some(owner)) if !mine(&owner) => {}
            Holder::Held(Some(_)) => {
                return Ok(Standing::InUse("its source is locked for it".to_owned()));
            }
            Holder::Held(None) => {
                return Err("its source is locked, and by whom cannot be read".to_owned());
            }
        }
        if engine.is_none() {
            let last = RunLock::last_owner(state, root).map_err(told)?;
            engine = last.filter(mine).map(|owner| owner.engine());
        }
    }
    if let Some(why) = alive(engine.as_ref()) {
        return Err(why);
    }
    guards(&cache_root.join("jobs").join(run.to_string())).map(|running| {
        if running {
            Standing::Guarded
        } else {
            Standing::Dead(Box::new(dead))
        }
    })
}

/// Why the process that wrote last is not surely gone.
fn alive(engine: Option<&Engine>) -> Option<String> {
    let Some(engine) = engine else {
        return Some("it left no record of who drove it".to_owned());
    };
    lives(engine)
}

/// Why this process is not surely gone.
pub(crate) fn lives(engine: &Engine) -> Option<String> {
    match engine.life() {
        Life::Gone => None,
        Life::Alive => Some(format!("the process {} that drove it lives", engine.pid)),
        Life::Elsewhere(host) => Some(format!("it was driven on {host}: clean up there")),
        Life::Unknown => Some("the record of who drove it does not say enough".to_owned()),
    }
}

/// What the journal says of the run.
fn read(entries: &[Entry]) -> (Dead, Option<String>) {
    let state = State::replay(entries.iter().map(|entry| &entry.event));
    let mut dead = Dead {
        ended: state.is_over(),
        began: true,
        events: entries.len(),
        ..Dead::default()
    };
    for entry in entries {
        match &entry.event {
            Event::RoundOpened { round } => {
                dead.rounds.insert(round.to_string());
            }
            Event::EffectRequested { effect, .. } => {
                dead.jobs
                    .extend(effect.dispatched().map(|(_, folder)| folder));
                if let Some(step) = step_of(effect) {
                    dead.steps.insert(step.clone());
                    dead.open_step = Some(step);
                }
            }
            Event::RunStarted { .. }
            | Event::RunResumed { .. }
            | Event::StopRequested { .. }
            | Event::JobRequested { .. }
            | Event::JobClosed { .. }
            | Event::JobSilent { .. }
            | Event::JobHeard { .. }
            | Event::WaitEnded { .. }
            | Event::EffectDone { .. }
            | Event::ReviewOpened { .. }
            | Event::FindingRaised { .. }
            | Event::SlotRetried { .. }
            | Event::WorkOpened { .. }
            | Event::WorkRetried { .. }
            | Event::FindingDisposed { .. }
            | Event::WorkClosed { .. }
            | Event::SlotSettled { .. }
            | Event::RoundClosed { .. }
            | Event::RunClosing { .. }
            | Event::CostUntold { .. }
            | Event::RunParking { .. }
            | Event::SlotLimited { .. }
            | Event::WorkLimited { .. }
            | Event::RunSuspended { .. }
            | Event::RunEnded { .. } => {}
        }
    }
    let open = state
        .open_effects()
        .filter_map(|(_, effect)| effect.dispatched());
    dead.open_jobs = open.map(|(_, folder)| folder).collect();
    if !matches!(state.phase, Phase::Work { .. }) {
        dead.open_step = None;
    }
    let source_root = state.run.as_ref().map(|run| run.source_root.clone());
    (dead, source_root)
}

/// How the names begin of what is kept of before a step of work, where the step opens.
fn step_of(effect: &Effect) -> Option<String> {
    if let Effect::Pin {
        round,
        work: Some(role),
    } = effect
    {
        return Some(before(*round, *role));
    }
    None
}

/// Whether any guard of the run's jobs lives.
pub(super) fn guards(jobs: &Path) -> Result<bool, String> {
    let said = |error: io::Error| error.to_string();
    for folder in remains::captures(jobs).map_err(said)? {
        if matches!(probe(&folder).map_err(said)?, Probe::Running { .. }) {
            return Ok(true);
        }
    }
    Ok(false)
}
