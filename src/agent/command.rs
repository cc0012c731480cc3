//! Agents of kind `command`: a program of the user's, with prompt in and report out.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::adapter::words;
use crate::agent::arguments::{self, Placeholder};
use crate::agent::dispatched::{Dispatched, without_secrets};
use crate::agent::environment::{Variables, is_passable, passed_on};
use crate::agent::handed_over::HandedOver;
use crate::agent::job_folder::JobFolder;
use crate::agent::redact::Secrets;
use crate::agent::report_file::{REPORT_CAP, ReportFile};
use crate::agent::wrap_up;
use crate::domain::agent::{Agent, CommandAgent, PromptChannel, ReportChannel};
use crate::domain::code::Code;
use crate::domain::confinement::Confinement;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::job::{Ended, Job};
use crate::domain::profile::Stream;
use crate::domain::spent::Spent;
use crate::domain::trouble::Trouble;
use crate::process::command::Command;
use crate::process::confine::Confine;
use crate::process::guard::{GuardProgram, Probe, attach, probe};
use crate::process::supervise::{Lasted, Supervised, Supervision, supervise};

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
    /// The time that is left for the run, where that has an end: the program is told of the one that
    /// ends first.
    pub run_left: Option<Duration>,
    /// The program that guards it; `GuardProgram::own()` in the program itself.
    pub guard: &'a GuardProgram,
    /// What it may not reach, where it is to be confined.
    pub confine: Option<Confine>,
    /// What nothing that it leaves may show.
    pub secrets: &'a Secrets,
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

/// What a program gets besides what its kind gives it.
#[derive(Debug, Default)]
pub(crate) struct Besides {
    /// Variables.
    pub(crate) env: Variables,
    /// Names in arguments, and what they stand for.
    pub(crate) placeholders: Vec<(&'static str, OsString)>,
    /// Where it works, if not in the tree.
    pub(crate) directory: Option<PathBuf>,
    /// Bytes of its standard output that are kept; `None` as many as a report may have.
    pub(crate) output: Option<usize>,
}

/// Runs the job to its end and reads what it handed over.
pub async fn dispatch(dispatch: &Dispatch<'_>, stop: CancellationToken) -> Dispatched {
    let mut besides = Besides::default();
    if !dispatch.agent.remote {
        let note = dispatch.folder.wrap_up().into_os_string();
        besides.env.insert(wrap_up::VARIABLE.into(), note);
    }
    let done = tokio::select! {
        done = run(dispatch, &besides, stop) => done,
        never = wrap_up::tell(dispatch.folder, dispatch.told_of()) => match never {},
    };
    match done {
        Ok(done) => dispatched(dispatch.command, dispatch.folder, done, dispatch.secrets),
        Err(failure) => Dispatched::not_started(failure),
    }
}

/// Runs the job to its end.
pub(crate) async fn run(
    dispatch: &Dispatch<'_>,
    besides: &Besides,
    stop: CancellationToken,
) -> Result<Supervised, Failure> {
    let command = dispatch.prepare(besides)?;
    let folder = dispatch.folder;
    // Whoever takes the job over has to know.
    folder.note_confinement(dispatch.confinement())?;
    let usual = Supervision::new(dispatch.guard, dispatch.budget, folder.capture());
    let limits = Supervision {
        keep: besides.output.unwrap_or(REPORT_CAP),
        cap: besides.output.unwrap_or(usual.cap),
        ..usual
    };
    let done = supervise(&command, limits, stop).await;
    folder.forget_prompt();
    Ok(done)
}

/// What a job handed over whose engine died, read as that engine would have; `None` where nothing
/// is known of it: it was not started, or its guard was killed. Waits for a guard that lives.
///
/// # Errors
/// When the guard's record is damaged: then nothing is known, and nothing is believed.
pub async fn taken_over(
    command: &CommandAgent,
    folder: &JobFolder,
    secrets: &Secrets,
) -> std::io::Result<Option<Dispatched>> {
    let done = recovered(folder, REPORT_CAP).await?;
    Ok(done.map(|done| dispatched(command, folder, done, secrets)))
}

/// What stands where the report of a job would: nobody vouches for it, and it may be a part, which may begin
/// and end within a key; of more than a report may have the end, where a verdict stands. `None` where nothing
/// does.
#[must_use]
pub fn unvouched(command: &CommandAgent, folder: &JobFolder) -> Option<HandedOver> {
    let bytes = match command.report {
        ReportChannel::File => match folder.read_report() {
            ReportFile::Bytes(bytes) => bytes,
            ReportFile::Missing | ReportFile::Unusable(_) => return None,
        },
        ReportChannel::Stdout => folder.printed()?,
    };
    (!bytes.is_empty()).then(|| the_end(&bytes))
}

/// The end of what nobody vouches for, as much as a report may have.
pub(crate) fn the_end(said: &[u8]) -> HandedOver {
    let begins = said.len().saturating_sub(REPORT_CAP);
    HandedOver::new(said[begins..].to_vec())
}

/// How a job ended whose engine died; see [`taken_over`].
pub(crate) async fn recovered(
    folder: &JobFolder,
    keep: usize,
) -> std::io::Result<Option<Supervised>> {
    let outcome = match attach(folder.capture()).await? {
        Probe::Ended(outcome) => outcome,
        Probe::Lost | Probe::Running { .. } => return Ok(None),
    };
    folder.forget_prompt();
    let (stdout, stderr) = probe::output(folder.capture(), &outcome, keep);
    let ended = match outcome.ended() {
        // Ended by its guard when the engine was gone.
        Ended::Stopped | Ended::Lost => Ended::Interrupted,
        ended @ (Ended::Exited { .. }
        | Ended::Failed { .. }
        | Ended::Signalled { .. }
        | Ended::TimedOut
        | Ended::NotStarted { .. }
        | Ended::Interrupted) => ended,
    };
    Ok(Some(Supervised {
        ended,
        gone: outcome.gone,
        lasted: Some(Lasted::of(&outcome)),
        stdout,
        stderr,
    }))
}

fn dispatched(
    command: &CommandAgent,
    folder: &JobFolder,
    mut done: Supervised,
    secrets: &Secrets,
) -> Dispatched {
    let stderr_tail = secrets.shown_end(&done.stderr);
    let (report, unusable) = match handed_over(command, folder, &done) {
        ReportFile::Missing => (None, None),
        ReportFile::Unusable(reason) => (None, Some(reason)),
        ReportFile::Bytes(bytes) => (Some(HandedOver::new(bytes)), None),
    };
    let shows = secrets.taken_out_of_output(Stream::Text, &mut done.stdout, &mut done.stderr);
    let unusable = shows.err().or(unusable);
    let ended = explained(done.ended, &stderr_tail);
    Dispatched {
        ended,
        gone: done.gone,
        report,
        unusable,
        spent: Spent::default(),
        lasted: without_secrets(done.lasted, secrets),
        stderr_tail,
        confinement: folder.confinement(),
        stdout: Some(done.stdout),
        stderr: Some(done.stderr),
    }
    .with_reset()
}

/// The exit code by which a command says that its provider lets it do nothing for now, as
/// `EX_TEMPFAIL` of sysexits; it is our own for the same.
const LIMITED: i32 = 75;

/// How a command ended: one that says that it met a limit did not fail, and its last words on standard
/// error may tell until when. Of one that failed they tell why.
fn explained(ended: Ended, stderr: &str) -> Ended {
    let words = stderr.lines().rfind(|line| !line.trim().is_empty());
    match (ended, words) {
        (Ended::Exited { code: LIMITED }, words) => Ended::Failed {
            code: LIMITED,
            trouble: Trouble::RateLimit,
            message: words::shortened(words.unwrap_or_default()),
        },
        (Ended::Exited { code }, Some(words)) if code != 0 => Ended::Failed {
            code,
            trouble: Trouble::Unknown,
            message: words::shortened(words),
        },
        (ended, _) => ended,
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
    /// What confines it.
    fn confinement(&self) -> Confinement {
        match self.confine {
            Some(_) => Confinement::Landlock,
            None => Confinement::None,
        }
    }
    /// The time that it is told of: one note, before whatever ends it first.
    fn told_of(&self) -> Duration {
        let run = self.run_left.unwrap_or(self.budget);
        self.budget.min(run)
    }
    /// The program with everything it gets.
    fn prepare(&self, besides: &Besides) -> Result<Command, Failure> {
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
            self.local(tree, besides)
        };
        command
            .env
            .extend(passed_on(self.environment, &self.command.env));
        command.env.extend(besides.env.clone());
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
        command.confine.clone_from(&self.confine);
        Ok(command)
    }

    /// What a program that sees this machine's files is told of them.
    fn local(&self, tree: &Path, besides: &Besides) -> Command {
        let (prompt, evidence) = (self.folder.prompt(), self.folder.evidence());
        let mut placeholders: Vec<Placeholder<'_>> = vec![
            (arguments::PROMPT, prompt.as_os_str()),
            (arguments::TREE, tree.as_os_str()),
            (arguments::EVIDENCE, evidence.as_os_str()),
        ];
        let more = besides.placeholders.iter();
        placeholders.extend(more.map(|(name, value)| (*name, value.as_os_str())));
        let args = self.command.args.iter();
        let directory = besides.directory.as_deref().unwrap_or(tree);
        let mut command = Command::new(&self.command.program, directory)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::digest::Digest;
    use crate::domain::id::LoopId;
    use crate::domain::limits::Reset;
    use crate::domain::sealed::seal;
    use crate::domain::time::{Stamp, Timestamp};
    use crate::process::guard::outcome::{Captured, Exit, Outcome, VERSION};

    /// Issue 4.7: a time of the day is read at the moment at which the job ended, however much later
    /// its report is taken over.
    #[tokio::test]
    async fn words_of_a_limit_are_read_at_the_end_of_the_job() {
        let cache = tempfile::tempdir().unwrap();
        let at = Timestamp::from_millis;
        let stamp = Stamp {
            at: at(0),
            seed: [0; 32],
        };
        let (run, job) = (LoopId::mint(&stamp, "run"), JobId::mint(&stamp, "job"));
        let folder = JobFolder::create(cache.path(), run, job, b"Do it.", None).unwrap();
        let words = b"limit reached, resets 9pm UTC\n";
        let captured = |bytes: &[u8]| Captured {
            bytes_total: bytes.len() as u64,
            bytes_cut: 0,
            file_bytes: bytes.len() as u64,
            sha256: Digest::of(bytes),
            broken: None,
        };
        // 2025-11-29, 20:00 in UTC.
        let ended_at = at(1_764_446_400_000);
        let outcome = Outcome {
            version: VERSION,
            agent: None,
            exit: Exit::Code { code: LIMITED },
            stopped: None,
            gone: true,
            left: Vec::new(),
            outlived: Vec::new(),
            started_at: at(1_764_446_300_000),
            ended_at,
            took_ms: 100_000,
            stdout: captured(b""),
            stderr: captured(words),
        };
        for (name, bytes) in [
            ("stdout", b"".to_vec()),
            ("stderr", words.to_vec()),
            ("outcome.json", seal(&outcome).unwrap()),
        ] {
            fs_err::write(folder.capture().join(name), bytes).unwrap();
        }
        let command = CommandAgent {
            program: "/agent".to_owned(),
            args: Vec::new(),
            prompt: PromptChannel::Stdin,
            report: ReportChannel::Stdout,
            env: Vec::new(),
            confine: false,
        };
        let taken = taken_over(&command, &folder, &Secrets::default()).await;
        let taken = taken.unwrap().unwrap();
        assert!(taken.ended.is_limit(), "{taken:?}");
        let reset = at(1_764_446_400_000 + 3_600_000);
        assert_eq!(taken.spent.reset, Some(Reset::At { at: reset }));
        let lasted = Dispatched::lasted(taken.lasted, at(2), at(3));
        assert_eq!((lasted.started_at, lasted.ended_at), (at(2), ended_at));
    }
}
