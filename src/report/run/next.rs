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
    let base = match &spec.base {
        BaseSpec::MergeBase { given, .. } => given.as_str(),
        BaseSpec::StartHead { head } => head.as_str(),
    };
    let words: Vec<&str> = if readers == 0 {
        // The gate takes no approval that nobody read for.
        vec!["run-loop", "agents"]
    } else if spec.lacks_isolation() {
        // Nor one of readers who saw the source itself, unless the base admits them.
        let review = [
            "run-loop",
            "--worktree",
            here,
            "--base",
            base,
            "--review-only",
        ];
        [&review, &reviewers(&spec.command)[..]].concat()
    } else if pin.dirty {
        vec!["git", "-C", here, "add", "--all"]
    } else if pin.behind > 0 && spec.policy.up_to_date {
        // Nor one of a head that lacks what the base got since.
        vec!["git", "-C", here, "merge", base]
    } else {
        let head = pin.identity.head.as_str();
        [
            "run-loop",
            "gate",
            "--worktree",
            here,
            "--base",
            base,
            "--head",
            head,
        ]
        .to_vec()
    };
    Some(NextCommand(words.into_iter().map(str::to_owned).collect()))
}
