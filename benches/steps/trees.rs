//! Review trees: the next one of a kept slot, four at once, and a slot's first.

use run_loop::domain::id::LoopId;
use run_loop::domain::identity::Pin;
use run_loop::domain::slot::SlotName;
use run_loop::git::review_tree::ReviewTrees;

use crate::corpus::{Corpus, State};
use crate::git;
use crate::sample::{Technique, Watch, round_robin};
use crate::source::{LOOP, Source};
use crate::table::Table;

/// The reviewers of a panel.
pub const PANEL: [&str; 4] = ["one", "two", "three", "four"];

pub fn measure(corpus: &Corpus, samples: usize, table: &mut Table) {
    corpus.enter(State::B);
    let (root, cache) = (corpus.root(), corpus.scratch().join("trees"));
    let source = Source::open(corpus, &cache);
    // Two snapshots that differ by a step.
    let mut pins = [0, 1].map(|number| {
        corpus.step(number);
        source.pin()
    });
    let trees = Trees::new(&source, &cache, LOOP);
    let other = Trees::new(&source, &cache, "01890a5d-ac96-774b-bcce-b302099a8058");
    let fresh = corpus.scratch().join("worktree");
    let path = fresh.to_str().expect("a path in UTF-8");
    let mut next = pins.clone();
    let techniques = vec![
        Technique::new("git worktree add", |watch: &mut Watch| {
            let snapshot = git::run(&root, &["rev-parse", "HEAD"]);
            watch.time(|| {
                git::run(
                    &root,
                    &["worktree", "add", "-q", "--detach", path, &snapshot],
                )
            });
            git::run(&root, &["worktree", "remove", "--force", path]);
        }),
        Technique::new("next review tree", |watch: &mut Watch| {
            next.rotate_left(1);
            watch.time(|| trees.open("alone", &next[0]));
        }),
        Technique::new("next four review trees", |watch: &mut Watch| {
            pins.rotate_left(1);
            watch.time(|| trees.panel(&pins[0]));
        }),
    ];
    let taken = round_robin(samples, techniques, || {});
    let [add, one, four] = taken.as_slice() else {
        unreachable!("three techniques");
    };
    table.row("next review tree, 40-file step", one, add, 1.0, Some(0.10));
    table.row("next four review trees", four, add, 4.0, Some(0.10));
    trees.release();

    let techniques = vec![
        Technique::new("git worktree add", |watch: &mut Watch| {
            watch.time(|| git::run(&root, &["worktree", "add", "-q", "--detach", path, "HEAD"]));
            git::run(&root, &["worktree", "remove", "--force", path]);
        }),
        Technique::new("first review tree", |watch: &mut Watch| {
            drop(std::fs::remove_dir_all(cache.join("pool")));
            watch.time(|| other.open("alone", &pins[0]));
            other.release();
        }),
        Technique::new("first review tree from the pool", |watch: &mut Watch| {
            watch.time(|| other.open("alone", &pins[1]));
            other.release();
        }),
    ];
    let taken = round_robin(samples.min(3), techniques, || {});
    let [add, first, pooled] = taken.as_slice() else {
        unreachable!("three techniques");
    };
    table.row("first review tree of a run", first, add, 1.0, None);
    table.row("the same, one waits", pooled, add, 1.0, None);
}

/// The trees of a run.
#[derive(Debug)]
pub struct Trees(ReviewTrees);

impl Trees {
    pub fn new(source: &Source, cache: &std::path::Path, id: &str) -> Self {
        let id = LoopId::parse(id).expect("an id");
        Self(ReviewTrees::new(
            &source.git,
            &source.store,
            &source.found,
            cache,
            id,
        ))
    }
    pub fn open(&self, slot: &str, pin: &Pin) {
        let slot = SlotName::parse(slot).expect("a slot's name");
        let Pin {
            identity, snapshot, ..
        } = pin;
        self.0
            .open(&slot, snapshot, &identity.tree, &identity.base, "main")
            .expect("a review tree");
    }
    /// The jobs in them are over.
    pub fn take_back(&self) {
        self.0.take_back();
    }
    /// Looks at all that were taken back.
    pub fn look_over(&self) {
        self.0.look_over();
    }
    /// Those of a whole panel, at once.
    pub fn panel(&self, pin: &Pin) {
        std::thread::scope(|scope| {
            for slot in PANEL {
                scope.spawn(move || self.open(slot, pin));
            }
        });
    }
    pub fn release(&self) {
        assert_eq!(self.0.release(), Vec::<String>::new());
    }
}
