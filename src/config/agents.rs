//! Names of agents to agents.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::config::layer::Layer;
use crate::config::load::Config;
use crate::config::nearest::nearest;
use crate::config::profiles;
use crate::config::settings::{AgentEntry, Kind};
use crate::config::world::{Programs, World};
use crate::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, ProfileAgent, PromptChannel, ReportChannel,
};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::profile::Profile;

/// The built-in deterministic reviewer.
pub const CHECKS: &str = "checks";

/// Programs of agents for which profiles come later.
const LATER: [&str; 2] = ["grok", "agy"];

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
fn digest(name: &str, entry: &AgentEntry, profile: Option<(&Profile, bool)>) -> Digest {
    let kind = match entry.kind {
        Some(Kind::Command) => "command",
        Some(Kind::Human) => "human",
        Some(Kind::Acp) => "acp",
        None => "profile",
    };
    let mut canonical = json!({
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
    if let (Json::Object(canonical), Some(confine)) = (&mut canonical, stated_confine(entry)) {
        // Said only where it is another than usual: what was defined before the key was known stays
        // what it is.
        canonical.insert("confine".to_owned(), json!(confine));
    }
    if let (Json::Object(canonical), Some((profile, replaced))) = (&mut canonical, profile) {
        canonical.insert(
            "family".to_owned(),
            json!(family(name, entry, Some(profile))),
        );
        canonical.insert("effort".to_owned(), json!(entry.effort));
        // An embedded one is named: a later version may drive the same program better. What the
        // user put in its place is another definition.
        if replaced {
            canonical.insert("replaced".to_owned(), json!(profile));
        }
    }
    Digest::of(canonical.to_string().as_bytes())
}

/// What is stated of confinement and is not what holds anyway.
fn stated_confine(entry: &AgentEntry) -> Option<bool> {
    entry
        .confine
        .filter(|stated| *stated || entry.profile.is_some())
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
    let named;
    let entry = if let Some(entry) = config.settings.agents.get(name) {
        entry
    } else {
        named = profile_named(config, name).ok_or_else(|| unknown(config, name))?;
        &named
    };
    let path = ["agents", name];
    let misplaced = |key: &str, kind: &str| {
        config.invalid(
            &path,
            &format!("`agents.{name}.{key}` does not fit an agent of {kind}"),
        )
    };
    let profile = match (&entry.profile, entry.kind) {
        (Some(profile), _) => Some(profile_of(config, name, profile)?),
        (None, Some(Kind::Acp)) => Some(profile_of(config, name, profiles::ACP)?),
        (None, Some(Kind::Command | Kind::Human) | None) => None,
    };
    let kind = match (entry.kind, &profile) {
        (Some(_), Some(_)) if entry.profile.is_some() => {
            return Err(misplaced("kind", "a profile"));
        }
        (_, Some((profile, _))) => {
            if let Some(key) = beside_a_profile(entry) {
                let of = if entry.profile.is_some() {
                    "a profile"
                } else {
                    "`kind: acp`"
                };
                return Err(misplaced(key, of));
            }
            AgentKind::Profile(Box::new(profiled(config, name, entry, profile, world)?))
        }
        (None | Some(Kind::Acp), None) => {
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
    if profile.is_none() && entry.model.is_some() {
        return Err(misplaced("model", "no profile"));
    }
    if profile.is_none() && entry.effort.is_some() {
        return Err(misplaced("effort", "no profile"));
    }
    let profile = profile
        .as_ref()
        .map(|(profile, replaced)| (profile, *replaced));
    Ok(Agent {
        name: name.to_owned(),
        kind,
        remote: entry.remote,
        family: family(name, entry, profile.map(|(profile, _)| profile)),
        timeout: entry.timeout,
        contract: contract(entry),
        definition: digest(name, entry, profile),
    })
}

/// A key of an entry that a known way of talking leaves nothing to say for.
fn beside_a_profile(entry: &AgentEntry) -> Option<&'static str> {
    let misfit = [
        ("prompt", entry.prompt.is_some()),
        ("output", entry.output.is_some()),
        ("report", entry.report.is_some()),
        ("remote", entry.remote),
    ];
    let mut misfit = misfit.into_iter();
    misfit.find_map(|(key, stated)| stated.then_some(key))
}

/// Agents of one family share their blind spots.
fn family(name: &str, entry: &AgentEntry, profile: Option<&Profile>) -> String {
    let stated = entry.family.clone();
    stated
        .or_else(|| profile.and_then(|profile| profile.family.clone()))
        .unwrap_or_else(|| name.to_owned())
}

/// `profile` or `profile:model`, as an agent without an entry of its own.
fn profile_named(config: &Config, name: &str) -> Option<AgentEntry> {
    let (profile, model) = match name.split_once(':') {
        Some((profile, model)) => (profile, Some(model.to_owned())),
        None => (name, None),
    };
    let own = config.profiles.iter().any(|own| own.name == profile);
    let known = own || profiles::names().any(|known| known == profile);
    let blank = model.as_ref().is_some_and(|model| model.trim().is_empty());
    (known && !blank).then(|| AgentEntry {
        profile: Some(profile.to_owned()),
        model,
        effort: None,
        kind: None,
        command: None,
        prompt: None,
        output: None,
        report: None,
        contract: None,
        remote: false,
        family: None,
        timeout: None,
        env: Vec::new(),
        confine: None,
    })
}

/// The profile of an agent, and whether the user's own stands in the place of the embedded one.
fn profile_of(config: &Config, agent: &str, name: &str) -> Result<(Profile, bool), Failure> {
    if let Some(own) = config.profiles.iter().find(|own| own.name == name) {
        return Ok((own.clone(), true));
    }
    if LATER.contains(&name) {
        return Err(not_built(&format!(
            "`profile: {name}` of the agent {agent}"
        )));
    }
    let profile = profiles::embedded(name)?.ok_or_else(|| {
        let hint = match nearest(name, profiles::names()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!(
                "; there are {}",
                profiles::names().collect::<Vec<_>>().join(", ")
            ),
        };
        let message = format!("`agents.{agent}.profile` is {name:?}, which is no profile{hint}");
        config.invalid(&["agents", agent], &message)
    })?;
    Ok((profile, false))
}

/// The program of a profile, with what was chosen for it.
fn profiled(
    config: &Config,
    name: &str,
    entry: &AgentEntry,
    profile: &Profile,
    world: &World<'_>,
) -> Result<ProfileAgent, Failure> {
    let path = ["agents", name];
    let wrong = |what: String| Err(config.invalid(&path, &what));
    if entry.model.is_some() && !profile.takes_model() {
        return wrong(format!("the profile {} takes no model", profile.name));
    }
    if entry.effort.is_some() && profile.effort.is_empty() {
        return wrong(format!("the profile {} takes no effort", profile.name));
    }
    variables(config, name, entry)?;
    let (program, args) = match entry.command.as_deref().map(<[String]>::split_first) {
        Some(Some((program, args))) => {
            trusted(config, name)?;
            (world.program(name, program)?, args.to_vec())
        }
        Some(None) => return wrong(format!("the key `agents.{name}.command` is empty")),
        None => {
            if !entry.env.is_empty() {
                trusted(config, name)?;
            }
            let Some((first, others)) = profile.programs.split_first() else {
                return wrong(format!(
                    "the profile {} knows no program: name it in `agents.{name}.command`",
                    profile.name
                ));
            };
            let launcher = others
                .iter()
                .fold(world.program(name, first), |found, other| {
                    found.or_else(|missing| world.program(name, other).map_err(|_| missing))
                })
                .map_err(which_are_here)?;
            (world.native(name, &launcher, &profile.native)?, Vec::new())
        }
    };
    Ok(ProfileAgent {
        profile: profile.clone(),
        program,
        args,
        model: entry.model.clone(),
        effort: entry.effort.clone(),
        env: entry.env.clone(),
        confine: entry.confine.unwrap_or_else(|| profile.confined.is_some()),
    })
}

/// What is not on `PATH` is helped by the list of what is; what can be mended itself keeps its own
/// command.
fn which_are_here(missing: Failure) -> Failure {
    if missing
        .next
        .0
        .first()
        .is_some_and(|first| first == "run-loop")
    {
        missing.next(["run-loop", "agents"])
    } else {
        missing
    }
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
    variables(config, name, entry)?;
    trusted(config, name)?;
    let program = world.program(name, program)?;
    Ok(CommandAgent {
        program,
        args: args.to_vec(),
        prompt: entry.prompt.unwrap_or(PromptChannel::Stdin),
        report: entry.report.unwrap_or(ReportChannel::Stdout),
        env: entry.env.clone(),
        confine: entry.confine.unwrap_or(false),
    })
}

fn variables(config: &Config, name: &str, entry: &AgentEntry) -> Result<(), Failure> {
    match entry.env.iter().find(|variable| !is_passable(variable)) {
        None => Ok(()),
        Some(variable) => Err(config.invalid(
            &["agents", name],
            &format!("`agents.{name}.env` names {variable:?}, which cannot be passed on"),
        )),
    }
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
        Some(origin) if from_copy && !trusted => {
            let failure = Failure::new(
                Code::ConfigUntrusted,
                format!(
                    "the agent {name} runs a command that only the working copy defines ({origin}), \
                     and you have not trusted that file as it is"
                ),
            );
            // Of this file, wherever the command is pasted: another working tree has another one.
            let trust = ["run-loop", "config", "trust"].map(str::to_owned);
            let file = origin.file.as_deref().map(Path::new);
            let place = file
                .and_then(Path::parent)
                .filter(|place| place.is_absolute());
            let place = place.map(|place| ["--worktree".to_owned(), place.display().to_string()]);
            Err(failure.next(trust.into_iter().chain(place.into_iter().flatten())))
        }
        Some(_) | None => Ok(()),
    }
}

fn unknown(config: &Config, name: &str) -> Failure {
    let profile = name.split(':').next().unwrap_or(name);
    if LATER.contains(&profile) {
        return not_built(&format!("the built-in agent {name:?}"));
    }
    let known: Vec<&str> = [CHECKS].into_iter().chain(profiles::names()).collect();
    let configured = config.settings.agents.keys().map(String::as_str);
    let hint = match nearest(name, configured.chain(known)) {
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
    .next(where_agents_stand(config))
}

/// The command that lists who can be named: those of the configuration, or the programs that are
/// known without one.
pub(super) fn where_agents_stand(config: &Config) -> Vec<&'static str> {
    if config.settings.agents.is_empty() {
        vec!["run-loop", "agents"]
    } else {
        vec!["run-loop", "config", "show", "--origin"]
    }
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
