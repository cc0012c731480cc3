//! What to measure, and on what.

use crate::corpus::Size;

/// A group of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figures {
    Pins,
    Trees,
    Round,
    Programs,
    Job,
    Journal,
    Writers,
}

const NAMES: [(&str, Figures); 7] = [
    ("pins", Figures::Pins),
    ("trees", Figures::Trees),
    ("round", Figures::Round),
    ("programs", Figures::Programs),
    ("job", Figures::Job),
    ("journal", Figures::Journal),
    ("writers", Figures::Writers),
];

/// The command line.
#[derive(Debug)]
pub struct Arguments {
    pub size: Size,
    pub samples: usize,
    only: Vec<Figures>,
}

impl Arguments {
    /// Reads it; `None` where nobody asked for measuring.
    pub fn read() -> Option<Self> {
        let mut read = Self {
            size: Size::Small,
            samples: 7,
            only: Vec::new(),
        };
        let mut is_bench = false;
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("an option has a value");
            match word.as_str() {
                "--bench" => is_bench = true,
                "--corpus" => read.size = Size::parse(&value()),
                "--samples" => read.samples = value().parse().expect("--samples is a number"),
                "--only" => {
                    let names = value();
                    read.only = names.split(',').map(figures).collect();
                }
                _ => eprintln!("ignored: {word}"),
            }
        }
        is_bench.then_some(read)
    }
    /// Whether a group is to be measured.
    pub fn wants(&self, figures: Figures) -> bool {
        self.only.is_empty() || self.only.contains(&figures)
    }
}

fn figures(name: &str) -> Figures {
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found
        .expect("--only names groups: pins, trees, round, programs, job, journal, writers")
        .1
}
