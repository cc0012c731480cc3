//! `run-loop show [RUN]`: one run with its identity, verdicts, findings and files.

use std::io::Write;

use crate::cli::args::Format;
use crate::cli::args::history::ShowArgs;
use crate::cli::history::{History, write};
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::report::cost::CostReport;

/// Shows a run. Its own end is no failure of this command.
pub fn run(args: &ShowArgs, history: &History<'_>, out: &mut dyn Write) -> Result<Exit, Failure> {
    let run = history.choose(args.run.as_deref())?;
    let read = history.read(run)?;
    if args.cost {
        let cost = CostReport::of(run, &read.summary);
        write(
            out,
            &match history.format {
                Format::Human => cost.human(),
                Format::Json | Format::Ndjson => format!("{}\n", serde_json::json!(cost)),
            },
        );
        return Ok(Exit::Approved);
    }
    let report = read.report();
    let text = match history.format {
        Format::Human => report.human(),
        Format::Json | Format::Ndjson => report.json()?,
    };
    write(out, &text);
    Ok(Exit::Approved)
}
