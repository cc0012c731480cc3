//! What the gate is asked, resolved once.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::gate::approval::Commit;
use crate::gate::next;
use crate::gate::request::{GatePolicy, GateRequest};

/// What is judged, resolved.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// As asked.
    pub(super) request: &'a GateRequest<'a>,
    /// The base's rules.
    pub(super) policy: &'a GatePolicy,
    /// What merges.
    pub(super) head: &'a Commit,
    /// Where the merge starts from.
    pub(super) base: &'a Oid,
    /// Head's content tree.
    pub(super) content: &'a Oid,
}

impl Question<'_> {
    /// A failure of the evidence or of the policy, with the command that helps here.
    pub(super) fn helped(&self, failure: Failure) -> Failure {
        if failure.code == Code::GatePolicyUnmet {
            let base = self.request.base.unwrap_or(self.base.as_str());
            failure.next(["run-loop", "config", "show", "--origin", "--base", base])
        } else if failure.code == Code::GateDamaged {
            failure.next(next::review(self, None))
        } else {
            failure
        }
    }
}
