//! Agents of a profile: a known program, started for a role, and read by its adapter.

mod used;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::agent::acp;
use crate::agent::adapter::account::Account;
use crate::agent::adapter::outcome;
use crate::agent::arguments::{self, Placeholder};
use crate::agent::command::{self, Besides, Named};
use crate::agent::dispatched::{Dispatched, without_secrets};
use crate::agent::environment::Variables;
use crate::agent::handed_over::HandedOver;
use crate::agent::job_folder::JobFolder;
use crate::agent::redact::Secrets;
use crate::agent::report_file::REPORT_CAP;
use crate::domain::agent::{Agent, CommandAgent, ProfileAgent, ReportChannel};
use crate::domain::code::Code;
use crate::domain::confinement::Confinement;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::domain::profile::{Profile, Start, Stream, WorksIn};
use crate::domain::slot::SlotName;
use crate::domain::spent::Spent;
use crate::domain::trouble::Trouble;
use crate::process::confine::Confine;
use crate::process::guard::GuardProgram;
use crate::process::supervise::Supervised;

/// How much a program may print: its events hold the output of its tools.
const OUTPUT_CAP: usize = 64 << 20;

/// One job for one known program; the fields are those of [`command::Dispatch`].
#[derive(Debug)]
pub struct Dispatch<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The known program.
    pub program: &'a ProfileAgent,
    /// The job.
    pub job: Named,
    /// Whether the job may write in its tree.
    pub may_write: bool,
    /// The job's folder, made for it and not used before.
    pub folder: &'a JobFolder,
    /// The prompt, the same bytes as in the folder.
    pub prompt: &'a [u8],
    /// The tree it works in.
    pub tree: Option<&'a Path>,
    /// Our own environment, which the job's is picked from.
    pub environment: &'a Variables,
    /// The time that is left for it.
    pub budget: std::time::Duration,
    /// The program that guards it.
    pub guard: &'a GuardProgram,
    /// The position of the loop that it is in; `None` for one that was delegated.
    pub position: Option<&'a SlotName>,
    /// The session that it continues.
    pub continues: Option<Continued<'a>>,
    /// What it may not reach, where it is to be confined.
    pub confine: Option<&'a Confine>,
    /// The JSON Schema that its answer must fit.
    pub schema: Option<Schema<'a>>,
    /// What nothing that it leaves may show.
    pub secrets: &'a Secrets,
}

/// The form that an answer must have.
#[derive(Debug, Clone, Copy)]
pub struct Schema<'a> {
    /// The JSON Schema.
    pub text: &'a str,
    /// Whether its objects name all their members and allow no others.
    pub is_strict: bool,
}

impl<'a> Schema<'a> {
    /// What the program can be told of it.
    fn native<'p>(self, profile: &'p Profile) -> Option<(&'p [String], &'a str)> {
        let structured = profile.structured.as_ref()?;
        (self.is_strict || !structured.strict).then_some((&structured.args, self.text))
    }
}

/// Which of the messages after the last tool are the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All of them: none of what they claim vanishes.
    All,
    /// The last one: it alone has the form that was asked for.
    Last,
}

impl Wanted {
    /// Of a job that was, or was not, asked for a form.
    #[must_use]
    pub fn of(has_form: bool) -> Self {
        if has_form { Self::Last } else { Self::All }
    }
}

/// A session of the program's that a job continues.
#[derive(Debug, Clone, Copy)]
pub struct Continued<'a> {
    /// The program's own id of it.
    pub id: &'a str,
    /// What was used in it before, as far as that is known.
    pub before: &'a Spent,
}

/// Runs the job to its end and reads what it handed over.
pub async fn dispatch(dispatch: &Dispatch<'_>, stop: CancellationToken) -> Dispatched {
    let Dispatch {
        agent,
        program,
        job,
        folder,
        prompt,
        tree,
        environment,
        budget,
        guard,
        may_write,
        position,
        continues,
        confine,
        schema,
        secrets,
    } = *dispatch;
    let wanted = Wanted::of(schema.is_some());
    let form = schema.and_then(|schema| schema.native(&program.profile));
    let (form, schema) = form.unzip();
    let started = as_command(program, may_write, continues.is_some(), form, environment);
    let started = if program.profile.stream == Stream::Acp {
        talked_with(program, started, may_write, continues.is_some(), guard)
    } else {
        started
    };
    let id = continues.map(|continued| continued.id);
    let besides = match besides(program, may_write, position, folder, tree, id, schema) {
        Ok(besides) => besides,
        Err(failure) => return Dispatched::not_started(failure),
    };
    let as_command = command::Dispatch {
        agent,
        command: &started,
        job,
        folder,
        prompt,
        tree,
        environment,
        guard,
        budget,
        run_left: None,
        confine: confine.cloned(),
        secrets,
    };
    let directory = besides.directory.as_deref().or(tree);
    // Whoever takes the job over has to know.
    if let Some(Err(failure)) = directory.map(|directory| folder.note_directory(directory)) {
        return Dispatched::not_started(failure);
    }
    let stands = Stands {
        starts: directory,
        // A folder of one job is found by none after it; that of a position is one with its tree.
        belongs: tree.filter(|_| besides.directory.is_none() || position.is_some()),
    };
    match command::run(&as_command, &besides, stop).await {
        Ok(done) => Dispatched {
            confinement: folder.confinement(),
            ..read(program, done, secrets, &stands, continues, wanted)
        },
        Err(failure) => Dispatched::not_started(failure),
    }
}

/// What a job handed over whose engine died; see [`command::taken_over`].
///
/// # Errors
/// When the guard's record or the note of where the job stood is damaged: then nothing is known, and
/// nothing is believed.
pub async fn taken_over(
    program: &ProfileAgent,
    folder: &JobFolder,
    secrets: &Secrets,
    continues: Option<Continued<'_>>,
    wanted: Wanted,
) -> std::io::Result<Option<Dispatched>> {
    let Some(done) = command::recovered(folder, OUTPUT_CAP).await? else {
        return Ok(None);
    };
    let directory = match folder.directory() {
        // An engine that wrote no such note started it: where it stood is not known.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        directory => directory?,
    };
    // The tree of a reader that works elsewhere is not known, and nobody goes on in its session.
    let stands = Stands {
        starts: Some(&directory),
        belongs: Some(&directory),
    };
    Ok(Some(Dispatched {
        confinement: folder.confinement(),
        ..read(program, done, secrets, &stands, continues, wanted)
    }))
}

/// What the job's program said at last, as far as its output tells; see [`command::unvouched`].
#[must_use]
pub(crate) fn unvouched(program: &ProfileAgent, folder: &JobFolder) -> Option<HandedOver> {
    let printed = folder.printed()?;
    let said = Account::of(program.profile.stream, &printed).final_message()?;
    Some(command::the_end(said.as_bytes()))
}

/// Where a job's program was started.
#[derive(Debug)]
struct Stands<'a> {
    /// The folder.
    starts: Option<&'a Path>,
    /// The tree to which its session belongs.
    belongs: Option<&'a Path>,
}

/// The parts of a profile that a job gets, in the order of its arguments.
fn starts(program: &ProfileAgent, may_write: bool) -> [&Start; 2] {
    let profile = &program.profile;
    let by_role = if may_write {
        &profile.writer
    } else {
        &profile.reader
    };
    [&profile.always, by_role]
}

/// The program and its arguments, with what names them.
fn as_command(
    program: &ProfileAgent,
    may_write: bool,
    continues: bool,
    form: Option<&[String]>,
    environment: &Variables,
) -> CommandAgent {
    let profile = &program.profile;
    let mut args: Vec<String> = Vec::new();
    for start in starts(program, may_write) {
        args.extend(start.args.iter().cloned());
    }
    if program.model.is_some() {
        args.extend(profile.model.iter().cloned());
    }
    if program.effort.is_some() {
        args.extend(profile.effort.iter().cloned());
    }
    args.extend(program.args.iter().cloned());
    args.extend(form.unwrap_or_default().iter().cloned());
    if continues {
        args.extend(profile.session.resume.iter().cloned());
    }
    args.extend(profile.last.iter().cloned());
    // What the user named must be set; what the profile knows is passed on where it is.
    let keys = profile.keys_for(program.model.as_deref());
    let known = profile.env.iter().chain(keys);
    let set = known.filter(|name| environment.contains_key(OsStr::new(name)));
    CommandAgent {
        program: program.program.clone(),
        args,
        prompt: profile.prompt,
        report: ReportChannel::Stdout,
        env: program.env.iter().chain(set).cloned().collect(),
        confine: false,
    }
}

/// The same, for an agent that is talked with: what the guard starts is our client of its protocol.
fn talked_with(
    program: &ProfileAgent,
    agent: CommandAgent,
    may_write: bool,
    continues: bool,
    guard: &GuardProgram,
) -> CommandAgent {
    let (acp, model) = (&program.profile.acp, program.model.is_some());
    let client = guard.path().to_string_lossy().into_owned();
    CommandAgent {
        args: acp::order::arguments(acp, may_write, model, continues, &agent.program, agent.args),
        program: client,
        ..agent
    }
}

/// Variables, placeholders and files of the profile.
fn besides(
    program: &ProfileAgent,
    may_write: bool,
    position: Option<&SlotName>,
    folder: &JobFolder,
    tree: Option<&Path>,
    session: Option<&str>,
    schema: Option<&str>,
) -> Result<Besides, Failure> {
    let starts = starts(program, may_write);
    let (evidence, prompt) = (folder.evidence(), folder.prompt());
    let elsewhere = !may_write && program.profile.reader_works_in == WorksIn::Own;
    let files = starts
        .iter()
        .flat_map(|start| &start.files)
        .map(|(name, content)| (name.as_str(), content.as_bytes()))
        .chain(schema.map(|schema| ("schema.json", schema.as_bytes())));
    let files = match position.filter(|_| elsewhere) {
        Some(position) => folder.files_of(position, files),
        None => folder.files(files),
    };
    let files = files.map_err(|error| {
        let message = format!("the files of the profile {}: {error}", program.profile.name);
        Failure::new(Code::StateUnwritable, message)
    })?;
    let own = files.clone();
    let known: Vec<(&'static str, OsString)> = vec![
        ("{files}", files.into_os_string()),
        ("{schema}", schema.unwrap_or_default().into()),
        ("{session}", session.unwrap_or_default().into()),
        ("{model}", program.model.clone().unwrap_or_default().into()),
        (
            "{effort}",
            program.effort.clone().unwrap_or_default().into(),
        ),
    ];
    let mut placeholders: Vec<Placeholder<'_>> = known
        .iter()
        .map(|(name, value)| (*name, value.as_os_str()))
        .collect();
    placeholders.push((arguments::EVIDENCE, evidence.as_os_str()));
    placeholders.push((arguments::PROMPT, prompt.as_os_str()));
    if let Some(tree) = tree {
        placeholders.push((arguments::TREE, tree.as_os_str()));
    }
    let args = starts.iter().flat_map(|start| &start.args);
    let mut said = args.chain(starts.iter().flat_map(|start| start.env.values()));
    if let Some((path, sign)) = said.find_map(|text| arguments::misread(text, &placeholders)) {
        return Err(misread(&program.profile, path, sign));
    }
    let env = starts
        .iter()
        .flat_map(|start| &start.env)
        .map(|(name, value)| (name.into(), arguments::fill(value, &placeholders)))
        .collect();
    Ok(Besides {
        directory: elsewhere.then_some(own),
        env,
        placeholders: known,
        output: Some(OUTPUT_CAP),
    })
}

/// A program that would look elsewhere than in its folders.
fn misread(profile: &Profile, path: &OsStr, sign: char) -> Failure {
    let message = format!(
        "{} would take {} for something else, for the `{sign}` in it: XDG_CACHE_HOME chooses another folder for what is kept",
        profile.title,
        path.display(),
    );
    Failure::new(Code::AgentUnfit, message)
}

/// What the program printed, and why that does not count where it does not.
fn printed(profile: &Profile, done: &Supervised) -> (Account, Option<String>) {
    match (done.gone, done.stdout.whole()) {
        (true, Some(bytes)) => (Account::of(profile.stream, bytes), None),
        (false, _) => (
            Account::new(profile.stream),
            Some("processes of the job could not be ended, so its output was not read".to_owned()),
        ),
        (true, None) => (
            // What is not whole is not the program's word that it is done.
            Account::new(profile.stream),
            Some(match &done.stdout.broken {
                Some(reason) => format!("its output is not complete: {reason}"),
                None => format!("it printed more than {OUTPUT_CAP} bytes"),
            }),
        ),
    }
}

/// Reads what the program printed that was started there.
fn read(
    program: &ProfileAgent,
    mut done: Supervised,
    secrets: &Secrets,
    stands: &Stands<'_>,
    continues: Option<Continued<'_>>,
    wanted: Wanted,
) -> Dispatched {
    let profile = &program.profile;
    let stderr_tail = secrets.shown_end(&done.stderr);
    let (account, unusable) = printed(profile, &done);
    let elsewhere = account
        .directory()
        .filter(|told| stands_elsewhere(told, stands.starts));
    let ended = match (done.ended, &unusable) {
        (Ended::Exited { code: 0 }, Some(reason)) => Ended::Failed {
            code: 0,
            trouble: Trouble::Unfinished,
            message: reason.clone(),
        },
        // What it read there is not what it was asked about.
        (Ended::Exited { code: 0 }, None) if elsewhere.is_some() => Ended::Failed {
            code: 0,
            trouble: Trouble::Session,
            message: format!("it worked in {}", elsewhere.unwrap_or_default()),
        },
        // What it was about is not known.
        (Ended::TimedOut, Some(_)) => Ended::TimedOut,
        (ended, _) => outcome::ended(profile, ended, &account, &stderr_tail, secrets),
    };
    let ended = match ended {
        Ended::Failed {
            code,
            trouble,
            message,
        } => Ended::Failed {
            code,
            trouble,
            message: secrets.taken_out_of_text(&message),
        },
        other @ (Ended::Exited { .. }
        | Ended::Signalled { .. }
        | Ended::TimedOut
        | Ended::Stopped
        | Ended::NotStarted { .. }
        | Ended::Lost
        | Ended::Interrupted) => other,
    };
    let spent = used::told(profile, &account, stands.belongs, continues, secrets);
    let shows = secrets.taken_out_of_output(profile.stream, &mut done.stdout, &mut done.stderr);
    let unusable = shows.err().or(unusable);
    let report = match wanted {
        Wanted::All => account.final_message(),
        Wanted::Last => account.last_message(),
    };
    let report = report.map(String::into_bytes);
    let (report, unusable) = match report {
        Some(bytes) if bytes.len() > REPORT_CAP => (
            None,
            Some(format!(
                "its final message has {} bytes, and a report may have {REPORT_CAP}",
                bytes.len()
            )),
        ),
        Some(bytes) => (Some(HandedOver::new(bytes)), unusable),
        None => (None, unusable),
    };
    Dispatched {
        ended,
        gone: done.gone,
        report,
        unusable,
        spent,
        lasted: without_secrets(done.lasted, secrets),
        stderr_tail,
        // Known to whoever has the job's folder.
        confinement: Confinement::None,
        stdout: Some(done.stdout),
        stderr: Some(done.stderr),
    }
    .with_reset()
}

/// Whether the folder that a program says it works in is another one than it was started in.
fn stands_elsewhere(told: &str, directory: Option<&Path>) -> bool {
    let Some(directory) = directory else {
        return false;
    };
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    real(Path::new(told)) != real(directory)
}
