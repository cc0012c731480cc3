//! `run-loop log [RUN]`: a run's events, also while it goes on.

use std::io::Write;

use crate::cli::args::Format;
use crate::cli::args::history::LogArgs;
use crate::cli::history::{History, write};
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::summary::RunState;
use crate::report::follow::Follower;
use crate::report::{human, ndjson, time};

/// Prints the events so far. For programs: one document per event, also for `json`, since a
/// list would end only with the run.
pub fn run(args: &LogArgs, history: &History<'_>, out: &mut dyn Write) -> Result<Exit, Failure> {
    let read = history.read(history.choose(args.run.as_deref())?)?;
    let mut follower = Follower::new(read.run);
    let start = read.summary.started_at;
    for entry in &read.entries {
        let event = follower.next(entry.at, &entry.event);
        let text = match history.format {
            Format::Json | Format::Ndjson => ndjson::line(&event)?,
            Format::Human => {
                let Some(lines) = human::lines(&event) else {
                    continue;
                };
                let elapsed = time::span(start.unwrap_or(entry.at), entry.at);
                format!("{elapsed:>7}  {}\n", lines.replace('\n', "\n         "))
            }
        };
        write(out, &text);
    }
    if history.format == Format::Human {
        let report = read.report();
        let goes_on = read.state == RunState::Running;
        let text = if goes_on {
            format!("         {}\n", report.standing())
        } else {
            format!("\n{}", report.human())
        };
        write(out, &text);
    }
    Ok(Exit::Approved)
}
