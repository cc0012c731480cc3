//! The gate's answer for people.

use std::fmt::Write as _;

use crate::domain::path::RepoPath;
use crate::gate::approval::{Approval, ApprovedSlot, Attested};

/// The answer as lines of text, the last one ended.
#[must_use]
pub fn human(approval: &Approval) -> String {
    let mut text = String::new();
    let unattested = match approval.attested {
        Attested::Journal => "",
        Attested::Nobody => " (UNATTESTED: nobody vouches for the files, policy.attest: files)",
    };
    let mut line = |label: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ok = writeln!(text, "{label:<10}{value}");
    };
    line("approved", &format!("{}{unattested}", approval.head.oid));
    line("head", &named(&approval.head.oid, &approval.head.name));
    line("base", &named(&approval.base, &approval.tip.name));
    if approval.base != approval.tip.oid {
        line("tip", &named(&approval.tip.oid, &approval.tip.name));
    }
    line("content", approval.content_tree.as_str());
    line(
        "reviewed",
        &format!("{}..{}", approval.approved_base, approval.approved_head),
    );
    line("run", &approval.loop_id.to_string());
    line(
        "manifest",
        &format!("{} sha256 {}", approval.manifest, approval.manifest_sha256),
    );
    for slot in &approval.slots {
        line("slot", &slot_line(slot));
    }
    line("readers", &approval.readers.to_string());
    if let Some(carried) = &approval.carried {
        line("carried", carried);
    }
    for notice in &approval.notices {
        line("notice", notice);
    }
    line("merge", &format!("exactly {}", approval.head.oid));
    text
}

fn named(oid: &crate::domain::oid::Oid, name: &str) -> String {
    if name == oid.as_str() {
        oid.to_string()
    } else {
        format!("{oid} ({})", RepoPath::from(name))
    }
}

fn slot_line(slot: &ApprovedSlot) -> String {
    let by = slot.by.as_str();
    format!(
        "{} ({}): PASS by {by}, findings {}, fail-on {}",
        slot.slot,
        // A name from a file that perhaps nobody vouches for: it must not write to a terminal.
        RepoPath::from(slot.agent.as_str()),
        slot.findings.total(),
        slot.fail_on
    )
}
