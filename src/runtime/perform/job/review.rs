//! What a reviewer is asked, and how its report is read.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::agent::job_folder::JobFolder;
use crate::contract::prompt::{self, ReviewPrompt};
use crate::contract::{Expect, review};
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::job::{Job, Reading};
use crate::domain::path::RepoPath;
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::Slot;
use crate::engine::{Review, State};
use crate::git::object;
use crate::runtime::perform::job::lacking;
use crate::runtime::perform::plan;
use crate::runtime::rim::Rim;

/// The review of one slot.
pub(super) struct ReviewTask<'a> {
    rim: &'a Rim,
    run: &'a RunSpec,
    state: &'a State,
    job: &'a Job,
    pub(super) review: &'a Review,
    pub(super) slot: &'a Slot,
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
        })
    }
    /// The round's evidence folder.
    pub(super) fn evidence(&self) -> PathBuf {
        PathBuf::from(&self.review.evidence.folder)
    }
    pub(super) fn prompt(&self, agent: &Agent, tree: Option<&str>) -> Result<String, Failure> {
        let parts = self.rim.parts_in_prompt(&self.review.evidence)?;
        let mut evidence = Cow::Borrowed(&*self.review.evidence);
        if let AgentKind::Profile(_) = &agent.kind {
            let own = JobFolder::evidence_of(&self.rim.cache, self.run.loop_id, self.job.id);
            evidence.to_mut().folder = own.to_string_lossy().into_owned();
        }
        let plan = plan::text(self.rim, self.state)?;
        prompt::review(&ReviewPrompt {
            run: self.run,
            pin: &self.review.pin,
            evidence: &evidence,
            slot: self.slot,
            job: self.job,
            tree,
            parts: &parts,
            plan: plan.as_deref(),
            prior: &self.state.findings,
        })
        .map_err(|error| {
            let message = format!("the prompt of {}: {error}", self.job.slot);
            Failure::new(Code::Internal, message)
        })
    }
    pub(super) fn read(&self, agent: &Agent, report: &[u8]) -> Reading {
        let expect = Expect {
            contract: agent.contract,
            nonce: &self.job.nonce,
            tree: &self.review.pin.identity.tree,
            evidence: &self.review.evidence,
            fail_on: self.run.review.fail_on,
            line_count: &|path| self.line_count(path),
        };
        review::read(report, &expect)
    }

    /// How many lines a text file of the snapshot has; `None` where that is not known.
    fn line_count(&self, path: &RepoPath) -> Option<u32> {
        let place = format!("{}:{}", self.review.pin.snapshot, path.as_str()?);
        let blob = object::blob(&self.rim.git, self.rim.store.git_dir(), &place).ok()??;
        let text = std::str::from_utf8(&blob).ok()?;
        u32::try_from(text.lines().count()).ok()
    }
}
