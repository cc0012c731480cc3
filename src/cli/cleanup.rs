//! `run-loop cleanup`: wiring, and telling what became of everything.

use serde_json::json;

use crate::cleanup::item::{Fate, Item, What};
use crate::cleanup::{self, Request};
use crate::cli::args::cleanup::CleanupArgs;
use crate::cli::args::{Format, RepositoryArgs};
use crate::cli::environment::Environment;
use crate::cli::read::Reading;
use crate::cli::{locate, output};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::git::Repository;
use crate::report::size::size;

/// Cleans, or shows what would be.
///
/// # Errors
/// `CleanupIncomplete` when something was to be removed and is still there.
pub(crate) fn run(
    args: &CleanupArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let cache_root = environment.cache_root()?;
    if let Some(given) = &args.damaged {
        let here = RepositoryArgs { worktree: None };
        let reading = Reading::open(&here, Some(given), environment, format)?;
        return reading.with(|history, _| {
            let run = history.choose(Some(given))?;
            let item = cleanup::put_aside(history.state()?, run, &cache_root, args.dry_run)?;
            tell(&[item], args.dry_run, format);
            Ok(Exit::Approved)
        });
    }
    let git = locate::git(environment)?;
    let here = match Repository::discover(&git, environment.current_dir()) {
        Ok(repository) => Some(repository.common_dir),
        Err(failure) if matches!(failure.code, Code::NotARepository | Code::NoWorkingTree) => None,
        Err(failure) => return Err(failure),
    };
    let items = cleanup::clean(&Request {
        cache_root: &cache_root,
        common_dir: here.as_deref(),
        store_budget: args.store_budget,
        dry_run: args.dry_run,
        gone: args.gone,
        told: &|what| output::note(what),
    })?;
    tell(&items, args.dry_run, format);
    let left = items.iter().find_map(|item| match &item.fate {
        Fate::Left { left } => left.first(),
        Fate::Removed
        | Fate::WouldRemove
        | Fate::PutAway { .. }
        | Fate::WouldPutAway { .. }
        | Fate::Kept { .. } => None,
    });
    match left {
        None => Ok(Exit::Approved),
        Some(first) => {
            let message = format!("not everything could be removed: {first}");
            Err(Failure::new(Code::CleanupIncomplete, message).next([
                "run-loop",
                "cleanup",
                "--dry-run",
            ]))
        }
    }
}

fn tell(items: &[Item], dry_run: bool, format: Format) {
    output::data(&match format {
        Format::Human => output::printable(&human(items, dry_run)),
        Format::Json => {
            let document = json!({"version": 1, "dry_run": dry_run, "items": items});
            output::document(&document)
        }
        Format::Ndjson => items
            .iter()
            .map(|item| output::document(&json!(item)))
            .collect(),
    });
}

fn human(items: &[Item], dry_run: bool) -> String {
    let mut text = String::new();
    let mut bytes = 0;
    for item in items {
        let (word, why) = match &item.fate {
            Fate::Removed => ("removed", String::new()),
            Fate::WouldRemove => ("would remove", String::new()),
            Fate::PutAway { to } => ("put away", format!(" to {to}")),
            Fate::WouldPutAway { to } => ("would put away", format!(" to {to}")),
            Fate::Kept { reason } => ("kept", format!(": {reason}")),
            Fate::Left { left } => ("still there", format!(": {}", left.join("; "))),
        };
        if matches!(item.fate, Fate::Removed | Fate::WouldRemove) {
            bytes += item.bytes;
        }
        let line = format!(
            "{word} {} {} ({}){why}\n",
            named(item.what),
            item.path,
            size(item.bytes)
        );
        text.push_str(&line);
    }
    let total = if dry_run { "would free" } else { "freed" };
    text + &format!("{total} {}\n", size(bytes))
}

fn named(what: What) -> &'static str {
    match what {
        What::Processes => "processes of the dead job",
        What::Trees => "review trees",
        What::WaitingTrees => "review trees that wait for a later run",
        What::Jobs => "job folders",
        What::Evidence => "evidence",
        What::State => "state",
        What::Damaged => "damaged record",
        What::Store => "review store",
        What::BrokenStore => "broken review store",
    }
}
