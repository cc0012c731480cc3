//! `run-loop show [RUN]`: one run with its identity, verdicts, findings and files; or its ledger of
//! findings, its plan, or its cost.

use std::io::Write;

use crate::cli::args::Format;
use crate::cli::args::history::ShowArgs;
use crate::cli::history::{History, write};
use crate::cli::output;
use crate::contract::acceptance;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::engine::State;
use crate::report::cost::CostReport;
use crate::report::ledger::Ledger;
use crate::report::plans::Plans;
use crate::report::{jobs, ndjson};
use crate::store::Artifacts;

/// Shows a run. Its own end is no failure of this command.
pub fn run(args: &ShowArgs, history: &History<'_>, out: &mut dyn Write) -> Result<Exit, Failure> {
    let run = history.choose(args.run.as_deref())?;
    let read = history.read(run)?;
    let human = history.format == Format::Human;
    let text = if args.cost {
        let state = State::replay(read.entries.iter().map(|entry| &entry.event));
        let cost = CostReport::of(run, &read.summary, state.delegations.values());
        if human {
            cost.human()
        } else {
            ndjson::document(&cost)?
        }
    } else if args.findings {
        let ledger = Ledger::of(run, &read.entries);
        if human {
            ledger.human()
        } else {
            ledger.json()?
        }
    } else if args.plan {
        let artifacts = Artifacts::open(history.state()?, run)?;
        let plans = Plans::of(run, &read.entries, &|sha256| artifacts.get(sha256))?;
        let newest = plans.plans.last();
        if let Some(said) = newest.and_then(|plan| acceptance::notice(&plan.text)) {
            output::note(&said);
        }
        if human { plans.human() } else { plans.json()? }
    } else if human {
        let report = read.report();
        if report.jobs.is_empty() {
            report.human("show")
        } else {
            let jobs = jobs::list(&report.jobs, history.now);
            report.human("show") + &format!("\ndelegated\n{jobs}")
        }
    } else {
        read.report().json()?
    };
    write(out, &text);
    Ok(Exit::Approved)
}
