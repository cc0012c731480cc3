//! Processes of a dead run's jobs, whose guards were killed as well.

use std::path::{Path, PathBuf};

use crate::cleanup::item::{Item, What};
use crate::domain::id::LoopId;
use crate::process::guard::remains::{self, Left};

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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(failed)?;
    let mut items = Vec::new();
    for folder in captures(cache_root, run)? {
        let before = remains::left(&folder).map_err(failed)?;
        if before == Left::Nobody {
            continue;
        }
        let item = Item::new(&folder, What::Processes, Some(run), 0);
        let left = runtime.block_on(remains::end(&folder)).map_err(failed)?;
        items.push(match left {
            Left::Nobody => item.removed(Vec::new()),
            Left::Guarded => item.kept("a guard still ends them"),
            Left::Lives { processes, why } => {
                let named = processes
                    .iter()
                    .map(|id| format!("process {}: {why}", id.pid));
                let named: Vec<String> = named.collect();
                if named.is_empty() {
                    item.kept(why)
                } else {
                    item.removed(named)
                }
            }
            Left::Unknown(why) => item.kept(why),
        });
    }
    Ok(items)
}

fn captures(cache_root: &Path, run: LoopId) -> Result<Vec<PathBuf>, String> {
    let jobs = cache_root.join("jobs").join(run.to_string());
    remains::captures(&jobs).map_err(|error| error.to_string())
}
