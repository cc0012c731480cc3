//! The sentence that every job's prompt ends with (row M-054).

use minijinja::{Environment, UndefinedBehavior, context};

use crate::contract::prompt::Error;
use crate::domain::agent::Agent;
use crate::domain::id::JobId;

const TEMPLATE: &str = include_str!("../../templates/delegate.md");

/// Tells a job how it passes a part of itself on, so that what it delegates can be attributed.
///
/// # Errors
/// When the template and the values do not fit together.
pub fn sentence(job: JobId, roster: &[Agent]) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let names: Vec<&str> = roster.iter().map(|agent| agent.name.as_str()).collect();
    let values = context! { job => job.to_string(), agents => names.join(", ") };
    Ok(environment.render_str(TEMPLATE, values)?)
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
        let text = sentence(job, &[]).unwrap();
        assert_eq!(text.trim().lines().count(), 1);
        assert!(text.contains(&job.to_string()), "{text}");
    }
}
