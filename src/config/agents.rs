//! Names of agents to agents.

use serde_json::json;

use crate::config::layer::Layer;
use crate::config::load::Config;
use crate::config::nearest::nearest;
use crate::config::settings::{AgentEntry, Kind};
use crate::config::world::{Programs, World};
use crate::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, PromptChannel, ReportChannel,
};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;

/// The built-in deterministic reviewer.
pub const CHECKS: &str = "checks";

/// Programs of agents for which profiles come later; found on `PATH`, they are named in a hint.
pub const PROFILES: [&str; 6] = ["claude", "codex", "gemini", "opencode", "grok", "agy"];

/// The agents that a configuration defines, for the gate: programs are not looked for, and those
/// that this version cannot run are left out.
///
/// # Errors
/// `ConfigInvalid`.
pub fn declared(config: &Config) -> Result<Vec<Agent>, Failure> {
    let world = World {
        repository: &[],
        read_base: &|_| Ok(None),
        programs: Programs::AsWritten,
    };
    let mut agents = Vec::new();
    for name in config.settings.agents.keys() {
        match resolve(config, name, &world) {
            Ok(agent) => agents.push(agent),
            Err(failure) if failure.code == Code::NotBuilt => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(agents)
}

/// Canonical: keys are sorted by the map, defaults are filled in, budgets are left out.
fn digest(name: &str, entry: &AgentEntry) -> Digest {
    let kind = match entry.kind {
        Some(Kind::Command) => "command",
        Some(Kind::Human) => "human",
        Some(Kind::Acp) => "acp",
        None => "profile",
    };
    let canonical = json!({
        "name": name,
        "kind": kind,
        "profile": entry.profile,
        "model": entry.model,
        "command": entry.command,
        "prompt": entry.prompt.unwrap_or(PromptChannel::Stdin),
        "output": entry.output.as_deref().unwrap_or("text"),
        "report": entry.report.unwrap_or(ReportChannel::Stdout),
        "contract": contract(entry),
        "remote": entry.remote,
        "family": entry.family.as_deref().unwrap_or(name),
        "env": entry.env,
    });
    Digest::of(canonical.to_string().as_bytes())
}

/// A person writes no JSON.
fn contract(entry: &AgentEntry) -> Contract {
    match entry.kind {
        Some(Kind::Human) => Contract::Line,
        Some(Kind::Command | Kind::Acp) | None => entry.contract.unwrap_or(Contract::Json),
    }
}

/// Resolves an agent's name.
///
/// # Errors
/// `UnknownAgent`, `NotBuilt`, `ConfigInvalid`, `ConfigUntrusted` or `AgentNotRunnable`.
pub fn resolve(config: &Config, name: &str, world: &World<'_>) -> Result<Agent, Failure> {
    if name == CHECKS {
        return checks(config);
    }
    let Some(entry) = config.settings.agents.get(name) else {
        return Err(unknown(config, name));
    };
    let path = ["agents", name];
    let misplaced = |key: &str, kind: &str| {
        config.invalid(
            &path,
            &format!("`agents.{name}.{key}` does not fit an agent of {kind}"),
        )
    };
    let kind = match (entry.kind, &entry.profile) {
        (Some(Kind::Acp), _) => return Err(not_built(&format!("`kind: acp` of the agent {name}"))),
        (_, Some(profile)) => {
            return Err(not_built(&format!(
                "`profile: {profile}` of the agent {name}"
            )));
        }
        (None, None) => {
            return Err(config.invalid(&path, &format!("the key `agents.{name}.kind` is missing")));
        }
        (Some(Kind::Human), None) => match &entry.command {
            Some(_) => return Err(misplaced("command", "`kind: human`")),
            None if entry.remote => return Err(misplaced("remote", "`kind: human`")),
            None if entry.contract == Some(Contract::Json) => {
                return Err(misplaced("contract: json", "`kind: human`"));
            }
            None => AgentKind::Human,
        },
        (Some(Kind::Command), None) => AgentKind::Command(command(config, name, entry, world)?),
    };
    if entry.model.is_some() {
        return Err(misplaced("model", "no profile"));
    }
    Ok(Agent {
        name: name.to_owned(),
        kind,
        remote: entry.remote,
        family: entry.family.clone().unwrap_or_else(|| name.to_owned()),
        timeout: entry.timeout,
        contract: contract(entry),
        definition: digest(name, entry),
    })
}

fn checks(config: &Config) -> Result<Agent, Failure> {
    if config.settings.agents.contains_key(CHECKS) {
        return Err(config.invalid(
            &["agents", CHECKS],
            "`checks` is built in; name the agent otherwise",
        ));
    }
    Ok(Agent {
        name: CHECKS.to_owned(),
        kind: AgentKind::Checks,
        remote: false,
        family: CHECKS.to_owned(),
        timeout: None,
        contract: Contract::Json,
        definition: Digest::of(br#"{"kind":"checks","name":"checks"}"#),
    })
}

fn command(
    config: &Config,
    name: &str,
    entry: &AgentEntry,
    world: &World<'_>,
) -> Result<CommandAgent, Failure> {
    let path = ["agents", name];
    let Some((program, args)) = entry.command.as_deref().unwrap_or_default().split_first() else {
        return Err(config.invalid(
            &path,
            &format!("the key `agents.{name}.command` is missing"),
        ));
    };
    if let Some(variable) = entry.env.iter().find(|variable| !is_passable(variable)) {
        return Err(config.invalid(
            &path,
            &format!("`agents.{name}.env` names {variable:?}, which cannot be passed on"),
        ));
    }
    trusted(config, name)?;
    let program = world.program(name, program)?;
    Ok(CommandAgent {
        program,
        args: args.to_vec(),
        prompt: entry.prompt.unwrap_or(PromptChannel::Stdin),
        report: entry.report.unwrap_or(ReportChannel::Stdout),
        env: entry.env.clone(),
    })
}

/// Variables of git and of ours steer what a job sees; they are set by us alone.
fn is_passable(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    name.bytes().all(plain) && !name.starts_with("GIT_") && !name.starts_with("RUN_LOOP_")
}

fn trusted(config: &Config, name: &str) -> Result<(), Failure> {
    let origin = config.origin(&["agents", name]);
    let from_copy = origin
        .as_ref()
        .is_some_and(|origin| origin.layer == Layer::WorkingCopy);
    let trusted = config
        .working_copy
        .as_ref()
        .is_some_and(|(_, trusted)| *trusted);
    match origin {
        Some(origin) if from_copy && !trusted => Err(Failure::new(
            Code::ConfigUntrusted,
            format!(
                "the agent {name} runs a command that only the working copy defines ({origin}), \
                 and you have not trusted that file as it is"
            ),
        )
        .next(["run-loop", "config", "trust"])),
        Some(_) | None => Ok(()),
    }
}

fn unknown(config: &Config, name: &str) -> Failure {
    let profile = name.split(':').next().unwrap_or(name);
    if PROFILES.contains(&profile) {
        return not_built(&format!("the built-in agent {name:?}"));
    }
    let names = config
        .settings
        .agents
        .keys()
        .map(String::as_str)
        .chain([CHECKS]);
    let hint = match nearest(name, names) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if config.settings.agents.is_empty() => "; no agent is configured".to_owned(),
        None => {
            let names: Vec<&str> = config.settings.agents.keys().map(String::as_str).collect();
            format!("; configured are {}", names.join(", "))
        }
    };
    Failure::new(
        Code::UnknownAgent,
        format!("no agent is named {name:?}{hint}"),
    )
    .next(["run-loop", "config", "show", "--origin"])
}

fn not_built(what: &str) -> Failure {
    Failure::new(
        Code::NotBuilt,
        format!(
            "this version of run-loop does not have {what} yet; what works is `kind: command` \
             with the program as `command: [PROGRAM, ARGUMENTS]`"
        ),
    )
    .next(["run-loop", "schema", "config"])
}
