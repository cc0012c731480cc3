//! Everything that a later round costs beside its agents: three measurements, evidence, four trees
//! and the journal, against one usual snapshot with one worktree.

use run_loop::domain::slot::SlotName;
use run_loop::git::evidence;

use crate::corpus::{Corpus, State};
use crate::git;
use crate::journal::Writing;
use crate::pins::Recipe;
use crate::sample::{Technique, Watch, round_robin};
use crate::source::{LOOP, Source};
use crate::table::Table;
use crate::trees::{PANEL, Trees};

/// Durable commits of a round: four for each job, and two for each other effect.
const COMMITS: usize = PANEL.len() * 4 + 2 * 4;

pub fn measure(corpus: &Corpus, samples: usize, table: &mut Table) {
    corpus.enter(State::B);
    let (root, cache) = (corpus.root(), corpus.scratch().join("round"));
    let source = Source::open(corpus, &cache);
    let trees = Trees::new(&source, &cache, LOOP);
    let recipe = Recipe::new(corpus);
    let mut journal = Writing::begin(corpus, &source.spec, source.pin());
    let folder = cache.join("evidence");
    let worktree = corpus.scratch().join("worktree");
    let path = worktree.to_str().expect("a path in UTF-8");
    let mut number = 0;
    let techniques = vec![
        Technique::new(
            "read-tree HEAD, add -A, write-tree, worktree add",
            |watch: &mut Watch| {
                watch.time(|| {
                    recipe.tree(&root);
                    git::run(&root, &["worktree", "add", "-q", "--detach", path, "HEAD"]);
                });
                git::run(&root, &["worktree", "remove", "--force", path]);
            },
        ),
        Technique::new("a later round", |watch: &mut Watch| {
            watch.time(|| {
                std::thread::scope(|scope| {
                    // As the runtime does when a round opens.
                    trees.take_back();
                    scope.spawn(|| trees.look_over());
                    let pin = source.pin();
                    let review = &source.spec.review;
                    std::thread::scope(|scope| {
                        scope.spawn(|| trees.panel(&pin));
                        evidence::make(&source.git, &source.store, &pin, review, "5eed", &folder)
                            .expect("evidence");
                    });
                    for _ in 0..COMMITS {
                        journal.commit();
                    }
                    source.measure(&pin);
                    source.measure(&pin);
                });
            });
        }),
    ];
    let taken = round_robin(samples, techniques, || {
        number += 1;
        corpus.step(number);
    });
    table.row("a whole later round", &taken[1], &taken[0], 1.0, Some(0.25));
    trees.release();
    // The name of a slot is checked where it is read; here it only shows that the panel is valid.
    assert!(PANEL.iter().all(|name| SlotName::parse(name).is_some()));
}
