//! Taking times, technique after technique, over and over.

use std::time::{Duration, Instant};

/// What one use of one technique took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    /// On the clock.
    pub wall: Duration,
    /// Of processors, of this process and of those that it waited for.
    pub cpu: Duration,
}

/// Runs something between what a technique needs before and after it.
#[derive(Debug, Default)]
pub struct Watch {
    sample: Option<Sample>,
}

impl Watch {
    /// The part that counts; once for each use.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (cpu, start) = (cpu(), Instant::now());
        let result = work();
        self.sample = Some(Sample {
            wall: start.elapsed(),
            cpu: self::cpu().saturating_sub(cpu),
        });
        result
    }
}

/// A named way to do something.
pub struct Technique<'a> {
    pub name: String,
    use_it: Box<dyn FnMut(&mut Watch) + 'a>,
}

impl<'a> Technique<'a> {
    pub fn new(name: impl Into<String>, use_it: impl FnMut(&mut Watch) + 'a) -> Self {
        Self {
            name: name.into(),
            use_it: Box::new(use_it),
        }
    }
}

/// The samples of one technique.
#[derive(Debug)]
pub struct Taken {
    pub name: String,
    pub samples: Vec<Sample>,
}

/// Uses every technique once, which does not count, and then each in turn, `samples` times.
pub fn round_robin(
    samples: usize,
    techniques: Vec<Technique<'_>>,
    mut before: impl FnMut(),
) -> Vec<Taken> {
    let mut techniques: Vec<_> = techniques
        .into_iter()
        .map(|technique| (technique, Vec::new()))
        .collect();
    for number in 0..=samples {
        before();
        for (technique, taken) in &mut techniques {
            let mut watch = Watch::default();
            (technique.use_it)(&mut watch);
            let sample = watch.sample.expect("every technique is timed");
            if number > 0 {
                taken.push(sample);
            }
        }
    }
    techniques
        .into_iter()
        .map(|(technique, samples)| Taken {
            name: technique.name,
            samples,
        })
        .collect()
}

impl Taken {
    /// The median on the clock, in milliseconds.
    pub fn median(&self) -> f64 {
        median(self.samples.iter().map(|sample| millis(sample.wall)))
    }
    /// The median of the ratios to samples that were taken in the same turn.
    pub fn ratio(&self, reference: &Self) -> f64 {
        let pairs = self.samples.iter().zip(&reference.samples);
        median(pairs.map(|(a, b)| millis(a.wall) / millis(b.wall)))
    }
    /// Processor time, all samples together: the kernel counts it in steps of 10 ms.
    pub fn cpu(&self) -> f64 {
        let total: Duration = self.samples.iter().map(|sample| sample.cpu).sum();
        #[expect(clippy::cast_precision_loss, reason = "a few samples")]
        let count = self.samples.len() as f64;
        millis(total) / count
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// Processor time so far, of this process and of those that it waited for; 0 where unknown.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold anything.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks: u64 = fields
        .split(' ')
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}
