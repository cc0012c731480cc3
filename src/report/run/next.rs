//! The one command that comes next after an approval.

use crate::domain::failure::NextCommand;
use crate::domain::identity::Pin;
use crate::domain::run_spec::{BaseSpec, RunSpec};

/// The reviewers that the run's own command line names: another run by the configuration alone would ask
/// others.
fn reviewers(command: &[String]) -> Vec<&str> {
    let options = command.iter().map(String::as_str);
    let options: Vec<&str> = options.take_while(|word| *word != "--").collect();
    let mut named = Vec::new();
    for (nth, word) in options.iter().enumerate() {
        if *word == "--reviewer" {
            named.extend(options.iter().skip(nth).take(2));
        } else if word.starts_with("--reviewer=") {
            named.push(*word);
        }
    }
    named
}

/// What comes next: the gate, once what was approved is a commit and the gate can take it; a
/// reviewer, where nobody read it, or nobody as the base asks.
pub(super) fn after_approval(spec: &RunSpec, pin: &Pin, readers: u32) -> Option<NextCommand> {
    if spec.single.is_some() {
        return None;
    }
    let here = spec.source_root.as_str();
    let base = base(spec);
    let words: Vec<&str> = if readers == 0 {
        // The gate takes no approval that nobody read for.
        vec!["run-loop", "agents"]
    } else if spec.lacks_isolation() || spec.is_lenient() {
        // Nor one of readers who saw the source itself, or for whom less blocked, unless the base admits
        // that.
        let review = [
            "run-loop",
            "--worktree",
            here,
            "--base",
            base,
            "--review-only",
        ];
        [&review, &reviewers(&spec.command)[..]].concat()
    } else if pin.is_uncommitted() {
        vec!["git", "-C", here, "add", "--all"]
    } else if pin.behind > 0 && spec.policy.up_to_date {
        // Nor one of a head that lacks what the base got since.
        vec!["git", "-C", here, "merge", base]
    } else {
        let head = pin.identity.head.as_str();
        let gate = ["run-loop", "gate", "--worktree", here];
        // Where HEAD stood at the start is no place that anything merges into: a gate from there would wave
        // through what came before the run, by the rules of a commit that nobody reviewed. Without a
        // base, the gate asks the default branch.
        let base: &[&str] = match &spec.base {
            BaseSpec::MergeBase { given, .. } => &["--base", given],
            BaseSpec::StartHead { .. } => &[],
        };
        [&gate, base, &["--head", head]].concat()
    };
    Some(NextCommand(words.into_iter().map(str::to_owned).collect()))
}

/// Why that comes next, where the command alone does not say where it leads.
pub(super) fn why(spec: &RunSpec, pin: &Pin) -> Option<&'static str> {
    (spec.single.is_none() && pin.is_uncommitted()).then_some(
        "what was approved is not committed yet: add it, commit it, and ask run-loop gate about that commit",
    )
}

/// What comes next once it was looked at why a run did not pass: the same run again, for the same working
/// tree from wherever it is pasted.
pub(super) fn again(spec: &RunSpec) -> Option<NextCommand> {
    let is_loop = spec.single.is_none() && !spec.command.is_empty();
    is_loop.then(|| NextCommand(spec.again()))
}

/// The base as it was given, or as it was.
fn base(spec: &RunSpec) -> &str {
    match &spec.base {
        BaseSpec::MergeBase { given, .. } => given,
        BaseSpec::StartHead { head } => head.as_str(),
    }
}
