//! `run-loop config show`.

use serde_json::json;

use crate::cli::args::Format;
use crate::cli::args::config::ShowArgs;
use crate::cli::environment::Environment;
use crate::cli::{locate, output, sources, validate};
use crate::config::load::Row;
use crate::config::{Config, Sources, load};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

/// Prints the effective configuration: data to stdout, notices to stderr.
pub(crate) fn run(
    args: &ShowArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let config = config(args, environment)?;
    for notice in &config.notices {
        output::note(notice);
    }
    let rows = config.rows();
    output::data(&match format {
        Format::Human => human(&rows, args.origin),
        Format::Json => format!("{}\n", json!({"values": rows, "notices": config.notices})),
        Format::Ndjson => rows.iter().map(|row| format!("{}\n", json!(row))).collect(),
    });
    Ok(Exit::Approved)
}

fn config(args: &ShowArgs, environment: &Environment) -> Result<Config, Failure> {
    let worktree = args.repository.worktree.as_deref();
    let place = match locate::locate(environment, worktree) {
        // Outside of a repository the user's own file still has a meaning.
        Err(failure)
            if failure.code == Code::NotARepository
                && worktree.is_none()
                && args.base.is_none() =>
        {
            let user_file = sources::user_file(environment)?;
            return load(&Sources {
                user_file,
                ..Sources::default()
            });
        }
        other => other?,
    };
    let given = args.base.as_deref().unwrap_or("HEAD");
    let (_, base) = validate::resolve_base(&place.git, &place.source, given)?;
    load(&sources::sources(
        environment,
        &place.git,
        &place.source,
        &base,
    )?)
}

fn human(rows: &[Row], origin: bool) -> String {
    let cells: Vec<(String, String, String)> = rows
        .iter()
        .map(|row| {
            (
                row.key.clone(),
                row.value.to_string(),
                row.origin.to_string(),
            )
        })
        .collect();
    let width = |of: fn(&(String, String, String)) -> &String| {
        cells
            .iter()
            .map(|cell| of(cell).chars().count())
            .max()
            .unwrap_or(0)
    };
    let key = width(|cell| &cell.0);
    // One long value must not push every origin out of sight.
    let value = width(|cell| &cell.1).min(40);
    cells
        .iter()
        .map(|(k, v, o)| {
            if origin {
                format!("{k:key$}  {v:value$}  {o}\n")
            } else {
                format!("{k:key$}  {v}\n")
            }
        })
        .collect()
}
