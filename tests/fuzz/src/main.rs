//! Tries hostile bytes on everything that reads what others wrote.
//!
//! `cargo run -- [--seconds N | --inputs N] [--seed N] [TARGET]...`: each target gets its cases from
//! `cases/<target>/`, then mutations of them and of its seeds for N seconds (default 3), or until N
//! inputs were tried, which are the same on every machine. An input that breaks a target is written
//! to `findings/<target>/`; move it to `cases/` once it is mended.
//!
//! The mutations are blind: no coverage guides them. They need nothing but the stable toolchain,
//! so they run in every gate.

mod mutate;
mod targets;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mutate::Mutator;
use targets::{TARGETS, Target};

/// An input that takes longer is a finding too.
const SLOW: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let (mut seconds, mut inputs, mut seed, mut names) = (3, None, 1_u64, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse().ok());
        match word.as_str() {
            "--seconds" => seconds = number().unwrap_or(seconds),
            "--inputs" => inputs = number(),
            "--seed" => seed = number().unwrap_or(seed),
            _ => names.push(word),
        }
    }
    if let Some(unknown) = names.iter().find(|name| !TARGETS.iter().any(|t| t.name == **name)) {
        eprintln!("no target {unknown}; there are {:?}", TARGETS.map(|t| t.name));
        return ExitCode::from(2);
    }
    // What a broken target prints is in the finding; thousands of traces help nobody.
    std::panic::set_hook(Box::new(|_| ()));
    let mut broken = 0;
    for target in TARGETS {
        if names.is_empty() || names.iter().any(|name| name == target.name) {
            broken += fuzz(&target, Duration::from_secs(seconds), inputs, seed);
        }
    }
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Tries a target; how many findings there are.
fn fuzz(target: &Target, time: Duration, inputs: Option<u64>, seed: u64) -> usize {
    let mut known = cases(target.name);
    let replayed = known.len();
    known.extend((target.seeds)());
    let (mut tried, mut findings) = (0_u64, 0);
    if replayed == 0 {
        eprintln!("{}: its cases are gone", target.name);
        findings += 1;
    }
    for input in known.clone() {
        tried += 1;
        findings += usize::from(!holds(target, &input));
    }
    let mut mutator = Mutator::new(seed, target.words);
    let end = Instant::now() + time;
    let goes_on = |tried| inputs.map_or_else(|| Instant::now() < end, |most| tried < most);
    while goes_on(tried) && findings < 10 {
        for _ in 0..16 {
            let input = mutator.next(&known);
            tried += 1;
            findings += usize::from(!holds(target, &input));
        }
    }
    println!(
        "{}: {tried} inputs, {replayed} cases, {findings} findings (seed {seed})",
        target.name
    );
    findings
}

/// Whether the target holds for this input; one that does not is written down.
fn holds(target: &Target, input: &[u8]) -> bool {
    let run = || {
        let begin = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        result.map(|()| begin.elapsed())
    };
    let took = match run() {
        // A machine that stood still is not an input that is slow each time.
        Ok(first) if first >= SLOW => run().map(|again| first.min(again)),
        once => once,
    };
    let why = match took {
        Ok(took) if took < SLOW => return true,
        Ok(took) => format!("it took {took:?}"),
        Err(panic) => panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "it panicked".to_owned()),
    };
    let folder = home().join("findings").join(target.name);
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let path = folder.join(format!("{:016x}", hasher.finish()));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    match kept {
        Ok(()) => eprintln!("{}: {why}: {}", target.name, path.display()),
        Err(error) => eprintln!("{}: {why}: not kept: {error}: {input:?}", target.name),
    }
    false
}

fn cases(target: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(home().join("cases").join(target)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
