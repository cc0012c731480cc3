//! The bare command: validate, lock, drive to the end, say how it ended.

use std::ffi::OsString;

use crate::agent::version::Versions;
use crate::cli::args::Format;
use crate::cli::args::review::LoopArgs;
use crate::cli::environment::Environment;
use crate::cli::validate::{Validated, validate};
use crate::cli::{output, redirected, running};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::run_spec::BaseSpec;
use crate::engine::InputKind;
use crate::git::ReviewStore;
use crate::git::review_tree::ReviewTrees;
use crate::process::guard::GuardProgram;
use crate::runtime::{Rim, clock};
use crate::store::{Artifacts, Inbox, Journal, Outbox, RunLock, StateFolder, home};

/// Runs the loop.
///
/// # Errors
/// Why the run did not end with an approval; everything else is printed by then.
pub(crate) fn run(
    args: &LoopArgs,
    argv: &[OsString],
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let stamp = clock::stamp().map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("the system gives no randomness: {error}"),
        )
    })?;
    let validated = validate(args, argv, environment, &stamp)?;
    redirected::refuse(
        &validated.git,
        &validated.repository,
        &validated.spec.command,
    )?;
    let state_folder = StateFolder::open(&validated.repository.common_dir)?;
    let run = validated.spec.loop_id;
    let lock = RunLock::acquire(&state_folder, &validated.repository.source_root, run)?;
    // Told only now: of a run that could not begin, nobody can ask anything.
    output::progress(&output::printable(&opening(&validated)));
    for notice in &validated.notices {
        output::note(notice);
    }
    let spec = validated.spec.clone();
    let store = ReviewStore::open(&validated.git, &validated.repository, &validated.cache_root)?;
    // From here on the run has a folder; its first event follows at once.
    let journal = Journal::create(&state_folder, run)?;
    home::note_cache(&state_folder, run, &validated.cache_root)?;
    let artifacts = Artifacts::open(&state_folder, run)?;
    let inbox = Inbox::open(&state_folder, run)?;
    let outbox = Outbox::open(&state_folder, run)?;
    let mail = (inbox, outbox);
    let rim = rim(validated, store, artifacts, lock, mail, environment);
    let start = InputKind::Start(Box::new(spec));
    running::to_the_end(&state_folder, rim, journal, &[], start, format)
}

fn rim(
    validated: Validated,
    store: ReviewStore,
    artifacts: Artifacts,
    lock: RunLock,
    (inbox, outbox): (Inbox, Outbox),
    environment: &Environment,
) -> Rim {
    let Validated {
        spec,
        git,
        repository,
        cache_root,
        ..
    } = validated;
    let trees = ReviewTrees::new(&git, &store, &repository, &cache_root, spec.loop_id);
    Rim {
        git,
        repository,
        store,
        trees,
        artifacts,
        lock,
        inbox,
        outbox,
        cache: cache_root,
        guard: GuardProgram::own(),
        environment: environment.variables().clone(),
        versions: Versions::default(),
    }
}

/// The first line: source, base and head in full, and who reviews.
fn opening(validated: &Validated) -> String {
    let run = &validated.spec;
    let given = match &run.base {
        BaseSpec::MergeBase { given, .. } => given,
        BaseSpec::StartHead { .. } => "HEAD at the start",
    };
    let panel: Vec<&str> = run.panel.iter().map(|slot| slot.name.as_str()).collect();
    format!(
        "run {}: source {}, base {} ({given}), head {}, reviewers {}",
        run.loop_id,
        run.source_root,
        validated.merge_base,
        validated.head,
        panel.join(", ")
    )
}
