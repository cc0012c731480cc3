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
        Format::Json => {
            output::document(&json!({"version": 1, "values": rows, "notices": config.notices}))
        }
        Format::Ndjson => rows
            .iter()
            .map(|row| output::document(&json!(row)))
            .collect(),
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
    let (_, base, _) = validate::resolve_base(&place.git, &place.source, Some(given))?;
    load(&sources::sources(
        environment,
        &place.git,
        &place.source,
        &base,
    )?)
}

fn human(rows: &[Row], origin: bool) -> String {
    let key = rows.iter().map(|row| row.key.len()).max().unwrap_or(0);
    // One long value must not push every origin out of sight.
    let values = rows.iter().map(|row| row.value.to_string().chars().count());
    let value = values.max().unwrap_or(0).min(40);
    lines(rows.iter().map(|row| {
        let text = row.value.to_string();
        if origin {
            format!("{:key$}  {text:value$}  {}", row.key, row.origin)
        } else {
            format!("{:key$}  {text}", row.key)
        }
    }))
}

fn lines(rows: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&output::printable(&row));
        text.push('\n');
    }
    text
}
