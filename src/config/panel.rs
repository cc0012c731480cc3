//! The panel: slots from roles, and whether they can reach the policy.

use std::collections::BTreeSet;

use crate::config::agents::{self, CHECKS};
use crate::config::load::Config;
use crate::config::rules;
use crate::config::settings::{Coverage, ReviewerEntry};
use crate::config::world::{Programs, ReadBase, World};
use crate::domain::agent::{Agent, Contract};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::policy::Policy;
use crate::domain::run_spec::Quorum;
use crate::domain::slot::{Instruction, Slot, SlotName};

/// Names that no slot may have: folders and roles of ours. `checks` is the built-in's alone.
const RESERVED: [&str; 6] = [
    "approvals",
    "self-review",
    "planner",
    "creator",
    "arbiter",
    "human",
];

/// Instruction files larger than this are refused.
const INSTRUCTION_CAP: usize = 64 * 1024;

/// The slots of a run.
///
/// # Errors
/// `EmptyPanel`, `BadSlotName`, or what an agent of it is refused for.
pub fn slots(config: &Config, world: &World<'_>) -> Result<Vec<Slot>, Failure> {
    let entries = entries(config)?;
    let names = names(&entries)?;
    entries
        .iter()
        .zip(names)
        .map(|(entry, name)| slot(config, world, entry, name))
        .collect()
}

/// Whether somebody is named who reviews.
#[must_use]
pub fn is_stated(config: &Config) -> bool {
    let stated = &config.settings.roles.reviewers;
    stated.as_ref().is_some_and(|entries| !entries.is_empty())
}

/// The panel of a run with a creator and no reviewer: the creator reviews its own work, joined by
/// `checks` (row M-012).
///
/// # Errors
/// What an agent of it is refused for.
pub fn self_review(
    config: &Config,
    world: &World<'_>,
    creator: &Agent,
) -> Result<Vec<Slot>, Failure> {
    let entry = |agent: &str| ReviewerEntry {
        agent: agent.to_owned(),
        name: None,
        instructions: Vec::new(),
        fallback: Vec::new(),
        coverage: None,
    };
    Ok(vec![
        slot(
            config,
            world,
            &entry(&creator.name),
            SlotName::self_review(),
        )?,
        slot(config, world, &entry(CHECKS), SlotName::checks())?,
    ])
}

/// The slots as this configuration alone defines them: for the gate, and for slots that the
/// policy requires. Programs are not looked for; a slot that no run could open as it stands there
/// is left out, so that nothing can be approved in its name.
///
/// # Errors
/// `BadSlotName` or `ConfigInvalid`.
pub fn declared(config: &Config, read_base: &ReadBase<'_>) -> Result<Vec<Slot>, Failure> {
    let entries = config.settings.roles.reviewers.clone().unwrap_or_default();
    let world = World {
        repository: &[],
        read_base,
        programs: Programs::AsWritten,
    };
    let mut slots = Vec::new();
    for (entry, name) in entries.iter().zip(names(&entries)?) {
        match slot(config, &world, entry, name) {
            Ok(slot) => slots.push(slot),
            Err(failure)
                if matches!(
                    failure.code,
                    Code::NotBuilt | Code::UnknownAgent | Code::PanelBelowPolicy
                ) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(slots)
}

fn entries(config: &Config) -> Result<Vec<ReviewerEntry>, Failure> {
    let settings = &config.settings;
    let stated = settings.roles.reviewers.clone();
    if let Some(entries) = stated.clone().filter(|entries| !entries.is_empty()) {
        return Ok(entries);
    }
    let roles = &settings.roles;
    let nothing_configured = stated.is_none()
        && settings.agents.is_empty()
        && roles.creator.is_none()
        && roles.planner.is_none();
    if nothing_configured {
        return Ok(vec![ReviewerEntry {
            agent: CHECKS.to_owned(),
            name: None,
            instructions: Vec::new(),
            fallback: Vec::new(),
            coverage: None,
        }]);
    }
    let why = match stated {
        Some(_) => "`roles.reviewers` is an empty list".to_owned(),
        None => format!(
            "agents or roles are configured, and nothing says who reviews; agents: {}",
            settings
                .agents
                .keys()
                .map(String::as_str)
                .chain([CHECKS])
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    let agent = settings.agents.keys().next().map_or(CHECKS, String::as_str);
    Err(Failure::new(
        Code::EmptyPanel,
        format!("the panel has no reviewer: {why}"),
    )
    .next([
        "run-loop",
        "--base",
        "main",
        "--review-only",
        "--reviewer",
        agent,
    ]))
}

fn names(entries: &[ReviewerEntry]) -> Result<Vec<SlotName>, Failure> {
    let mut taken: Vec<SlotName> = Vec::new();
    for entry in entries {
        let name = name(entry)?;
        if taken.contains(&name) && name == SlotName::checks() {
            return Err(bad_name(
                "`checks` is in the panel twice; leave one out".to_owned(),
            ));
        }
        if taken.contains(&name) {
            let free = (2..=64)
                .filter_map(|n: u32| SlotName::parse(&format!("{name}-{n}")))
                .find(|free| !taken.contains(free));
            let hint = free.map_or_else(String::new, |free| {
                format!(
                    "; name one of them in `roles.reviewers`: {{agent: {}, name: {free}}}",
                    entry.agent
                )
            });
            return Err(bad_name(format!(
                "two slots are named {:?}{hint}",
                name.as_str()
            )));
        }
        taken.push(name);
    }
    Ok(taken)
}

fn name(entry: &ReviewerEntry) -> Result<SlotName, Failure> {
    let (text, stated) = match &entry.name {
        Some(name) => (name.clone(), true),
        None => (made_valid(&entry.agent), false),
    };
    let name = SlotName::parse(&text).ok_or_else(|| {
        let hint = SlotName::parse(&made_valid(&text))
            .map_or_else(String::new, |valid| format!("; use {:?}", valid.as_str()));
        let what = if stated {
            "the slot name"
        } else {
            "the slot name made from the agent"
        };
        bad_name(format!(
            "{what} {text:?} does not match [a-z0-9][a-z0-9._-]{{0,63}}{hint}"
        ))
    })?;
    let is_checks = entry.agent == CHECKS;
    if !is_checks && !stated && name == SlotName::checks() {
        let message = format!(
            "no agent is named {:?}; did you mean `{CHECKS}`?",
            entry.agent
        );
        return Err(Failure::new(Code::UnknownAgent, message).next(["run-loop", "agents"]));
    }
    if is_checks != (name == SlotName::checks()) || RESERVED.contains(&name.as_str()) {
        return Err(bad_name(format!(
            "the slot name {:?} is reserved, or `checks` has another one than its own; use {:?}",
            name.as_str(),
            if is_checks {
                CHECKS.to_owned()
            } else {
                format!("{}-reviewer", made_valid(&entry.agent))
            },
        )));
    }
    Ok(name)
}

/// An agent's name as a slot's: lower case, anything else than the pattern's characters a hyphen.
fn made_valid(agent: &str) -> String {
    let text: String = agent
        .to_lowercase()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || ".-_".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    text.trim_matches(['.', '-', '_'])
        .chars()
        .take(64)
        .collect()
}

fn bad_name(message: String) -> Failure {
    Failure::new(Code::BadSlotName, message).next(["run-loop", "config", "show", "--origin"])
}

fn slot(
    config: &Config,
    world: &World<'_>,
    entry: &ReviewerEntry,
    name: SlotName,
) -> Result<Slot, Failure> {
    let agent = agents::resolve(config, &entry.agent, world)?;
    let place = ["roles", "reviewers"];
    if agent.is_checks() && (!entry.fallback.is_empty() || !entry.instructions.is_empty()) {
        return Err(config.invalid(&place, "`checks` takes neither instructions nor fallbacks"));
    }
    let mut fallback: Vec<Agent> = Vec::new();
    for other in &entry.fallback {
        let resolved = agents::resolve(config, other, world)?;
        if resolved.is_checks() {
            return Err(
                config.invalid(&place, "`checks` reads nothing, so it is nobody's fallback")
            );
        }
        if resolved.definition == agent.definition || fallback.contains(&resolved) {
            let message = format!("the slot {name} falls back to {other:?}, which it has already");
            return Err(config.invalid(&place, &message));
        }
        fallback.push(resolved);
    }
    let strict = entry.coverage.unwrap_or(config.settings.review.coverage) == Coverage::Strict;
    let uncovered = std::iter::once(&agent)
        .chain(&fallback)
        .find(|agent| strict && agent.contract == Contract::Line);
    if let Some(agent) = uncovered {
        return Err(below(format!(
            "the slot {name} must show coverage, and the reports of {} show none; if that is \
             enough, say so in `roles.reviewers` at the base: \
             {{agent: {}, name: {name}, coverage: none}}",
            agent.name, entry.agent
        )));
    }
    let instructions = entry
        .instructions
        .iter()
        .map(|path| instruction(config, world, path))
        .collect::<Result<_, _>>()?;
    Ok(Slot {
        name,
        agent,
        fallback,
        instructions,
    })
}

fn instruction(config: &Config, world: &World<'_>, path: &str) -> Result<Instruction, Failure> {
    let wrong = |what: &str| {
        let message = format!("the instructions {path:?} {what}");
        config.invalid(&["roles", "reviewers"], &message)
    };
    rules::plain(config, &["roles", "reviewers"], path)?;
    let bytes = (world.read_base)(path)?.ok_or_else(|| wrong("are not at the base"))?;
    if bytes.len() > INSTRUCTION_CAP {
        return Err(wrong(&format!(
            "have {} bytes; {INSTRUCTION_CAP} are allowed",
            bytes.len()
        )));
    }
    let sha256 = Digest::of(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| wrong("are not UTF-8"))?;
    if text.trim().is_empty() {
        return Err(wrong("are blank"));
    }
    Ok(Instruction {
        path: path.to_owned(),
        text,
        sha256,
    })
}

/// Checks that the panel can reach its policy, if every slot passes.
///
/// `at_base` is what [`declared`] says of the base's configuration: the gate will judge a
/// required slot by it.
///
/// # Errors
/// `PanelBelowPolicy`.
pub fn reaches(
    panel: &[Slot],
    policy: &Policy,
    quorum: Quorum,
    at_base: &[Slot],
) -> Result<(), Failure> {
    for name in &policy.require {
        required(panel, name, at_base)?;
    }
    let families: BTreeSet<&str> = panel
        .iter()
        .filter(|slot| slot.is_reader())
        .map(|slot| slot.agent.family.as_str())
        .collect();
    let wanted = usize::try_from(policy.families).unwrap_or(usize::MAX);
    // A panel of `checks` alone is its own, weaker outcome, unless the policy asks for readers.
    let checks_alone = families.is_empty() && wanted <= 1;
    if families.len() < wanted && !checks_alone {
        return Err(below(format!(
            "the policy asks for readers of {wanted} families, and the panel has {}",
            families.len()
        )));
    }
    match quorum {
        Quorum::AtLeast(n) if usize::try_from(n).unwrap_or(usize::MAX) > panel.len() => Err(below(
            format!("the quorum is {n}, and the panel has {} slots", panel.len()),
        )),
        Quorum::AtLeast(_) | Quorum::All => Ok(()),
    }
}

fn required(panel: &[Slot], name: &SlotName, at_base: &[Slot]) -> Result<(), Failure> {
    let Some(slot) = panel.iter().find(|slot| slot.name == *name) else {
        let names: Vec<&str> = panel.iter().map(|slot| slot.name.as_str()).collect();
        return Err(below(format!(
            "the policy requires the slot {name}, and the panel is {}",
            names.join(", ")
        )));
    };
    if *name == SlotName::checks() {
        return Ok(());
    }
    let Some(wanted) = at_base.iter().find(|slot| slot.name == *name) else {
        return Err(below(format!(
            "the policy requires the slot {name}, and the base does not define it in \
             `roles.reviewers` with an agent of its own"
        )));
    };
    let is_wanted = |agent: &Agent| {
        std::iter::once(&wanted.agent)
            .chain(&wanted.fallback)
            .any(|wanted| wanted.definition == agent.definition)
    };
    let mut agents = std::iter::once(&slot.agent).chain(&slot.fallback);
    if let Some(agent) = agents.find(|agent| !is_wanted(agent)) {
        return Err(below(format!(
            "the policy requires the slot {name}, and its agent {} is not one that the base gives it",
            agent.name
        )));
    }
    if slot.instructions != wanted.instructions {
        return Err(below(format!(
            "the policy requires the slot {name} with the instructions that the base gives it"
        )));
    }
    Ok(())
}

/// Checks that no agent of the panel is remote, unless the option admits it (rows M-025, M-090).
///
/// # Errors
/// `RemoteNeedsOption`.
pub fn admits_remote(panel: &[Slot], diff_only: bool, argv: &[String]) -> Result<(), Failure> {
    let Some(slot) = panel.iter().find(|slot| slot.has_remote_agent()) else {
        return Ok(());
    };
    if diff_only {
        return Ok(());
    }
    // Right behind the program: at the end they might stand behind `--`.
    let (program, rest) = argv.split_at(argv.len().min(1));
    let option = ["--remote-review", "diff-only"].map(str::to_owned);
    let next = [program, &option, rest].concat();
    Err(Failure::new(
        Code::RemoteNeedsOption,
        format!(
            "the slot {} has a remote agent, which cannot open a review tree; \
             `--remote-review diff-only` lets it judge by the diff alone",
            slot.name
        ),
    )
    .next(next))
}

fn below(message: String) -> Failure {
    Failure::new(Code::PanelBelowPolicy, message).next(["run-loop", "config", "show", "--origin"])
}
