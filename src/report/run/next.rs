//! The one command that comes next after an approval.

use crate::domain::failure::NextCommand;
use crate::domain::identity::Pin;
use crate::domain::run_spec::{BaseSpec, RunSpec};

/// What comes next: the gate, once what was approved is a commit; a reviewer, where nobody read it.
pub(super) fn after_approval(spec: &RunSpec, pin: &Pin, readers: u32) -> Option<NextCommand> {
    if spec.single.is_some() {
        return None;
    }
    let words: Vec<&str> = if readers == 0 {
        // The gate takes no approval that nobody read for.
        vec!["run-loop", "agents"]
    } else if pin.dirty {
        vec!["git", "-C", &spec.source_root, "add", "--all"]
    } else {
        let base = match &spec.base {
            BaseSpec::MergeBase { given, .. } => given.as_str(),
            BaseSpec::StartHead { head } => head.as_str(),
        };
        let head = pin.identity.head.as_str();
        let here = spec.source_root.as_str();
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
