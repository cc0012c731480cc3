//! What a reviewer is asked, and how its report is read.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use crate::agent::job_folder::JobFolder;
use crate::contract::prompt::{self, ReviewPrompt};
use crate::contract::{Expect, TextFile, acceptance, review};
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::finding::Finding;
use crate::domain::job::{Job, Reading};
use crate::domain::path::RepoPath;
use crate::domain::run_spec::RunSpec;
use crate::domain::seen::Seen;
use crate::domain::slot::Slot;
use crate::engine::{Review, State};
use crate::git::object;
use crate::runtime::perform::job::lacking;
use crate::runtime::perform::{plan, run_of};
use crate::runtime::rim::Rim;
use crate::store::Artifacts;

/// Bytes of a file whose lines are looked at; what is larger is not resolved.
const TEXT_CAP: u64 = 16 << 20;

/// The review of one slot.
pub(super) struct ReviewTask<'a> {
    rim: &'a Rim,
    run: &'a RunSpec,
    state: &'a State,
    job: &'a Job,
    pub(super) review: &'a Review,
    pub(super) slot: &'a Slot,
    /// The plan that the change is held against.
    plan: Option<String>,
}

impl<'a> ReviewTask<'a> {
    pub(super) fn of(
        rim: &'a Rim,
        run: &'a RunSpec,
        state: &'a State,
        job: &'a Job,
    ) -> Result<Self, Failure> {
        let slot = run.panel.iter().find(|slot| slot.name == job.slot);
        Ok(Self {
            rim,
            run,
            state,
            job,
            review: state.review().ok_or_else(|| lacking(job, "review"))?,
            slot: slot.ok_or_else(|| lacking(job, "slot"))?,
            plan: plan::text(&rim.artifacts, state)?,
        })
    }
    /// The round's evidence folder.
    pub(super) fn evidence(&self) -> PathBuf {
        PathBuf::from(&self.review.evidence.folder)
    }
    pub(super) fn prompt(
        &self,
        agent: &Agent,
        tree: Option<&str>,
        seen: &[Seen],
    ) -> Result<String, Failure> {
        let parts = self.rim.parts_in_prompt(&self.review.evidence)?;
        let mut evidence = Cow::Borrowed(&*self.review.evidence);
        if let AgentKind::Profile(_) | AgentKind::Human = &agent.kind {
            let own = JobFolder::evidence_of(&self.rim.cache, self.run.loop_id, self.job.id);
            evidence.to_mut().folder = own.to_string_lossy().into_owned();
        }
        prompt::review(&ReviewPrompt {
            run: self.run,
            pin: &self.review.pin,
            evidence: &evidence,
            slot: self.slot,
            job: self.job,
            tree,
            parts: &parts,
            plan: self.plan.as_deref(),
            prior: &self.prior(),
            notes: &self.state.notes,
            places: &self.state.places,
            seen,
            late: self.state.may_be_late(self.job),
        })
        .map_err(|error| {
            let message = format!("the prompt of {}: {error}", self.job.slot);
            Failure::new(Code::Internal, message)
        })
    }
    pub(super) fn prior(&self) -> Vec<Finding> {
        prior(self.state, self.job).cloned().collect()
    }
    pub(super) fn read(&self, agent: &Agent, report: &[u8]) -> Reading {
        // A report may cite one file many times.
        let known: RefCell<HashMap<RepoPath, Option<TextFile>>> = RefCell::default();
        let text_at = |path: &RepoPath| {
            let mut known = known.borrow_mut();
            let found = known.entry(path.clone());
            found.or_insert_with(|| self.text_at(path)).clone()
        };
        let asked = (self.state, self.run, self.review, self.job);
        read(asked, agent, self.plan.as_deref(), report, &text_at)
    }

    /// The text file at a path of the snapshot; `None` where there is none, or it is not known.
    fn text_at(&self, path: &RepoPath) -> Option<TextFile> {
        let (git, store) = (&self.rim.git, self.rim.store.git_dir());
        let tree = self.review.pin.identity.tree.as_str();
        let entry = object::entry(git, store, tree, path.as_str()?).ok()??;
        let size = entry.size.filter(|_| entry.is_file())?;
        if size > TEXT_CAP {
            return None;
        }
        let bytes = object::read_blob(git, store, &entry.oid).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        Some(TextFile {
            blob: entry.oid,
            lines: u32::try_from(text.lines().count()).ok()?,
        })
    }
}

/// What a report says that nobody can hold against its snapshot any more: none of its places is believed to
/// be one of the snapshot's.
pub(in crate::runtime) fn read_apart(
    artifacts: &Artifacts,
    state: &State,
    job: &Job,
    agent: &Agent,
    report: &[u8],
) -> Result<Reading, Failure> {
    let run = run_of(state)?;
    let review = state.review().ok_or_else(|| lacking(job, "review"))?;
    let plan = plan::text(artifacts, state)?;
    let asked = (state, run, review, job);
    Ok(read(asked, agent, plan.as_deref(), report, &|_| None))
}

/// What was found before. Who reviews the same round does so blind to the others (C16), also where one is
/// asked after the other.
fn prior<'a>(state: &'a State, job: &'a Job) -> impl Iterator<Item = &'a Finding> {
    let all = state.findings.iter();
    all.filter(|finding| finding.round != job.round || finding.slot == job.slot)
}

fn read(
    (state, run, review, job): (&State, &RunSpec, &Review, &Job),
    agent: &Agent,
    plan: Option<&str>,
    report: &[u8],
    text_at: &dyn Fn(&RepoPath) -> Option<TextFile>,
) -> Reading {
    let expect = Expect {
        contract: agent.contract,
        nonce: &job.nonce,
        tree: &review.pin.identity.tree,
        evidence: &review.evidence,
        fail_on: run.review.fail_on,
        items: &plan.map(acceptance::items).unwrap_or_default(),
        prior: &prior(state, job)
            .map(|finding| (finding.id, finding.claim.path.clone()))
            .collect(),
        text_at,
    };
    review::read(report, &expect)
}
