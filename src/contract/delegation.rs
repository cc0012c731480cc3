//! What prompts say of delegation: the sentence that every job's prompt ends with (row M-054), the form
//! that a delegated job's answer must have, what was said in a session that is gone, and the table of jobs that were delegated while the change was written (rows M-131, M-132).

use minijinja::{Environment, UndefinedBehavior, context};

use crate::contract::prompt::{Error, in_blocks};
use crate::contract::text::{Mark, beginning};
use crate::domain::agent::Agent;
use crate::domain::id::JobId;
use crate::domain::sub_jobs::SubJobs;
use crate::domain::template::Template;

const TABLE: (&str, &str) = ("sub-jobs.md", include_str!("../../templates/sub-jobs.md"));
const SENTENCE: (&str, &str) = ("delegate.md", include_str!("../../templates/delegate.md"));
const FORM: (&str, &str) = (
    "structured.md",
    include_str!("../../templates/structured.md"),
);
const EARLIER: (&str, &str) = ("earlier.md", include_str!("../../templates/earlier.md"));
/// The templates by their names.
pub(super) const TEMPLATES: &[(&str, &str)] = &[SENTENCE, TABLE, FORM, EARLIER];

/// What a template of delegation may name; `None` for every other template.
pub(super) fn names(template: &str) -> Option<&'static [&'static str]> {
    match template {
        "delegate.md" => Some(&["job", "agents"]),
        "earlier.md" => Some(&["earlier", "mark"]),
        "structured.md" => Some(&["schema", "again", "mark"]),
        "sub-jobs.md" => Some(&["rows", "unconfirmed", "unattributed"]),
        _ => None,
    }
}

/// The base's own text of a template, else the built-in one.
fn text<'a>(own: &'a [Template], (name, built_in): (&str, &'static str)) -> &'a str {
    let mut own = own.iter();
    own.find(|template| template.name == name)
        .map_or(built_in, |template| template.text.as_str())
}

/// What stands before a prompt that a program would take for a command of its own: several do so where it
/// begins with a slash, or with an exclamation mark for one of a shell's.
#[must_use]
pub fn opening(prompt: &[u8]) -> &'static str {
    match prompt.trim_ascii_start().first() {
        Some(b'/' | b'!') => "Do what follows.\n\n",
        Some(_) | None => "",
    }
}

/// Tells a job how it passes a part of itself on, so that what it delegates can be attributed.
///
/// # Errors
/// When the template and the values do not fit together.
pub fn sentence(own: &[Template], job: JobId, roster: &[Agent]) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let names: Vec<&str> = roster.iter().map(|agent| agent.name.as_str()).collect();
    let values = context! { job => job.to_string(), agents => names.join(", ") };
    Ok(environment.render_str(text(own, SENTENCE), values)?)
}

/// Tells a job that its answer must fit a schema; `again` is why the answer before this one did not
/// do, quoted under the mark of this dispatch, since an agent wrote parts of it.
///
/// # Errors
/// When the template and the values do not fit together.
pub fn form(
    own: &[Template],
    schema: &str,
    again: Option<&str>,
    token: &str,
) -> Result<String, Error> {
    let mark = Mark::of(token);
    let values = context! {
        schema => schema.trim(),
        again => again.map(|reason| mark.quote("why", reason)),
        mark => mark.as_str(),
    };
    Ok(in_blocks()?.render_str(text(own, FORM), values)?)
}

/// Tells a job what was reported in the session that it was to go on in, and that is gone; quoted
/// under the mark of this dispatch, as far as it is not too long.
///
/// # Errors
/// When the template and the values do not fit together.
pub fn earlier(own: &[Template], report: &str, token: &str) -> Result<String, Error> {
    let mark = Mark::of(token);
    let values = context! {
        earlier => mark.quote("earlier report", beginning(report)),
        mark => mark.as_str(),
    };
    Ok(in_blocks()?.render_str(text(own, EARLIER), values)?)
}

/// The table for reviewers; empty where there is nothing to tell.
///
/// # Errors
/// When the template and the values do not fit together.
pub fn table(own: &[Template], sub_jobs: &SubJobs) -> Result<String, Error> {
    if sub_jobs.rows.is_empty() && sub_jobs.unattributed.is_empty() {
        return Ok(String::new());
    }
    let environment = in_blocks()?;
    let parent = |parent: Option<JobId>| parent.map_or_else(|| "-".to_owned(), |it| it.to_string());
    let rows: Vec<_> = sub_jobs
        .rows
        .iter()
        .map(|row| {
            context! {
                job => row.job.to_string(),
                parent => parent(row.parent),
                agent => row.agent.as_str(),
                state => row.state,
                reason => row.reason.as_str(),
            }
        })
        .collect();
    let unattributed: Vec<String> = sub_jobs
        .unattributed
        .iter()
        .map(ToString::to_string)
        .collect();
    let values = context! {
        rows => rows,
        unconfirmed => sub_jobs.unconfirmed,
        unattributed => unattributed.join(", "),
    };
    Ok(environment.render_str(text(own, TABLE), values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{Stamp, Timestamp};

    #[test]
    fn the_sentence_names_the_job_and_is_one_line() {
        let stamp = Stamp {
            at: Timestamp::from_millis(0),
            seed: [7; 32],
        };
        let job = JobId::mint(&stamp, "job");
        let text = sentence(&[], job, &[]).unwrap();
        assert_eq!(text.trim().lines().count(), 1);
        assert!(text.contains(&job.to_string()), "{text}");
    }
}
