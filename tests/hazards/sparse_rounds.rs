//! Random edits of a sparse checkout, each round compared with plain git in a full one in which the same
//! edits were made. `RUN_LOOP_TEST_ROUNDS` and `RUN_LOOP_TEST_SEED` as in `rounds`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::dice::{Dice, game};
use crate::support::reference::reference;
use crate::support::repo::{self, Repo, git_command};
use crate::support::source::Source;

const PATHS: [&str; 9] = [
    "README.md",
    "top.txt",
    "src/lib.rs",
    "src/new.rs",
    "docs/guide.md",
    "docs/new.md",
    "docs/deep/more.md",
    "tools/run.sh",
    "tools/deep/er/file.txt",
];
const TEXTS: [&str; 4] = ["", "one\n", "two\n", "longer text\n"];
const CONES: [&[&str]; 5] = [
    &["src"],
    &["docs"],
    &["docs/deep", "src"],
    &["tools", "docs"],
    &[],
];

struct Game {
    repo: Repo,
    /// The full checkout.
    model: PathBuf,
    dice: Dice,
    log: String,
}

impl Game {
    fn new(seed: u64) -> Self {
        let repo = Repo::new();
        for path in PATHS.iter().filter(|path| !path.contains("new")) {
            repo.write(path, "one\n");
        }
        repo.commit("files");
        let model = repo.beside("full");
        repo.git(&["clone", "-q", ".", model.to_str().unwrap()]);
        let mut game = Self {
            repo,
            model,
            dice: Dice(seed),
            log: String::new(),
        };
        game.choose();
        game
    }
    /// Another part of the repository is checked out; what was edited stays.
    fn choose(&mut self) {
        let cone = self.dice.one_of(&CONES);
        let index = self.dice.one_of(&["--sparse-index", "--no-sparse-index"]);
        let set = [&["sparse-checkout", "set", "--cone", index], cone].concat();
        let output = git_command(self.repo.root()).args(&set).output().unwrap();
        writeln!(self.log, "git {set:?}: {:?}", output.status.code()).unwrap();
        for path in PATHS {
            self.is_as_in_the_index(path);
        }
    }
    fn write(&mut self, path: &str) {
        let text = self.dice.one_of(&TEXTS);
        for root in [self.repo.root(), &self.model] {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        writeln!(self.log, "write {path:?} {text:?}").unwrap();
    }
    fn remove(&mut self, path: &str) {
        if std::fs::remove_file(self.repo.root().join(path)).is_ok() {
            std::fs::remove_file(self.model.join(path)).unwrap();
            writeln!(self.log, "remove {path:?}").unwrap();
            self.is_as_in_the_index(path);
        }
    }
    /// What is outside of the checkout is not removed from the repository by not being there: it is as the
    /// index has it.
    fn is_as_in_the_index(&mut self, path: &str) {
        if self.repo.root().join(path).exists() {
            return;
        }
        let entry = self.repo.git(&["ls-files", "-t", "-s", "--", path]);
        if entry.starts_with('S') {
            let id = entry.split_whitespace().nth(2).unwrap();
            let mut cat = git_command(self.repo.root());
            let text = cat.args(["cat-file", "blob", id]).output().unwrap();
            let path = self.model.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.stdout).unwrap();
        }
    }
    /// Commits everything in both.
    fn commit(&mut self) {
        let root = self.repo.root().to_owned();
        for (root, add) in [
            (&root, &["add", "-A", "--sparse"][..]),
            (&self.model, &["add", "-A"]),
        ] {
            repo::git(root, add);
            repo::git(root, &["commit", "-q", "--allow-empty", "-m", "x"]);
        }
        writeln!(self.log, "commit").unwrap();
        assert_eq!(tree(&root), tree(&self.model), "{}", self.log);
    }
    fn play(&mut self, rounds: usize) {
        for round in 0..rounds {
            if round % 8 == 0 {
                self.log.clear();
                self.commit();
            }
            for _ in 0..=self.dice.roll(3) {
                let path = self.dice.one_of(&PATHS);
                match self.dice.roll(8) {
                    0..=3 => self.write(path),
                    4 | 5 => self.remove(path),
                    6 => self.choose(),
                    _ => drop(self.repo.git(&["status"])),
                }
            }
            let pin = Source::of(&self.repo, "HEAD").pin();
            let full = reference(&self.model, &[]);
            assert_eq!(
                pin.identity.tree.as_str(),
                full,
                "round {round}\n{}",
                self.log
            );
        }
    }
}

fn tree(root: &Path) -> String {
    repo::git(root, &["rev-parse", "HEAD^{tree}"])
}

#[test]
fn sparse_checkouts_have_what_full_ones_have() {
    let (seed, rounds) = game(0, 4, 60);
    Game::new(seed).play(rounds);
}
