//! The result, as the table of `docs/performance.md`.

use std::fmt::Write as _;

use crate::corpus::Corpus;
use crate::sample::Taken;

/// All rows so far.
#[derive(Debug)]
pub struct Table {
    text: String,
}

impl Table {
    pub fn new(corpus: &Corpus, samples: usize) -> Self {
        let mut text = format!(
            "corpus {} ({} files in {} folders), {samples} samples\n\n",
            corpus.name(),
            corpus.files(),
            corpus.folders()
        );
        text.push_str("| figure | reference | ratio | target | | ms | reference ms | CPU ms | reference CPU ms |\n");
        text.push_str("|---|---|---|---|---|---|---|---|---|");
        Self { text }
    }
    /// One figure against what it is compared with, `times` the reference.
    pub fn row(
        &mut self,
        figure: &str,
        taken: &Taken,
        reference: &Taken,
        times: f64,
        target: Option<f64>,
    ) {
        let ratio = taken.ratio(reference) / times;
        let (goal, met) = goal(target, ratio);
        let name = if times > 1.0 {
            format!("{times} × {}", reference.name)
        } else {
            reference.name.clone()
        };
        let line = format!(
            "| {figure} | {name} | {ratio:.3} | {goal} | {met} | {:.1} | {:.1} | {:.0} | {:.0} |",
            taken.median(),
            reference.median() * times,
            taken.cpu(),
            reference.cpu() * times,
        );
        eprintln!("{line}");
        write!(self.text, "\n{line}").expect("a String");
    }
    /// One figure that has an absolute target, in milliseconds.
    pub fn absolute(&mut self, figure: &str, millis: f64, target: f64) {
        let (_, met) = goal(Some(target), millis);
        let line =
            format!("| {figure} | – | – | ≤ {target} ms | {met} | {millis:.1} | – | – | – |");
        eprintln!("{line}");
        write!(self.text, "\n{line}").expect("a String");
    }
    /// One figure in words, which its reader judges.
    pub fn told(&mut self, figure: &str, value: &str, target: &str) {
        let line = format!("| {figure} | – | {value} | {target} | | – | – | – | – |");
        eprintln!("{line}");
        write!(self.text, "\n{line}").expect("a String");
    }
    pub fn markdown(&self) -> &str {
        &self.text
    }
}

fn goal(target: Option<f64>, value: f64) -> (String, &'static str) {
    match target {
        None => ("–".to_owned(), ""),
        Some(target) if value <= target => (format!("≤ {target:.2}"), "met"),
        Some(target) => (format!("≤ {target:.2}"), "**missed**"),
    }
}
