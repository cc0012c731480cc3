//! Processes of a dead run's jobs, whose guards were killed as well.

use std::path::{Path, PathBuf};

use tokio::runtime::Runtime;

use crate::cleanup::item::{Item, What};
use crate::domain::id::LoopId;
use crate::process::guard::remains::{self, Left, PATIENCE};

/// Waits until no guard of a dead engine lives, which ends its job by itself, or is ended; else who lives.
pub(super) fn guards_end(
    cache_root: &Path,
    run: LoopId,
    slow: &dyn Fn(&str),
) -> Result<(), String> {
    let folders = captures(cache_root, run)?;
    slow(&format!(
        "waiting for the guards of run {run}, whose engine is dead, to end its jobs: at most {} s",
        PATIENCE.as_secs()
    ));
    let alive = runtime()?.block_on(remains::settle(&folders, PATIENCE));
    let alive = alive.map_err(|error| error.to_string())?;
    let named: Vec<String> = alive.iter().flat_map(|(_, left)| named(left)).collect();
    if named.is_empty() {
        return Ok(());
    }
    Err(named.join("; "))
}

/// Those who live on.
fn named(left: &Left) -> Vec<String> {
    match left {
        Left::Nobody | Left::Guarded | Left::Unknown(_) => Vec::new(),
        Left::Lives { processes, why } if processes.is_empty() => vec![why.clone()],
        Left::Lives { processes, why } => {
            let each = processes.iter();
            each.map(|id| format!("process {}: {why}", id.pid))
                .collect()
        }
    }
}

/// Who would be ended: one item for each attempt that left somebody.
pub(super) fn left(cache_root: &Path, run: LoopId) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    for folder in captures(cache_root, run)? {
        let left = remains::left(&folder).map_err(|error| error.to_string())?;
        let item = Item::new(&folder, What::Processes, Some(run), 0);
        match left {
            Left::Nobody => {}
            Left::Guarded => items.push(item.kept("a guard still ends them")),
            Left::Lives { processes, why } if processes.is_empty() => items.push(item.kept(why)),
            Left::Lives { .. } => items.push(item),
            Left::Unknown(why) => items.push(item.kept(why)),
        }
    }
    Ok(items)
}

/// Ends them; one item for each attempt that had left somebody.
pub(super) fn end(cache_root: &Path, run: LoopId) -> Result<Vec<Item>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let runtime = runtime()?;
    let mut items = Vec::new();
    for folder in captures(cache_root, run)? {
        let before = remains::left(&folder).map_err(failed)?;
        if before == Left::Nobody {
            continue;
        }
        let item = Item::new(&folder, What::Processes, Some(run), 0);
        let left = runtime.block_on(remains::end(&folder)).map_err(failed)?;
        items.push(match &left {
            Left::Nobody => item.removed(Vec::new()),
            Left::Guarded => item.kept("a guard still ends them"),
            Left::Lives { processes, why } if processes.is_empty() => item.kept(why.as_str()),
            Left::Lives { .. } => item.removed(named(&left)),
            Left::Unknown(why) => item.kept(why.as_str()),
        });
    }
    Ok(items)
}

fn runtime() -> Result<Runtime, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.enable_time().build();
    built.map_err(|error| error.to_string())
}

fn captures(cache_root: &Path, run: LoopId) -> Result<Vec<PathBuf>, String> {
    let jobs = cache_root.join("jobs").join(run.to_string());
    remains::captures(&jobs).map_err(|error| error.to_string())
}
