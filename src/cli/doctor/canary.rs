//! `doctor --agent X`: one small job through the path that every job takes. What it is told to
//! answer lies in a file of its tree, so that an answer proves that it starts, may ask its model,
//! and sees what it is to read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Told;
use super::repository::{Here, resolve};
use crate::agent::command::{self, Named};
use crate::agent::confined;
use crate::agent::dispatched::Dispatched;
use crate::agent::handed_over::HandedOver;
use crate::agent::job_folder::JobFolder;
use crate::agent::profile;
use crate::agent::redact::Secrets;
use crate::cli::environment::Environment;
use crate::cli::output;
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::domain::job::{Ended, Role};
use crate::process::confine::{self, Confine};
use crate::process::guard::GuardProgram;
use crate::report::doctor::Finding;
use crate::runtime::clock;

/// How long it may take.
const LIMIT: Duration = Duration::from_mins(5);
/// The file that holds the canary.
const FILE: &str = "canary.txt";

/// Asks the agent, and tells what came of it.
pub(super) fn ask(name: &str, here: Option<&Here>, environment: &Environment, told: &mut Told) {
    let about = format!("canary of {name}");
    let answered = resolve(name, here, environment).and_then(|agent| {
        fit(&agent)?;
        output::note(&format!(
            "asking {name} one question: this costs one call of its model"
        ));
        question(&agent, environment)
    });
    told.add(match answered {
        Ok(took) => Finding::ok(about, format!("answered in {:.1} s", took.as_secs_f64())),
        Err(failure) => Finding::problem(about, failure),
    });
}

fn fit(agent: &Agent) -> Result<(), Failure> {
    let why = match &agent.kind {
        AgentKind::Checks => "is built in and has no model",
        AgentKind::Human => "is a person",
        AgentKind::Command(_) if agent.remote => "is remote, and sees no file of this machine",
        AgentKind::Command(_) | AgentKind::Profile(_) => return Ok(()),
    };
    let message = format!("{} {why}: there is no question for it", agent.name);
    Err(Failure::new(Code::AgentUnfit, message).next(["run-loop", "doctor"]))
}

fn question(agent: &Agent, environment: &Environment) -> Result<Duration, Failure> {
    let internal = |error: std::io::Error| Failure::new(Code::Internal, error.to_string());
    let stamp = clock::stamp().map_err(internal)?;
    let place = tempfile::tempdir().map_err(internal)?;
    let root = place.path().canonicalize().map_err(internal)?;
    let (tree, evidence) = (root.join("tree"), root.join("evidence"));
    for folder in [&tree, &evidence] {
        fs_err::create_dir(folder).map_err(internal)?;
    }
    let canary = stamp.derive_hex("canary");
    fs_err::write(tree.join(FILE), format!("{canary}\n")).map_err(internal)?;
    let prompt = prompt(&tree);
    let (run, job) = (LoopId::mint(&stamp, "loop"), JobId::mint(&stamp, "job"));
    let cache = root.join("cache");
    let folder = JobFolder::create(&cache, run, job, prompt.as_bytes(), Some(&evidence))?;
    let asked = Asked {
        agent,
        job: Named {
            id: job,
            role: Role::Review.as_str(),
            round: None,
        },
        folder: &folder,
        prompt: prompt.as_bytes(),
        tree: &tree,
        cache: &cache,
        environment,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(internal)?;
    let began = clock::now();
    let done = runtime.block_on(asked.dispatch())?;
    let took = clock::now().as_millis().saturating_sub(began.as_millis());
    judge(agent, &done, &canary)?;
    Ok(Duration::from_millis(u64::try_from(took).unwrap_or(0)))
}

fn prompt(tree: &Path) -> String {
    format!(
        "This is a test of your setup; there is nothing to review and nothing to change.\n\n\
         Read the file {FILE} in the folder {}. It holds one line of 32 hexadecimal digits. \
         Answer with exactly that line and nothing else.\n",
        tree.display()
    )
}

/// The question, with what a dispatch needs.
struct Asked<'a> {
    agent: &'a Agent,
    job: Named,
    folder: &'a JobFolder,
    prompt: &'a [u8],
    tree: &'a Path,
    /// Where the job's folder lies.
    cache: &'a Path,
    environment: &'a Environment,
}

impl Asked<'_> {
    /// As in a run: one that is to be confined must answer although it is.
    fn confine(&self) -> Result<Option<Confine>, Failure> {
        if confine::landlock_version().is_none() {
            return Ok(None);
        }
        let variables = self.environment.variables();
        let Some(mut writable) = confined::writes(self.agent, variables, &[self.cache])? else {
            return Ok(None);
        };
        writable.extend([self.folder.path().to_owned(), self.tree.to_owned()]);
        Ok(Some(Confine {
            hidden: vec![self.cache.into()],
            readable: Vec::new(),
            writable: writable.into_iter().map(PathBuf::into_os_string).collect(),
        }))
    }
    async fn dispatch(&self) -> Result<Dispatched, Failure> {
        let guard = GuardProgram::own();
        let (agent, budget) = (self.agent, LIMIT);
        let (job, folder, prompt) = (self.job, self.folder, self.prompt);
        let (tree, environment) = (Some(self.tree), self.environment.variables());
        let stop = CancellationToken::new();
        let secrets = &Secrets::of([agent], environment);
        match &agent.kind {
            AgentKind::Command(program) => {
                let dispatch = command::Dispatch {
                    agent,
                    command: program,
                    job,
                    folder,
                    prompt,
                    tree,
                    environment,
                    budget,
                    run_left: None,
                    guard: &guard,
                    confine: self.confine()?,
                    secrets,
                };
                Ok(command::dispatch(&dispatch, stop).await)
            }
            AgentKind::Profile(program) => {
                let confine = self.confine()?;
                let dispatch = profile::Dispatch {
                    position: None,
                    continues: None,
                    confine: confine.as_ref(),
                    schema: None,
                    agent,
                    program,
                    job,
                    may_write: false,
                    folder,
                    prompt,
                    tree,
                    environment,
                    budget,
                    guard: &guard,
                    secrets,
                };
                Ok(profile::dispatch(&dispatch, stop).await)
            }
            AgentKind::Checks | AgentKind::Human => {
                Err(Failure::new(Code::Internal, "nobody is there to be asked"))
            }
        }
    }
}

/// Whether it ended well and gave the canary back.
fn judge(agent: &Agent, done: &Dispatched, canary: &str) -> Result<(), Failure> {
    let name = &agent.name;
    let failed = |what: String| {
        let said = done.stderr_tail.trim().lines().last().unwrap_or_default();
        let said = if said.is_empty() {
            String::new()
        } else {
            format!("; it said: {said}")
        };
        Err(Failure::new(
            Code::CanaryFailed,
            format!("{name} did not answer: {what}{said}"),
        ))
    };
    match &done.ended {
        Ended::Exited { code: 0 } => {}
        Ended::Exited { code } => return failed(format!("it exited with {code}")),
        Ended::Failed { code, message, .. } => {
            let what = format!("it exited with {code}: {message}");
            return Err(Failure::new(
                Code::CanaryFailed,
                format!("{name} did not answer: {what}"),
            ));
        }
        Ended::Signalled { signal } => return failed(format!("it was ended by signal {signal}")),
        Ended::TimedOut => return failed(format!("it took longer than {} s", LIMIT.as_secs())),
        Ended::NotStarted { failure } => return Err(failure.clone()),
        Ended::Stopped | Ended::Lost | Ended::Interrupted => {
            return failed("it was stopped".to_owned());
        }
    }
    let report = done.report.as_ref();
    let report = report.map(HandedOver::as_came).unwrap_or_default();
    if String::from_utf8_lossy(report).contains(canary) {
        return Ok(());
    }
    match &done.unusable {
        Some(reason) => failed(reason.clone()),
        None if report.is_empty() => failed("it handed nothing over".to_owned()),
        None => failed(format!(
            "what it handed over does not hold what stands in {FILE}"
        )),
    }
}
