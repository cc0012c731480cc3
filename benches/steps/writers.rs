//! Four runs that write their journals at once: durable events each second, and whether any
//! starves, also where a sync is made to take some 0.1 ms. A commit is that of an engine: an effect's end with
//! the next one's request.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use crate::corpus::{Corpus, State};
use crate::journal::Writing;
use crate::source::Source;
use crate::table::Table;

const RUNS: usize = 4;
/// How long they write.
const WHILE: Duration = Duration::from_secs(3);
/// Events of one commit.
const EVENTS: f64 = 2.0;

/// Set where this program was started with every sync made to sleep.
const SLOWED: &str = "RUN_LOOP_BENCH_SLOWED";
/// What stands before the system's own functions there: on a memory file system they do nothing.
const SLEEPS: &str = "#include <time.h>\n\
    static int sleeps(void) { struct timespec while_ = {0, 100000}; return nanosleep(&while_, 0); }\n\
    int fsync(int file) { return sleeps(); }\n\
    int fdatasync(int file) { return sleeps(); }\n";

pub fn measure(corpus: &Corpus, _samples: usize, table: &mut Table) {
    corpus.enter(State::B);
    let source = Source::open(corpus, &corpus.scratch().join("cache"));
    let memory = Path::new("/dev/shm");
    if std::env::var_os(SLOWED).is_some() {
        let told = serde_json::to_string(&written(&source, &memory.join("run-loop-slowed")));
        println!("{}", told.expect("three numbers"));
        return;
    }
    let places: [(&str, PathBuf); 2] = [
        ("the corpus's disk", corpus.scratch().join("writers")),
        (
            "memory (fsync costs nothing)",
            memory.join("run-loop-writers"),
        ),
    ];
    for (name, place) in places {
        if place.parent().is_none_or(|parent| !parent.is_dir()) {
            continue;
        }
        row(table, name, written(&source, &place));
    }
    if memory.is_dir() {
        row(
            table,
            "memory, every fsync made to sleep 0.1 ms",
            slowed(corpus),
        );
    }
}

fn row(table: &mut Table, name: &str, (least, most, sync): (f64, f64, f64)) {
    table.told(
        &format!("durable events per second of the slowest of {RUNS} runs at once, {name}"),
        &format!("{least:.0} (the fastest {most:.0}; one fsync takes {sync:.2} ms)"),
        "≥ 1000 where it takes 0.1 ms",
    );
}

/// Events per second of the slowest and the fastest run in a place, and what a sync takes there.
fn written(source: &Source, place: &Path) -> (f64, f64, f64) {
    let pin = source.pin();
    drop(std::fs::remove_dir_all(place));
    std::fs::create_dir_all(place).expect("a folder");
    let sync = sync(place);
    let start = Arc::new(Barrier::new(RUNS));
    let runs: Vec<_> = (0..RUNS)
        .map(|number| {
            let folder = place.join(number.to_string());
            let mut writing = Writing::begin_in(&folder, &source.spec, pin.clone());
            let start = Arc::clone(&start);
            std::thread::spawn(move || {
                start.wait();
                let (begun, mut commits) = (Instant::now(), 0.0);
                while begun.elapsed() < WHILE {
                    writing.commit();
                    commits += 1.0;
                }
                commits * EVENTS / begun.elapsed().as_secs_f64()
            })
        })
        .collect();
    let rates: Vec<f64> = runs
        .into_iter()
        .map(|run| run.join().expect("a run writes to its end"))
        .collect();
    drop(std::fs::remove_dir_all(place));
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    (least, rates.iter().copied().fold(0.0, f64::max), sync)
}

/// The same of this program started anew, where every sync sleeps.
fn slowed(corpus: &Corpus) -> (f64, f64, f64) {
    let (text, library) = (
        corpus.scratch().join("sleeps.c"),
        corpus.scratch().join("sleeps.so"),
    );
    std::fs::write(&text, SLEEPS).expect("a file");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).args([&library, &text]);
    assert!(cc.status().expect("a C compiler").success());
    let own = std::env::current_exe().expect("this program");
    let output = Command::new(own)
        .args(std::env::args_os().skip(1))
        .args(["--only", "writers"])
        .env("LD_PRELOAD", &library)
        .env(SLOWED, "yes")
        .output()
        .expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let mut lines = told.lines();
    lines
        .find_map(|line| serde_json::from_str(line).ok())
        .expect("three numbers")
}

/// What a small write and its `fdatasync` take there, in milliseconds: the median of many.
fn sync(place: &Path) -> f64 {
    let mut file = std::fs::File::create(place.join("sync")).expect("a file");
    let mut taken: Vec<f64> = (0..200)
        .map(|_| {
            let start = Instant::now();
            file.write_all(&[b'x'; 4096]).expect("a write");
            file.sync_data().expect("a sync");
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    taken.sort_by(f64::total_cmp);
    taken[taken.len() / 2]
}
