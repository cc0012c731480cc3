//! `run-loop doctor`: whether a review can run here, and what is worth knowing before.

mod agents;
mod canary;
mod machine;
mod repository;

use serde_json::json;

use crate::cli::args::Format;
use crate::cli::args::doctor::DoctorArgs;
use crate::cli::environment::Environment;
use crate::cli::output;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::report::doctor::{Finding, failure, human};

/// Looks at everything that a review needs, and tells it.
///
/// # Errors
/// The first problem, when no review can run; everything is printed by then.
pub(crate) fn run(
    args: &DoctorArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let mut told = Told {
        findings: Vec::new(),
        format,
    };
    let git = machine::git(environment, &mut told);
    machine::cache(environment, &mut told);
    machine::guard(&mut told);
    machine::confinement(environment, &mut told);
    let known = crate::cli::agents::known(environment);
    let here = git.and_then(|git| repository::look(args, git, environment, &mut told));
    agents::tell(known, environment, &mut told);
    if let Some(name) = &args.agent {
        canary::ask(name, here.as_ref(), environment, &mut told);
    }
    told.end()
}

/// What was found so far.
struct Told {
    findings: Vec<Finding>,
    format: Format,
}

impl Told {
    fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
    /// Prints everything, and says whether a review can run.
    fn end(self) -> Result<Exit, Failure> {
        let failure = failure(&self.findings);
        output::data(&match self.format {
            Format::Human => human(&self.findings),
            Format::Json => {
                let ready = failure.is_none();
                let findings = &self.findings;
                output::document(&json!({"version": 1, "ready": ready, "findings": findings}))
            }
            Format::Ndjson => self
                .findings
                .iter()
                .map(|one| output::document(&json!(one)))
                .collect(),
        });
        failure.map_or(Ok(Exit::Approved), Err)
    }
}
