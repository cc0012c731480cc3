//! Random edits of plain repositories, each round taken both ways and compared with plain git: by git
//! alone, and as users get it, which leaves most rounds to the capture of our own (`both_ways` tells which).
//! `RUN_LOOP_TEST_ROUNDS` and `RUN_LOOP_TEST_SEED` as in `rounds`.
//!
//! Before each round all that is tracked gets a time of its own long before the index, so that what no
//! edit touches is surely unchanged and read by nobody.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use run_loop::git::{Git, GitEnvironment};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::dice::game;
use crate::rounds::{Clock, Game, PATHS, RULES, TEXTS};
use crate::support::reference::reference;
use crate::support::repo::git_command;
use crate::support::source::{Source, environment};
use crate::trial::{real_git, script};

/// None of which names a filter.
const ATTRIBUTES: [&str; 5] = [
    "",
    "* text=auto\n",
    "*.txt ident\n",
    "*.md text eol=crlf\n",
    "* -text\n",
];
const SETTINGS: [(&str, &str, &str); 5] = [
    ("core.trustctime", "true", "false"),
    ("core.checkStat", "default", "minimal"),
    ("core.untrackedCache", "true", "false"),
    ("core.autocrlf", "false", "input"),
    ("status.showUntrackedFiles", "all", "no"),
];

impl Game {
    fn act_plainly(&mut self) {
        let path = self.dice.one_of(&PATHS);
        match self.dice.roll(22) {
            0..=5 => {
                let text = self.dice.one_of(&TEXTS);
                self.write(path, text);
            }
            6 => {
                writeln!(self.log, "remove {path:?}").unwrap();
                self.remove(path);
            }
            7 => self.rename(path),
            8 if self.is_file(path) => self.chmod(path),
            9 => self.link(path),
            10 => self.git(&["add", "--", path]),
            11 => self.git(&["add", "-A"]),
            12 => self.git(&["reset", "-q", "--", path]),
            13 => self.git(&["rm", "-q", "-r", "--cached", "--", path]),
            14 => {
                let rules = self.dice.one_of(&RULES);
                let place = self.dice.one_of(&[".gitignore", "docs/.gitignore"]);
                self.write(place, rules);
            }
            15 => {
                let attributes = self.dice.one_of(&ATTRIBUTES);
                let place = self.dice.one_of(&[".gitattributes", "docs/.gitattributes"]);
                self.write(place, attributes);
                self.touch_all();
            }
            16 => {
                let (name, on, off) = self.dice.one_of(&SETTINGS);
                let value = self.dice.one_of(&[on, off]);
                self.git(&["config", name, value]);
                self.touch_all();
            }
            17 => {
                let version = self.dice.one_of(&["2", "4"]);
                self.git(&["update-index", "--index-version", version]);
            }
            // Not covered: git alone captures until it is taken back.
            18 => self.git(&["update-index", "--assume-unchanged", "--", path]),
            19 => {
                writeln!(self.log, "folders at {path:?}").unwrap();
                self.clear(path);
                self.remove(path);
                std::fs::create_dir_all(self.at(path).join("deep/er")).unwrap();
            }
            20 => self.git(&["commit", "-q", "--allow-empty", "-m", "x"]),
            _ => self.git(&["status"]),
        }
    }

    /// Makes all that is tracked older than the index, which knows of it.
    fn age(&mut self) {
        let output = git_command(self.repo.root())
            .args(["ls-files", "-z"])
            .output();
        for path in output.unwrap().stdout.split(|byte| *byte == 0) {
            self.ticks += 1;
            let time = Timespec {
                tv_sec: 1_500_000_000 + i64::try_from(self.ticks).unwrap() * 10,
                tv_nsec: 0,
            };
            let times = Timestamps {
                last_access: time,
                last_modification: time,
            };
            let path = self
                .repo
                .root()
                .join(Path::new(std::ffi::OsStr::from_bytes(path)));
            if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_dir()) {
                utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
            }
        }
        for path in PATHS {
            self.git(&["update-index", "--no-assume-unchanged", "--", path]);
        }
        self.git(&["update-index", "-q", "--refresh"]);
        self.log.clear();
    }

    fn play_plainly(&mut self, rounds: usize) {
        let log = self.repo.beside("log");
        let program = self.repo.beside("logging");
        let text = format!(
            "printf '%s\\n' \"$*\" >> '{}'\nexec '{}' \"$@\"",
            log.display(),
            real_git().display()
        );
        script(&program, &text);
        let source = |environment: &GitEnvironment| {
            let git = Git::find_in(environment).unwrap();
            Source::at(&self.repo, self.repo.root(), None, git)
        };
        let users = source(&GitEnvironment {
            program: Some(program),
            ..environment()
        });
        let by_git = source(&GitEnvironment {
            captures_alone: true,
            ..environment()
        });
        let mut quick = 0;
        for round in 0..rounds {
            self.age();
            for _ in 0..=self.dice.roll(4) {
                self.act_plainly();
            }
            std::fs::write(&log, "").unwrap();
            // Nothing in it is refused: each round is compared.
            let pin = users.try_pin(1);
            let pin =
                pin.unwrap_or_else(|failure| panic!("round {round}: {failure}\n{}", self.log));
            let commands = std::fs::read_to_string(&log).unwrap();
            let is_quick = !commands.lines().any(|line| line.ends_with(" write-tree"));
            quick += usize::from(is_quick);
            self.same(
                round,
                &users,
                &pin,
                &reference(self.repo.root(), &["core.untrackedCache=false"]),
            );
            let other = by_git.try_pin(1).unwrap();
            assert_eq!(
                other.identity, pin.identity,
                "round {round}: by git alone\n{}",
                self.log
            );
        }
        assert!(quick * 2 >= rounds, "{quick} of {rounds} rounds were quick");
        std::io::stderr()
            .write_all(format!("{quick} of {rounds} rounds were quick\n").as_bytes())
            .unwrap();
    }
}

#[test]
fn first_half_of_the_plain_rounds() {
    let (seed, rounds) = game(0, 2, 75);
    Game::plain(seed, Clock::Free).play_plainly(rounds);
}

#[test]
fn second_half_of_the_plain_rounds() {
    let (seed, rounds) = game(1, 2, 75);
    Game::plain(seed, Clock::Free).play_plainly(rounds);
}
