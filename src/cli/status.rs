//! `run-loop status [RUN]`: how the newest run of this source stands, from its journal and lock.

use std::io::Write;

use crate::cli::args::Format;
use crate::cli::args::history::StatusArgs;
use crate::cli::history::{History, ReadRun, write};
use crate::domain::end::End;
use crate::domain::exit::Exit;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::summary::RunState;
use crate::report::run::RunReport;
use crate::report::{jobs, text, time};
use crate::store::Journal;

/// Tells how a run stands. Only a living engine makes it "running" (scenario H09).
pub fn run(args: &StatusArgs, history: &History<'_>, out: &mut dyn Write) -> Result<Exit, Failure> {
    let read = history.read(history.choose(args.run.as_deref())?)?;
    if let Some(spec) = &read.summary.spec {
        history.name_differences(spec);
    }
    let report = read.report();
    let text = match history.format {
        Format::Human => human(&report, &read, history),
        Format::Json | Format::Ndjson => report.json()?,
    };
    write(out, &text);
    Ok(Exit::Approved)
}

fn human(report: &RunReport, read: &ReadRun, history: &History<'_>) -> String {
    let mut said = format!("run {}: {}\n", report.run, report.standing());
    said.push_str(&report.identity_lines());
    let matrix = report.matrix();
    if !matrix.is_empty() {
        said.push('\n');
        said.push_str(&matrix);
    }
    if read.state == RunState::Running {
        for record in read.summary.running() {
            let job = &record.job;
            let since = record.requested_at.map_or_else(String::new, |at| {
                format!(" for {}", time::span(at, history.now))
            });
            let line = format!("  {} is asked{since}, attempt {}\n", job.slot, job.attempt);
            said.push_str(&line);
        }
    }
    let stopped = stopped(read, history);
    if let Some(pid) = stopped {
        let line =
            format!("  its engine, process {pid}, is stopped (Ctrl-Z): its agents work on\n");
        said.push_str(&line);
    }
    if !report.jobs.is_empty() {
        let jobs = jobs::list(&report.jobs, history.now);
        said.push_str("\ndelegated\n");
        said.push_str(&jobs);
    }
    let aside = read.summary.suspended.as_ref();
    let failure = match &read.summary.end {
        Some(End::Failed { failure }) => Some(failure),
        Some(End::Approved { .. } | End::Completed { .. }) => None,
        None => aside.filter(|_| read.state == RunState::Interrupted),
    };
    if let Some(failure) = failure {
        let line = format!("\n  {}\n", text::line(&failure.to_string()));
        said.push_str(&line);
    }
    let line = format!(
        "  next: {}\n",
        text::line(&next(report, read, stopped).to_string())
    );
    said.push_str(&line);
    said
}

/// The process of a run's engine that is stopped.
fn stopped(read: &ReadRun, history: &History<'_>) -> Option<u32> {
    let state = history.state.filter(|_| read.state == RunState::Running)?;
    let engine = Journal::last_engine(state, read.run).ok()??;
    engine.is_stopped().then_some(engine.pid)
}

/// The one command that helps now.
fn next(report: &RunReport, read: &ReadRun, stopped: Option<u32>) -> NextCommand {
    if let Some(pid) = stopped {
        return NextCommand(
            ["kill", "-CONT", &pid.to_string()]
                .map(str::to_owned)
                .into(),
        );
    }
    let about = |command: &str| {
        let words = ["run-loop", command, &report.run.to_string()].map(str::to_owned);
        NextCommand(words.to_vec())
    };
    match (read.state, &read.summary.end) {
        (RunState::Running, _) => about("log"),
        (RunState::Interrupted, _) => {
            let aside = read.summary.suspended.as_ref();
            aside.map_or_else(|| about("resume"), |failure| failure.next.clone())
        }
        (RunState::Ended, Some(End::Failed { failure })) => failure.next.clone(),
        (RunState::Ended, _) => about("show"),
    }
}
