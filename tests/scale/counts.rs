//! Counts of one round, taken from outside: by a git that writes down how it was called.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use run_loop::domain::event::Event;
use run_loop::store::{Journal, StateFolder};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::support::agents::{ScriptedAgent, executable, finding};
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

/// Captures, of a source with an untracked file that nothing ignores: our own asks once what is ignored
/// then, and git alone writes one tree.
fn captures(log: &[String], is_quick: bool) -> usize {
    let count = |what: &str| log.iter().filter(|word| *word == what).count();
    let (quick, by_git) = (count("check-ignore"), count("write-tree"));
    assert_eq!(if is_quick { by_git } else { quick }, 0, "{log:?}");
    quick + by_git
}

/// Issue 3: three pins a round, whatever the panel's size; processes and commits grow with the
/// panel by a fixed number for each slot. By git alone and as users get it.
#[test]
fn a_round_takes_three_captures_and_each_slot_a_fixed_number_of_processes_and_commits() {
    for (is_quick, most) in [(true, 45), (false, 80)] {
        let (few, many) = (1, 5);
        let (small, large) = (panel(few), panel(many));
        for bench in [&small, &large] {
            bench.repo.write("untracked.txt", "new\n");
            if !is_quick {
                bench.repo.git(&["config", "core.symlinks", "false"]);
            }
        }
        let (one, five) = (counted(&small), counted(&large));
        assert_eq!(captures(&one, is_quick), 3, "{one:?}");
        assert_eq!(captures(&five, is_quick), 3, "{five:?}");
        let processes = one.len();
        assert!(processes <= most, "{processes} git processes: {one:?}");
        let more = (five.len() - one.len()).div_ceil(many - few);
        assert!(
            more <= 10,
            "{more} git processes more for each slot: {five:?}"
        );
        let more = (commits(&large) - commits(&small)).div_ceil(many - few);
        assert!(more <= 4, "{more} durable commits for each job");
    }
}

/// A round of one that does not approve, one that is asked again and one whose fallback is asked; a
/// correction; and a round that passes: nobody but a round's pin and its measurements captures anything.
#[test]
fn whoever_is_asked_and_whatever_they_say_a_round_takes_three_captures() {
    let bench = Bench::new();
    let turns = |name: &str, turns: &[ScriptedAgent]| {
        ScriptedAgent::in_turn(&bench.repo.beside(name), turns)
    };
    let found = finding("not yet", "high", "src/lib.rs", 1);
    let refuses = ScriptedAgent::not_passing(&format!("[{found}]"));
    let corrects = "read_prompt; echo '// corrected' >> src/lib.rs; answers fixed | deliver";
    let passing = ScriptedAgent::passing();
    let ann = turns("ann", &[refuses, passing.clone()]);
    let bob = turns("bob", &[ScriptedAgent::silent(), passing.clone()]);
    let bench = bench
        .reviewer("ann", &ann)
        .reviewer("bob", &bob)
        .also("{agent: cid, fallback: [dan]}")
        .spare("cid", &ScriptedAgent::with_script("exit 1"), "")
        .spare("dan", &passing, "")
        .spare("eve", &ScriptedAgent::with_script(corrects), "")
        .ready();
    bench.repo.write("untracked.txt", "new\n");
    let log = counted_of(
        &bench,
        &["--base", "main", "--review-only", "--creator", "eve"],
    );
    // The first round ends before its promotion is looked at, and what is corrected lies between two.
    let (first, correction, second) = (2, 2, 3);
    assert_eq!(captures(&log, true), first + correction + second, "{log:?}");
    let events = events(&bench);
    let asked_again = |slot: &str| {
        let is_of = |event: &&Event| matches!(event, Event::SlotRetried { slot: of, .. } if of.as_str() == slot);
        events.iter().filter(is_of).count()
    };
    assert_eq!((asked_again("bob"), asked_again("cid")), (1, 4));
}

/// A repository with fifty files that are older than any index, two edits and an untracked file: git looks
/// again at what was written in the second of its index.
fn edited(bench: Bench) -> Bench {
    for number in 0..50 {
        bench
            .repo
            .write(&format!("many/{number}.txt"), "the same\n");
    }
    let bench = bench.reviewer("ann", &ScriptedAgent::passing()).ready();
    let root = bench.repo.root();
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
    for changed in CHANGED {
        written(&root.join(changed), 438_289);
    }
    bench
}

const CHANGED: [&str; 3] = ["many/7.txt", "many/8.txt", "untracked.txt"];

/// Three captures, each of which reads a changed file once, and no other.
#[track_caller]
fn is_read_thrice_where_it_changed(read: impl Iterator<Item = String>) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for file in read {
        *times.entry(file).or_default() += 1;
    }
    let expected = CHANGED.map(|file| (file.to_owned(), 3));
    assert_eq!(times, BTreeMap::from(expected));
}

/// As users get it, seen by whoever opens a file.
#[test]
fn a_capture_opens_only_the_files_that_changed() {
    let bench = edited(Bench::new());
    let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    let folders: BTreeMap<i32, &str> = ["", "many/", "src/"]
        .map(|name| {
            let folder = bench.repo.root().join(name);
            let number = inotify::add_watch(&watch, folder, WatchFlags::OPEN).unwrap();
            (number, name)
        })
        .into();
    let log = counted(&bench);
    assert_eq!(captures(&log, true), 3, "{log:?}");
    let mut buffer = vec![MaybeUninit::uninit(); 1 << 16];
    let mut events = inotify::Reader::new(&watch, &mut buffer);
    let mut opened = Vec::new();
    while let Ok(event) = events.next() {
        // A folder itself has no name there, and one in it is no file.
        let name = event
            .file_name()
            .filter(|_| !event.events().contains(ReadFlags::ISDIR));
        if let Some(name) = name {
            opened.push(format!(
                "{}{}",
                folders[&event.wd()],
                name.to_str().unwrap()
            ));
        }
    }
    // What tells git what is ignored and converted, and us what is configured.
    let is_rule = |file: &String| file.starts_with(".git") || file == "run-loop.yaml";
    is_read_thrice_where_it_changed(opened.into_iter().filter(|file| !is_rule(file)));
}

/// By git alone, seen by a filter.
#[test]
fn a_capture_by_git_hashes_only_the_files_that_changed() {
    let bench = Bench::new();
    bench.repo.write(".gitattributes", "* filter=counted\n");
    let hashed = bench.repo.beside("hashed");
    let bench = edited(bench);
    let config = format!(
        "[filter \"counted\"]\n\tclean = \"echo %f >> '{}'; cat\"\n",
        hashed.display()
    );
    std::fs::write(bench.repo.beside("home").join(".gitconfig"), config).unwrap();
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
    is_read_thrice_where_it_changed(text.lines().map(str::to_owned));
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
