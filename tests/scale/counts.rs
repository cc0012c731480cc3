//! Counts of one round, taken from outside: by a git that writes down how it was called.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use run_loop::domain::event::Event;
use run_loop::store::{Journal, StateFolder};

use crate::support::agents::{ScriptedAgent, executable};
use crate::support::bench::{Bench, Ran};
use crate::support::repo::git_program;

/// A panel of readers that all pass.
fn panel(size: usize) -> Bench {
    (0..size)
        .fold(Bench::new(), |bench, number| {
            bench.reviewer(&format!("reader-{number}"), &ScriptedAgent::passing())
        })
        .ready()
}

/// The git processes of the main job.
fn counted(bench: &Bench) -> Vec<String> {
    counted_of(bench, &["--base", "main", "--review-only"])
}

/// Runs a command with a git that writes a line for each of its processes.
fn counted_of(bench: &Bench, args: &[&str]) -> Vec<String> {
    let log = bench.repo.beside("git-log");
    let folder = bench.repo.beside("counting");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(&log, "").unwrap();
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path)
        .map(|folder| folder.join(git_program()))
        .find(|file| file.is_file())
        .unwrap();
    let text = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
        log.display(),
        real.display()
    );
    executable(&folder, "git", &text);
    let mut command = bench.command(args);
    command.env("PATH", format!("{}:{path}", folder.display()));
    Ran::of(&command.output().unwrap()).ends(0);
    let text = std::fs::read_to_string(log).unwrap();
    // Settings come first, and the command is the first word that is neither `-c`, nor a setting,
    // nor an option.
    text.lines().map(subcommand).collect()
}

fn subcommand(line: &str) -> String {
    let mut words = line.split(' ');
    while let Some(word) = words.next() {
        if word == "-c" {
            words.next();
        } else if !word.starts_with('-') {
            return word.to_owned();
        }
    }
    line.to_owned()
}

/// Every event of the only run.
fn events(bench: &Bench) -> Vec<Event> {
    let state = StateFolder::find(&bench.repo.root().join(".git")).unwrap();
    let state = state.unwrap();
    let [run] = *state.run_ids().unwrap() else {
        unreachable!("one run");
    };
    let entries = Journal::load(&state, run).unwrap();
    entries.into_iter().map(|entry| entry.event).collect()
}

/// Inputs: each is one durable commit, with all that follows from it.
fn commits(bench: &Bench) -> usize {
    let is_input = |event: &Event| {
        matches!(
            event,
            Event::RunStarted { .. } | Event::StopRequested { .. } | Event::EffectDone { .. }
        )
    };
    events(bench).iter().filter(|event| is_input(event)).count()
}

/// Issue 3: what git need not do is not asked of it. Where objects lie in packs, a process reads them.
#[test]
fn what_can_be_read_here_takes_no_git_process() {
    let bench = panel(1);
    let round = counted(&bench);
    let asks = |log: &[String], what: &str| log.iter().filter(|word| *word == what).count();
    assert!(
        round.len() <= 33,
        "{} git processes: {round:?}",
        round.len()
    );
    for what in ["rev-parse", "merge-base"] {
        assert_eq!(asks(&round, what), 0, "{what}: {round:?}");
    }
    // The history whose objects are proved.
    assert_eq!(asks(&round, "rev-list"), 1, "{round:?}");
    for args in [
        ["status", "--format=json"],
        ["list", "--format=json"],
        ["show", "--format=json"],
    ] {
        let none: [&str; 0] = [];
        assert_eq!(counted_of(&bench, &args), none, "{args:?}");
    }
    let bench = panel(1);
    bench.repo.git(&["gc", "-q"]);
    let packed = counted(&bench);
    assert!(
        packed.len() <= 55,
        "{} git processes: {packed:?}",
        packed.len()
    );
}

/// Issue 3: three pins a round, whatever the panel's size; processes and commits grow with the
/// panel by a fixed number for each slot.
#[test]
fn a_round_takes_three_captures_and_each_slot_a_fixed_number_of_processes_and_commits() {
    let (few, many) = (1, 5);
    let (small, large) = (panel(few), panel(many));
    for bench in [&small, &large] {
        // So that git alone takes each capture, which has one `write-tree` then.
        bench.repo.git(&["config", "core.symlinks", "false"]);
    }
    let (one, five) = (counted(&small), counted(&large));
    let captures = |log: &[String]| log.iter().filter(|word| *word == "write-tree").count();
    assert_eq!(captures(&one), 3, "{one:?}");
    assert_eq!(captures(&five), 3, "{five:?}");
    let processes = one.len();
    assert!(processes <= 80, "{processes} git processes: {one:?}");
    let more = (five.len() - one.len()).div_ceil(many - few);
    assert!(
        more <= 10,
        "{more} git processes more for each slot: {five:?}"
    );
    let more = (commits(&large) - commits(&small)).div_ceil(many - few);
    assert!(more <= 4, "{more} durable commits for each job");
}

/// A capture reads again only what changed, each of the three times.
#[test]
fn a_capture_hashes_only_the_files_that_changed() {
    let bench = Bench::new();
    for number in 0..50 {
        bench
            .repo
            .write(&format!("many/{number}.txt"), "the same\n");
    }
    bench.repo.write(".gitattributes", "* filter=counted\n");
    let bench = bench.reviewer("ann", &ScriptedAgent::passing()).ready();
    let hashed = bench.repo.beside("hashed");
    let config = format!(
        "[filter \"counted\"]\n\tclean = \"echo %f >> '{}'; cat\"\n",
        hashed.display()
    );
    std::fs::write(bench.repo.beside("home").join(".gitconfig"), config).unwrap();
    let root = bench.repo.root();
    // Older than any index: git looks again at what was written in the second of its index.
    let written = |file: &Path, hours| {
        let old = SystemTime::UNIX_EPOCH + Duration::from_hours(hours);
        let opened = std::fs::OpenOptions::new().write(true).open(file).unwrap();
        opened
            .set_times(std::fs::FileTimes::new().set_modified(old))
            .unwrap();
    };
    for file in files(root) {
        written(&file, 438_288);
    }
    bench.repo.git(&["update-index", "-q", "--refresh"]);
    bench.repo.write("many/7.txt", "edited\n");
    bench.repo.write("many/8.txt", "edited too\n");
    bench.repo.write("untracked.txt", "new\n");
    for changed in ["many/7.txt", "many/8.txt", "untracked.txt"] {
        written(&root.join(changed), 438_289);
    }
    bench
        .run(&[
            "--base",
            "main",
            "--review-only",
            "--allow-filter",
            "counted",
        ])
        .ends(0);
    let text = std::fs::read_to_string(&hashed).unwrap();
    let mut times: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for line in text.lines() {
        *times.entry(line).or_default() += 1;
    }
    let changed = ["many/7.txt", "many/8.txt", "untracked.txt"];
    assert_eq!(
        times.keys().copied().collect::<Vec<_>>(),
        changed,
        "only what changed is hashed"
    );
    // Three captures, each of which reads a changed file once.
    assert!(times.values().all(|times| *times == 3), "{times:?}");
}

/// The files of the working tree, git's own left out.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
