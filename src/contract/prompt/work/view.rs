//! The values of the other prompts, in the words of their templates.

use minijinja::{Value, context};

use crate::contract::markdown::is_blank;
use crate::contract::prompt::WorkPrompt;
use crate::contract::prompt::place::{self, Place};
use crate::contract::prompt::seen;
use crate::contract::prompt::view::{channel, code, disposition, now, place_of, problems};
use crate::contract::text::{Mark, beginning, inline};
use crate::domain::finding::{Disposition, Finding, Word};
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{AttemptReason, Job, Role};

pub(super) fn work(prompt: &WorkPrompt<'_>) -> Value {
    let (pin, run, job) = (prompt.pin, prompt.run, prompt.job);
    let mark = Mark::of(&job.nonce);
    let writes = job.role.writes();
    let place = Place {
        run,
        pin,
        kind: kind(job.role, job.evidence),
        tree: prompt.tree,
        // Whoever works in the source has no store to find the snapshot in.
        snapshot: !writes && pin.snapshot != pin.identity.head,
    };
    let judges = match job.role {
        Role::Challenge | Role::Review | Role::Readjudicate | Role::Arbitrate => true,
        Role::Plan | Role::Refine | Role::Implement | Role::Correct | Role::Comply => false,
    };
    let task = run.task.as_deref().filter(|task| !is_blank(task));
    let findings: Vec<Value> = prompt
        .findings
        .iter()
        .map(|finding| one(finding, prompt, &mark))
        .collect();
    context! {
        ..place::context(&place),
        ..context! {
            mark => mark.as_str(),
            judges => judges,
            writes => writes,
            again => asked_again(job),
            task => task.map(|task| mark.quote("task", task)),
            plan => prompt.plan.map(|plan| mark.quote("plan", plan)),
            objections => objections(prompt, &mark),
            raised => raised(prompt),
            findings => findings,
            seen => seen::values(prompt.seen, prompt.evidence, &mark),
            altered => seen::is_altered(prompt.seen),
            evidence => prompt.evidence,
            round_failed => prompt.round_failed,
            frozen => match (task, prompt.plan) {
                (Some(_), Some(_)) => "Task and plan are",
                (Some(_), None) => "The task is",
                (None, Some(_)) => "The plan is",
                (None, None) => "What the change is for is",
            },
            against => if prompt.tree.is_some() { "against the code" } else { "against what stands above" },
            reports => code(&run.reports),
            problems => problems(&job.reason),
            earlier => prompt.earlier.map(|text| mark.quote("earlier report", beginning(text))),
            channel => channel(prompt.agent),
            actions => actions(prompt),
            refutable => may_refute(prompt),
            unruled => unruled(prompt),
            rulings => rulings(job.role),
            nonce => &job.nonce,
        },
    }
}

/// Whether an earlier attempt of a job that writes came to its end without an answer, and not since its form
/// was wrong: what it wrote is there.
fn asked_again(job: &Job) -> bool {
    let mends_form = matches!(job.reason, AttemptReason::ReAsk { .. });
    job.role.writes() && job.attempt > 1 && !mends_form
}

fn kind(role: Role, evidence: EvidenceKind) -> &'static str {
    match (role, evidence) {
        (Role::Implement | Role::Correct | Role::Comply, _) => "working-tree",
        (_, EvidenceKind::DiffOnly) => "nothing",
        (_, EvidenceKind::SourceTree) => "source-tree",
        (Role::Plan | Role::Challenge | Role::Refine, EvidenceKind::ReviewTree) => "start-tree",
        (Role::Review | Role::Readjudicate | Role::Arbitrate, EvidenceKind::ReviewTree) => {
            "review-tree"
        }
    }
}

fn actions(prompt: &WorkPrompt<'_>) -> &'static str {
    if may_refute(prompt) {
        r#""fixed", "refuted" or "deferred""#
    } else {
        r#""fixed" or "deferred""#
    }
}

/// Whether the job may say of any of its findings that it is wrong: what nobody rules on stands whatever
/// is said against it, and what was sustained is ruled on.
fn may_refute(prompt: &WorkPrompt<'_>) -> bool {
    let ruled = |finding: &Finding| !prompt.unruled.contains(&finding.id);
    prompt.job.role != Role::Comply && prompt.findings.iter().any(ruled)
}

/// The findings that nobody rules on, where there are any.
fn unruled(prompt: &WorkPrompt<'_>) -> Option<String> {
    let ids = prompt.findings.iter().map(|finding| finding.id);
    let ids: Vec<String> = ids
        .filter(|id| prompt.unruled.contains(id))
        .map(|id| id.to_string())
        .collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}

fn rulings(role: Role) -> &'static str {
    if role == Role::Arbitrate {
        r#""sustained" or "overruled""#
    } else {
        r#""withdrawn" or "upheld""#
    }
}

fn objections(prompt: &WorkPrompt<'_>, mark: &Mark) -> Option<String> {
    let quoted = prompt.objections.iter().enumerate();
    let quoted: Vec<String> = quoted
        .map(|(nth, text)| mark.quote(&format!("objection {}", nth + 1), text))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join("\n\n"))
}

/// What a refinement goes by, if by anything.
fn raised(prompt: &WorkPrompt<'_>) -> Option<&'static str> {
    match (prompt.objections.is_empty(), prompt.findings.is_empty()) {
        (true, true) => None,
        (false, true) => Some("objection"),
        (true, false) => Some("finding"),
        (false, false) => Some("objection and each finding"),
    }
}

fn one(finding: &Finding, prompt: &WorkPrompt<'_>, mark: &Mark) -> Value {
    let (id, claim) = (finding.id.to_string(), &finding.claim);
    let mut facts = vec![claim.severity.to_string()];
    if finding.blocking {
        facts.push("blocking".to_owned());
    }
    facts.push(format!("raised by {}", code(finding.slot.as_str())));
    if prompt.unruled.contains(&finding.id) {
        facts.push("nobody rules on it".to_owned());
    }
    if finding.disposition != Disposition::Open {
        facts.push(disposition(finding.disposition).to_owned());
    }
    let title = inline(&claim.title);
    let mut text = match place_of(claim) {
        Some(place) => format!("{place}{}: {title}", now(finding, prompt.places)),
        None => title,
    };
    if !is_blank(&claim.body) {
        text.push_str("\n\n");
        text.push_str(&claim.body);
    }
    context! {
        text => mark.quote(&id, &text),
        notes => notes(finding, prompt, mark),
        id => id,
        facts => facts.join(", "),
    }
}

/// What was said about a finding since, by whom.
fn notes(finding: &Finding, prompt: &WorkPrompt<'_>, mark: &Mark) -> Vec<Value> {
    let said = prompt.notes.get(&finding.id).into_iter().flatten();
    let said = said.filter(|word| !is_blank(&word.note));
    said.map(|word| {
        let (who, name) = speaker(word.role);
        let quoted = mark.quote(&format!("{} {name}", finding.id), &word.note);
        context! { by => format!("{who} {}", does(word)), text => quoted }
    })
    .collect()
}

/// Who speaks in a job of this role, as the finding's text and its quotes call them.
fn speaker(role: Role) -> (&'static str, &'static str) {
    match role {
        Role::Challenge | Role::Implement | Role::Correct | Role::Comply => {
            ("The creator", "creator")
        }
        Role::Review | Role::Readjudicate => ("Its reviewer", "reviewer"),
        Role::Arbitrate => ("The arbiter", "arbiter"),
        Role::Plan | Role::Refine => ("The planner", "planner"),
    }
}

/// What they say of it.
fn does(word: &Word) -> &'static str {
    match word.disposition {
        Disposition::Open => "calls it open",
        Disposition::Fixed => "calls it fixed",
        Disposition::Refuted => "refutes it",
        Disposition::Withdrawn => "withdraws it",
        Disposition::Upheld => "upholds it",
        // By complying it can only be left as it is.
        Disposition::Sustained if word.role == Role::Comply => "does not mend it",
        Disposition::Sustained => "sustains it",
        Disposition::Overruled => "overrules it",
        Disposition::Deferred => "leaves it for later",
    }
}
