//! The values of the review prompt, in the words of its template.

use std::collections::BTreeMap;

use minijinja::{Value, context};

use crate::contract::judge::COVERAGE_CAP;
use crate::contract::prompt::place::{self, Place};
use crate::contract::prompt::{Error, ReviewPrompt, agent, seen};
use crate::contract::text::{Mark, beginning, inline, of_bytes};
use crate::domain::agent::{Agent, AgentKind, Contract, ReportChannel};
use crate::domain::evidence::{ChangedFile, DiffPart, FileStatus, UnreviewedKind};
use crate::domain::finding::{Claim, Disposition, Finding};
use crate::domain::id::FindingId;
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{AttemptReason, Role};
use crate::domain::lines;
use crate::domain::lowered::Lowered;
use crate::domain::slot::SlotName;

/// Files named in the prompt of an agent that can open `files.json`.
const LIST_CAP: usize = 200;

pub(super) fn review(prompt: &ReviewPrompt<'_>) -> Result<Value, Error> {
    let (pin, run, job) = (prompt.pin, prompt.run, prompt.job);
    let agent = agent(prompt)?;
    let mark = Mark::of(&job.nonce);
    let texts: Vec<(&str, String, bool)> = prompt
        .parts
        .iter()
        .map(|(name, bytes)| {
            let (text, changed) = of_bytes(bytes);
            (name.as_str(), text, changed)
        })
        .collect();
    let parts: Vec<String> = texts
        .iter()
        .map(|(name, text, _)| mark.quote_diff(&format!("diff {name}"), text))
        .collect();
    let place = Place {
        run,
        pin,
        kind: match job.evidence {
            EvidenceKind::ReviewTree => "review-tree",
            EvidenceKind::SourceTree => "source-tree",
            EvidenceKind::DiffOnly => "diff-only",
        },
        tree: prompt.tree,
        snapshot: job.evidence == EvidenceKind::DiffOnly || pin.snapshot != pin.identity.head,
    };
    Ok(context! {
        ..place::context(&place),
        ..scope(prompt, agent, &mark),
        ..context! {
            mark => mark.as_str(),
            task => run.task.as_deref().map(|task| mark.quote("task", task)),
            altered => texts.iter().any(|(_, _, changed)| *changed) || seen::is_altered(prompt.seen),
            seen => seen::values(
                prompt.seen,
                (job.evidence != EvidenceKind::DiffOnly).then_some(folder(prompt, agent).as_str()),
                &mark,
            ),
            parts => parts,
            instructions => instructions(prompt),
            plan => prompt.plan.map(|plan| mark.quote("plan", plan)),
            own_work => prompt.slot.name == SlotName::self_review()
                && prompt.prior.iter().any(|finding| finding.blocking),
            settled => prompt.prior.iter().any(is_settled),
            prior => (!prompt.prior.is_empty()).then(|| prior(prompt, &mark)),
            problems => problems(&job.reason),
            contract => match agent.contract {
                Contract::Json => "contract-json.md",
                Contract::Line => "contract-line.md",
            },
            channel => channel(agent),
            fail_on => run.review.fail_on.as_str(),
            late => prompt.late,
            nonce => &job.nonce,
            tree => pin.identity.tree.as_str(),
        },
    })
}

/// The scope: what is shown and what is not.
fn scope(prompt: &ReviewPrompt<'_>, agent: &Agent, mark: &Mark) -> Value {
    let evidence = prompt.evidence;
    let remote = prompt.job.evidence == EvidenceKind::DiffOnly;
    let cap = if remote { usize::MAX } else { LIST_CAP };
    let lines: Vec<String> = evidence.files.iter().take(cap).map(file_line).collect();
    let sum = |of: fn(&ChangedFile) -> Option<u64>| evidence.files.iter().filter_map(of).sum();
    let (added, removed): (u64, u64) = (sum(|file| file.added), sum(|file| file.removed));
    let unseen = evidence.unreviewed().count();
    let folder = folder(prompt, agent);
    let more = evidence.files.len() - lines.len();
    context! {
        totals => format!("{}, +{added} -{removed} lines", count(long(evidence.files.len()), "file")),
        files => mark.quote("files", &lines.join("\n")),
        more_files => (more > 0).then(|| more.to_string()),
        unseen => (unseen > 0).then(|| unseen.to_string()),
        diff_note => diff_note(prompt, &folder),
        evidence => (!remote).then_some(folder),
        all_named => evidence.files.len() <= COVERAGE_CAP,
        odd_paths => evidence.files.iter().any(has_odd_path),
    }
}

/// The evidence folder, as the agent is to call it.
fn folder(prompt: &ReviewPrompt<'_>, agent: &Agent) -> String {
    match agent.kind {
        // People have no variables of a job at their terminal, and a profile's reader no shell.
        AgentKind::Human | AgentKind::Profile(_) => inline(&prompt.evidence.folder),
        AgentKind::Command(_) | AgentKind::Checks => "$RUN_LOOP_JOB_EVIDENCE".to_owned(),
    }
}

fn diff_note(prompt: &ReviewPrompt<'_>, folder: &str) -> String {
    let (inside, outside): (Vec<_>, Vec<_>) = prompt
        .evidence
        .parts
        .iter()
        .partition(|part| part.in_prompt);
    let total = inside.len() + outside.len();
    let has = format!("It has {}", count(long(total), "part"));
    let told = if prompt.job.evidence == EvidenceKind::DiffOnly {
        format!("{has}, whole below.")
    } else if outside.is_empty() {
        format!("{has}, whole below and as files in `{folder}/parts/`.")
    } else {
        let names = |parts: &[&DiffPart], end: &str| {
            let named = parts.iter().map(|part| format!("`{}{end}`", part.name));
            named.collect::<Vec<_>>().join(", ")
        };
        let shown = match inside.as_slice() {
            [] => "no part".to_owned(),
            some => names(some, ""),
        };
        let unshown = names(&outside, ".patch");
        format!(
            "{has}, all as files in `{folder}/parts/`. Below stands only {shown}; open the rest yourself: {unshown}."
        )
    };
    format!("{told} Each part ends with a line that holds its receipt.")
}

fn file_line(file: &ChangedFile) -> String {
    let mut facts = vec![happened(file)];
    let told = matches!(
        file.status,
        FileStatus::Modified | FileStatus::Renamed | FileStatus::TypeChanged
    );
    if told && file.old_mode != file.new_mode {
        facts.push(format!(
            "mode {} to {}",
            inline(&file.old_mode),
            inline(&file.new_mode)
        ));
    }
    if let (Some(added), Some(removed)) = (file.added, file.removed) {
        facts.push(format!("+{added} -{removed}"));
    } else if let Some(size) = file.size {
        facts.push(count(size, "byte"));
    }
    if let Some(kind) = file.unreviewed {
        facts.push(unshown(kind).to_owned());
    }
    if has_odd_path(file) {
        facts.push(format!("path_b64 {}", file.path.to_base64()));
    }
    format!("{}: {}", file.path, facts.join(", "))
}

fn happened(file: &ChangedFile) -> String {
    let verb = match (file.status, &file.old_path) {
        (FileStatus::Added, None) => "added",
        (FileStatus::Added, Some(_)) => "copied",
        (FileStatus::Modified, None) => "modified",
        (FileStatus::Deleted, _) => "deleted",
        (FileStatus::Renamed, _) | (FileStatus::Modified, Some(_)) => "renamed",
        (FileStatus::ModeChanged, _) => {
            let (old, new) = (inline(&file.old_mode), inline(&file.new_mode));
            return format!("mode changed from {old} to {new}");
        }
        (FileStatus::TypeChanged, _) => "turned into another kind of file",
    };
    let from = file
        .old_path
        .as_ref()
        .map(|old| format!(" from {old}"))
        .unwrap_or_default();
    format!("{verb}{from}")
}

fn unshown(kind: UnreviewedKind) -> &'static str {
    match kind {
        UnreviewedKind::Excluded => "left out of the diff by the project's rules",
        UnreviewedKind::Binary => "binary: its bytes are not in the diff",
        UnreviewedKind::LfsPointer => "git-lfs: the diff shows the pointer, not the content",
        UnreviewedKind::Submodule => "submodule: the diff shows commit ids only",
    }
}

/// Whether the path is shown otherwise than it is.
fn has_odd_path(file: &ChangedFile) -> bool {
    file.path.as_str() != Some(file.path.to_string().as_str())
}

fn instructions(prompt: &ReviewPrompt<'_>) -> Vec<Value> {
    let quoted = |text: &str| {
        let lines = text
            .trim_end()
            .lines()
            .map(|line| format!("> {}", inline(line)));
        lines
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let told = prompt
        .slot
        .instructions
        .iter()
        .filter(|told| !told.text.trim().is_empty());
    told.map(|told| context! { path => code(&told.path), text => quoted(&told.text) })
        .collect()
}

fn prior(prompt: &ReviewPrompt<'_>, mark: &Mark) -> String {
    let lines = prompt.prior.iter().map(|finding| {
        let claim = &finding.claim;
        let place = place_of(claim).map(|place| format!(" at {place}"));
        let (id, slot, title) = (finding.id, &finding.slot, inline(&claim.title));
        let advisory = match finding.lowered {
            Some(Lowered::Late) => ", advisory",
            Some(Lowered::Dismissed { .. }) | None => "",
        };
        let again = finding
            .again
            .map_or_else(String::new, |first| format!(" (again {first})"));
        let line = format!(
            "{id} ({slot}, {}{advisory}, {}){}{}: {title}{again}",
            claim.severity,
            disposition(finding.disposition),
            place.unwrap_or_default(),
            now(finding, prompt.places)
        );
        // Who is asked what became of its own has no memory of it.
        if finding.slot == prompt.slot.name && !is_settled(finding) {
            line + &at_length(finding, prompt)
        } else {
            line
        }
    });
    mark.quote("findings", &lines.collect::<Vec<_>>().join("\n"))
}

/// What a finding says, and what was said of it last, each line set in.
fn at_length(finding: &Finding, prompt: &ReviewPrompt<'_>) -> String {
    let mut told = vec![beginning(&finding.claim.body).to_owned()];
    let words = prompt.notes.get(&finding.id);
    if let Some(word) = words.and_then(|words| words.last()) {
        let by = match word.role {
            Role::Correct | Role::Comply => "the creator",
            Role::Review | Role::Readjudicate => "its reviewer",
            Role::Arbitrate => "the arbiter",
            Role::Plan | Role::Challenge | Role::Refine | Role::Implement => "nobody known",
        };
        let how = disposition(word.disposition);
        told.push(format!(
            "Last said of it, by {by}: {how}. {}",
            beginning(&word.note)
        ));
    }
    let lines = told.iter().flat_map(|text| text.lines());
    let lines = lines.filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(|line| format!("\n    {line}")).collect();
    lines.concat()
}

/// Where the lines are now that a finding cites, where that is another place than it says.
pub(super) fn now(finding: &Finding, places: &BTreeMap<FindingId, lines::Place>) -> String {
    let Some(then) = lines::Place::of(&finding.claim) else {
        return String::new();
    };
    match places.get(&finding.id) {
        Some(now) if *now == then => String::new(),
        Some(lines::Place { path, first, last }) if first == last => {
            format!(", now {path}:{first}")
        }
        Some(lines::Place { path, first, last }) => format!(", now {path}:{first}-{last}"),
        None => ", changed since".to_owned(),
    }
}

/// Whether somebody decided that the finding does not stand.
fn is_settled(finding: &Finding) -> bool {
    matches!(
        finding.disposition,
        Disposition::Withdrawn | Disposition::Overruled
    )
}

/// Where a claim points, as it is shown.
pub(super) fn place_of(claim: &Claim) -> Option<String> {
    let path = claim.path.as_ref()?;
    Some(match (claim.line, claim.end_line) {
        (None, _) => path.to_string(),
        (Some(line), None) => format!("{path}:{line}"),
        (Some(line), Some(end)) if end == line => format!("{path}:{line}"),
        (Some(line), Some(end)) => format!("{path}:{line}-{end}"),
    })
}

/// What became of a finding, in the word that reports use too.
pub(super) fn disposition(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Open => "open",
        Disposition::Fixed => "fixed",
        Disposition::Refuted => "refuted",
        Disposition::Withdrawn => "withdrawn",
        Disposition::Upheld => "upheld",
        Disposition::Sustained => "sustained",
        Disposition::Overruled => "overruled",
        Disposition::Deferred => "deferred",
    }
}

pub(super) fn problems(reason: &AttemptReason) -> Vec<String> {
    match reason {
        AttemptReason::First | AttemptReason::Fresh => Vec::new(),
        AttemptReason::ReAsk { problems } => problems.iter().map(|told| inline(told)).collect(),
    }
}

pub(super) fn channel(agent: &Agent) -> &'static str {
    match &agent.kind {
        AgentKind::Command(command) => match command.report {
            ReportChannel::Stdout => "Your final message is your report.",
            ReportChannel::File => {
                "Write your report to the file that `$RUN_LOOP_JOB_REPORT` names; nothing else counts."
            }
        },
        AgentKind::Profile(_) => "Your final message is your report.",
        AgentKind::Checks | AgentKind::Human => "Your text is your report.",
    }
}

/// Text of others within a sentence, as Markdown code on one line.
pub(super) fn code(text: &str) -> String {
    let text = inline(text);
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

pub(super) fn count(number: u64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

fn long(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
