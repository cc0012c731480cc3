//! The context block (row M-050): where an agent works, and what the change is judged against.

use minijinja::{Value, context};

use crate::contract::prompt::view::{code, count};
use crate::domain::identity::Pin;
use crate::domain::run_spec::{BaseSpec, RunSpec};

/// What the block tells.
pub(super) struct Place<'a> {
    pub(super) run: &'a RunSpec,
    pub(super) pin: &'a Pin,
    /// Which of the template's sentences says what the agent may do where.
    pub(super) kind: &'static str,
    pub(super) tree: Option<&'a str>,
    /// Whether the snapshot's commit is named.
    pub(super) snapshot: bool,
}

pub(super) fn context(place: &Place<'_>) -> Value {
    let pin = place.pin;
    let branch = pin
        .branch
        .as_deref()
        .map(|branch| code(branch.strip_prefix("refs/heads/").unwrap_or(branch)));
    let (origin, behind) = match &place.run.base {
        BaseSpec::MergeBase { given, .. } => {
            let given = code(given);
            let lacks = format!(
                "{given} has {} that this branch lacks; the change is judged without them.",
                count(u64::from(pin.behind), "commit")
            );
            (
                format!("the merge base of {given} and HEAD"),
                (pin.behind > 0).then_some(lacks),
            )
        }
        BaseSpec::StartHead { .. } => ("HEAD when the run started".to_owned(), None),
    };
    context! {
        kind => place.kind,
        tree_path => place.tree.map(code),
        branch => branch.unwrap_or_else(|| "none, HEAD is detached".to_owned()),
        base => code(pin.identity.base.as_str()),
        base_origin => origin,
        head => code(pin.identity.head.as_str()),
        commits => count(u64::from(pin.commits), "commit"),
        edits => if pin.is_uncommitted() { "yes, they belong to the change" } else { "none" },
        snapshot => place.snapshot.then(|| code(pin.snapshot.as_str())),
        behind => behind,
    }
}
