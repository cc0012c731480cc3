//! `run-loop gate`: wiring. The gate reads no working copy and no user's file.

use serde_json::json;

use crate::cli::args::Format;
use crate::cli::args::gate::GateArgs;
use crate::cli::environment::{Environment, WORKTREE};
use crate::cli::{locate, output, sources, validate};
use crate::config::{agents, panel, rules};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::gate::{self, GatePolicy, GateRequest};
use crate::git::{Git, Repository, ReviewStore};
use crate::promote::manifest::checks_digest;
use crate::report::public::VERSION;
use crate::store::{Attestations, StateFolder, attestations};

/// Judges, and prints what was judged.
pub(crate) fn run(
    args: &GateArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    // A variable that was left in the environment would make it judge another tree's HEAD.
    let environment = &environment.without(WORKTREE);
    let place = locate::locate(environment, args.repository.worktree.as_deref())?;
    let (git, repository) = (&place.git, &place.source);
    // Only to name the paths that differ; without it, the verdict is the same.
    let cache_root = environment.cache_root().ok();
    let snapshots = cache_root.and_then(|root| ReviewStore::find(repository, &root));
    let approval = gate::judge(&GateRequest {
        git,
        repository,
        store: snapshots.as_deref(),
        base: args.base.as_deref(),
        head: args.head.as_deref(),
        expect_head: args.expect_head.as_deref(),
        policy_at: &|commit| policy_at(git, repository, commit),
        attestations: &|| match StateFolder::find(&repository.common_dir)? {
            None => Ok(Attestations::default()),
            Some(state) => attestations(&state),
        },
    })?;
    for notice in &approval.notices {
        output::note(notice);
    }
    output::data(&match format {
        Format::Human => gate::human(&approval),
        Format::Json | Format::Ndjson => {
            let mut document = json!(approval);
            document["version"] = json!(VERSION);
            output::document(&document)
        }
    });
    Ok(Exit::Approved)
}

/// The rules that the configuration at a commit states; built-in defaults where it has none.
fn policy_at(git: &Git, repository: &Repository, commit: &Oid) -> Result<GatePolicy, Failure> {
    let config = validate::base_alone(sources::base_file(git, &repository.git_dir, commit)?)?;
    let review = rules::review(&config, None, false)?;
    let checks = rules::checks(&config)?;
    let read_base = |path: &str| sources::at_base(git, &repository.git_dir, commit, path);
    Ok(GatePolicy {
        policy: rules::policy(&config)?,
        reports: rules::reports(&config)?,
        fail_on: review.fail_on,
        isolation: config.settings.review.isolation,
        quorum: review.quorum,
        checks_sha256: checks_digest(&checks, &config.settings.setup)
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?,
        panel: panel::declared(&config, &read_base)?,
        agents: agents::declared(&config)?,
    })
}
