//! Snapshots: a pin, a later measurement, and the first capture of bytes that are not stored yet.

use std::path::Path;

use crate::corpus::{Corpus, State};
use crate::git;
use crate::sample::{Technique, Watch, round_robin};
use crate::source::Source;
use crate::table::Table;

pub fn measure(corpus: &Corpus, samples: usize, table: &mut Table) {
    for state in [State::A, State::B, State::C] {
        corpus.enter(state);
        let root = corpus.root();
        let source = Source::open(corpus, &corpus.scratch().join("pins"));
        let stored = source.pin();
        let recipe = Recipe::new(corpus);
        let caches = corpus.scratch().join("first");
        let techniques = vec![
            Technique::new("git status -uall", |watch: &mut Watch| {
                watch.time(|| {
                    git::run(&root, &["status", "--porcelain=v2", "-z", "-uall"]);
                });
            }),
            Technique::new("pin", |watch: &mut Watch| {
                let pin = watch.time(|| source.pin());
                assert_eq!(
                    pin.identity, stored.identity,
                    "the same state, the same identity"
                );
            }),
            Technique::new("measure", |watch: &mut Watch| {
                watch.time(|| source.measure(&stored));
            }),
            Technique::new("first capture", |watch: &mut Watch| {
                let fresh = Source::open(corpus, &caches);
                watch.time(|| fresh.pin());
                drop(fresh);
                std::fs::remove_dir_all(&caches).expect("a cache of ours");
            }),
            Technique::new("read-tree HEAD, add -A, write-tree", |watch: &mut Watch| {
                let tree = watch.time(|| recipe.tree(&root));
                assert_eq!(tree, stored.identity.tree.as_str(), "git's own tree");
            }),
        ];
        let taken = round_robin(samples, techniques, || {});
        let [status, pin, measure, first, usual] = taken.as_slice() else {
            unreachable!("five techniques");
        };
        let name = |what: &str| format!("{what}, state {}", state.name());
        // The target of the brief is for up to 40 dirty files.
        let target = (state != State::C).then_some(2.0);
        table.row(&name("pin"), pin, status, 1.0, target);
        table.row(&name("later measurement"), measure, status, 1.0, target);
        table.row(&name("first capture"), first, status, 1.0, None);
        table.row(&name("usual recipe"), usual, status, 1.0, None);
        table.row(&name("pin"), pin, usual, 1.0, None);
    }
}

/// The usual way of agents to a tree: a new index, everything added.
#[derive(Debug)]
pub struct Recipe {
    index: std::path::PathBuf,
    objects: std::path::PathBuf,
}

impl Recipe {
    /// With objects of its own, so that it finds what others stored as little as they find its.
    pub fn new(corpus: &Corpus) -> Self {
        let objects = corpus.scratch().join("recipe");
        std::fs::create_dir_all(objects.join("info")).expect("a folder of objects");
        let borrowed = corpus.root().join(".git/objects");
        let line = format!("{}\n", borrowed.display());
        std::fs::write(objects.join("info/alternates"), line).expect("its alternates");
        Self {
            index: corpus.scratch().join("recipe-index"),
            objects,
        }
    }
    pub fn tree(&self, root: &Path) -> String {
        drop(std::fs::remove_file(&self.index));
        let run = |args: &[&str]| {
            let mut command = git::command(root);
            command
                .env("GIT_INDEX_FILE", &self.index)
                .env("GIT_OBJECT_DIRECTORY", &self.objects);
            git::finish(command.args(args))
        };
        run(&["read-tree", "HEAD"]);
        run(&["add", "-A"]);
        run(&["write-tree"])
    }
}
