//! `run-loop agents`: the known programs, which of them are here, and what is known of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::agent::{find, version};
use crate::cli::args::Format;
use crate::cli::args::agents::AgentsArgs;
use crate::cli::environment::Environment;
use crate::cli::{output, sources};
use crate::config::profiles;
use crate::config::world::native_beside;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::profile::Profile;
use crate::process::confine::landlock_version;
use crate::process::guard::GuardProgram;
use crate::report::agents::{KnownAgent, human};

/// How long a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(20);

/// Prints the known programs. They are asked for their version and nothing else.
pub(crate) fn run(
    _: &AgentsArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let agents = known(environment)?;
    output::data(&match format {
        Format::Human => output::printable(&human(&agents)),
        Format::Json => output::document(&json!({"version": 1, "agents": agents})),
        Format::Ndjson => agents
            .iter()
            .map(|agent| output::document(&json!(agent)))
            .collect(),
    });
    Ok(Exit::Approved)
}

/// Every profile, with its program on this machine.
pub(super) fn known(environment: &Environment) -> Result<Vec<KnownAgent>, Failure> {
    let own = sources::profiles(environment)?;
    let own = own
        .iter()
        .map(profiles::read)
        .collect::<Result<Vec<_>, _>>()?;
    let mut all = Vec::new();
    for name in profiles::names() {
        match own.iter().find(|profile| profile.name == name) {
            Some(profile) => all.push((profile.clone(), true)),
            None => all.extend(profiles::embedded(name)?.map(|profile| (profile, false))),
        }
    }
    let new = own
        .iter()
        .filter(|own| profiles::names().all(|name| name != own.name));
    all.extend(new.map(|profile| (profile.clone(), true)));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Code::Internal, format!("no runtime: {error}")))?;
    runtime.block_on(async {
        // Side by side: some of them take seconds to start. One program of several profiles is asked once.
        let mut asked = BTreeMap::new();
        for (profile, _) in &all {
            let Some(program) = program_of(profile, environment) else {
                continue;
            };
            let question = (program, profile.version.clone());
            asked.entry(question).or_insert_with_key(|(program, _)| {
                let (program, profile) = (program.clone(), profile.clone());
                let environment = environment.clone();
                tokio::spawn(async move { version_of(&program, &profile, &environment).await })
            });
        }
        let mut told = BTreeMap::new();
        for (question, answer) in asked {
            let version = answer.await.map_err(|error| {
                Failure::new(Code::Internal, format!("a program was not asked: {error}"))
            })?;
            told.insert(question, version);
        }
        let confines = landlock_version().is_some();
        let agents = all.iter().map(|(profile, replaced)| {
            let program = program_of(profile, environment);
            let question = program
                .clone()
                .map(|program| (program, profile.version.clone()));
            let version = question.and_then(|question| told.get(&question).cloned().flatten());
            let program = program.map(|path| path.display().to_string());
            KnownAgent::new(profile, *replaced, program, version, confines)
        });
        Ok(agents.collect())
    })
}

/// The program of a profile on this machine.
fn program_of(profile: &Profile, environment: &Environment) -> Option<PathBuf> {
    let mut programs = profile.programs.iter();
    let launcher =
        programs.find_map(|name| find::program(name, environment.path(), Path::new("/")).ok())?;
    Some(native_beside(&launcher, &profile.native).unwrap_or(launcher))
}

async fn version_of(
    program: &Path,
    profile: &Profile,
    environment: &Environment,
) -> Option<String> {
    let (ours, guard) = (environment.variables(), GuardProgram::own());
    let stop = CancellationToken::new();
    version::ask(program, profile, ours, &guard, LIMIT, stop).await
}
