//! Agents of kind `command`: a program of the user's, with prompt in and report out.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::arguments::{self, Placeholder};
use crate::agent::dispatched::{Dispatched, shown};
use crate::agent::environment::{Variables, is_passable, passed_on};
use crate::agent::job_folder::JobFolder;
use crate::agent::report_file::{REPORT_CAP, ReportFile};
use crate::domain::agent::{Agent, CommandAgent, PromptChannel, ReportChannel};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::job::{Ended, Job};
use crate::process::command::Command;
use crate::process::guard::{GuardProgram, Probe, attach, probe};
use crate::process::supervise::{Supervised, Supervision, supervise};

/// One job for one program.
#[derive(Debug)]
pub struct Dispatch<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// How its program is started.
    pub command: &'a CommandAgent,
    /// The job, as its variables name it.
    pub job: Named,
    /// The job's folder, made for it and not used before.
    pub folder: &'a JobFolder,
    /// The prompt, the same bytes as in the folder.
    pub prompt: &'a [u8],
    /// The tree it works in; a remote agent is never told.
    pub tree: Option<&'a Path>,
    /// Our own environment, which the job's is picked from.
    pub environment: &'a Variables,
    /// The time that is left for it.
    pub budget: Duration,
    /// The program that guards it; `GuardProgram::own()` in the program itself.
    pub guard: &'a GuardProgram,
}

/// What a job's variables say of it.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// The job.
    pub id: JobId,
    /// What for.
    pub role: &'static str,
    /// In which round; a delegated job is in none.
    pub round: Option<RoundNumber>,
}

impl From<&Job> for Named {
    fn from(job: &Job) -> Self {
        Self {
            id: job.id,
            role: job.role.as_str(),
            round: Some(job.round),
        }
    }
}

/// Runs the job to its end and reads what it handed over.
pub async fn dispatch(dispatch: &Dispatch<'_>, stop: CancellationToken) -> Dispatched {
    let command = match dispatch.prepare() {
        Ok(command) => command,
        Err(failure) => return Dispatched::not_started(failure),
    };
    let folder = dispatch.folder;
    let limits = Supervision {
        keep: REPORT_CAP,
        ..Supervision::new(dispatch.guard, dispatch.budget, folder.capture())
    };
    let done = supervise(&command, limits, stop).await;
    folder.forget_prompt();
    dispatched(dispatch.command, folder, done)
}

/// What a job handed over whose engine died, read as that engine would have; `None` where nothing
/// is known of it: it was not started, or its guard was killed. Waits for a guard that lives.
///
/// # Errors
/// When the guard's record is damaged: then nothing is known, and nothing is believed.
pub async fn taken_over(
    command: &CommandAgent,
    folder: &JobFolder,
) -> std::io::Result<Option<Dispatched>> {
    let outcome = match attach(folder.capture()).await? {
        Probe::Ended(outcome) => outcome,
        Probe::Lost | Probe::Running { .. } => return Ok(None),
    };
    folder.forget_prompt();
    let (stdout, stderr) = probe::output(folder.capture(), &outcome, REPORT_CAP);
    let ended = match outcome.ended() {
        // Ended by its guard when the engine was gone.
        Ended::Stopped | Ended::Lost => Ended::Interrupted,
        ended @ (Ended::Exited { .. }
        | Ended::Signalled { .. }
        | Ended::TimedOut
        | Ended::NotStarted { .. }
        | Ended::Interrupted) => ended,
    };
    let done = Supervised {
        ended,
        gone: outcome.gone,
        stdout,
        stderr,
    };
    Ok(Some(dispatched(command, folder, done)))
}

fn dispatched(command: &CommandAgent, folder: &JobFolder, done: Supervised) -> Dispatched {
    let (report, unusable) = match handed_over(command, folder, &done) {
        ReportFile::Missing => (None, None),
        ReportFile::Unusable(reason) => (None, Some(reason)),
        ReportFile::Bytes(bytes) => (Some(bytes), None),
    };
    Dispatched {
        ended: done.ended,
        gone: done.gone,
        report,
        unusable,
        stderr_tail: shown(&done.stderr.last),
        stdout: Some(done.stdout),
        stderr: Some(done.stderr),
    }
}

/// Whether an agent's definition fits together and its variables are set (scenario T-062); for
/// validation, and again before each job.
///
/// # Errors
/// Names the agent and what does not fit.
pub fn check(
    agent: &Agent,
    command: &CommandAgent,
    environment: &Variables,
) -> Result<(), Failure> {
    let name = &agent.name;
    let fail = |code, message: String| {
        Err(Failure::new(code, message).next(["run-loop", "config", "show", "--origin"]))
    };
    for variable in &command.env {
        if !is_passable(variable) {
            let message =
                format!("agent {name} names the variable {variable:?}, which no job gets");
            return fail(Code::ConfigInvalid, message);
        }
        if !environment.contains_key(OsStr::new(variable)) {
            let message = format!("agent {name} needs the variable {variable}, which is not set");
            return fail(Code::AgentNotRunnable, message);
        }
    }
    if agent.remote {
        if command.prompt == PromptChannel::File || command.report == ReportChannel::File {
            let message = format!(
                "agent {name} is remote and sees no file here: its prompt must go by stdin and its report by stdout"
            );
            return fail(Code::ConfigInvalid, message);
        }
        if let Some(placeholder) = command
            .args
            .iter()
            .find_map(|arg| arguments::named(arg).next())
        {
            let message =
                format!("agent {name} is remote, and {placeholder} is a path of this machine");
            return fail(Code::ConfigInvalid, message);
        }
    }
    Ok(())
}

impl Dispatch<'_> {
    /// The program with everything it gets.
    fn prepare(&self) -> Result<Command, Failure> {
        check(self.agent, self.command, self.environment)?;
        let internal = |message: String| Failure::new(Code::Internal, message);
        match self.folder.has_report() {
            Ok(false) => {}
            Ok(true) => {
                let path = self.folder.report();
                let message = format!("{} exists before the job has run", path.display());
                return Err(internal(message));
            }
            Err(error) => return Err(internal(error.to_string())),
        }
        let mut command = if self.agent.remote {
            Command::new(&self.command.program, self.folder.empty()).args(&self.command.args)
        } else {
            let tree = self
                .tree
                .ok_or_else(|| internal(format!("job {} has no tree to work in", self.job.id)))?;
            self.local(tree)
        };
        command
            .env
            .extend(passed_on(self.environment, &self.command.env));
        command = command
            .env("TMPDIR", self.folder.temporary())
            .env("RUN_LOOP_JOB_ID", self.job.id.to_string())
            .env("RUN_LOOP_JOB_ROLE", self.job.role);
        if let Some(round) = self.job.round {
            command = command.env("RUN_LOOP_JOB_ROUND", round.to_string());
        }
        if self.command.prompt == PromptChannel::Stdin {
            command = command.stdin(self.prompt);
        }
        Ok(command)
    }

    /// What a program that sees this machine's files is told of them.
    fn local(&self, tree: &Path) -> Command {
        let (prompt, evidence) = (self.folder.prompt(), self.folder.evidence());
        let placeholders: [Placeholder<'_>; 3] = [
            (arguments::PROMPT, prompt.as_os_str()),
            (arguments::TREE, tree.as_os_str()),
            (arguments::EVIDENCE, evidence.as_os_str()),
        ];
        let args = self.command.args.iter();
        let mut command = Command::new(&self.command.program, tree)
            .args(args.map(|arg| arguments::fill(arg, &placeholders)))
            .env("RUN_LOOP_JOB_TREE", tree)
            .env("RUN_LOOP_JOB_EVIDENCE", &evidence)
            .env("RUN_LOOP_JOB_INBOX", self.folder.inbox());
        if self.command.prompt == PromptChannel::File {
            command = command.env("RUN_LOOP_JOB_PROMPT", &prompt);
        }
        if self.command.report == ReportChannel::File {
            command = command.env("RUN_LOOP_JOB_REPORT", self.folder.report());
        }
        command
    }
}

/// The report from the agent's one channel. It is never parsed in part.
fn handed_over(command: &CommandAgent, folder: &JobFolder, done: &Supervised) -> ReportFile {
    if matches!(done.ended, Ended::NotStarted { .. }) {
        return ReportFile::Missing;
    }
    if !done.gone {
        let reason = "processes of the job could not be ended, so its report was not read";
        return ReportFile::Unusable(reason.to_owned());
    }
    match command.report {
        ReportChannel::File => folder.read_report(),
        ReportChannel::Stdout => {
            if let Some(reason) = &done.stdout.broken {
                return ReportFile::Unusable(format!("standard output is not complete: {reason}"));
            }
            match done.stdout.whole() {
                Some([]) => ReportFile::Missing,
                Some(bytes) => ReportFile::Bytes(bytes.to_vec()),
                None => ReportFile::Unusable(format!(
                    "standard output has {} bytes, and a report may have {REPORT_CAP}",
                    done.stdout.bytes_total
                )),
            }
        }
    }
}
