//! The gate: whether a commit is exactly what was approved, by the policy of where it merges.
//!
//! Owns: finding the manifest, proving its files, attestation and revocation, the range, and the
//! evaluation of the base's policy. Never: running agents, writing anything.
//!
//! # Invariants
//! - Names are resolved once; everything else is asked by full object ids, which are printed.
//! - Promoted files are claims. Nothing of them is believed that git, the journals or a hash of
//!   an attested manifest does not say too.
//! - Every doubt is a failure with its own code; there is no way to 0 but through all checks.
//!
//! Tests: `tests/gate.rs`.

mod approval;
mod attest;
mod choose;
mod differs;
mod evidence;
mod files;
mod next;
mod policy;
mod question;
mod range;
mod render;
mod request;
mod resolve;

pub use approval::{Approval, ApprovedSlot, Attested, Commit};
pub use render::human;
pub use request::{GatePolicy, GateRequest};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::isolation::Isolation;
use crate::domain::oid::Oid;
use crate::domain::severity::Severity;
use crate::gate::question::Question;
use crate::git::{content, object};

/// Judges a commit.
///
/// # Errors
/// Why the commit is not approved, or why that is not known; each reason has its own code.
pub fn judge(request: &GateRequest<'_>) -> Result<Approval, Failure> {
    let expected = request
        .expect_head
        .map(|given| full_oid(request, given))
        .transpose()?;
    let head = resolve::head(request)?;
    if let Some(expected) = expected.filter(|expected| *expected != head.oid) {
        return Err(Failure::new(
            Code::GateHeadUnexpected,
            format!("head {} is {}, not {expected}", head.name, head.oid),
        )
        .next(next::git(request, ["rev-parse", &head.name])));
    }
    let tip = resolve::base(request)?;
    let policy = (request.policy_at)(&tip.oid)?;
    let base = range::gate_base(request, &tip, &head, &policy)?;
    let (git, git_dir) = (request.git, request.repository.git_dir.as_path());
    let Some(tree) = object::tree_of(git, git_dir, head.oid.as_str())? else {
        return Err(Failure::new(
            Code::HeadUnknown,
            format!("{} has no tree in this repository", head.oid),
        ));
    };
    let content = content::content_tree(git, git_dir, &tree, &policy.reports)?;
    let question = Question {
        request,
        policy: &policy,
        head: &head,
        base: &base,
        content: &content,
    };
    let state = (request.attestations)()?;
    let places = choose::Places::open(&question, &state)?;
    let helped = |failure| question.helped(failure);
    let mut chosen = choose::manifest(&question, &places, &state).map_err(helped)?;
    if !tip.name.starts_with("refs/") {
        chosen.notices.push(format!(
            "the base is the commit {}, not a branch: the policy was read there, and what came before it was \
             not asked for",
            tip.oid
        ));
    }
    let sidecars = evidence::prove(&chosen.found, &policy.reports).map_err(helped)?;
    range::covers(&question, &chosen.found.manifest)?;
    let carried = range::carried(request, &policy, &head, &chosen.found.manifest)?;
    let manifest = &chosen.found.manifest;
    policy::fulfilled(&policy, manifest, &sidecars).map_err(|failure| {
        // Where nothing lacks but that the readers were apart from the source, or that as much blocked
        // them, a review as it is by default mends it.
        let admitting = GatePolicy {
            isolation: Isolation::Env,
            fail_on: Severity::Critical,
            ..policy.clone()
        };
        if policy::fulfilled(&admitting, manifest, &sidecars).is_ok() {
            failure.next(next::review(&question, None))
        } else {
            question.helped(failure)
        }
    })?;
    Ok(approval::of(&question, tip, chosen, &sidecars, carried))
}

/// A full object id; an abbreviation is refused (scenario S12).
fn full_oid(request: &GateRequest<'_>, text: &str) -> Result<Oid, Failure> {
    Oid::parse(text).ok_or_else(|| {
        let judged = request.head.unwrap_or("HEAD");
        Failure::new(
            Code::AbbreviatedOid,
            format!("--expect-head {text:?} is not a full object id"),
        )
        .next(next::git(request, ["rev-parse", judged]))
    })
}
