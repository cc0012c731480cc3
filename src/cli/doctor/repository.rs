//! What the repository says: its state, its configuration, its panel.

use super::Told;
use super::machine::{folder, space};
use crate::cli::args::doctor::DoctorArgs;
use crate::cli::environment::Environment;
use crate::cli::locate::{self, Place};
use crate::cli::newer_rules::NewerRules;
use crate::cli::{sources, templates, validate};
use crate::config::load::FILE_NAME;
use crate::config::world::{Programs, World};
use crate::config::{Config, Sources, agents, load, panel, rules};
use crate::domain::agent::Agent;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::slot::Slot;
use crate::git::{Git, base, refuse};
use crate::promote;
use crate::report::doctor::Finding;
use crate::store::run_lock::Holder;
use crate::store::{RunLock, StateFolder};

/// A repository with the configuration that counts in it.
pub(super) struct Here {
    pub(super) place: Place,
    pub(super) config: Config,
    pub(super) base: Oid,
}

/// Looks at the repository; what its configuration says, if it can be read.
pub(super) fn look(
    args: &DoctorArgs,
    git: Git,
    environment: &Environment,
    told: &mut Told,
) -> Option<Here> {
    let place = match locate::locate(environment, args.repository.worktree.as_deref()) {
        Ok(place) => Place { git, ..place },
        Err(failure) => {
            told.add(Finding::problem("repository", failure));
            return None;
        }
    };
    let usable = repository(&place);
    let can_start = usable.is_ok();
    told.add(usable.unwrap_or_else(|failure| Finding::problem("repository", failure)));
    state(&place, told);
    if !can_start {
        return None;
    }
    match configuration(args, place, environment) {
        Ok((here, findings)) => {
            told.findings.extend(findings);
            panel_of(&here, environment, told);
            Some(here)
        }
        Err(failure) => {
            told.add(Finding::problem("configuration", failure));
            None
        }
    }
}

fn repository(place: &Place) -> Result<Finding, Failure> {
    let (git, source) = (&place.git, &place.source);
    let head = base::head(git, source)?;
    refuse::operation_in_progress(git, source)?;
    validate::text(&source.source_root)?;
    Ok(Finding::ok(
        "repository",
        format!(
            "{}, {}, HEAD is {}",
            source.source_root.display(),
            source.object_format.as_str(),
            head.short()
        ),
    ))
}

fn state(place: &Place, told: &mut Told) {
    let common_dir = &place.source.common_dir;
    let path = common_dir.join("run-loop");
    let found = StateFolder::find(common_dir).and_then(|state| Ok((folder(&path)?, state)));
    let (folder, state) = match found {
        Ok(found) => found,
        Err(failure) => return told.add(Finding::problem("state", failure)),
    };
    told.add(space("state", &path, folder));
    let Some(state) = state else { return };
    let root = &place.source.source_root;
    told.add(match RunLock::holder(&state, root) {
        Err(failure) => Finding::problem("lock", failure),
        Ok(Holder::Free) => Finding::ok("lock", "no run goes on in this working tree"),
        Ok(Holder::Held(owner)) => {
            let who = owner.map_or_else(
                || "a run that left no readable record".to_owned(),
                |owner| format!("run {} (process {})", owner.run, owner.pid),
            );
            let text = format!("{who} goes on here; a second one has to wait");
            Finding::warning("lock", text, ["run-loop", "status"])
        }
    });
}

fn configuration(
    args: &DoctorArgs,
    place: Place,
    environment: &Environment,
) -> Result<(Here, Vec<Finding>), Failure> {
    let given = args.base.as_deref().unwrap_or("HEAD");
    let (spec, base, _) = validate::resolve_base(&place.git, &place.source, Some(given))?;
    let newer = NewerRules::find(&place.git, &place.source, &spec, &base);
    let layers = sources::sources(environment, &place.git, &place.source, &base)?;
    let config = load(&layers)?;
    templates::read(&config, &place.git, &place.source.git_dir, &base)?;
    let mut findings = vec![file(&layers, &base)];
    let newer = newer.map(|newer| Finding::warning("configuration", newer.said(), newer.next()));
    findings.extend(newer);
    for notice in &config.notices {
        findings.push(Finding::warning(
            "configuration",
            notice.clone(),
            ["run-loop", "config", "show", "--origin"],
        ));
    }
    Ok((
        Here {
            place,
            config,
            base,
        },
        findings,
    ))
}

/// Which file counts, and whether its commands may run.
fn file(layers: &Sources, base: &Oid) -> Finding {
    let about = "configuration";
    match (&layers.base_file, &layers.working_copy) {
        (Some(file), _) => Finding::ok(about, file.name.clone()),
        (None, Some(copy)) if copy.trusted => Finding::ok(
            about,
            format!(
                "{}, which you trust; it is not at the base yet",
                copy.file.name
            ),
        ),
        (None, Some(copy)) => Finding::warning(
            about,
            format!(
                "{}: its commands do not run before you trust it",
                copy.file.name
            ),
            ["run-loop", "config", "trust"],
        ),
        (None, None) => Finding::warning(
            about,
            format!(
                "there is no {FILE_NAME} at {}: the defaults count",
                base.short()
            ),
            ["run-loop", "init"],
        ),
    }
}

/// Who reviews, and whether everybody who is named could work.
fn panel_of(here: &Here, environment: &Environment, told: &mut Told) {
    let panel = with_world(here, environment, |world| {
        let panel = panel::slots(&here.config, world)?;
        for agent in panel.iter().flat_map(agents_of) {
            validate::runnable_one(agent, environment)?;
        }
        reaches(here, world, &panel)?;
        Ok(panel)
    });
    told.add(match panel {
        Err(failure) => Finding::problem("reviewers", failure),
        Ok(panel) => {
            let names: Vec<&str> = panel.iter().map(|slot| slot.name.as_str()).collect();
            let names = names.join(", ");
            if panel.iter().any(Slot::is_reader) {
                Finding::ok("reviewers", names)
            } else {
                let text = format!("{names}: nobody reads the change");
                Finding::warning("reviewers", text, ["run-loop", "agents"])
            }
        }
    });
    let roles = &here.config.settings.roles;
    let named = [&roles.creator, &roles.planner, &roles.arbiter];
    let mut names: Vec<&String> = named.into_iter().flatten().collect();
    names.extend(here.config.settings.agents.keys());
    names.sort();
    names.dedup();
    for name in names {
        let resolved = resolve(name, Some(here), environment);
        if let Err(failure) = resolved {
            told.add(Finding::worth_knowing(format!("agent {name}"), failure));
        }
    }
}

fn reaches(here: &Here, world: &World<'_>, panel: &[Slot]) -> Result<(), Failure> {
    let policy = rules::policy(&here.config)?;
    let review = rules::review(&here.config, None, false)?;
    rules::checks(&here.config)?;
    rules::cache(&here.config)?;
    let reports = rules::reports(&here.config)?;
    promote::usable(&here.place.source.control_root, &reports)?;
    let (git, source) = (&here.place.git, &here.place.source);
    let at_base = sources::base_file(git, &source.git_dir, &here.base)?;
    let at_base = validate::base_alone(at_base)?;
    agents::declared(&at_base)?;
    let declared = panel::declared(&at_base, world.read_base)?;
    panel::reaches(panel, &policy, review.quorum, &declared)
}

fn agents_of(slot: &Slot) -> impl Iterator<Item = &Agent> {
    std::iter::once(&slot.agent).chain(&slot.fallback)
}

/// An agent by its name, able to run.
pub(super) fn resolve(
    name: &str,
    here: Option<&Here>,
    environment: &Environment,
) -> Result<Agent, Failure> {
    let agent = if let Some(here) = here {
        with_world(here, environment, |world| {
            agents::resolve(&here.config, name, world)
        })?
    } else {
        let config = load(&Sources {
            user_file: sources::user_file(environment)?,
            profiles: sources::profiles(environment)?,
            ..Sources::default()
        })?;
        let find = validate::finder(environment);
        let world = World {
            repository: &[],
            read_base: &|_| Ok(None),
            programs: Programs::Found(&find),
        };
        agents::resolve(&config, name, &world)?
    };
    validate::runnable_one(&agent, environment)?;
    Ok(agent)
}

fn with_world<T>(
    here: &Here,
    environment: &Environment,
    ask: impl FnOnce(&World<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (git, source) = (&here.place.git, &here.place.source);
    let read_base = |path: &str| sources::at_base(git, &source.git_dir, &here.base, path);
    let find = validate::finder(environment);
    ask(&World {
        repository: &validate::roots(source),
        read_base: &read_base,
        programs: Programs::Found(&find),
    })
}
