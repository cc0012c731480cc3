//! Silence: which dispatches have printed nothing for long. It is told once and ends nothing: only
//! the budget closes a job, and a job that is alive may still make no progress.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::domain::id::JobId;
use crate::engine::{InputKind, State};
use crate::runtime::messages::{ACTIVITY, under_way};
use crate::runtime::rim::Rim;

/// How long a silence is worth a word.
const SILENCE: Duration = Duration::from_mins(10);
/// How often is looked: a stat of three files for each dispatch.
const PAUSE: Duration = Duration::from_secs(10);

/// What a capture folder looked like.
type Mark = [Option<(u64, SystemTime)>; 3];

/// Watches the dispatches that are under way.
pub(super) struct Watch {
    rim: Arc<Rim>,
    next: Instant,
    seen: BTreeMap<JobId, (Mark, Instant)>,
}

impl Watch {
    pub(super) fn new(rim: Arc<Rim>) -> Self {
        Self {
            rim,
            next: Instant::now() + PAUSE,
            seen: BTreeMap::new(),
        }
    }
    /// The dispatches that were silent for long, each as an input; the engine tells it once.
    pub(super) fn look(&mut self, state: &State, now: Instant) -> Vec<InputKind> {
        if now < self.next {
            return Vec::new();
        }
        self.next = now + PAUSE;
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return Vec::new();
        };
        let running = under_way(state);
        self.seen
            .retain(|folder, _| running.iter().any(|(_, known)| known == folder));
        let mut silent = Vec::new();
        for (job, folder) in running {
            let mark = mark(&self.rim.capture_folder(run, folder));
            // A person, or `checks`, whose commands have folders of their own.
            if mark.iter().all(Option::is_none) {
                continue;
            }
            let seen = self.seen.entry(folder).or_insert((mark, now));
            if seen.0 != mark {
                *seen = (mark, now);
            }
            // The clock of silence stands still while the machine sleeps.
            if now.duration_since(seen.1) >= SILENCE
                && let Some(fence) = state.fence_of(job)
            {
                let attempt = fence.attempt;
                silent.push(InputKind::Silent { job, attempt });
            }
        }
        silent
    }
}

fn mark(capture: &Path) -> Mark {
    ["stdout", "stderr", ACTIVITY].map(|name| {
        let file = fs_err::symlink_metadata(capture.join(name)).ok()?;
        Some((file.len(), file.modified().ok()?))
    })
}
