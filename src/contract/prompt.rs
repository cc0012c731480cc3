//! The prompts, rendered from `templates/`.
//!
//! A template has no code in it and no name may be missing. What others wrote goes into it as a
//! value, quoted under the job's mark; it is never read as a template.

pub mod own;
mod place;
mod render;
mod sample;
mod seen;
mod view;
mod work;

use std::collections::BTreeMap;

pub(in crate::contract) use render::in_blocks;

use crate::domain::agent::Agent;
use crate::domain::digest::is_lower_hex;
use crate::domain::evidence::Evidence;
use crate::domain::finding::{Finding, Word};
use crate::domain::id::FindingId;
use crate::domain::identity::Pin;
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{Job, Role};
use crate::domain::lines::Place;
use crate::domain::run_spec::RunSpec;
use crate::domain::seen::Seen;
use crate::domain::slot::{Slot, SlotName};

pub use work::{WorkPrompt, work};

/// What a review job is told.
#[derive(Debug, Clone, Copy)]
pub struct ReviewPrompt<'a> {
    /// The run: its task, its base, its rules. Its source is named only under `env` isolation.
    pub run: &'a RunSpec,
    /// The identity under review.
    pub pin: &'a Pin,
    /// What is shown of it.
    pub evidence: &'a Evidence,
    /// The slot; the job's rank says which of its agents is asked.
    pub slot: &'a Slot,
    /// The job: its nonce, its kind of evidence, and whether it is a re-ask.
    pub job: &'a Job,
    /// Where the agent reads: its review tree, under `env` isolation the source root, for a remote
    /// agent nothing.
    pub tree: Option<&'a str>,
    /// Name and bytes of the parts that stand in the prompt, in order: those with `in_prompt`.
    pub parts: &'a [(String, Vec<u8>)],
    /// The plan that the change follows.
    pub plan: Option<&'a str>,
    /// Findings of earlier rounds, with what became of them.
    pub prior: &'a [Finding],
    /// What was said of them since, oldest first.
    pub notes: &'a BTreeMap<FindingId, Vec<Word>>,
    /// Where the lines that they cite are now, as far as these were found again.
    pub places: &'a BTreeMap<FindingId, Place>,
    /// What the slot last reported on, if it reported before.
    pub seen: &'a [Seen],
    /// Whether what the agent finds anew may come late: it gave as many completed reports already.
    pub late: bool,
}

/// Why there is no prompt. Each of them means that nothing may be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The templates and the values do not fit together.
    #[error("the prompt could not be rendered")]
    Template(#[from] minijinja::Error),
    /// The job asks an agent that the slot does not have.
    #[error("slot {slot} has no agent of rank {rank}")]
    NoAgent {
        /// The slot.
        slot: SlotName,
        /// The rank.
        rank: usize,
    },
    /// The nonce could not be told from other text.
    #[error("the nonce of job {0} is not lower-case hexadecimal of at least 16 digits")]
    Nonce(String),
    /// A tree is given to an agent that must not see one, or the other way round (row M-091).
    #[error("a job that judges by {kind:?} {problem}")]
    Tree {
        /// By what the job judges.
        kind: EvidenceKind,
        /// What does not fit.
        problem: &'static str,
    },
    /// The prompt lacks what its role needs, or has what the role must not have.
    #[error("a job to {} {problem}", role.as_str())]
    Misfit {
        /// The job's role.
        role: Role,
        /// What does not fit.
        problem: &'static str,
    },
    /// The texts are not those of the evidence's parts.
    #[error("the prompt should hold the diff's parts {expected:?}, but {given:?} were given")]
    Parts {
        /// The names of the parts marked for the prompt.
        expected: Vec<String>,
        /// The names that were given.
        given: Vec<String>,
    },
    /// A remote reviewer would judge a diff that was cut (row M-091, scenario T-025).
    #[error("the diff was cut, and a remote reviewer has nothing else")]
    Cut,
    /// The rendered prompt breaks one of its own rules; it is not sent.
    #[error("the rendered prompt {0}")]
    Broken(&'static str),
}

/// Renders the prompt of a review job.
///
/// It starts with an ordinary word, and holds exactly one line `Nonce: <hex>` and one line
/// `Tree: <oid>`. Parsed as a report, it is no verdict and claims nothing.
pub fn review(prompt: &ReviewPrompt<'_>) -> Result<String, Error> {
    check(prompt)?;
    let text = render::render(&prompt.run.templates, "review.md", view::review(prompt)?)?;
    let tree = prompt.pin.identity.tree.as_str();
    check_rendered(&text, Some(&prompt.job.nonce), Some(tree))?;
    Ok(text)
}

fn check(prompt: &ReviewPrompt<'_>) -> Result<(), Error> {
    let job = prompt.job;
    if job.role != Role::Review {
        return Err(Error::Misfit {
            role: job.role,
            problem: "is no review",
        });
    }
    check_nonce(job)?;
    check_tree(job, prompt.tree, agent(prompt)?, prompt.run)?;
    if job.evidence == EvidenceKind::DiffOnly && prompt.evidence.is_cut() {
        return Err(Error::Cut);
    }
    let parts = prompt.evidence.parts.iter();
    let expected: Vec<String> = parts
        .filter(|part| part.in_prompt)
        .map(|part| part.name.clone())
        .collect();
    let given: Vec<String> = prompt.parts.iter().map(|(name, _)| name.clone()).collect();
    if expected == given {
        Ok(())
    } else {
        Err(Error::Parts { expected, given })
    }
}

fn check_nonce(job: &Job) -> Result<(), Error> {
    if job.nonce.len() < 16 || !is_lower_hex(&job.nonce) {
        return Err(Error::Nonce(job.id.to_string()));
    }
    Ok(())
}

/// Whether a job that only reads is given what it may see.
fn check_tree(job: &Job, tree: Option<&str>, agent: &Agent, run: &RunSpec) -> Result<(), Error> {
    let problem = match (job.evidence, tree) {
        (EvidenceKind::DiffOnly, Some(_)) => Some("must not be given a tree"),
        (EvidenceKind::ReviewTree | EvidenceKind::SourceTree, None) => Some("needs a tree"),
        (EvidenceKind::ReviewTree | EvidenceKind::SourceTree, Some(_)) if agent.remote => {
            Some("cannot go to a remote agent")
        }
        (EvidenceKind::ReviewTree, Some(tree)) if tree == run.source_root => {
            Some("must not be given the source tree")
        }
        (EvidenceKind::DiffOnly, None)
        | (EvidenceKind::ReviewTree | EvidenceKind::SourceTree, Some(_)) => None,
    };
    problem.map_or(Ok(()), |problem| {
        Err(Error::Tree {
            kind: job.evidence,
            problem,
        })
    })
}

fn agent<'a>(prompt: &ReviewPrompt<'a>) -> Result<&'a Agent, Error> {
    let rank = prompt.job.rank;
    let missing = || Error::NoAgent {
        slot: prompt.slot.name.clone(),
        rank,
    };
    prompt.slot.agent_at(rank).ok_or_else(missing)
}

/// The rules that programs rely on, held against what was really rendered.
fn check_rendered(text: &str, nonce: Option<&str>, tree: Option<&str>) -> Result<(), Error> {
    let only = |start: &str, value: Option<&str>| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(start));
        lines.next() == value && lines.next().is_none()
    };
    if !only("Nonce: ", nonce) {
        return Err(Error::Broken(
            "does not hold exactly one line with the nonce it asks for",
        ));
    }
    if !only("Tree: ", tree) {
        return Err(Error::Broken(
            "does not hold exactly one line with the tree it asks for",
        ));
    }
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Err(Error::Broken("does not start with a word"));
    }
    Ok(())
}
