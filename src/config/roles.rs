//! Who works besides the panel: creator, planner and arbiter (design, sections 2 and 4).

use crate::config::agents;
use crate::config::load::Config;
use crate::config::world::World;
use crate::domain::agent::{Agent, AgentKind, Contract};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::slot::Slot;

/// What the command line alone decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// Whether nothing is implemented; a creator then comes from the command line only.
    pub review_only: bool,
    /// `--creator`.
    pub creator: Option<&'a str>,
    /// Whether `--arbiter` stands there.
    pub arbiter_named: bool,
    /// Whether the planner is to write the plan (`--plan`).
    pub plan: bool,
}

/// Who works besides the panel.
#[derive(Debug, Clone, Default)]
pub struct Cast {
    /// Who implements and corrects.
    pub creator: Option<Agent>,
    /// Who plans.
    pub planner: Option<Agent>,
    /// Who arbitrates.
    pub arbiter: Option<Agent>,
    /// Things to tell.
    pub notices: Vec<String>,
}

/// Resolves the roles.
///
/// # Errors
/// `CreatorMissing`, `PlannerMissing`, `AgentUnfit`, or what an agent is refused for.
pub fn cast(config: &Config, world: &World<'_>, asked: Asked<'_>) -> Result<Cast, Failure> {
    let roles = &config.settings.roles;
    let creator = if asked.review_only {
        asked.creator
    } else {
        roles.creator.as_deref()
    };
    let Some(creator) = creator else {
        if asked.review_only {
            // Nobody answers findings, so nobody plans and nobody disputes.
            return Ok(Cast::default());
        }
        return Err(creator_missing(config));
    };
    let resolve = |role: &str, name: &str| -> Result<Agent, Failure> {
        let agent = agents::resolve(config, name, world)?;
        fit(role, &agent)?;
        Ok(agent)
    };
    let creator = resolve("creator", creator)?;
    let planner = roles
        .planner
        .as_deref()
        .map(|name| resolve("planner", name))
        .transpose()?;
    if asked.plan && planner.is_none() {
        return Err(Failure::new(
            Code::PlannerMissing,
            "--plan lets a planner write the plan, and neither --planner nor `roles.planner` \
             names one",
        )
        .next(["run-loop", "config", "show", "--origin"]));
    }
    let mut notices = Vec::new();
    let arbiter = match &roles.arbiter {
        Some(name) => {
            let arbiter = resolve("arbiter", name)?;
            impartial(&arbiter, &creator, asked.arbiter_named)?;
            Some(arbiter)
        }
        None => match &planner {
            Some(planner) if planner.is_same(&creator) => {
                notices.push(format!(
                    "there is no arbiter: the planner {} is the creator's agent; a finding that \
                     stays in dispute ends the run (name another one with --arbiter)",
                    planner.name
                ));
                None
            }
            Some(planner) if fit("arbiter", planner).is_err() => {
                notices.push(format!(
                    "there is no arbiter: the planner {} cannot rule on findings; a finding that \
                     stays in dispute ends the run (name another one with --arbiter)",
                    planner.name
                ));
                None
            }
            Some(planner) => Some(planner.clone()),
            None => None,
        },
    };
    Ok(Cast {
        creator: Some(creator),
        planner,
        arbiter,
        notices,
    })
}

/// What is to be told of slots whose findings the arbiter may not rule on, since it found them.
#[must_use]
pub fn without_arbiter(cast: &Cast, panel: &[Slot]) -> Option<String> {
    let arbiter = cast.arbiter.as_ref()?;
    let own = panel.iter().filter(|slot| slot.agent.is_same(arbiter));
    let own: Vec<&str> = own.map(|slot| slot.name.as_str()).collect();
    (!own.is_empty()).then(|| {
        format!(
            "the arbiter {} may not rule on what it finds itself as {}: such a finding that stays in \
             dispute ends the run (name another one with --arbiter)",
            arbiter.name,
            own.join(", ")
        )
    })
}

fn creator_missing(config: &Config) -> Failure {
    let names: Vec<&str> = config.settings.agents.keys().map(String::as_str).collect();
    let known = if names.is_empty() {
        "no agent is configured".to_owned()
    } else {
        format!("configured are {}", names.join(", "))
    };
    Failure::new(
        Code::CreatorMissing,
        format!(
            "nobody is named who writes: neither --creator nor `roles.creator` names an agent; \
             {known}"
        ),
    )
    .next(agents::where_agents_stand(config))
}

/// Checks that an agent can do what the role asks of it.
fn fit(role: &str, agent: &Agent) -> Result<(), Failure> {
    let reason = match &agent.kind {
        AgentKind::Checks => "is `checks`, which runs no prompt",
        AgentKind::Human => "is a person at a terminal, who can only review",
        AgentKind::Command(_) if agent.remote => {
            "is remote, and cannot open the files of this machine"
        }
        AgentKind::Command(_) | AgentKind::Profile(_)
            if role == "arbiter" && agent.contract == Contract::Line =>
        {
            "answers with one line, and rulings are JSON"
        }
        AgentKind::Command(_) | AgentKind::Profile(_) => return Ok(()),
    };
    Err(unfit(format!(
        "the {role} cannot be {}, which {reason}",
        agent.name
    )))
}

/// Checks that the arbiter is not the creator, also not under another name, unless the command
/// line says so.
fn impartial(arbiter: &Agent, creator: &Agent, named: bool) -> Result<(), Failure> {
    if arbiter.definition == creator.definition {
        return Err(unfit(format!(
            "the arbiter cannot be {}, which is the creator: it would rule on its own disputes",
            arbiter.name
        )));
    }
    if arbiter.is_same(creator) && !named {
        return Err(unfit(format!(
            "the arbiter cannot be {}, which runs the same program as the creator {}, unless \
             --arbiter names it",
            arbiter.name, creator.name
        )));
    }
    Ok(())
}

fn unfit(message: String) -> Failure {
    Failure::new(Code::AgentUnfit, message).next(["run-loop", "config", "show", "--origin"])
}
