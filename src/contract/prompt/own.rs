//! Templates of the base: which there may be, what they may name, and whether prompts made from them
//! still are what programs and agents rely on. Everything is tried before a run begins.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Environment;

use crate::contract::prompt::render::TEMPLATES;
use crate::contract::prompt::sample;
use crate::contract::reply::{self, ExpectReply};
use crate::contract::text::Mark;
use crate::contract::{Expect, delegation, prompt, review};
use crate::domain::agent::Contract;
use crate::domain::id::FindingId;
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::Reading;
use crate::domain::run_spec::RunSpec;

/// What every prompt may name.
const EVERYWHERE: [&str; 16] = [
    "kind",
    "tree_path",
    "branch",
    "base",
    "base_origin",
    "head",
    "commits",
    "edits",
    "snapshot",
    "behind",
    "mark",
    "task",
    "plan",
    "problems",
    "channel",
    "nonce",
];
/// What the prompt of a review may name besides.
const IN_REVIEWS: [&str; 19] = [
    "totals",
    "files",
    "more_files",
    "unseen",
    "diff_note",
    "evidence",
    "all_named",
    "odd_paths",
    "altered",
    "parts",
    "instructions",
    "settled",
    "own_work",
    "seen",
    "prior",
    "contract",
    "fail_on",
    "late",
    "tree",
];
/// What the other prompts may name besides.
const IN_WORK: [&str; 18] = [
    "earlier",
    "judges",
    "writes",
    "again",
    "objections",
    "raised",
    "findings",
    "round_failed",
    "seen",
    "altered",
    "evidence",
    "frozen",
    "against",
    "reports",
    "actions",
    "refutable",
    "unruled",
    "rulings",
];

/// What a part may name besides that stands in prompts of both kinds.
const IN_BOTH: [&str; 3] = ["seen", "altered", "evidence"];

/// A template that may be brought along.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Known {
    /// Its file's name.
    pub name: &'static str,
    /// What it may name.
    pub names: Vec<&'static str>,
    /// The built-in text.
    pub text: &'static str,
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{template}: {problem}")]
pub struct Fault {
    /// The template.
    pub template: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Fault {
    fn of(template: &str, problem: impl Into<String>) -> Self {
        Self {
            template: template.to_owned(),
            problem: problem.into(),
        }
    }
}

/// Every template that may be brought along.
#[must_use]
pub fn known() -> Vec<Known> {
    let all = TEMPLATES.iter().chain(delegation::TEMPLATES);
    all.map(|(name, text)| Known {
        name,
        names: allowed(name).into_iter().collect(),
        text,
    })
    .collect()
}

fn allowed(template: &str) -> BTreeSet<&'static str> {
    let names = |more: &'static [&'static str]| -> BTreeSet<&'static str> {
        EVERYWHERE.iter().chain(more).copied().collect()
    };
    match template {
        "review.md" | "contract-json.md" | "contract-line.md" | "re-ask.md" => names(&IN_REVIEWS),
        "seen.md" | "altered.md" => names(&IN_BOTH),
        "context.md" => names(&[]),
        _ => delegation::names(template)
            .map_or_else(|| names(&IN_WORK), |names| names.iter().copied().collect()),
    }
}

/// Tries every prompt of a run with its own templates and made-up values, with as little and as much
/// in them as there can be.
///
/// # Errors
/// The first template that is unknown, does not parse, names what there is not, or makes a prompt
/// that breaks a rule.
pub fn try_out(run: &RunSpec) -> Result<(), Fault> {
    for own in &run.templates {
        names_only_what_is_there(&own.name, &own.text)?;
    }
    for full in [false, true] {
        reviews(run, full)?;
        works(run, full)?;
    }
    delegates(run)
}

fn names_only_what_is_there(name: &str, text: &str) -> Result<(), Fault> {
    let all = known();
    if !all.iter().any(|known| known.name == name) {
        let names: Vec<&str> = all.iter().map(|known| known.name).collect();
        let problem = format!("no template has this name, only {}", names.join(", "));
        return Err(Fault::of(name, problem));
    }
    let wrong = |error: minijinja::Error| Fault::of(name, error.to_string());
    let mut parsing = Environment::new();
    parsing.add_template(name, text).map_err(wrong)?;
    let template = parsing.get_template(name).map_err(wrong)?;
    let allowed = allowed(name);
    let used: BTreeSet<String> = template.undeclared_variables(false).into_iter().collect();
    let unknown = used.iter().find(|used| !allowed.contains(used.as_str()));
    unknown.map_or(Ok(()), |unknown| {
        let allowed: Vec<&str> = allowed.iter().copied().collect();
        let problem = format!("`{unknown}` is none of its names: {}", allowed.join(", "));
        Err(Fault::of(name, problem))
    })
}

fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}

fn reviews(run: &RunSpec, full: bool) -> Result<(), Fault> {
    for (contract, evidence) in [
        (Contract::Json, EvidenceKind::ReviewTree),
        (Contract::Line, EvidenceKind::ReviewTree),
        (Contract::Json, EvidenceKind::SourceTree),
        (Contract::Json, EvidenceKind::DiffOnly),
    ] {
        let made = sample::review(run, contract, evidence, full);
        let fault = |problem: String| Fault::of("review.md", problem);
        let text = prompt::review(&made.prompt()).map_err(|error| fault(told(&error)))?;
        explains_the_mark(&made.job.nonce, &text).map_err(fault)?;
        let expect = Expect {
            contract,
            nonce: &made.job.nonce,
            tree: &made.pin.identity.tree,
            evidence: &made.evidence,
            fail_on: run.review.fail_on,
            items: &BTreeSet::new(),
            prior: &BTreeMap::new(),
            text_at: &|_| None,
        };
        if matches!(review::read(text.as_bytes(), &expect), Reading::Review(_)) {
            return Err(fault(echo()));
        }
    }
    Ok(())
}

fn works(run: &RunSpec, full: bool) -> Result<(), Fault> {
    for role in sample::ROLES {
        let made = sample::work(run, role, full);
        let fault = |problem: String| Fault::of(&format!("{}.md", role.as_str()), problem);
        let text = prompt::work(&made.prompt()).map_err(|error| fault(told(&error)))?;
        explains_the_mark(&made.job.nonce, &text).map_err(fault)?;
        let ids: Vec<FindingId> = made.findings.iter().map(|finding| finding.id).collect();
        let expect = ExpectReply {
            role,
            nonce: &made.job.nonce,
            findings: &ids,
            unruled: &made.unruled,
        };
        if matches!(reply::read(text.as_bytes(), &expect), Reading::Reply { .. }) {
            return Err(fault(echo()));
        }
    }
    Ok(())
}

fn echo() -> String {
    "the prompt itself, given back, would count as an answer".to_owned()
}

fn delegates(run: &RunSpec) -> Result<(), Fault> {
    let job = sample::job_id();
    let sentence = delegation::sentence(&run.templates, job, &run.roster)
        .map_err(|error| Fault::of("delegate.md", told(&error)))?;
    if !sentence.contains(&job.to_string()) {
        let problem = "it does not name `job`: what is delegated could not be attributed";
        return Err(Fault::of("delegate.md", problem));
    }
    let token = job.to_string();
    let mark = Mark::of(&token);
    for again in [None, Some("It was no JSON.")] {
        let fault = |problem: String| Fault::of("structured.md", problem);
        let (schema, own) = ("{\"type\": \"object\"}", &run.templates);
        let text =
            delegation::form(own, schema, again, &token).map_err(|error| fault(told(&error)))?;
        if !text.contains(schema) {
            let problem = "it does not hold `schema`: nobody could answer by it";
            return Err(fault(problem.to_owned()));
        }
        let explains = mark.strip(&text).contains(mark.as_str());
        if text.contains("[begin why") && !explains {
            let problem = "it quotes `again` and does not name `mark`, by which quotes are known";
            return Err(fault(problem.to_owned()));
        }
    }
    let fault = |problem: String| Fault::of("earlier.md", problem);
    let text = delegation::earlier(&run.templates, "It is done.", &token)
        .map_err(|error| fault(told(&error)))?;
    if !text.contains("It is done.") || !mark.strip(&text).contains(mark.as_str()) {
        let problem = "it must quote `earlier`, and name `mark`, by which quotes are known";
        return Err(fault(problem.to_owned()));
    }
    for sub_jobs in sample::sub_jobs() {
        delegation::table(&run.templates, &sub_jobs)
            .map_err(|error| Fault::of("sub-jobs.md", told(&error)))?;
    }
    Ok(())
}

/// Whoever quotes others must say so in words of its own.
fn explains_the_mark(nonce: &str, text: &str) -> Result<(), String> {
    let mark = Mark::of(nonce);
    if mark.strip(text).contains(mark.as_str()) {
        return Ok(());
    }
    Err("it nowhere says what the lines between two marks are: it must name `mark`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever starts from a built-in text may use it as it is.
    #[test]
    fn the_built_in_texts_name_only_what_is_there() {
        for known in known() {
            names_only_what_is_there(known.name, known.text).unwrap();
        }
    }
}
