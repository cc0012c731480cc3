//! What must hold of delegated jobs in every journal, by the design's sentences: an independent reading
//! of the events, with a memory of its own.

use std::collections::{BTreeMap, BTreeSet};

use run_loop::domain::delegation::{Closed, Dispatch, DispatchOutcome, JobRequest, Signal};
use run_loop::domain::effect::{Effect, MeasurePoint, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::id::{EffectId, JobId, MessageId};
use run_loop::domain::job::{Ended, Job};
use run_loop::domain::time::Timestamp;

use crate::orders::Driver;

/// The seconds that are waited for what was delegated where the run says nothing else: a job's budget in
/// these worlds and the grace (T-101).
const USUAL_WAIT: u64 = 60 + 300;

/// A delegated job.
#[derive(Default)]
struct Node {
    parent: Option<JobId>,
    /// Its end, once it has one.
    closed: Option<Closed>,
    running: bool,
    attempts: u32,
    /// Whether it may be dispatched: for the first time, or since the dispatch before came to nothing that
    /// counts, or since somebody asked for it.
    due: bool,
    /// Until when a limit keeps it.
    limited_until: Option<Timestamp>,
    /// Whether it was waited for up to the bound, by the engine of now.
    given_up: bool,
}

impl Node {
    fn is_open(&self) -> bool {
        self.closed.is_none() || self.running
    }
}

/// A job of the loop.
struct Own {
    job: Job,
    ended: Option<Ended>,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of the run, of its own"
)]
struct Laws {
    wait_open_jobs: bool,
    wait: u64,
    now: Option<Timestamp>,
    own: BTreeMap<JobId, Own>,
    nodes: BTreeMap<JobId, Node>,
    /// Jobs whose newest dispatch ended well by itself, and left a report.
    ended_well: BTreeSet<JobId>,
    effects: BTreeMap<EffectId, Effect>,
    /// Those of them that an engine before the one of now requested: nobody was waited for by that.
    inherited: BTreeSet<EffectId>,
    tokens: BTreeSet<String>,
    folders: BTreeSet<JobId>,
    taken: BTreeSet<MessageId>,
    /// What dispatches came to, by their folder.
    came_back: BTreeMap<JobId, DispatchOutcome>,
    /// Jobs that were open when a wait came to its bound, whomever that was for.
    outlasted: BTreeSet<JobId>,
    /// The run is being put aside or cancelled, or its end is decided.
    winds_up: bool,
    /// Somebody asked the run to stop.
    stopped: bool,
    ended: bool,
}

/// Holds every law of delegated jobs against a run's journal.
pub fn jobs_are_kept(driver: &Driver<'_>) -> Result<(), String> {
    let mut laws = Laws::default();
    for (at, event) in driver.journal.iter().enumerate() {
        let known = &driver.state.messages;
        laws.take(event, |message| known.get(&message).copied())
            .map_err(|broken| format!("event {at}, {event:?}: {broken}"))?;
    }
    // What was handed over is the job's, once its outcome can have been heard of.
    for (folder, outcome) in &driver.desk.handed {
        let Outcome::Delegated { outcome } = outcome else {
            return Err("a dispatch handed over something else".to_owned());
        };
        let heard = laws.came_back.get(folder);
        let never_asked = !laws.folders.contains(folder);
        if laws.ended && !never_asked && heard != Some(outcome) {
            return Err(format!("what dispatch {folder} handed over is lost"));
        }
    }
    for (job, node) in &laws.nodes {
        let record = &driver.state.delegations[job];
        if record.closed != node.closed {
            return Err(format!("job {job}: the first end does not win"));
        }
        if laws.ended && node.is_open() {
            return Err(format!("job {job} is open after the run"));
        }
    }
    Ok(())
}

fn broken(text: &str) -> Result<(), String> {
    Err(text.to_owned())
}

impl Laws {
    #[expect(clippy::too_many_lines, reason = "one arm for each event")]
    fn take(
        &mut self,
        event: &Event,
        job_of: impl Fn(MessageId) -> Option<JobId>,
    ) -> Result<(), String> {
        match event {
            Event::RunStarted { stamp, spec } => {
                self.now = Some(stamp.at);
                self.wait_open_jobs = spec.wait_open_jobs;
                self.wait = spec.limits.job_wait.unwrap_or(USUAL_WAIT);
            }
            Event::RunResumed { stamp, .. } => {
                self.now = Some(stamp.at);
                (self.winds_up, self.stopped) = (false, false);
                self.outlasted.clear();
                self.inherited = self.effects.keys().copied().collect();
                for node in self.nodes.values_mut() {
                    node.given_up = false;
                    // Whether a limit still holds is found out by asking.
                    node.limited_until = None;
                }
            }
            Event::StopRequested { stamp, .. } => {
                self.now = Some(stamp.at);
                (self.winds_up, self.stopped) = (true, true);
            }
            Event::RunClosing { .. } => {
                self.winds_up = true;
                return self.may_end();
            }
            Event::RunParking { .. } => self.winds_up = true,
            Event::RunSuspended { .. } => return self.nothing_runs(),
            Event::RunEnded { .. } => {
                self.ended = true;
                return self.nothing_runs();
            }
            Event::JobRequested {
                stamp,
                message,
                request,
                ..
            } => {
                self.now = Some(stamp.at);
                if !self.taken.insert(*message) {
                    return broken("a message was taken twice");
                }
                return self.asked(request, job_of(*message));
            }
            Event::JobClosed { job, closed } => return self.close(*job, closed.clone()),
            Event::WorkLimited {
                job: Some(job),
                until,
                ..
            } => {
                let node = self.node(*job)?;
                if node.closed.is_some() || node.running {
                    return broken("a job waits for a limit that is over or runs");
                }
                node.limited_until = Some(*until);
            }
            Event::EffectRequested { id, effect } => {
                self.effects.insert(*id, (**effect).clone());
                return self.requested(effect);
            }
            Event::EffectDone {
                stamp,
                effect,
                outcome,
            } => {
                self.now = Some(stamp.at);
                let inherited = self.inherited.remove(effect);
                let Some(effect) = self.effects.remove(effect) else {
                    return broken("an effect was done twice");
                };
                return self.done(&effect, outcome, inherited);
            }
            Event::RoundOpened { .. } => return self.may_open_a_round(),
            Event::WorkRetried { .. } | Event::WorkLimited { job: None, .. } => {
                return self.may_judge_work();
            }
            Event::FindingDisposed { job, .. } => {
                let writes = self.own.get(job).is_some_and(|own| own.job.role.writes());
                return if writes {
                    self.may_judge_work()
                } else {
                    Ok(())
                };
            }
            Event::SlotRetried { slot, .. }
            | Event::SlotLimited { slot, .. }
            | Event::SlotSettled { slot, .. } => {
                let newest = self
                    .own
                    .values()
                    .filter(|own| own.job.slot == *slot)
                    .max_by_key(|own| own.job.id);
                let left = newest.is_some_and(|own| self.has_open(own.job.id));
                if left {
                    return broken(
                        "a report was judged while what its job delegated may still run",
                    );
                }
            }
            Event::JobSilent { .. }
            | Event::JobHeard { .. }
            | Event::WaitEnded { .. }
            | Event::CostUntold { .. }
            | Event::ReviewOpened { .. }
            | Event::WorkOpened { .. }
            // It rests on the measurement before it. Who is begun once more meanwhile is waited for by the
            // round.
            | Event::WorkClosed { .. }
            | Event::FindingRaised { .. }
            | Event::RoundClosed { .. } => {}
        }
        Ok(())
    }

    fn asked(&mut self, request: &JobRequest, about: Option<JobId>) -> Result<(), String> {
        match request {
            JobRequest::Submit { submission } => {
                let Some(job) = about else {
                    return broken("a job was granted that nobody knows");
                };
                let parent = submission.parent;
                // Who belongs to somebody that was given up is not waited for either.
                let given_up =
                    parent.is_some_and(|it| self.nodes.get(&it).is_some_and(|it| it.given_up));
                let node = Node {
                    parent,
                    due: true,
                    given_up,
                    ..Node::default()
                };
                self.nodes.insert(job, node);
                Ok(())
            }
            JobRequest::Signal { of, signal, detail } => {
                let detail = detail.clone();
                match signal {
                    Signal::Error => self.close(of.job, Closed::Error { reason: detail }),
                    // That it is done is a claim: its end closes it.
                    Signal::Completed
                    | Signal::Started
                    | Signal::Progress
                    | Signal::PermissionRequired => Ok(()),
                }
            }
            JobRequest::Cancel { job, reason } => {
                let reason = reason.clone();
                self.close(*job, Closed::Cancelled { reason })
            }
            JobRequest::Redispatch { job } => {
                let node = self.node(*job)?;
                if node.is_open() {
                    return broken("a job is begun once more that is not over");
                }
                node.closed = None;
                (node.due, node.given_up) = (true, false);
                node.limited_until = None;
                Ok(())
            }
        }
    }

    /// The first end wins.
    fn close(&mut self, job: JobId, closed: Closed) -> Result<(), String> {
        let well = self.ended_well.contains(&job);
        let node = self.node(job)?;
        if node.closed.is_some() {
            return broken("a job ended twice");
        }
        if matches!(closed, Closed::Completed { .. }) && !well {
            return broken("a job is completed that did not end well with a report");
        }
        node.closed = Some(closed);
        Ok(())
    }

    fn requested(&mut self, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::RunJob { job } => {
                let (id, job) = (job.id, job.clone());
                if self.own.insert(id, Own { job, ended: None }).is_some() {
                    return broken("a job was asked twice");
                }
            }
            Effect::Delegate { dispatch } => return self.dispatch(dispatch),
            Effect::AwaitJobs { until, .. } => {
                let latest = self.now.map(|now| now.plus_seconds(self.wait));
                if Some(*until) > latest {
                    return broken("a wait has no bound");
                }
            }
            Effect::Measure {
                point: MeasurePoint::AfterWork,
                ..
            } => {
                if self.winds_up {
                    return self.nothing_runs();
                }
                return self.may_judge_work();
            }
            Effect::Measure { .. }
            | Effect::Pin { .. }
            | Effect::MakeEvidence { .. }
            | Effect::OpenTree { .. }
            | Effect::Timer { .. }
            | Effect::Promote { .. }
            | Effect::Release => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<(), String> {
        if self.winds_up {
            return broken("a job is begun while the run winds up");
        }
        let new = self.tokens.insert(dispatch.token.clone());
        if !new || !self.folders.insert(dispatch.folder) {
            return broken("two dispatches have one token or one folder");
        }
        let now = self.now;
        self.ended_well.remove(&dispatch.job);
        let node = self.node(dispatch.job)?;
        if node.is_open() && node.closed.is_none() && !node.running && node.due {
            if node.limited_until > now {
                return broken("a job is begun before its limit is lifted");
            }
            if dispatch.attempt != node.attempts + 1 {
                return broken("attempts are not counted");
            }
            node.attempts += 1;
            (node.running, node.due) = (true, false);
            Ok(())
        } else {
            broken("a job is begun that runs, or that came to its end")
        }
    }

    fn done(&mut self, effect: &Effect, outcome: &Outcome, inherited: bool) -> Result<(), String> {
        match (effect, outcome) {
            (Effect::RunJob { job }, Outcome::JobEnded { outcome }) => {
                if let Some(own) = self.own.get_mut(&job.id) {
                    own.ended = Some(outcome.ended.clone());
                }
            }
            (Effect::Delegate { dispatch }, Outcome::Delegated { outcome }) => {
                self.came_back.insert(dispatch.folder, outcome.clone());
                let first_misfit = outcome.misfit.is_some() && dispatch.again.is_none();
                let nobodys = matches!(outcome.ended, Ended::Interrupted | Ended::Stopped)
                    || outcome.ended.is_limit()
                    || first_misfit;
                if outcome.ended.is_success() && outcome.gone && outcome.report.is_some() {
                    self.ended_well.insert(dispatch.job);
                }
                let node = self.node(dispatch.job)?;
                node.running = false;
                node.due = nobodys;
            }
            (Effect::AwaitJobs { .. }, Outcome::JobsAwaited) if !self.winds_up && !inherited => {
                let open = self.nodes.iter().filter(|(_, node)| node.is_open());
                self.outlasted.extend(open.map(|(job, _)| *job));
                let now = self.now;
                let waited: Vec<JobId> = self
                    .nodes
                    .keys()
                    .copied()
                    .filter(|job| self.is_of_a_writer(*job) || self.is_unattributed(*job))
                    .collect();
                for job in waited {
                    let node = self.node(job)?;
                    let held = !node.running && node.limited_until > now;
                    node.given_up |= node.is_open() && !held;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What is made of a writer's answer rests on the source as it is (M-130): whoever may write there was
    /// waited for. Who broke off ends everybody below it first.
    fn may_judge_work(&self) -> Result<(), String> {
        let newest = self
            .own
            .values()
            .filter(|own| own.ended.is_some())
            .max_by_key(|own| own.job.id);
        let Some(newest) = newest else {
            return Ok(());
        };
        let of_step = |job: &Job| {
            let it = &newest.job;
            (job.role, &job.slot, job.round) == (it.role, &it.slot, it.round)
        };
        let ended = newest.ended.as_ref();
        let goes_on = ended.is_some_and(|ended| {
            ended.is_success() || *ended == Ended::Interrupted || ended.is_limit()
        });
        for (job, node) in &self.nodes {
            let Some(root) = self.root(*job) else {
                continue;
            };
            if !of_step(&root.job) || !node.is_open() {
                continue;
            }
            if !newest.job.role.writes() || !goes_on || !node.given_up {
                return Err(format!("a step goes on while {job} may write"));
            }
        }
        Ok(())
    }

    fn may_open_a_round(&self) -> Result<(), String> {
        for (job, node) in &self.nodes {
            let waited = self.is_of_a_writer(*job) || self.is_unattributed(*job);
            if waited && node.is_open() && !node.given_up {
                return Err(format!("a round begins while {job} may write"));
            }
        }
        Ok(())
    }

    /// What a person asked for is ended with a loop when it was waited for, or when somebody stops that.
    fn may_end(&self) -> Result<(), String> {
        for (job, node) in &self.nodes {
            let works = node.running && node.closed.is_none();
            let waited_for = self.stopped || self.outlasted.contains(job);
            if works && self.root(*job).is_none() && !waited_for {
                return Err(format!("the run ends while a person's job {job} works"));
            }
        }
        Ok(())
    }

    fn nothing_runs(&self) -> Result<(), String> {
        if self.nodes.values().any(|node| node.running) {
            return broken("a dispatch is under way");
        }
        Ok(())
    }

    fn root(&self, job: JobId) -> Option<&Own> {
        let mut at = job;
        while let Some(parent) = self.nodes.get(&at)?.parent {
            if let Some(own) = self.own.get(&parent) {
                return Some(own);
            }
            at = parent;
        }
        None
    }
    fn has_open(&self, own: JobId) -> bool {
        self.nodes.iter().any(|(job, node)| {
            node.is_open() && self.root(*job).is_some_and(|root| root.job.id == own)
        })
    }
    fn is_of_a_writer(&self, job: JobId) -> bool {
        self.root(job).is_some_and(|root| root.job.role.writes())
    }
    fn is_unattributed(&self, job: JobId) -> bool {
        self.wait_open_jobs && self.root(job).is_none()
    }
    fn node(&mut self, job: JobId) -> Result<&mut Node, String> {
        let node = self.nodes.get_mut(&job);
        node.ok_or_else(|| format!("job {job} was never delegated"))
    }
}
