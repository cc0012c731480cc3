//! What a job that plans, writes or rules is asked, and how its report is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::agent::job_folder::JobFolder;
use crate::contract::prompt::{self, WorkPrompt};
use crate::contract::reply::{self, ExpectReply};
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::finding::Finding;
use crate::domain::id::FindingId;
use crate::domain::identity::Pin;
use crate::domain::job::{Job, Reading, Role, SessionUse};
use crate::domain::lines::Place;
use crate::domain::run_spec::RunSpec;
use crate::domain::seen::Seen;
use crate::domain::work::Work;
use crate::engine::State;
use crate::git::evidence;
use crate::runtime::perform::job::lacking;
use crate::runtime::perform::plan;
use crate::runtime::rim::Rim;

/// One step of work.
pub(super) struct WorkTask<'a> {
    rim: &'a Rim,
    run: &'a RunSpec,
    state: &'a State,
    job: &'a Job,
    work: &'a Work,
    pub(super) pin: &'a Pin,
    findings: Vec<Finding>,
}

impl<'a> WorkTask<'a> {
    pub(super) fn of(
        rim: &'a Rim,
        run: &'a RunSpec,
        state: &'a State,
        job: &'a Job,
    ) -> Result<Self, Failure> {
        let (work, pin) = state.work().ok_or_else(|| lacking(job, "step of work"))?;
        Ok(Self {
            rim,
            run,
            state,
            job,
            work,
            pin,
            findings: state.asked_about(job.role, &job.slot, job.rank),
        })
    }
    /// The evidence of the round that the work follows, while it lies there.
    pub(super) fn evidence(&self) -> Option<PathBuf> {
        let after = self.work.after?;
        let folder = self.rim.evidence_folder(self.run.loop_id, after);
        let is_there = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
        is_there.then_some(folder)
    }
    pub(super) fn prompt(
        &self,
        agent: &Agent,
        tree: Option<&str>,
        seen: &[Seen],
    ) -> Result<String, Failure> {
        let evidence = match &agent.kind {
            AgentKind::Command(_) | AgentKind::Checks => "$RUN_LOOP_JOB_EVIDENCE".to_owned(),
            AgentKind::Profile(_) | AgentKind::Human => {
                let own = JobFolder::evidence_of(&self.rim.cache, self.run.loop_id, self.job.id);
                own.to_string_lossy().into_owned()
            }
        };
        let plan = plan::text(&self.rim.artifacts, self.state)?;
        let earlier = self.earlier()?;
        prompt::work(&WorkPrompt {
            run: self.run,
            pin: self.pin,
            job: self.job,
            agent,
            tree,
            plan: plan.as_deref(),
            objections: self.state.objections(self.work),
            findings: &self.findings,
            notes: &self.state.notes,
            places: &self.places(),
            unruled: &self.unruled(),
            seen,
            evidence: tree.map(|_| evidence.as_str()),
            earlier: earlier.as_deref(),
            round_failed: self.work.after.map(|round| round.0),
        })
        .map_err(|error| {
            let role = self.job.role.as_str();
            let message = format!("the {role} prompt of the {}: {error}", self.job.slot);
            Failure::new(Code::Internal, message)
        })
    }
    /// Where the lines that the findings cite are in the source as the job finds it: it may be another one
    /// than reviewers were shown last, since somebody worked on it meanwhile.
    fn places(&self) -> BTreeMap<FindingId, Place> {
        self.places_of(&self.findings)
    }
    /// The same of all findings of the run.
    pub(super) fn all_places(&self) -> BTreeMap<FindingId, Place> {
        self.places_of(&self.state.findings)
    }
    fn places_of(&self, findings: &[Finding]) -> BTreeMap<FindingId, Place> {
        let ids = findings.iter().map(|finding| finding.id);
        let known = |id| Some((id, self.state.places.get(&id)?.clone()));
        let shown: BTreeMap<FindingId, Place> = ids.filter_map(known).collect();
        let now = &self.pin.identity.tree;
        let Some(then) = self.state.shown.as_ref().filter(|then| *then != now) else {
            return shown;
        };
        if shown.is_empty() {
            return shown;
        }
        let trees = std::slice::from_ref(then);
        let since = evidence::since(&self.rim.git, &self.rim.store, trees, now);
        shown
            .into_iter()
            .filter_map(|(id, place)| Some((id, place.after(since.first()?)?)))
            .collect()
    }
    /// The findings that the creator is asked about and that nobody rules on.
    fn unruled(&self) -> BTreeSet<FindingId> {
        let asked = self.findings.iter();
        let unruled =
            asked.filter(|it| self.job.role == Role::Correct && self.state.is_unruled(it));
        unruled.map(|finding| finding.id).collect()
    }
    /// What was reported in the session whose place the job's own takes.
    fn earlier(&self) -> Result<Option<String>, Failure> {
        let SessionUse::Replaces { from } = self.job.session else {
            return Ok(None);
        };
        let record = self.state.jobs.get(&from);
        let outcome = record.and_then(|record| record.outcome.as_ref());
        let Some(report) = outcome.and_then(|outcome| outcome.report.as_ref()) else {
            return Ok(None);
        };
        let bytes = self.rim.artifacts.get(&report.sha256)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }
    pub(super) fn read(&self, report: &[u8]) -> Reading {
        let findings: Vec<FindingId> = self.findings.iter().map(|finding| finding.id).collect();
        let expect = ExpectReply {
            role: self.job.role,
            nonce: &self.job.nonce,
            findings: &findings,
            unruled: &self.unruled(),
        };
        reply::read(report, &expect)
    }
}
