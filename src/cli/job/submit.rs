//! `run-loop job submit`.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use crate::cli::args::Format;
use crate::cli::args::job::SubmitArgs;
use crate::cli::environment::Environment;
use crate::cli::job::desk::{Beside, Desk, choose};
use crate::cli::job::registry::Registry;
use crate::cli::job::single;
use crate::cli::{options, output, text_file};
use crate::contract::structured;
use crate::domain::agent::Choice;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::domain::job::Stored;
use crate::report::ndjson;
use crate::store::inbox::{Ask, PROMPT_CAP};

/// Delegates a job. Inside a job it becomes that job's sub-job; beside a run that goes on in this
/// working tree it is one of that run; else it is a run of its own, driven here to its end.
pub(super) fn run(
    args: &SubmitArgs,
    desk: &mut Desk,
    argv: &[OsString],
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let prompt = prompt(&environment.current_dir().join(&args.prompt_file))?;
    let schema = match &args.schema {
        Some(path) => Some(schema(&environment.current_dir().join(path))?),
        None => None,
    };
    let parent = parent(args, desk, environment)?;
    if let (Desk::Outside { .. }, None) = (&*desk, parent) {
        let alone = |registry: &Registry| {
            let prompt = prompt.clone();
            let schema = schema.as_deref();
            single::run(args, prompt, schema, registry, argv, environment, format)
        };
        if let Some(ended) = alone_or_beside(desk, environment, alone)? {
            return Ok(ended);
        }
    }
    let continues = match &args.continues {
        Some(given) => Some(continued(given, desk, environment)?),
        None => None,
    };
    let ask = Ask::Submit {
        agent: args.agent.clone(),
        choice: choice(args).map(Box::new),
        prompt: Stored::of(&prompt),
        budget: args.timeout,
        parent,
        schema: schema.as_deref().map(Stored::of),
        continues,
    };
    let beside = Beside {
        prompt: Some(&prompt),
        schema: schema.as_deref(),
    };
    let job = desk.ask(environment, parent, ask, beside);
    // The run ended before it took the job: asked again, it is a run of its own.
    let job = job.map_err(|failure| match (failure.code, parent) {
        (Code::RunIsOver, None) => failure.next(options::line(argv)),
        _ => failure,
    })?;
    if let (Desk::Outside { .. }, None) = (&*desk, parent) {
        let run = desk.registry_now(environment)?.run_of(job)?;
        output::note(&format!(
            "the job is one of run {run}, which waits for it before it ends, up to its --job-wait; to wait for the job alone: run-loop job wait {job}"
        ));
    }
    match format {
        Format::Human => output::data(&format!("{job}\n")),
        Format::Json | Format::Ndjson => {
            let value = serde_json::json!({ "version": 1, "job": job });
            output::data(&ndjson::document(&value)?);
        }
    }
    Ok(Exit::Approved)
}

/// How often is looked whether the run that holds the source has begun.
const PAUSE: Duration = Duration::from_millis(50);
/// How often at most: what is done before a run begins takes a second where git is slow.
const PATIENCE: u32 = 400;

/// How the run of this one job ended; `None` where another run goes on here, whose job it becomes. One that
/// is about to begin holds the source already: whoever is second waits for it.
fn alone_or_beside(
    desk: &mut Desk,
    environment: &Environment,
    alone: impl Fn(&Registry) -> Result<Exit, Failure>,
) -> Result<Option<Exit>, Failure> {
    let mut tries = 0;
    loop {
        let registry = desk.registry_now(environment)?;
        if registry.going_on()?.is_some() {
            return Ok(None);
        }
        match alone(registry) {
            Err(failure) if failure.code == Code::LoopRunning && tries < PATIENCE => {
                if tries == 0 {
                    output::note("another run begins here; this job becomes one of it");
                }
                tries += 1;
                std::thread::park_timeout(PAUSE);
            }
            ended => return ended.map(Some),
        }
    }
}

/// What it states for the program of its agent.
pub(super) fn choice(args: &SubmitArgs) -> Option<Choice> {
    let choice = Choice {
        model: args.model.clone(),
        effort: args.effort.clone(),
    };
    (choice != Choice::default()).then_some(choice)
}

/// The job in whose session it is to go on: within a job that may be the job itself, and whether it may is
/// the engine's to say.
fn continued(given: &str, desk: &mut Desk, environment: &Environment) -> Result<JobId, Failure> {
    match desk {
        Desk::Inside(mailbox) if mailbox.card.fence.job.to_string() == given => {
            Ok(mailbox.card.fence.job)
        }
        Desk::Inside(_) | Desk::Outside { .. } => desk.find(environment, given),
    }
}

/// The parent: as named, else the job that this is inside of. One that is named and not known is
/// an error (row M-108).
fn parent(
    args: &SubmitArgs,
    desk: &mut Desk,
    environment: &Environment,
) -> Result<Option<JobId>, Failure> {
    let own = match desk {
        Desk::Inside(mailbox) => Some(mailbox.card.fence.job),
        Desk::Outside { .. } => None,
    };
    let Some(given) = &args.parent_job else {
        return Ok(own);
    };
    if own.is_some_and(|own| own.to_string() == *given) {
        return Ok(own);
    }
    match desk {
        Desk::Inside(_) => desk.find(environment, given).map(Some),
        Desk::Outside { .. } => {
            let known = desk.registry(environment)?.parents()?;
            choose(given, &known).map(Some)
        }
    }
}

/// The prompt, neither blank nor too large (row M-105, T-053).
fn prompt(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = file("--prompt-file", path, PROMPT_CAP)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(refused("--prompt-file", path, &"it is empty"));
    }
    Ok(bytes)
}

/// The schema, as far as it is one.
fn schema(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = file("--schema", path, structured::SCHEMA_CAP)?;
    structured::check(&bytes).map_err(|reason| refused("--schema", path, &reason))?;
    Ok(bytes)
}

fn refused(option: &str, path: &Path, what: &dyn std::fmt::Display) -> Failure {
    let shown = path.display().to_string();
    let message = format!("{option} {shown}: {what}");
    Failure::new(Code::BadValue, message).next(["ls", "-l", "--", &text_file::listable(path)])
}

/// What a regular file holds that is not too large.
fn file(option: &str, path: &Path, cap: u64) -> Result<Vec<u8>, Failure> {
    let refused = |what: &dyn std::fmt::Display| refused(option, path, what);
    let data = fs_err::metadata(path).map_err(|error| refused(&error))?;
    if !data.is_file() {
        return Err(refused(&"it is no regular file"));
    }
    let mut bytes = Vec::new();
    fs_err::File::open(path)
        .and_then(|file| file.take(cap + 1).read_to_end(&mut bytes))
        .map_err(|error| refused(&error))?;
    if bytes.len() as u64 > cap {
        return Err(refused(&format!("it has more than {cap} bytes")));
    }
    Ok(bytes)
}
