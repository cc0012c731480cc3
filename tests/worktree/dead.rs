//! Runs that are dead, or only seem to be, with what they have under the cache root.

use std::path::{Path, PathBuf};

use run_loop::domain::effect::Effect;
use run_loop::domain::event::Event;
use run_loop::domain::id::LoopId;
use run_loop::store::{Journal, StateFolder};

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;

/// A repository with one run, and its cache.
pub(crate) struct Dead {
    pub(crate) bench: Bench,
    pub(crate) run: LoopId,
}

impl Dead {
    /// A run that came to its end, which gave everything back.
    pub(crate) fn ended() -> Self {
        let bench = Bench::new()
            .reviewer("ann", &ScriptedAgent::passing())
            .ready();
        bench.review().ends(0);
        Self::of(bench)
    }
    /// A run whose engine was killed while a reviewer was at work; its guard is gone.
    pub(crate) fn killed() -> Self {
        let bench = Bench::new();
        let point = Point::new(&bench.repo.beside("agents"), "ready");
        let bench = bench
            .reviewer("ann", &ScriptedAgent::hangs_at(&point))
            .ready();
        let mut child = bench.spawn(&["--base", "main", "--review-only"]);
        point.reached();
        child.kill().unwrap();
        child.wait().unwrap();
        let dead = Self::of(bench);
        // The guard ends the agent by itself; nothing of the run may be removed before.
        while dead.clean(&["--dry-run"]).contains("a guard still ends") {}
        dead
    }
    fn of(bench: Bench) -> Self {
        let state = StateFolder::open(&bench.repo.root().join(".git")).unwrap();
        let run = *state.run_ids().unwrap().last().unwrap();
        Self { bench, run }
    }
    pub(crate) fn state(&self) -> StateFolder {
        StateFolder::open(&self.bench.repo.root().join(".git")).unwrap()
    }
    pub(crate) fn cache(&self) -> PathBuf {
        self.bench.repo.beside("home").join(".cache/run-loop")
    }
    /// A folder of the run, of one kind.
    pub(crate) fn folder(&self, kind: &str) -> PathBuf {
        self.cache().join(kind).join(self.run.to_string())
    }
    /// Runs `cleanup`, which must end 0; its data.
    #[track_caller]
    pub(crate) fn clean(&self, args: &[&str]) -> String {
        let ran = self.bench.run(&[&["cleanup"], args].concat());
        ran.ends(0);
        ran.stdout
    }
    /// The id of the run's first job.
    pub(crate) fn job(&self) -> String {
        let entries = Journal::load(&self.state(), self.run).unwrap();
        entries
            .iter()
            .find_map(|entry| {
                let Event::EffectRequested { effect, .. } = &entry.event else {
                    return None;
                };
                let Effect::RunJob { job } = &**effect else {
                    return None;
                };
                Some(job.id.to_string())
            })
            .unwrap()
    }
    /// Puts back what an ended run might have left: one job, one round, and strangers.
    pub(crate) fn leftovers(&self) {
        let job = self.folder("jobs").join(self.job());
        for folder in [
            job.clone(),
            job.with_extension("capture"),
            self.folder("evidence/").join("1"),
        ] {
            make(&folder);
            std::fs::write(folder.join("file"), vec![b'x'; 5000]).unwrap();
        }
    }
    /// Changes the record of who wrote the journal last.
    pub(crate) fn engine(&self, change: impl FnOnce(&mut serde_json::Value)) {
        let path = self.state().run_path(self.run).join("engine.json");
        let mut record = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        change(&mut record);
        std::fs::write(path, record.to_string()).unwrap();
    }
}

/// Makes folders as the product does: for their owner alone.
pub(crate) fn make(path: &Path) {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .unwrap();
}
