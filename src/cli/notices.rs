//! What is told before a run starts, beside its first line.

use std::path::Path;

use crate::agent::find;
use crate::cli::environment::Environment;
use crate::config::profiles;
use crate::contract::acceptance;
use crate::domain::run_spec::{BaseSpec, PlanSource, RunSpec};
use crate::domain::slot::Slot;
use crate::git::{Git, Repository, uncommitted};

/// What is told of a run before it starts.
pub(super) fn of(git: &Git, repository: &Repository, spec: &RunSpec) -> Vec<String> {
    let told = [
        plan(spec),
        isolation(spec),
        leniency(spec),
        range(git, repository, spec),
    ];
    told.into_iter().flatten().collect()
}

/// Which plan is worked by and where it came from, or that there is none (row M-045).
fn plan(spec: &RunSpec) -> Option<String> {
    if spec.review_only {
        return None;
    }
    let planner = spec
        .planner
        .as_ref()
        .map_or("", |agent| agent.name.as_str());
    Some(match &spec.plan {
        PlanSource::Nobody => "no plan is loaded: the creator plans by itself".to_owned(),
        PlanSource::Planner => format!("the planner {planner} writes the plan first"),
        PlanSource::File { path, sha256, text } => {
            let loaded = format!("the plan is loaded from {path} (sha256 {sha256})");
            match acceptance::notice(text) {
                Some(notice) => format!("{loaded}; {notice}"),
                None => loaded,
            }
        }
    })
}

/// That the gate will not take what these reviewers say, before they are paid for.
fn isolation(spec: &RunSpec) -> Option<String> {
    spec.lacks_isolation().then(|| {
        "reviewers read the source tree itself (--review-isolation env), and the base asks for review \
         trees (review.isolation: worktree): run-loop gate takes no PASS of theirs"
            .to_owned()
    })
}

/// That the gate will not take an approval that less had to be mended for.
fn leniency(spec: &RunSpec) -> Option<String> {
    let asked = spec.review.fail_on_at_base.filter(|_| spec.is_lenient())?;
    Some(format!(
        "findings block from {} on (--fail-on), and the base asks for {} (review.fail-on): run-loop gate \
         takes no PASS of this run",
        spec.review.fail_on.as_str(),
        asked.as_str()
    ))
}

/// Without `--base`: the uncommitted edits that are in the range before anybody wrote.
fn range(git: &Git, repository: &Repository, spec: &RunSpec) -> Option<String> {
    let BaseSpec::StartHead { head } = &spec.base else {
        return None;
    };
    let start = format!("without --base the range starts at HEAD, {head}");
    // What cannot be listed is in the range all the same; the snapshot decides, not this.
    let Ok(Some(paths)) = uncommitted::paths(git, repository, &spec.allow_filters) else {
        return Some(format!("{start}; uncommitted edits, if any, are in it"));
    };
    if paths.is_empty() {
        return Some(format!("{start}; there are no uncommitted edits"));
    }
    let shown: Vec<String> = paths.iter().take(20).map(ToString::to_string).collect();
    let more = match paths.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{start}; uncommitted edits that are already in it: {}{more}",
        shown.join(", ")
    ))
}

/// Agents that are installed and not used, when nobody reads: named, never started.
pub(super) fn idle_agents(panel: &[Slot], environment: &Environment) -> Option<String> {
    if panel.iter().any(Slot::is_reader) {
        return None;
    }
    let found: Vec<&str> = profiles::names()
        .filter(|name| find::program(name, environment.path(), Path::new("/")).is_ok())
        .collect();
    (!found.is_empty()).then(|| {
        format!(
            "only `checks` reviews, which reads nothing; found on PATH and not started: {} \
             (let one review with `--reviewer {}`)",
            found.join(", "),
            found[0]
        )
    })
}
