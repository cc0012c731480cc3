//! Whole steps of `run-loop` against git itself, in one process, technique after technique.
//!
//! `cargo bench --bench steps -- --corpus small|medium|large [--samples N] [--only FIGURES]`.
//! What counts is the ratio of two times that were taken one after the other, never the time.
//! `docs/performance.md` says what the figures are and how to read them.
#![expect(
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measuring program has no outside, and stops at the first surprise"
)]

#[path = "steps/arguments.rs"]
mod arguments;
#[path = "steps/corpus.rs"]
mod corpus;
#[path = "steps/git.rs"]
mod git;
#[path = "steps/job.rs"]
mod job;
#[path = "steps/journal.rs"]
mod journal;
#[path = "steps/pins.rs"]
mod pins;
#[path = "steps/programs.rs"]
mod programs;
#[path = "steps/random.rs"]
mod random;
#[path = "steps/round.rs"]
mod round;
#[path = "steps/sample.rs"]
mod sample;
#[path = "steps/source.rs"]
mod source;
#[path = "steps/table.rs"]
mod table;
#[path = "steps/trees.rs"]
mod trees;
#[path = "steps/writers.rs"]
mod writers;

use arguments::{Arguments, Figures};
use corpus::Corpus;
use table::Table;

/// Measures some figures on a corpus, so many samples each.
type Measure = fn(&Corpus, usize, &mut Table);

fn main() {
    let Some(arguments) = Arguments::read() else {
        // `cargo test --all-targets` starts benches too, and they have nothing to test.
        return;
    };
    let corpus = Corpus::ready(arguments.size);
    let mut table = Table::new(&corpus, arguments.samples);
    let measure: [(Figures, Measure); 7] = [
        (Figures::Pins, pins::measure),
        (Figures::Trees, trees::measure),
        (Figures::Round, round::measure),
        (Figures::Programs, programs::measure),
        (Figures::Job, job::measure),
        (Figures::Journal, journal::measure),
        (Figures::Writers, writers::measure),
    ];
    for (figures, measure) in measure {
        if arguments.wants(figures) {
            measure(&corpus, arguments.samples, &mut table);
        }
    }
    println!("{}", table.markdown());
}
