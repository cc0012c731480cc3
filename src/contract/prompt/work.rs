//! The prompts of the jobs that are no reviews.

mod view;

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::markdown::is_blank;
use crate::contract::prompt::{Error, check_nonce, check_rendered, check_tree, render};
use crate::domain::agent::Agent;
use crate::domain::finding::{Disposition, Finding, Word};
use crate::domain::id::FindingId;
use crate::domain::identity::Pin;
use crate::domain::job::{Job, Role};
use crate::domain::lines::Place;
use crate::domain::run_spec::RunSpec;
use crate::domain::seen::Seen;

/// What a job that is no review is told.
#[derive(Debug, Clone, Copy)]
pub struct WorkPrompt<'a> {
    /// The run: its task and its base.
    pub run: &'a RunSpec,
    /// The source as it was last measured.
    pub pin: &'a Pin,
    /// The job: its role, its nonce, its kind of evidence, and whether it is a re-ask.
    pub job: &'a Job,
    /// Who is asked.
    pub agent: &'a Agent,
    /// Where the agent works: the source root for roles that write, a detached tree for those that
    /// read, nothing for a remote agent.
    pub tree: Option<&'a str>,
    /// The plan in hand, as text.
    pub plan: Option<&'a str>,
    /// What the creator objects to the plan; for a refinement.
    pub objections: &'a [String],
    /// The findings that the job is asked about.
    pub findings: &'a [Finding],
    /// What was said about a finding since, oldest first. A blank word is left out.
    pub notes: &'a BTreeMap<FindingId, Vec<Word>>,
    /// Where the lines that findings cite are in the source as it was last measured, as far as these were
    /// found again.
    pub places: &'a BTreeMap<FindingId, Place>,
    /// The findings on which nobody rules: whoever raised them takes nothing back when asked.
    pub unruled: &'a BTreeSet<FindingId>,
    /// What the agent reported in a session that it was to go on in and cannot; its beginning is
    /// told.
    pub earlier: Option<&'a str>,
    /// What those whose findings these are last reported on.
    pub seen: &'a [Seen],
    /// The job's evidence folder as the agent is to call it; nothing for a remote agent.
    pub evidence: Option<&'a str>,
    /// The round that did not pass and is why the job is asked.
    pub round_failed: Option<u32>,
}

/// Renders the prompt of a job that is no review.
///
/// It starts with an ordinary word. One that asks for a block holds exactly one line `Nonce: <hex>`,
/// one that asks for a text none. Parsed as the job's report, it is no reply.
pub fn work(prompt: &WorkPrompt<'_>) -> Result<String, Error> {
    let template = match prompt.job.role {
        Role::Plan => "plan.md",
        Role::Challenge => "challenge.md",
        Role::Refine => "refine.md",
        Role::Implement => "implement.md",
        Role::Correct => "correct.md",
        Role::Readjudicate => "readjudicate.md",
        Role::Arbitrate => "arbitrate.md",
        Role::Comply => "comply.md",
        Role::Review => return Err(misfit(Role::Review, "has a prompt of its own")),
    };
    check(prompt)?;
    let text = render::render(&prompt.run.templates, template, view::work(prompt))?;
    let nonce = answers_in_a_block(prompt.job.role).then_some(prompt.job.nonce.as_str());
    check_rendered(&text, nonce, None)?;
    Ok(text)
}

fn check(prompt: &WorkPrompt<'_>) -> Result<(), Error> {
    let (job, role) = (prompt.job, prompt.job.role);
    check_nonce(job)?;
    if prompt.agent.is_checks() {
        return Err(misfit(role, "cannot go to `checks`"));
    }
    if !role.writes() {
        check_tree(job, prompt.tree, prompt.agent, prompt.run)?;
    } else if prompt.agent.remote {
        return Err(misfit(role, "cannot go to a remote agent"));
    } else if prompt.tree != Some(prompt.run.source_root.as_str()) {
        return Err(misfit(role, "must work in the source root"));
    }
    lacking(prompt).map_or(Ok(()), |problem| Err(misfit(role, problem)))
}

/// What the role cannot be asked without.
fn lacking(prompt: &WorkPrompt<'_>) -> Option<&'static str> {
    if prompt.plan.is_some_and(is_blank) {
        return Some("has a blank plan");
    }
    let task = prompt
        .run
        .task
        .as_deref()
        .is_some_and(|task| !is_blank(task));
    let plan = prompt.plan.is_some();
    // Reasons of the creator there must be. Who keeps a finding may do so without a word.
    let refuted = || {
        prompt.findings.iter().all(|finding| {
            let mut words = prompt.notes.get(&finding.id).into_iter().flatten();
            words.any(|word| word.disposition == Disposition::Refuted && !is_blank(&word.note))
        })
    };
    let findings = !prompt.findings.is_empty();
    match prompt.job.role {
        Role::Plan => (!task).then_some("has no task"),
        Role::Challenge | Role::Refine => (!plan).then_some("has no plan"),
        Role::Implement => (!task && !plan).then_some("has neither task nor plan"),
        Role::Correct | Role::Comply | Role::Readjudicate | Role::Arbitrate if !findings => {
            Some("has no findings")
        }
        Role::Readjudicate | Role::Arbitrate => (!refuted()).then_some("lacks a refutation"),
        Role::Correct | Role::Comply | Role::Review => None,
    }
}

fn answers_in_a_block(role: Role) -> bool {
    match role {
        Role::Plan | Role::Refine | Role::Implement => false,
        Role::Challenge
        | Role::Review
        | Role::Correct
        | Role::Readjudicate
        | Role::Arbitrate
        | Role::Comply => true,
    }
}

fn misfit(role: Role, problem: &'static str) -> Error {
    Error::Misfit { role, problem }
}
