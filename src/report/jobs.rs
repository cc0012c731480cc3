//! Delegated jobs as text and JSON.

use serde::Serialize;

use crate::domain::job_view::JobView;
use crate::domain::time::Timestamp;
use crate::report::table::table;
use crate::report::{text, time};

/// What can be seen of a dispatch from outside: two signals, and neither is evidence.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Signs {
    /// Whether its guard lives; `None` where that cannot be told. It proves only that the process
    /// exists: a hung agent lives.
    pub alive: Option<bool>,
    /// When it last printed something or said that it makes progress.
    pub last: Option<Timestamp>,
}

/// A job for programs.
#[derive(Debug, Serialize)]
pub struct JobDocument<'a> {
    #[serde(flatten)]
    view: &'a JobView,
    /// What can be seen of its dispatch while it runs.
    signs: Option<Signs>,
}

/// A job for programs.
#[must_use]
pub fn document(view: &JobView, signs: Option<Signs>) -> JobDocument<'_> {
    JobDocument { view, signs }
}

/// The list of jobs for people.
#[must_use]
pub fn list(views: &[JobView], now: Timestamp) -> String {
    if views.is_empty() {
        return "no jobs\n".to_owned();
    }
    let mut rows = vec![
        [
            "job", "parent", "agent", "status", "attempt", "age", "detail",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    rows.extend(views.iter().map(|view| {
        vec![
            view.job.to_string(),
            view.parent
                .map_or_else(|| "-".to_owned(), |parent| parent.to_string()),
            text::line(&view.agent),
            status(view),
            view.attempt.to_string(),
            time::span(view.submitted_at, now),
            text::line(&view.detail),
        ]
    }));
    table(&rows)
}

/// One job for people.
#[must_use]
pub fn lines(view: &JobView, signs: Option<&Signs>, now: Timestamp) -> String {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    row("job", view.job.to_string());
    row("run", view.run.to_string());
    if let Some(parent) = view.parent {
        row("parent", parent.to_string());
    }
    row("agent", text::line(&view.agent));
    let budget = view.budget;
    row(
        "status",
        format!(
            "{} (attempt {}, budget {budget} s)",
            status(view),
            view.attempt
        ),
    );
    if let Some(from) = view.continues {
        let session = if view.anew {
            format!("a new one, since that of job {from} does not go on")
        } else {
            format!("that of job {from}")
        };
        row("session", session);
    }
    if !view.detail.is_empty() {
        row("detail", text::line(&view.detail));
    }
    if let Some(blocked) = &view.blocked {
        row("waits for", text::line(blocked));
    }
    if let Some(signs) = signs {
        let alive = match signs.alive {
            Some(true) => "yes: its guard holds it",
            Some(false) => "no: no guard holds it",
            None => "nobody can tell",
        };
        row("alive", alive.to_owned());
        let last = signs.last.map_or_else(
            || "no sign yet".to_owned(),
            |last| format!("last sign {} ago", time::span(last, now)),
        );
        row("progress", last);
    }
    if let Some(report) = &view.report {
        row("report", format!("sha256 {report}"));
    }
    table(&rows)
}

fn status(view: &JobView) -> String {
    let closed = matches!(view.status.as_str(), "completed" | "error" | "cancelled");
    if closed && !view.over {
        format!("{}, its process still runs", view.status)
    } else {
        view.status.clone()
    }
}
