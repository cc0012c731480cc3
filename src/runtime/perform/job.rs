//! One job from its prompt to what its report says.

use std::io;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::dispatched::Dispatched;
use crate::agent::job_folder::JobFolder;
use crate::agent::profile::Wanted;
use crate::contract::delegation::{sentence, table};
use crate::contract::{findings, prompt};
use crate::domain::agent::{Agent, AgentKind, ProfileAgent};
use crate::domain::code::Code;
use crate::domain::confinement::Confinement;
use crate::domain::delegation::Fence;
use crate::domain::failure::Failure;
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{Ended, Job, JobOutcome, Reading, Role, Stored};
use crate::domain::run_spec::RunSpec;
use crate::domain::spent::Spent;
use crate::engine::State;
use crate::process::guard::attach;
use crate::process::guard::remains::PATIENCE;
use crate::process::supervise::Lasted;
use crate::runtime::clock;
use crate::runtime::perform::{remains_ended, run_of};
use crate::runtime::remains::{self, AT_ONCE};
use crate::runtime::rim::Rim;
use crate::runtime::taken_over::{self, Asked};
use crate::store::mailbox::Card;

mod dispatch;
mod examine;
pub(in crate::runtime) mod review;
mod seen;
mod work;

pub(in crate::runtime) use dispatch::continued;
use review::ReviewTask;
use work::WorkTask;

/// What a job works with.
struct Assignment<'a> {
    rim: &'a Rim,
    run: &'a RunSpec,
    agent: &'a Agent,
    job: &'a Job,
    /// Where the agent works; `None` for a remote one.
    tree: Option<&'a str>,
    state: &'a State,
    /// How much of its time the run has left, where it has a bound.
    run_left: Option<Duration>,
    task: Task<'a>,
}

/// What a job is asked, and how its answer is read.
enum Task<'a> {
    /// To review the round's snapshot.
    Review(ReviewTask<'a>),
    /// To plan, to write or to rule.
    Work(WorkTask<'a>),
}

/// What came back, before it is stored.
struct Answer {
    ended: Ended,
    report: Option<Vec<u8>>,
    reading: Reading,
    prompt: Option<Stored>,
    stderr: Option<Stored>,
    spent: Spent,
    lasted: Option<Lasted>,
    confinement: Confinement,
}

/// Runs a job. Whatever goes wrong on the way is a job that was not started.
pub(super) async fn perform(
    rim: &Rim,
    state: &State,
    job: &Job,
    again: bool,
    run_left: Option<Duration>,
    stop: CancellationToken,
    kill: CancellationToken,
) -> JobOutcome {
    let began = clock::now();
    let asked_to_stop = stop.clone();
    let mut answer = match assign(rim, state, job, run_left) {
        Ok(assignment) => tokio::select! {
            answer = async {
                if again { assignment.take_over().await } else { assignment.begin(stop).await }
            } => answer,
            // A second signal: what runs is dropped, and its guard kills everything of it.
            () = kill.cancelled() => assignment.read_dropped().await,
        },
        Err(failure) => Answer::without_report(Ended::NotStarted { failure }),
    };
    if answer.ended == Ended::Stopped && asked_to_stop.is_cancelled() {
        // Not the agent's failure and not its guard's: the run stopped.
        answer.ended = Ended::Interrupted;
    }
    if state
        .run
        .as_ref()
        .is_some_and(|run| !remains::is_gone(&rim.cache, run.loop_id, job.id))
    {
        rim.trees.distrust(&job.slot);
    }
    let (ended, report) = taken_over::kept(&rim.artifacts, answer.ended, answer.report);
    let Lasted {
        started_at,
        ended_at,
        outlived,
    } = Dispatched::lasted(answer.lasted, began, clock::now());
    JobOutcome {
        spent: answer.spent,
        ended,
        report,
        prompt: answer.prompt,
        stderr: answer.stderr,
        // What it claims counts, also where its report cannot be kept.
        reading: answer.reading,
        confinement: answer.confinement,
        started_at,
        ended_at,
        outlived,
    }
}

fn assign<'a>(
    rim: &'a Rim,
    state: &'a State,
    job: &'a Job,
    run_left: Option<Duration>,
) -> Result<Assignment<'a>, Failure> {
    let run = run_of(state)?;
    let (task, agent) = match job.role {
        Role::Review => {
            let task = ReviewTask::of(rim, run, state, job)?;
            let agent = task.slot.agent_at(job.rank);
            (Task::Review(task), agent)
        }
        Role::Plan
        | Role::Challenge
        | Role::Refine
        | Role::Implement
        | Role::Correct
        | Role::Readjudicate
        | Role::Arbitrate
        | Role::Comply => {
            let task = WorkTask::of(rim, run, state, job)?;
            (Task::Work(task), state.agent_of(job))
        }
    };
    let agent = agent.ok_or_else(|| lacking(job, "agent"))?;
    let tree = match job.evidence {
        // A job that is taken over needs none: it is not started again.
        EvidenceKind::ReviewTree => state.trees.get(&job.slot).map(|tree| tree.path.as_str()),
        EvidenceKind::SourceTree => Some(run.source_root.as_str()),
        EvidenceKind::DiffOnly => None,
    };
    Ok(Assignment {
        rim,
        run,
        agent,
        job,
        tree,
        state,
        run_left,
        task,
    })
}

/// A job that was requested without what it needs.
fn lacking(job: &Job, what: &str) -> Failure {
    Failure::new(Code::Internal, format!("job {} has no {what}", job.id))
}

impl Answer {
    fn without_report(ended: Ended) -> Self {
        Self {
            ended,
            report: None,
            reading: Reading::Silent,
            prompt: None,
            stderr: None,
            spent: Spent::default(),
            lasted: None,
            confinement: Confinement::None,
        }
    }
    /// What the program itself printed of its version counts more.
    fn of_version(mut self, version: Option<String>) -> Self {
        self.spent.version = self.spent.version.or(version);
        self
    }
}

impl Assignment<'_> {
    /// Starts it, once nobody of a dead job of the run may interfere.
    async fn begin(&self, stop: CancellationToken) -> Answer {
        match remains_ended(self.rim, self.state).await {
            Ok(()) => self.run(stop).await,
            Err(failure) => Answer::without_report(Ended::NotStarted { failure }),
        }
    }

    async fn run(&self, stop: CancellationToken) -> Answer {
        if self.job.evidence == EvidenceKind::ReviewTree && self.tree.is_none() {
            let message = format!("job {} has no review tree", self.job.id);
            let failure = Failure::new(Code::Internal, message);
            return Answer::without_report(Ended::NotStarted { failure });
        }
        let answered = match &self.agent.kind {
            AgentKind::Checks => self.examine(stop).await,
            // Its version goes into the sidecar. Beside its work: some take a second to tell it.
            AgentKind::Profile(program) if self.job.role == Role::Review => {
                let (asked, told) = (self.ask(stop.clone()), self.version(program, stop));
                let (answered, version) = tokio::join!(asked, told);
                answered.map(|answer| answer.of_version(version))
            }
            AgentKind::Command(_) | AgentKind::Profile(_) | AgentKind::Human => {
                self.ask(stop).await
            }
        };
        answered.unwrap_or_else(|failure| Answer::without_report(Ended::NotStarted { failure }))
    }

    /// A job of a dead engine: a report that was finished is read, and never bought again; whatever
    /// else was under way is over, since its guard ends it, and the slot is asked again.
    async fn take_over(&self) -> Answer {
        match &self.agent.kind {
            AgentKind::Command(_) | AgentKind::Profile(_) => self.hand_over_again(PATIENCE).await,
            AgentKind::Checks => match self.commands_are_over().await {
                Ok(()) => Answer::without_report(Ended::Interrupted),
                Err(error) => {
                    let message = format!("job {} cannot be taken over: {error}", self.job.id);
                    let failure = Failure::new(Code::StateUnwritable, message);
                    // It was started, and may have written.
                    Answer::without_report(Ended::unread(&failure))
                }
            },
            // A person answers to the engine that asked.
            AgentKind::Human => Answer::without_report(Ended::Interrupted),
        }
    }

    /// A job that nobody waits for any more, while its guard kills everything of it.
    async fn read_dropped(&self) -> Answer {
        match &self.agent.kind {
            AgentKind::Command(_) | AgentKind::Profile(_) => self.hand_over_again(AT_ONCE).await,
            AgentKind::Checks | AgentKind::Human => Answer::without_report(Ended::Interrupted),
        }
    }

    async fn version(&self, program: &ProfileAgent, stop: CancellationToken) -> Option<String> {
        let rim = self.rim;
        let told = rim.versions.of(program, &rim.environment, &rim.guard, stop);
        told.await
    }

    async fn hand_over_again(&self, patience: Duration) -> Answer {
        let secrets = self.rim.secrets(self.state);
        let before = self.state.used_before(self.job);
        let asked = Asked {
            kind: &self.agent.kind,
            continues: continued(&self.job.session, before.as_ref()),
            wanted: Wanted::All,
        };
        let job = (&*self.rim.cache, self.run.loop_id, self.job.id);
        let taken = taken_over::read(job, asked, &secrets, patience).await;
        // Kept before the job was started; what is not there any more is not told.
        let prompt = taken.folder.as_ref().and_then(|folder| {
            let bytes = self.rim.artifacts.get(&folder.prompt_hash()?).ok()?;
            self.rim.artifacts.put(&bytes).ok()
        });
        let reading = taken.reading(&secrets, |report| self.read(report));
        let answer = self.answer(taken.handed_over(), reading);
        Answer { prompt, ..answer }
    }

    /// Waits until no command of a dead engine's `checks` runs any more.
    async fn commands_are_over(&self) -> io::Result<()> {
        for folder in self.rim.scratch_folders(self.run.loop_id, self.job.id)? {
            attach(&folder).await?;
        }
        Ok(())
    }

    /// Asks an agent that reads a prompt and writes a report.
    async fn ask(&self, stop: CancellationToken) -> Result<Answer, Failure> {
        let pin = match &self.task {
            Task::Review(task) => &task.review.pin,
            Task::Work(task) => task.pin,
        };
        let seen = seen::of(self.rim, self.run, self.state, self.job, pin);
        let (mut prompt, evidence) = match &self.task {
            Task::Review(task) => (
                task.prompt(self.agent, self.tree, &seen)?,
                Some(task.evidence()),
            ),
            Task::Work(task) => (task.prompt(self.agent, self.tree, &seen)?, task.evidence()),
        };
        if self.tree.is_some()
            && matches!(
                self.agent.kind,
                AgentKind::Command(_) | AgentKind::Profile(_)
            )
        {
            prompt.push_str(&self.sentence()?);
        }
        let stored = self.rim.artifacts.put(prompt.as_bytes())?;
        let folder = JobFolder::create(
            &self.rim.cache,
            self.run.loop_id,
            self.job.id,
            prompt.as_bytes(),
            evidence.as_deref().filter(|_| self.tree.is_some()),
        )?;
        self.rim.note_secrets(self.state, &folder)?;
        if self.tree.is_some() {
            folder.show_seen(&seen)?;
            folder.show_findings(&self.findings()?)?;
        }
        folder.tell(&Card::new(
            self.run.loop_id,
            Fence {
                job: self.job.id,
                attempt: self.job.attempt,
                token: self.job.token(),
            },
        ))?;
        let dispatched = self.dispatch(&folder, prompt.as_bytes(), stop).await?;
        let secrets = self.rim.secrets(self.state);
        let unvouched = taken_over::unvouched(&self.agent.kind, &folder, &dispatched);
        let read = |report: &[u8]| self.read(report);
        let reading = taken_over::reading(&dispatched, unvouched.as_ref(), &secrets, read);
        Ok(Answer {
            prompt: Some(stored),
            ..self.answer(dispatched, reading)
        })
    }

    /// The findings that the job may know of, as it finds them beside the evidence.
    fn findings(&self) -> Result<Vec<u8>, Failure> {
        let words = &self.state.notes;
        let written = match &self.task {
            Task::Review(task) => findings::render(&task.prior(), words, &self.state.places),
            Task::Work(task) => findings::render(&self.state.findings, words, &task.all_places()),
        };
        written.map_err(|error| Failure::new(Code::Internal, error.to_string()))
    }

    /// Reads a report, by the agent's contract.
    fn read(&self, report: &[u8]) -> Reading {
        match &self.task {
            Task::Review(task) => task.read(self.agent, report),
            Task::Work(task) => task.read(report),
        }
    }

    /// What was handed over, with what it says.
    fn answer(&self, dispatched: Dispatched, reading: Reading) -> Answer {
        let secrets = self.rim.secrets(self.state);
        // For people alone: where it cannot be kept, nothing else is lost.
        let said = dispatched.said(&secrets);
        let stderr = said.and_then(|bytes| self.rim.artifacts.put(&bytes).ok());
        Answer {
            report: dispatched.report.map(|report| report.shown(&secrets)),
            stderr,
            reading: self.told(reading),
            spent: dispatched.spent,
            lasted: dispatched.lasted,
            confinement: dispatched.confinement,
            ..Answer::without_report(dispatched.ended)
        }
    }

    /// What a report says, as it may be kept.
    fn told(&self, reading: Reading) -> Reading {
        let secrets = self.rim.secrets(self.state);
        reading.in_words(&|words| secrets.taken_out_of_text(words))
    }

    /// What was delegated before, and how it passes a part of its own job on; one that sees nothing
    /// of this machine cannot.
    fn sentence(&self) -> Result<String, Failure> {
        let internal = |error: prompt::Error| Failure::new(Code::Internal, error.to_string());
        let table = table(&self.run.templates, &self.state.sub_jobs()).map_err(internal)?;
        let sentence =
            sentence(&self.run.templates, self.job.id, &self.run.roster).map_err(internal)?;
        Ok(table + &sentence)
    }
}
