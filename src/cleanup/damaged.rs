//! Putting away the record of a run that nothing can read any more, where its user asks for that one: it is
//! moved, whole, and named by nothing from then on but the gate, which doubts as before.

use std::path::Path;

use crate::cleanup::item::{Fate, Item, What};
use crate::cleanup::standing::{guards, lives};
use crate::cleanup::{GUARDED, folders};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::store::{Journal, StateFolder, home, put_away};

/// Puts it away, or says where it would be put.
///
/// # Errors
/// When its record is not damaged, somebody may be at work on it, or it cannot be moved.
pub fn put_aside(
    state: &StateFolder,
    run: LoopId,
    cache_root: &Path,
    dry_run: bool,
) -> Result<Item, Failure> {
    let item = folders::state_at(&state.run_path(run), Some(run), true);
    let item = Item {
        what: What::Damaged,
        ..item
    };
    let to = state.damaged_path(run).display().to_string();
    if Journal::is_driven(state, run)? {
        return Err(in_use(run, "an engine drives this run"));
    }
    let Some(damage) = Journal::damage(state, run)? else {
        let message = format!("--damaged {run}: its record is not damaged");
        let id = run.to_string();
        return Err(Failure::new(Code::BadValue, message).next(["run-loop", "show", &id]));
    };
    // Without a record of it the lock alone tells.
    let engine = Journal::last_engine(state, run)?;
    if let Some(why) = engine.as_ref().and_then(lives) {
        return Err(in_use(run, &why));
    }
    // What says where its jobs are may be damaged as well.
    let cache = home::cache(state, run).ok().flatten();
    let jobs = cache.as_deref().unwrap_or(cache_root).join("jobs");
    match guards(&jobs.join(run.to_string())) {
        Ok(false) => {}
        Ok(true) => return Err(in_use(run, GUARDED)),
        Err(why) => return Err(in_use(run, &why)),
    }
    if dry_run {
        let fate = Fate::WouldPutAway { to };
        return Ok(Item { fate, ..item });
    }
    let Some(_held) = Journal::hold_off(state, run)? else {
        return Err(in_use(run, "an engine drives this run"));
    };
    put_away::put_away(state, run, damage)?;
    let fate = Fate::PutAway { to };
    Ok(Item { fate, ..item })
}

fn in_use(run: LoopId, why: &str) -> Failure {
    let message = format!("the record of run {run} is not put away: {why}");
    Failure::new(Code::LoopRunning, message).next(["run-loop", "list"])
}
