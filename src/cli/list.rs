//! `run-loop list`: the runs of this repository, newest first, damaged ones named.

use std::io::Write;

use serde::Serialize;
use serde_json::json;

use crate::cli::args::Format;
use crate::cli::args::history::ListArgs;
use crate::cli::history::{History, write};
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::summary::RunState;
use crate::report::public::VERSION;
use crate::report::short_id::short_id;
use crate::report::table::table;
use crate::report::{ndjson, text, time};
use crate::store::index::{Index, Listed, RunRow};

/// A list entry for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// The version of this form.
    version: u32,
    /// The run.
    run: LoopId,
    /// `running`, `interrupted`, `ended` or `damaged`.
    state: &'a str,
    /// What is known of it; none of a damaged one.
    row: Option<&'a RunRow>,
    /// Why it cannot be read.
    failure: Option<&'a Failure>,
}

/// Lists runs. A damaged one is a line as any other (scenario G02).
pub fn run(args: &ListArgs, history: &History<'_>, out: &mut dyn Write) -> Result<Exit, Failure> {
    let listed = match history.state {
        Some(state) => Index::open(state).list(state)?,
        None => Vec::new(),
    };
    let newest: Vec<&Listed> = listed.iter().rev().take(args.limit).collect();
    let older = listed.len() - newest.len();
    let text = match history.format {
        Format::Human => human(&newest, &listed, history) + &left_out(older, listed.len()),
        Format::Json => {
            let runs: Vec<Line<'_>> = newest.iter().map(|item| line(item)).collect();
            let document = json!({"version": VERSION, "runs": runs, "older": older});
            ndjson::document(&document)?
        }
        Format::Ndjson => {
            let lines = newest.iter().map(|item| ndjson::document(&line(item)));
            lines.collect::<Result<String, Failure>>()?
        }
    };
    write(out, &text);
    Ok(Exit::Approved)
}

/// What the list does not show is told.
fn left_out(older: usize, all: usize) -> String {
    match older {
        0 => String::new(),
        1 => format!("1 older run is not shown: run-loop list --limit {all}\n"),
        _ => format!("{older} older runs are not shown: run-loop list --limit {all}\n"),
    }
}

fn line(listed: &Listed) -> Line<'_> {
    let (state, row, failure) = match listed {
        Listed::Run(row) => (row.state.as_str(), Some(&**row), None),
        Listed::Damaged { failure, .. } => ("damaged", None, Some(failure)),
    };
    Line {
        version: VERSION,
        run: listed.run(),
        state,
        row,
        failure,
    }
}

fn human(newest: &[&Listed], all: &[Listed], history: &History<'_>) -> String {
    if newest.is_empty() {
        return "no runs\n".to_owned();
    }
    let ids: Vec<LoopId> = all.iter().map(Listed::run).collect();
    let mut rows = vec![
        ["run", "state", "age", "rounds", "head", "source"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut damaged = String::new();
    for item in newest {
        let id = short_id(item.run(), &ids);
        match item {
            Listed::Run(row) => rows.push(vec![
                id,
                standing(row),
                row.started_at
                    .map_or_else(String::new, |at| time::span(at, history.now)),
                row.rounds.to_string(),
                row.identity
                    .as_ref()
                    .map_or_else(String::new, |identity| identity.head.short().to_owned()),
                row.source_root
                    .as_deref()
                    .map_or_else(String::new, text::line),
            ]),
            Listed::Damaged { failure, .. } => {
                rows.push(vec![id, "damaged".to_owned()]);
                let line = format!("  {}\n", text::line(&failure.message));
                damaged.push_str(&line);
            }
        }
    }
    table(&rows) + &damaged
}

fn standing(row: &RunRow) -> String {
    match (row.state, row.exit, row.code) {
        // A run of one job: nothing was reviewed.
        (RunState::Ended, Some(exit), None) if row.slots == 0 => {
            format!("completed, exit {}", exit.code())
        }
        (RunState::Ended, Some(exit), None) => {
            let only = if row.readers == 0 {
                " (checks only)"
            } else {
                ""
            };
            format!("PASS{only}, exit {}", exit.code())
        }
        (RunState::Ended, Some(exit), Some(code)) => format!("{code}, exit {}", exit.code()),
        (RunState::Interrupted, _, _) => match row.aside {
            Some(code) if matches!(code.exit(), Exit::Limit | Exit::Parked) => {
                format!("put aside, {code}")
            }
            Some(_) | None => row.state.as_str().to_owned(),
        },
        (state, _, _) => state.as_str().to_owned(),
    }
}
