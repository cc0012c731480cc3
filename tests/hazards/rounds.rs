//! Random edits, each round compared with plain git. `RUN_LOOP_TEST_ROUNDS` asks for more rounds
//! than these few hundred, `RUN_LOOP_TEST_SEED` for others. A filter and a submodule leave each capture
//! to git alone; `plain_rounds` are the others.
//!
//! There are two clocks. On the *set* one all files and the index have times out of a few seconds,
//! the index never later than a file, so that every entry is racily clean. On the *free* one the
//! times are what they are, and those that are set are each another. What lies between, an edit of
//! the same size that puts the same mtime back in the very second of the entry's ctime, no git sees.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;

use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::identity::Pin;

use crate::dice::{Dice, game};
use crate::support::reference::reference;
use crate::support::repo::{Repo, git_command};
use crate::support::source::{Source, git};
use crate::trial::{chmod, moment, set_mtime};

/// This stands for a byte that is no UTF-8.
const NO_UTF_8: char = '\u{fffd}';
pub(crate) const PATHS: [&str; 18] = [
    "a.txt",
    "b.txt",
    "b",
    "b/c.txt",
    "b/d.log",
    "b/e/f.txt",
    "b.d/x",
    "docs/a.md",
    "docs/A.md",
    "docs/ignored.log",
    "src/lib.rs",
    "src/main.rs",
    "src/é \"q\".rs",
    "run.sh",
    "README.md",
    "x\ty",
    "b/\u{fffd}.txt",
    "\u{fffd}/a.md",
];
/// Few, and many of the same size.
pub(crate) const TEXTS: [&str; 7] = [
    "",
    "one\n",
    "two\n",
    "six\n",
    "a\r\nb\n",
    "$Id$\n",
    "longer text\n",
];
pub(crate) const RULES: [&str; 6] = [
    "",
    "*.log\n",
    "docs/\n!docs/a.md\n",
    "/b\n",
    "*\n!*.rs\n",
    "src/main.rs\n",
];
const ATTRIBUTES: [&str; 6] = [
    "",
    "*.rs filter=f\n",
    "* text=auto\n",
    "*.txt ident\n",
    "*.md text eol=crlf\n",
    "* -text\n",
];
const SETTINGS: [(&str, &str, &str); 9] = [
    ("core.fileMode", "true", "false"),
    ("core.trustctime", "true", "false"),
    ("core.checkStat", "default", "minimal"),
    ("core.untrackedCache", "true", "false"),
    ("core.autocrlf", "false", "input"),
    ("core.symlinks", "true", "false"),
    ("core.splitIndex", "true", "false"),
    ("core.ignoreCase", "false", "true"),
    ("status.showUntrackedFiles", "all", "no"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    Set,
    Free,
}

/// A path as the file system and git have it.
fn named(path: &str) -> OsString {
    let mut bytes = Vec::new();
    for (part, text) in path.split(NO_UTF_8).enumerate() {
        if part > 0 {
            bytes.push(0xff);
        }
        bytes.extend_from_slice(text.as_bytes());
    }
    OsString::from_vec(bytes)
}

pub(crate) struct Game {
    pub(crate) repo: Repo,
    /// Whether a file of the submodule was edited.
    is_dirty_inside: bool,
    /// A repository that is no submodule.
    nested: Option<&'static str>,
    pub(crate) dice: Dice,
    clock: Clock,
    /// Times that were set on the free clock.
    pub(crate) ticks: u64,
    pub(crate) log: String,
}

impl Game {
    fn new(seed: u64, clock: Clock) -> Self {
        let game = Self::plain(seed, clock);
        let module = Repo::new();
        let url = module.root().to_str().unwrap();
        game.repo
            .git(&["submodule", "--quiet", "add", url, "module"]);
        game.repo.commit("more");
        game.repo.git(&["config", "filter.f.clean", "tr a-z A-Z"]);
        game
    }
    pub(crate) fn plain(seed: u64, clock: Clock) -> Self {
        let repo = Repo::new();
        repo.write("run.sh", "true\n");
        repo.write("b/c.txt", "one\n");
        repo.write("docs/a.md", "one\n");
        repo.commit("files");
        Self {
            repo,
            is_dirty_inside: false,
            nested: None,
            dice: Dice(seed),
            clock,
            ticks: 0,
            log: String::new(),
        }
    }
    /// Whatever git answers: an edit that it refuses is none.
    pub(crate) fn git(&mut self, args: &[&str]) {
        let mut command = git_command(self.repo.root());
        let output = command
            .args(args.iter().copied().map(named))
            .output()
            .unwrap();
        let state = output.status.code();
        writeln!(self.log, "git {args:?}: {state:?}").unwrap();
    }
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.repo.root().join(named(path))
    }
    pub(crate) fn remove(&mut self, path: &str) {
        let path = self.at(path);
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path).unwrap(),
            Ok(_) => std::fs::remove_file(path).unwrap(),
            Err(_) => {}
        }
    }
    /// Makes room: what lies at the path, or is a file where it needs a folder, goes.
    pub(crate) fn clear(&mut self, path: &str) {
        let folders: Vec<String> = path
            .match_indices('/')
            .map(|(end, _)| path[..end].to_owned())
            .collect();
        for folder in folders {
            let is_folder = std::fs::symlink_metadata(self.at(&folder));
            if is_folder.is_ok_and(|meta| !meta.is_dir()) {
                self.remove(&folder);
            }
            std::fs::create_dir_all(self.at(&folder)).unwrap();
        }
        let old = std::fs::symlink_metadata(self.at(path));
        if old.is_ok_and(|meta| !meta.is_file()) {
            self.remove(path);
        }
    }
    pub(crate) fn is_file(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.at(path)).is_ok_and(|meta| meta.is_file())
    }
    pub(crate) fn write(&mut self, path: &str, text: &str) {
        self.clear(path);
        std::fs::write(self.at(path), text).unwrap();
        writeln!(self.log, "write {path:?} {text:?}").unwrap();
        self.tick(path);
    }
    fn tick(&mut self, path: &str) {
        let seconds = match self.clock {
            Clock::Set => u64::try_from(self.dice.roll(3)).unwrap(),
            Clock::Free if self.dice.roll(3) == 0 => {
                self.ticks += 1;
                self.ticks * 10
            }
            Clock::Free => return,
        };
        if self.is_file(path) {
            set_mtime(&self.at(path), moment() + Duration::from_secs(seconds));
            writeln!(self.log, "time {path:?} +{seconds}").unwrap();
        }
    }
    /// Git does not look again at files that are converted in another way from now on, unless they
    /// seem to be changed (`conversions::attribute_that_came_after_the_entry`).
    pub(crate) fn touch_all(&mut self) {
        for path in PATHS {
            if self.is_file(path) {
                self.ticks += 1;
                let early = Duration::from_secs(self.ticks * 10);
                set_mtime(&self.at(path), moment() + early);
            }
        }
    }
    fn act(&mut self) {
        let path = self.dice.one_of(&PATHS);
        match self.dice.roll(24) {
            0..=4 => {
                let text = self.dice.one_of(&TEXTS);
                self.write(path, text);
            }
            5 => {
                writeln!(self.log, "remove {path:?}").unwrap();
                self.remove(path);
            }
            6 => self.rename(path),
            7 if self.is_file(path) => self.chmod(path),
            8 => self.link(path),
            9 => self.git(&["add", "--", path]),
            10 => self.git(&["add", "-f", "-N", "--", path]),
            11 => self.git(&["add", "-A"]),
            12 => self.git(&["reset", "-q", "--", path]),
            13 => self.git(&["rm", "-q", "-r", "--cached", "--", path]),
            14 | 15 => {
                let flag = self.dice.one_of(&[
                    "--assume-unchanged",
                    "--skip-worktree",
                    "--no-assume-unchanged",
                    "--no-skip-worktree",
                    "--chmod=+x",
                ]);
                self.git(&["update-index", flag, "--", path]);
            }
            20 => self.conflict(path),
            21 => self.git(&["-C", "module", "commit", "-q", "--allow-empty", "-m", "x"]),
            22 if self.dice.roll(3) == 0 => {
                let path = self.dice.one_of(&["module/README.md", "module/new.txt"]);
                let text = self.dice.one_of(&TEXTS);
                std::fs::write(self.at(path), text).unwrap();
                writeln!(self.log, "write {path:?} {text:?}").unwrap();
                self.is_dirty_inside = true;
            }
            23 if self.nested.is_none() && self.dice.roll(3) == 0 => {
                let place = self.dice.one_of(&["nested", "docs/nested", "b.d"]);
                self.nest(place);
            }
            16 => {
                let rules = self.dice.one_of(&RULES);
                let place = self.dice.one_of(&[".gitignore", "docs/.gitignore"]);
                self.write(place, rules);
            }
            17 => {
                let attributes = self.dice.one_of(&ATTRIBUTES);
                self.write(".gitattributes", attributes);
                self.touch_all();
            }
            18 => {
                let (name, on, off) = self.dice.one_of(&SETTINGS);
                let value = self.dice.one_of(&[on, off]);
                self.git(&["config", name, value]);
                self.touch_all();
            }
            _ => {
                let version = self.dice.one_of(&["2", "4"]);
                self.git(&["update-index", "--index-version", version]);
                if self.dice.roll(2) == 0 {
                    self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
                } else {
                    self.git(&["status"]);
                }
            }
        }
    }
    pub(crate) fn link(&mut self, path: &str) {
        self.clear(path);
        self.remove(path);
        let target = self.dice.one_of(&["src", "nowhere", "one\n"]);
        std::os::unix::fs::symlink(target, self.at(path)).unwrap();
        writeln!(self.log, "link {path:?} {target:?}").unwrap();
    }
    pub(crate) fn chmod(&mut self, path: &str) {
        let mode = self.dice.one_of(&[0o644, 0o755, 0o600]);
        chmod(&self.at(path), mode);
        writeln!(self.log, "mode {path:?} {mode:o}").unwrap();
    }
    /// Puts another repository where nothing lies.
    fn nest(&mut self, place: &'static str) {
        if self.at(place).exists() || place.starts_with("docs") && self.is_file("docs") {
            return;
        }
        self.git(&["init", "-q", place]);
        if self.dice.roll(2) == 0 {
            self.git(&["-C", place, "commit", "-q", "--allow-empty", "-m", "x"]);
        } else {
            std::fs::write(self.at(place).join("file.txt"), "x").unwrap();
        }
        self.nested = Some(place);
    }
    /// Undoes what a refusal tells, if that is what is refused.
    fn is_undone(&mut self, failure: &Failure) -> bool {
        if failure.code == Code::DirtySubmodule && self.is_dirty_inside {
            self.git(&["-C", "module", "reset", "-q", "--hard"]);
            self.git(&["-C", "module", "clean", "-q", "-fdx"]);
            self.is_dirty_inside = false;
            return true;
        }
        let nested = self
            .nested
            .filter(|_| failure.code == Code::NestedRepository);
        let is_told = nested.is_some_and(|place| failure.message.contains(place));
        if let Some(place) = nested.filter(|_| is_told) {
            self.remove(place);
            self.nested = None;
        }
        is_told
    }
    /// Leaves the path in a conflict, some of its sides missing.
    fn conflict(&mut self, path: &str) {
        if path.contains(NO_UTF_8) {
            return;
        }
        let mut lines = format!("0 {} 0\t{path}\0", "0".repeat(40));
        let without = self.dice.roll(4);
        for side in (1..=3).filter(|side| *side != without) {
            let blob = self.repo.write_blob(self.dice.one_of(&TEXTS));
            write!(lines, "100644 {blob} {side}\t{path}\0").unwrap();
        }
        self.repo.index_info(&lines);
        writeln!(self.log, "conflict {path:?} without {without}").unwrap();
    }
    pub(crate) fn rename(&mut self, path: &str) {
        let to = self.dice.one_of(&PATHS);
        let inside = to.starts_with(&format!("{path}/")) || path.starts_with(&format!("{to}/"));
        if path != to && !inside && self.is_file(path) {
            self.clear(to);
            // Making room may have taken it away.
            if self.is_file(path) {
                std::fs::rename(self.at(path), self.at(to)).unwrap();
                writeln!(self.log, "rename {path:?} {to:?}").unwrap();
            }
        }
    }
    fn ignores_case(&self, failure: &Failure) -> bool {
        let setting = [
            "config",
            "--type=bool",
            "--default=false",
            "--get",
            "core.ignoreCase",
        ];
        failure.code == Code::SnapshotRefused
            && self.repo.git(&setting) == "true"
            && ["core.ignoreCase", "file alias"]
                .iter()
                .any(|words| failure.message.contains(words))
    }
    fn play(&mut self, rounds: usize) {
        let mut source = Source::at(&self.repo, self.repo.root(), None, git());
        source.spec.allow_filters = vec!["f".to_owned()];
        let mut compared = 0;
        for round in 0..rounds {
            self.log.clear();
            for _ in 0..=self.dice.roll(4) {
                self.act();
            }
            if self.clock == Clock::Set {
                let early = u64::try_from(self.dice.roll(3)).unwrap();
                let index = self.at(".git/index");
                set_mtime(&index, moment() - Duration::from_secs(early));
            }
            let pin = match source.try_pin(1) {
                Ok(pin) => pin,
                // Two names that the setting makes one: refused, and played on without it.
                Err(failure) if self.ignores_case(&failure) => {
                    self.git(&["config", "core.ignoreCase", "false"]);
                    self.touch_all();
                    continue;
                }
                Err(failure) if self.is_undone(&failure) => continue,
                Err(failure) => panic!("round {round}: {failure}\n{}", self.log),
            };
            let module = ["-C", "module", "status", "--porcelain", "--ignored"];
            let module = self.repo.git(&module);
            assert_eq!(module, "", "round {round}: overlooked\n{}", self.log);
            compared += 1;
            let careful = ["core.splitIndex=false", "core.untrackedCache=false"];
            self.same(round, &source, &pin, &reference(self.repo.root(), &careful));
        }
        // What was refused was compared with nothing.
        assert!(compared * 10 >= rounds * 8, "{compared} of {rounds}");
    }
    /// Compares what was pinned with a tree of plain git's.
    #[track_caller]
    pub(crate) fn same(&self, round: usize, source: &Source, pin: &Pin, tree: &str) {
        let ours = pin.identity.tree.as_str();
        if ours == tree {
            return;
        }
        let objects = source.store.objects();
        let differ = git_command(self.repo.root())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects)
            .args(["diff-tree", "-r", tree, ours])
            .output()
            .unwrap();
        panic!(
            "round {round}, what plain git has and what we have:\n{}{}{}",
            String::from_utf8_lossy(&differ.stdout),
            self.log,
            self.repo.git(&["ls-files", "-v", "-s"]),
        );
    }
}

#[track_caller]
fn rounds(part: u64, clock: Clock) {
    let (seed, rounds) = game(part, 4, 75);
    Game::new(seed, clock).play(rounds);
}

#[test]
fn first_quarter_on_the_set_clock() {
    rounds(0, Clock::Set);
}

#[test]
fn second_quarter_on_the_set_clock() {
    rounds(1, Clock::Set);
}

#[test]
fn third_quarter_on_the_free_clock() {
    rounds(2, Clock::Free);
}

#[test]
fn fourth_quarter_on_the_free_clock() {
    rounds(3, Clock::Free);
}
