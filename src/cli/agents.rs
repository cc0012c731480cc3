//! `run-loop agents`: the known programs, which of them are here, and what is known of them.

use std::path::Path;
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
        Format::Json => format!("{}\n", json!({"agents": agents})),
        Format::Ndjson => agents.iter().fold(String::new(), |mut lines, agent| {
            lines.push_str(&json!(agent).to_string());
            lines.push('\n');
            lines
        }),
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
        // Side by side: some of them take seconds to start.
        let asked: Vec<_> = all
            .into_iter()
            .map(|(profile, replaced)| {
                let environment = environment.clone();
                tokio::spawn(async move { found(&profile, replaced, &environment).await })
            })
            .collect();
        let mut agents = Vec::new();
        for one in asked {
            let agent = one.await.map_err(|error| {
                Failure::new(Code::Internal, format!("a program was not asked: {error}"))
            })?;
            agents.push(agent);
        }
        Ok(agents)
    })
}

async fn found(profile: &Profile, replaced: bool, environment: &Environment) -> KnownAgent {
    let mut programs = profile.programs.iter();
    let launcher =
        programs.find_map(|name| find::program(name, environment.path(), Path::new("/")).ok());
    let native = launcher
        .as_ref()
        .and_then(|launcher| native_beside(launcher, &profile.native));
    let program = native.or(launcher);
    let version = match &program {
        Some(program) => {
            let (ours, guard) = (environment.variables(), GuardProgram::own());
            version::ask(
                program,
                profile,
                ours,
                &guard,
                LIMIT,
                CancellationToken::new(),
            )
            .await
        }
        None => None,
    };
    let program = program.map(|path| path.display().to_string());
    KnownAgent::new(
        profile,
        replaced,
        program,
        version,
        landlock_version().is_some(),
    )
}
