//! A run as plain lines for people, while it goes on.

mod delegated;

use crate::domain::finding::Disposition;
use crate::domain::path::RepoPath;
use crate::domain::severity::Severity;
use crate::domain::verdict::{PassedBy, Verdict};
use crate::report::public::{Kind, PublicEvent, PublicFinding};
use crate::report::text;

/// The event as one or more lines without the last line break; `None` where people need none.
#[must_use]
pub fn lines(event: &PublicEvent) -> Option<String> {
    let said = say(event)?;
    let slot = match (&event.slot, &event.agent) {
        (Some(slot), Some(agent)) if slot.as_str() == agent => format!(" {slot}"),
        (Some(slot), Some(agent)) => format!(" {slot} ({})", text::line(agent)),
        (Some(slot), None) => format!(" {slot}"),
        (None, _) => String::new(),
    };
    Some(match event.round {
        Some(round) => format!("round {round}{slot}: {said}"),
        None => said,
    })
}

#[expect(clippy::too_many_lines, reason = "one arm for each kind of event")]
fn say(event: &PublicEvent) -> Option<String> {
    Some(match &event.event {
        Kind::RunStarted {
            source,
            base_given,
            panel,
            ..
        } => {
            let base = base_given.as_deref().unwrap_or("HEAD at the start");
            let slots: Vec<&str> = panel.iter().map(|slot| slot.slot.as_str()).collect();
            format!(
                "run {}: source {}, base {}, reviewers {}",
                event.run,
                text::line(source),
                text::line(base),
                slots.join(", ")
            )
        }
        Kind::RunResumed => format!("run {} goes on", event.run),
        Kind::StopRequested { cause } => format!("stopping ({cause})"),
        Kind::Pinned { .. } => pinned(event)?,
        Kind::EvidenceMade { .. } => evidence(&event.event)?,
        Kind::StepFailed { step, failure } => {
            // What more it says, each with a command, is told with the end that it brings about.
            let failure = failure.to_string();
            let first = failure.lines().next().unwrap_or_default();
            format!("{step} failed: {}", text::line(first))
        }
        Kind::JobStarted {
            attempt,
            budget,
            continues,
            replaces,
            ..
        } => {
            let session = delegated::session(*continues, *replaces);
            format!("started (attempt {attempt}, at most {budget} s){session}")
        }
        Kind::JobEnded { .. } => job_ended(&event.event)?,
        kind @ (Kind::JobSubmitted { .. }
        | Kind::DelegateStarted { .. }
        | Kind::DelegateEnded { .. }
        | Kind::JobSignalled { .. }
        | Kind::JobClosed { .. }
        | Kind::WaitEnded { .. }
        | Kind::JobStalled { .. }
        | Kind::JobResumed { .. }
        | Kind::JobRedispatched { .. }) => delegated::say(kind)?,
        Kind::SlotRetried { reason, ending } => {
            let again = match *reason {
                "re_ask" => "asked once more for a valid report",
                "fresh" => "tried once more",
                "again" => "asked again",
                _ => "asked as the fallback",
            };
            format!("{again}: {}", text::line(ending))
        }
        Kind::WorkOpened { role } => (*role).to_owned(),
        Kind::WorkRetried { reason, ending } => {
            let again = if *reason == "re_ask" {
                "asked once more for a valid answer"
            } else {
                "asked again"
            };
            format!("{again}: {}", text::line(ending))
        }
        Kind::FindingDisposed {
            finding,
            disposition,
            note,
        } => {
            format!("{finding} {}: {}", disposition.as_str(), text::line(note))
        }
        Kind::WorkClosed {
            answered,
            changed,
            moved,
            lost,
            ..
        } => {
            let answer = if *answered {
                "answered"
            } else {
                "gave no answer that counts"
            };
            let content = if *changed {
                changed_paths(moved)
            } else {
                "the content did not change".to_owned()
            };
            let lost = match lost.len() {
                0 => String::new(),
                count => format!("; {count} file(s) lost their uncommitted edits"),
            };
            format!("{answer}; {content}{lost}")
        }
        Kind::FindingRaised { finding } => finding_line(finding),
        Kind::SlotSettled {
            verdict,
            by,
            reason,
            ..
        } => match (verdict, reason) {
            (Some(verdict), _) => format!("{verdict}{}", by_words(*by)),
            (None, Some(reason)) => format!("no verdict: {}", text::line(reason)),
            (None, None) => "no verdict".to_owned(),
        },
        Kind::Promoted {
            manifest, files, ..
        } => format!("published {} files, manifest {manifest}", files.len()),
        Kind::Released { left } if !left.is_empty() => {
            let left: Vec<String> = left.iter().map(|item| text::line(item)).collect();
            format!("not given back: {}", left.join("; "))
        }
        Kind::Measured { notices, .. } if notices.is_empty() => return None,
        Kind::Measured { notices, .. } => {
            let notices: Vec<String> = notices.iter().map(|notice| text::line(notice)).collect();
            format!("measured again: {}", notices.join("; "))
        }
        Kind::RoundClosed { .. } => closed(&event.event)?,
        Kind::CostUntold { job } => {
            format!("job {job} told no cost: what it cost does not count towards --max-cost")
        }
        Kind::Limited {
            job,
            until,
            told,
            ending,
        } => {
            let told = if *told {
                "as it told"
            } else {
                "by our reckoning"
            };
            let who = job.map_or_else(String::new, |job| format!("job {job} is "));
            let ending = text::line(ending);
            format!("{who}at a limit until {until}, {told}: {ending}")
        }
        Kind::TimerStarted { of: "limit", until } => {
            format!("waiting until {until} for a limit to be lifted")
        }
        Kind::RunParking { failure, .. } => {
            format!("putting the run aside ({})", failure.code)
        }
        // The end is told by the summary, and its failure by the command.
        Kind::RoundOpened
        | Kind::StepStarted { .. }
        | Kind::TreeOpened { .. }
        | Kind::ReviewOpened
        | Kind::Released { .. }
        | Kind::TimerStarted { .. }
        | Kind::TimerEnded { .. }
        | Kind::RunClosing { .. }
        | Kind::RunSuspended { .. }
        | Kind::RunEnded { .. } => return None,
    })
}

fn pinned(event: &PublicEvent) -> Option<String> {
    let Kind::Pinned {
        base,
        head,
        commits,
        dirty,
        notices,
        ..
    } = &event.event
    else {
        return None;
    };
    // What is pinned before a step of work is under no review yet.
    let tree = event.tree.as_ref()?;
    let edits = if *dirty {
        ", with uncommitted edits"
    } else {
        ""
    };
    let mut said = format!(
        "base {base}, head {head}, tree {tree} ({}{edits})",
        counted(u64::from(*commits), "commit")
    );
    for notice in notices {
        said.push_str("\n  ");
        said.push_str(&text::line(notice));
    }
    Some(said)
}

fn evidence(kind: &Kind) -> Option<String> {
    let Kind::EvidenceMade {
        added,
        removed,
        scope,
        max_rounds,
        ..
    } = kind
    else {
        return None;
    };
    let mut said = format!("scope, +{added} -{removed} lines");
    if let Some(rounds) = max_rounds {
        let few = format!("; at most {rounds} rounds for so small a change");
        said.push_str(&few);
    }
    for line in scope {
        // The lines below a heading are indented.
        let indent = line.len() - line.trim_start().len();
        let line = format!("\n  {:indent$}{}", "", text::line(line));
        said.push_str(&line);
    }
    Some(said)
}

fn job_ended(kind: &Kind) -> Option<String> {
    let Kind::JobEnded {
        ended,
        milliseconds,
        reading,
        verdict,
        findings,
        problems,
        ..
    } = kind
    else {
        return None;
    };
    let at = crate::domain::time::Timestamp::from_millis;
    let span = crate::report::time::span(at(0), at(*milliseconds));
    let said = match (*reading, verdict) {
        ("review", Some(verdict)) => format!("says {verdict}, {}", counted(*findings, "finding")),
        ("review", None) => "its report does not count".to_owned(),
        ("reply", _) if ended.starts_with("exit code 0") => "answered".to_owned(),
        ("reply", _) => "its answer does not count".to_owned(),
        ("invalid", _) => format!("invalid report: {}", text::line(&problems.join("; "))),
        _ => "no report".to_owned(),
    };
    Some(format!(
        "ended after {span} ({}): {said}",
        text::line(ended)
    ))
}

fn closed(kind: &Kind) -> Option<String> {
    let Kind::RoundClosed {
        result,
        moved,
        base_moved,
        reason,
    } = kind
    else {
        return None;
    };
    let mut said = match *result {
        "passed" => "PASS".to_owned(),
        "not_passed" => "NOT PASS".to_owned(),
        "stale" => "STALE: what was reviewed moved, the round is void".to_owned(),
        _ => "INCONCLUSIVE".to_owned(),
    };
    if *base_moved {
        said.push_str("\n  the base moved");
    }
    for path in moved {
        let line = format!("\n  moved: {path}");
        said.push_str(&line);
    }
    if let Some(reason) = reason {
        let line = format!("\n  {}", text::line(reason));
        said.push_str(&line);
    }
    Some(said)
}

/// A number with its noun.
fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A finding in one line: number, severity, place, title.
#[must_use]
pub fn finding_line(finding: &PublicFinding) -> String {
    let blocking = if finding.blocking { ", blocking" } else { "" };
    let old = if finding.pre_existing {
        ", pre-existing"
    } else {
        ""
    };
    let lowered = finding
        .lowered
        .map_or_else(String::new, |word| format!(", {word}"));
    let again = finding
        .again
        .as_ref()
        .map_or_else(String::new, |first| format!(" (again {first})"));
    let place = place(finding).map_or_else(String::new, |place| format!(" {place}"));
    let settled = if finding.disposition == Disposition::Open {
        String::new()
    } else {
        format!(", {}", finding.disposition.as_str())
    };
    format!(
        "{} {}{blocking}{lowered}{old}{settled}{place}: {}{again}",
        finding.id,
        severity(finding.severity),
        text::line(&finding.title)
    )
}

/// `path:line-end_line`, as far as it is known.
fn place(finding: &PublicFinding) -> Option<String> {
    let path = text::line(&finding.path.as_ref()?.to_string());
    Some(match (finding.line, finding.end_line) {
        (Some(line), Some(end)) if end != line => format!("{path}:{line}-{end}"),
        (Some(line), _) => format!("{path}:{line}"),
        (None, _) => path,
    })
}

fn severity(severity: Severity) -> &'static str {
    severity.as_str()
}

/// By what a slot passed, where it is not the reviewer's own word.
pub(crate) fn by_words(by: Option<PassedBy>) -> &'static str {
    match by {
        Some(PassedBy::Threshold) => " (none of its findings blocks)",
        Some(PassedBy::Withdrawal) => " (every blocking finding was withdrawn)",
        Some(PassedBy::Arbitration) => " (what still blocked was overruled by the arbiter)",
        Some(PassedBy::SelfReview) => " (the creator reviewed its own work)",
        Some(PassedBy::Reviewer | PassedBy::Checks) | None => "",
    }
}

/// A verdict as it stands in the matrix.
pub(crate) fn verdict_word(verdict: Option<Verdict>) -> String {
    verdict.map_or_else(|| "none".to_owned(), |verdict| verdict.to_string())
}

/// What a step of work changed, in one line.
fn changed_paths(moved: &[RepoPath]) -> String {
    const NAMED: usize = 5;
    if moved.is_empty() {
        return "the content changed".to_owned();
    }
    let mut names: Vec<String> = moved
        .iter()
        .take(NAMED)
        .map(|it| text::line(&it.to_string()))
        .collect();
    if moved.len() > NAMED {
        names.push(format!("and {} more", moved.len() - NAMED));
    }
    format!("changed {}", names.join(", "))
}
