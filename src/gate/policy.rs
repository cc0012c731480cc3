//! Whether an approval fulfils the base's policy.

use std::collections::BTreeSet;

use crate::domain::agent::{Agent, Contract};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::evidence::UnreviewedKind;
use crate::domain::failure::Failure;
use crate::domain::isolation::{EvidenceKind, Isolation};
use crate::domain::run_spec::Quorum;
use crate::domain::slot::SlotName;
use crate::domain::verdict::{Coverage, PassedBy};
use crate::gate::request::GatePolicy;
use crate::promote::manifest::{InstructionHash, PanelSlot, Standing};
use crate::promote::{Manifest, Sidecar};

/// Checks everything that the policy asks of the panel.
pub(super) fn fulfilled(
    policy: &GatePolicy,
    manifest: &Manifest,
    sidecars: &[Sidecar],
) -> Result<(), Failure> {
    if manifest.readers == 0 {
        return Err(Failure::new(
            Code::GateChecksOnly,
            format!(
                "run {} passed by checks only: nobody read this change",
                manifest.loop_id
            ),
        )
        .next(["run-loop", "agents"]));
    }
    complete(policy, manifest)?;
    unreviewed(policy, manifest, sidecars)?;
    for slot in &manifest.panel {
        if slot.fail_on > policy.fail_on {
            return Err(unmet(format!(
                "slot {} blocked from {} on and the base asks for {}",
                slot.slot, slot.fail_on, policy.fail_on
            )));
        }
    }
    for name in &policy.policy.require {
        required(policy, manifest, name)?;
    }
    // A slot beyond the required ones that is weaker than the base asks does no harm, and counts
    // for nothing.
    let strong: Vec<_> = manifest
        .panel
        .iter()
        .filter(|slot| slot.reader && weakness(policy, slot).is_none())
        .collect();
    let families: BTreeSet<_> = strong.iter().map(|slot| &slot.agent.family).collect();
    let needed = usize::try_from(policy.policy.families)
        .unwrap_or(usize::MAX)
        .max(1);
    if families.len() >= needed {
        return Ok(());
    }
    let weak = manifest.panel.iter().filter(|slot| slot.reader);
    let weak: Vec<_> = weak
        .filter_map(|slot| Some(format!("; slot {}: {}", slot.slot, weakness(policy, slot)?)))
        .collect();
    Err(unmet(format!(
        "readers of {} families count and the policy asks for {needed}{}",
        families.len(),
        weak.concat()
    )))
}

fn unmet(message: String) -> Failure {
    Failure::new(Code::GatePolicyUnmet, message)
}

/// Checks that no verdict is missing that the base's quorum does not forgive.
fn complete(policy: &GatePolicy, manifest: &Manifest) -> Result<(), Failure> {
    let missing = manifest
        .panel
        .iter()
        .find(|slot| slot.standing == Standing::NoVerdict);
    let Some(missing) = missing else {
        return Ok(());
    };
    let passed = manifest
        .panel
        .iter()
        .filter(|slot| slot.standing != Standing::NoVerdict);
    let enough = match policy.quorum {
        Quorum::All => false,
        Quorum::AtLeast(count) => u32::try_from(passed.count()).is_ok_and(|passed| passed >= count),
    };
    if enough {
        return Ok(());
    }
    Err(unmet(format!("slot {} gave no verdict", missing.slot)))
}

/// Checks that what was not shown, and findings of `checks` that did not block, are what the base
/// allows today.
fn unreviewed(
    policy: &GatePolicy,
    manifest: &Manifest,
    sidecars: &[Sidecar],
) -> Result<(), Failure> {
    let kinds = [
        UnreviewedKind::Excluded,
        UnreviewedKind::Binary,
        UnreviewedKind::LfsPointer,
        UnreviewedKind::Submodule,
    ];
    for kind in kinds {
        let count = sidecars
            .iter()
            .map(|sidecar| sidecar.scope.unreviewed(kind))
            .max();
        if count.unwrap_or(0) == 0 {
            continue;
        }
        // The globs of the run allowed these files; the same globs must stand at the base.
        let allowed = |policy: &crate::domain::policy::Policy| -> BTreeSet<String> {
            let entries = policy.allow_unreviewed.iter();
            let entries = entries.filter(|entry| entry.kind == kind);
            entries.map(|entry| entry.paths.clone()).collect()
        };
        let (then, now) = (allowed(&manifest.policy.policy), allowed(&policy.policy));
        if then.is_empty() || !then.is_subset(&now) {
            return Err(unmet(format!(
                "{} changed files were not shown ({}), which the base does not allow",
                count.unwrap_or(0),
                kind.as_str()
            )));
        }
    }
    let now = &policy.policy.allow_findings;
    match manifest
        .policy
        .policy
        .allow_findings
        .iter()
        .find(|then| !now.contains(then))
    {
        Some(then) => Err(unmet(format!(
            "findings of {} under {} did not block, which the base does not allow",
            then.rule, then.paths
        ))),
        None => Ok(()),
    }
}

/// Checks a slot that the policy requires: by definition, and not by name alone.
fn required(policy: &GatePolicy, manifest: &Manifest, name: &SlotName) -> Result<(), Failure> {
    let slot = manifest.panel.iter().find(|slot| slot.slot == *name);
    let Some(slot) = slot.filter(|slot| slot.standing != Standing::NoVerdict) else {
        return Err(unmet(format!(
            "the policy requires slot {name}, and run {} did not pass it",
            manifest.loop_id
        )));
    };
    if *name == SlotName::checks() {
        return required_checks(policy, manifest, slot);
    }
    let Some(wanted) = policy.panel.iter().find(|slot| slot.name == *name) else {
        return Err(unmet(format!(
            "the policy requires slot {name}, which the base does not define"
        )));
    };
    let agents = std::iter::once(&wanted.agent).chain(&wanted.fallback);
    let Some(agent) = with_definition(agents, &slot.agent.definition) else {
        return Err(unmet(format!(
            "slot {name} was filled by {} ({}), which is not the agent that the base defines",
            slot.agent.name, slot.agent.definition
        )));
    };
    if agent.contract != slot.contract {
        return Err(unmet(format!(
            "slot {name} was read by another contract than the base asks"
        )));
    }
    let sorted = |mut hashes: Vec<InstructionHash>| {
        hashes.sort();
        hashes
    };
    if sorted(InstructionHash::of(wanted)) != sorted(slot.instructions.clone()) {
        return Err(unmet(format!(
            "slot {name} was given other instructions than the base has"
        )));
    }
    match weakness(policy, slot) {
        Some(weakness) => Err(unmet(format!("slot {name} {weakness}"))),
        None => Ok(()),
    }
}

fn required_checks(
    policy: &GatePolicy,
    manifest: &Manifest,
    slot: &PanelSlot,
) -> Result<(), Failure> {
    let by_checks = matches!(
        slot.standing,
        Standing::Passed {
            by: PassedBy::Checks,
            ..
        } | Standing::Passed {
            by: PassedBy::Threshold,
            ..
        }
    );
    if slot.reader || !by_checks {
        return Err(unmet(
            "slot checks was not filled by the built-in checks".to_owned(),
        ));
    }
    let mut built_in = policy.agents.iter().filter(|agent| agent.is_checks());
    if built_in.any(|agent| agent.definition != slot.agent.definition) {
        return Err(unmet(
            "slot checks was filled by other checks than this version has".to_owned(),
        ));
    }
    if manifest.policy.checks_sha256 != policy.checks_sha256 {
        return Err(unmet(
            "slot checks ran other commands than the base has".to_owned(),
        ));
    }
    Ok(())
}

fn with_definition<'a>(
    agents: impl IntoIterator<Item = &'a Agent>,
    definition: &Digest,
) -> Option<&'a Agent> {
    agents
        .into_iter()
        .find(|agent| agent.definition == *definition)
}

/// In what a slot that passed is weaker than the base asks, if it is.
fn weakness(policy: &GatePolicy, slot: &PanelSlot) -> Option<&'static str> {
    let Standing::Passed {
        coverage, evidence, ..
    } = slot.standing
    else {
        return Some("gave no verdict");
    };
    let panel = policy.panel.iter();
    let defined = panel.flat_map(|slot| std::iter::once(&slot.agent).chain(&slot.fallback));
    let agent = with_definition(defined.chain(&policy.agents), &slot.agent.definition);
    match evidence {
        EvidenceKind::SourceTree if policy.isolation == Isolation::Worktree => {
            return Some(
                "read in the source tree itself (env), and the base asks for a review tree \
                 (review.isolation: worktree)",
            );
        }
        // An agent that cannot see this machine has nothing else; the base must say that it is
        // such a one.
        EvidenceKind::DiffOnly if !agent.is_some_and(|agent| agent.remote) => {
            return Some(
                "judged by the diff alone, and the base does not say that its agent is remote",
            );
        }
        EvidenceKind::ReviewTree | EvidenceKind::SourceTree | EvidenceKind::DiffOnly => {}
    }
    let covered = match slot.contract {
        Contract::Json => coverage == Coverage::Full,
        // Nothing is claimed to be read; the base must say that the agent is such a one.
        Contract::Line => agent.is_some_and(|agent| agent.contract == Contract::Line),
    };
    (!covered).then_some("claims less coverage than the base asks")
}
