//! Starting the agent of a job, each kind in its way.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Assignment;
use crate::agent::dispatched::Dispatched;
use crate::agent::human::{self, Console, Question};
use crate::agent::job_folder::JobFolder;
use crate::agent::profile::Continued;
use crate::agent::{command, profile};
use crate::domain::agent::AgentKind;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::SessionUse;
use crate::domain::spent::Spent;

impl Assignment<'_> {
    /// Starts the agent with its prompt, and waits for its end.
    pub(super) async fn dispatch(
        &self,
        folder: &JobFolder,
        prompt: &[u8],
        stop: CancellationToken,
    ) -> Result<Dispatched, Failure> {
        // All of it: who is begun was asked just now, and a machine that slept meanwhile worked on nothing.
        let budget = Duration::from_secs(self.job.budget);
        let in_review_tree = self.job.evidence == EvidenceKind::ReviewTree;
        let confine = self
            .tree
            .filter(|_| !self.job.role.writes())
            .map(Path::new)
            .map(|tree| {
                let position = Some(&self.job.slot);
                self.rim
                    .confine(self.agent, folder, position, tree, in_review_tree)
            })
            .transpose()?
            .flatten();
        let secrets = &self.rim.secrets(self.state);
        match &self.agent.kind {
            AgentKind::Command(program) => {
                let dispatch = command::Dispatch {
                    agent: self.agent,
                    command: program,
                    job: self.job.into(),
                    folder,
                    prompt,
                    tree: self.tree.map(Path::new),
                    environment: &self.rim.environment,
                    guard: &self.rim.guard,
                    budget,
                    run_left: self.run_left,
                    confine,
                    secrets,
                };
                Ok(command::dispatch(&dispatch, stop).await)
            }
            AgentKind::Profile(program) => {
                let before = self.state.used_before(self.job);
                let dispatch = profile::Dispatch {
                    agent: self.agent,
                    program,
                    job: self.job.into(),
                    may_write: self.job.role.writes(),
                    folder,
                    prompt,
                    tree: self.tree.map(Path::new),
                    environment: &self.rim.environment,
                    guard: &self.rim.guard,
                    budget,
                    position: Some(&self.job.slot),
                    continues: continued(&self.job.session, before.as_ref()),
                    confine: confine.as_ref(),
                    schema: None,
                    secrets,
                };
                Ok(profile::dispatch(&dispatch, stop).await)
            }
            AgentKind::Human => {
                let tree = self.tree.ok_or_else(|| {
                    Failure::new(Code::Internal, "a person was asked without a tree")
                })?;
                let question = Question {
                    slot: self.job.slot.clone(),
                    nonce: self.job.nonce.clone(),
                    tree: tree.into(),
                    evidence: folder.evidence(),
                    prompt: folder.prompt(),
                };
                Ok(human::dispatch(question, Box::new(Console), budget, stop).await)
            }
            AgentKind::Checks => Err(Failure::new(
                Code::Internal,
                "checks have no prompt to answer",
            )),
        }
    }
}

/// The session that a job continues, with what was used in it before.
pub(in crate::runtime) fn continued<'a>(
    session: &'a SessionUse,
    before: Option<&'a Spent>,
) -> Option<Continued<'a>> {
    match (session, before) {
        (SessionUse::Continues { id, .. }, Some(before)) => Some(Continued { id, before }),
        (SessionUse::Continues { .. }, None)
        | (SessionUse::New | SessionUse::Replaces { .. }, _) => None,
    }
}
