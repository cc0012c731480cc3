//! How a run stands right now, in a few lines that fit a terminal.
//!
//! # Invariants
//! No line is wider than asked, and none can act on the terminal: everything from outside passes
//! [`text`].

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthChar as _;

use crate::domain::effect::Effect;
use crate::domain::event::Settlement;
use crate::domain::id::JobId;
use crate::domain::job::Role;
use crate::domain::summary::{JobRecord, Round, Summary};
use crate::domain::time::Timestamp;
use crate::report::cost::{Sum, so_far};
use crate::report::{text, time};

/// The widest column of names.
const NAMES: usize = 20;
/// Below this width the agents are left out: the slots' names tell enough.
const NARROW: usize = 60;
/// More rows than these are counted only.
const ROWS: usize = 12;

/// When a job last did something, and what, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// When.
    pub at: Timestamp,
    /// What, in one line.
    pub what: Option<String>,
}

/// One row: who, with which agent, and how it stands.
struct Row {
    name: String,
    agent: String,
    state: String,
}

/// The lines: phase, round, time and cost, then a row for each slot and each job beside them.
#[must_use]
pub fn rows(
    summary: &Summary,
    activities: &BTreeMap<JobId, Activity>,
    now: Timestamp,
    width: usize,
) -> Vec<String> {
    let mut rows = slots(summary, activities, now);
    rows.extend(works(summary, activities, now));
    let names = widest(rows.iter().map(|row| &row.name));
    let agents = if width < NARROW {
        0
    } else {
        widest(rows.iter().map(|row| &row.agent))
    };
    let mut lines = vec![header(summary, now)];
    for row in rows.iter().take(ROWS) {
        let mut line = format!("  {}", padded(&row.name, names));
        if agents > 0 {
            line.push_str("  ");
            line.push_str(&padded(&row.agent, agents));
        }
        line.push_str("  ");
        line.push_str(&row.state);
        lines.push(line);
    }
    if rows.len() > ROWS {
        lines.push(format!("  and {} more", rows.len() - ROWS));
    }
    // The last column stays free: some terminals break the line there.
    lines
        .iter()
        .map(|line| fitted(line.trim_end(), width.saturating_sub(1)))
        .collect()
}

fn header(summary: &Summary, now: Timestamp) -> String {
    let mut parts = Vec::new();
    if let Some(round) = summary.rounds.last() {
        parts.push(format!("round {}", round.number));
    }
    parts.push(phase(summary).to_owned());
    if let Some(start) = summary.started_at {
        parts.push(time::span(start, now));
    }
    parts.extend(dollars(&so_far(
        summary,
        summary.jobs(),
        &summary.delegated,
    )));
    parts.join(", ")
}

/// What goes on, by the effect that tells most.
fn phase(summary: &Summary) -> &'static str {
    let words = summary.open.values().map(|effect| match effect {
        Effect::RunJob { job } => (0, doing(job.role)),
        Effect::Delegate { .. } => (1, "a delegated job"),
        Effect::AwaitJobs { .. } => (2, "waiting for delegated jobs"),
        Effect::Promote { .. } => (3, "publishing"),
        Effect::Measure { .. } => (4, "measuring again"),
        Effect::OpenTree { .. } => (5, "opening review trees"),
        Effect::MakeEvidence { .. } => (6, "making the evidence"),
        Effect::Pin { .. } => (7, "pinning the content"),
        Effect::Release => (8, "giving back what it held"),
        Effect::Timer { .. } => (9, "deciding"),
    });
    words.min().map_or("deciding", |(_, word)| word)
}

fn doing(role: Role) -> &'static str {
    match role {
        Role::Review => "review",
        Role::Plan => "planning",
        Role::Challenge => "challenging the plan",
        Role::Refine => "refining the plan",
        Role::Implement => "implementing",
        Role::Correct => "correcting",
        Role::Readjudicate => "re-adjudicating",
        Role::Arbitrate => "arbitrating",
        Role::Comply => "complying",
    }
}

/// A row for each slot of the panel, as it stands in the newest round.
fn slots(summary: &Summary, activities: &BTreeMap<JobId, Activity>, now: Timestamp) -> Vec<Row> {
    let Some(spec) = &summary.spec else {
        return Vec::new();
    };
    let round = summary.rounds.last();
    let row = |slot: &crate::domain::slot::Slot| {
        let jobs = |round: &'_ Round| -> Vec<JobRecord> {
            let all = round.jobs.iter();
            all.filter(|record| record.job.slot == slot.name && record.job.role == Role::Review)
                .cloned()
                .collect()
        };
        let jobs = round.map(jobs).unwrap_or_default();
        let last = jobs.last();
        let rank = last.map_or(0, |record| record.job.rank);
        let agent = slot.agent_at(rank).unwrap_or(&slot.agent);
        let state = match (round.and_then(|round| round.slots.get(&slot.name)), last) {
            (Some(Settlement::Passed { .. }), _) => "PASS".to_owned(),
            (Some(Settlement::NotPassed { .. }), _) => "NOT PASS".to_owned(),
            (Some(Settlement::NoVerdict { .. }), _) => "no verdict".to_owned(),
            (None, Some(record)) => standing(record, activities, now),
            (None, None) => "waiting".to_owned(),
        };
        let spent = dollars(&so_far(summary, jobs.iter(), &[]));
        let spent: Vec<String> = spent.into_iter().collect();
        Row {
            name: slot.name.to_string(),
            agent: if agent.name == slot.name.as_str() {
                String::new()
            } else {
                text::line(&agent.name)
            },
            state: [vec![state], spent].concat().join(", "),
        }
    };
    spec.panel.iter().map(row).collect()
}

/// A row for each job that is no review and goes on.
fn works(summary: &Summary, activities: &BTreeMap<JobId, Activity>, now: Timestamp) -> Vec<Row> {
    let mut rows = Vec::new();
    for effect in summary.open.values() {
        let (name, agent, record) = match effect {
            Effect::RunJob { job } if job.role != Role::Review => {
                let name = job.slot.to_string();
                let agent = summary.spec.as_ref().and_then(|spec| spec.agent_of(job));
                let agent = agent.map(|agent| text::line(&agent.name));
                let agent = agent.filter(|agent| *agent != name);
                let record = summary.jobs().find(|record| record.job.id == job.id);
                (name, agent, record)
            }
            Effect::Delegate { dispatch } => {
                let id = dispatch.job.to_string();
                let name = format!("job {}", id.get(..8).unwrap_or(&id));
                let agent = summary.delegates.get(&dispatch.job);
                (name, agent.map(|agent| text::line(&agent.name)), None)
            }
            Effect::RunJob { .. }
            | Effect::Pin { .. }
            | Effect::MakeEvidence { .. }
            | Effect::OpenTree { .. }
            | Effect::AwaitJobs { .. }
            | Effect::Measure { .. }
            | Effect::Timer { .. }
            | Effect::Promote { .. }
            | Effect::Release => continue,
        };
        let state = match (record, effect) {
            (Some(record), _) => standing(record, activities, now),
            (None, Effect::Delegate { dispatch }) => {
                did("running", activities.get(&dispatch.job), now)
            }
            (None, _) => "running".to_owned(),
        };
        rows.push(Row {
            name,
            agent: agent.unwrap_or_default(),
            state,
        });
    }
    rows
}

/// How a job stands that is not settled.
fn standing(record: &JobRecord, activities: &BTreeMap<JobId, Activity>, now: Timestamp) -> String {
    if record.outcome.is_some() {
        return "handed over".to_owned();
    }
    let since = record.requested_at.map(|since| time::span(since, now));
    let activity = activities.get(&record.job.id);
    did(since.as_deref().unwrap_or("running"), activity, now)
}

/// A state with what was done last.
fn did(state: &str, activity: Option<&Activity>, now: Timestamp) -> String {
    let mut state = state.to_owned();
    if let Some(activity) = activity {
        state.push_str(", last ");
        state.push_str(&time::span(activity.at, now));
        state.push_str(" ago");
        if let Some(what) = &activity.what {
            state.push_str(": ");
            state.push_str(&text::line(what));
        }
    }
    state
}

/// What is known of a cost, in dollars and cents, and finer where it is less than a cent; none where nothing
/// is, or nobody was paid.
fn dollars(sum: &Sum) -> Option<String> {
    let told = sum.told_usd;
    if told <= 0.0 {
        return None;
    }
    let at_least = if sum.cost_usd.is_none() {
        "at least "
    } else {
        ""
    };
    Some(if told < 0.01 {
        format!("{at_least}${told:.6}")
    } else {
        format!("{at_least}${told:.2}")
    })
}

fn widest<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names
        .map(|name| columns(name))
        .max()
        .unwrap_or(0)
        .min(NAMES)
}

fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text in exactly this many columns.
fn padded(text: &str, width: usize) -> String {
    let text = fitted(text, width);
    let missing = width.saturating_sub(columns(&text));
    text + &" ".repeat(missing)
}

/// The text in at most this many columns; what is left out shows as `…`.
fn fitted(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used >= width {
            break;
        }
        kept.push(c);
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}
