//! The plan of a run: each version of it, who wrote it, and what challenge and refinement changed.

use serde::Serialize;
use similar::TextDiff;

use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::domain::job::{Reply, Role};
use crate::domain::run_spec::PlanSource;
use crate::engine::State;
use crate::report::public::VERSION;
use crate::report::{ndjson, text};
use crate::store::Entry;

/// The plan as a document: what `show --plan --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plans {
    /// The version of this form.
    pub version: u32,
    /// The run.
    pub run: LoopId,
    /// Every version of the plan, the one in force last; none where the run has no plan.
    pub plans: Vec<Plan>,
}

/// One version of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Where it comes from: a file's path, or the planner.
    pub from: String,
    /// What was objected to it.
    pub objections: Vec<String>,
    /// The round that did not pass and by whose findings it was refined, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_round: Option<u32>,
    /// What is different from the version before it, as a unified diff.
    pub changes: Option<String>,
    /// The hash of its text.
    pub sha256: Digest,
    /// Its text.
    pub text: String,
}

/// Reads a report of the run by its hash.
pub type ReadReport<'a> = dyn Fn(&Digest) -> Result<Vec<u8>, Failure> + 'a;

impl Plans {
    /// The plans of these events.
    ///
    /// # Errors
    /// When a report that was taken as a plan cannot be read.
    pub fn of(run: LoopId, entries: &[Entry], read: &ReadReport<'_>) -> Result<Self, Failure> {
        let state = State::replay(entries.iter().map(|entry| &entry.event));
        let mut plans: Vec<Plan> = Vec::new();
        if let Some(PlanSource::File { path, text, .. }) = state.run.as_ref().map(|run| &run.plan) {
            plans.push(Plan::new(path.clone(), text.clone()));
        }
        for closed in &state.works {
            match (&closed.reply, closed.work.role) {
                (Some(Reply::Challenge { objections: raised }), _) => {
                    if let Some(plan) = plans.last_mut() {
                        plan.objections.clone_from(raised);
                    }
                }
                (Some(Reply::Text), Role::Plan | Role::Refine) => {
                    let text = written(&state, closed.job, read)?;
                    let mut plan = Plan::new(author(&state, closed.job), text);
                    plan.changes = plans.last().map(|old| changes(&old.text, &plan.text));
                    plan.after_round = closed.work.after.map(|round| round.0);
                    plans.push(plan);
                }
                (Some(Reply::Text | Reply::Answers { .. } | Reply::Rulings { .. }) | None, _) => {}
            }
        }
        Ok(Self {
            version: VERSION,
            run,
            plans,
        })
    }
    /// The plans as one line of JSON.
    ///
    /// # Errors
    /// When they have no JSON form.
    pub fn json(&self) -> Result<String, Failure> {
        ndjson::document(self)
    }
    /// The plans as text for people: the first one, and then what was changed.
    #[must_use]
    pub fn human(&self) -> String {
        let Some(newest) = self.plans.last() else {
            return format!("run {}: no plan was loaded or written\n", self.run);
        };
        let mut told = String::new();
        for (number, plan) in (1..).zip(&self.plans) {
            let from = text::line(&plan.from);
            let after = plan.after_round.map_or_else(String::new, |round| {
                format!(", refined by the findings of round {round}")
            });
            let line = format!("plan {number}, {from}{after} (sha256 {})\n", plan.sha256);
            told.push_str(&line);
            if let Some(changes) = &plan.changes {
                told.push_str(&text::block(changes));
            }
            for objection in &plan.objections {
                let line = format!("objection to plan {number}: {}\n", text::line(objection));
                told.push_str(&line);
            }
            told.push('\n');
        }
        told.push_str(&text::block(&newest.text));
        if !told.ends_with('\n') {
            told.push('\n');
        }
        told
    }
}

impl Plan {
    fn new(from: String, text: String) -> Self {
        Self {
            from,
            objections: Vec::new(),
            after_round: None,
            changes: None,
            sha256: Digest::of(text.as_bytes()),
            text,
        }
    }
}

fn written(state: &State, job: JobId, read: &ReadReport<'_>) -> Result<String, Failure> {
    let record = state.jobs.get(&job);
    let outcome = record.and_then(|record| record.outcome.as_ref());
    let Some(stored) = outcome.and_then(|outcome| outcome.report.as_ref()) else {
        return Ok(String::new());
    };
    Ok(String::from_utf8_lossy(&read(&stored.sha256)?).into_owned())
}

fn author(state: &State, job: JobId) -> String {
    let record = state.jobs.get(&job);
    let agent = record.and_then(|record| state.agent_of(&record.job));
    agent.map_or_else(
        || "by nobody known".to_owned(),
        |agent| format!("by {}", agent.name),
    )
}

/// What is different, line by line.
fn changes(old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(2)
        .missing_newline_hint(false)
        .to_string()
}
