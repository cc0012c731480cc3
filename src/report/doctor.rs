//! What `run-loop doctor` found, for people and programs.

use serde::Serialize;

use crate::domain::code::Code;
use crate::domain::failure::{Failure, NextCommand};
use crate::report::text;

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// As it should be.
    Ok,
    /// A review can run, and this is worth knowing before.
    Warning,
    /// No review can run.
    Problem,
}

impl Standing {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about: `git`, `state`, `agent claude`.
    pub about: String,
    /// How it stands.
    pub standing: Standing,
    /// What was found.
    pub message: String,
    /// What else is worth knowing of it, each one line.
    pub details: Vec<String>,
    /// The reason code of a problem.
    pub code: Option<Code>,
    /// The one command that helps; none where all is well.
    pub next: Option<NextCommand>,
}

impl Finding {
    /// All is well.
    #[must_use]
    pub fn ok(about: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            standing: Standing::Ok,
            message: message.into(),
            details: Vec::new(),
            code: None,
            next: None,
        }
    }
    /// Worth knowing, with a command that helps.
    #[must_use]
    pub fn warning<S: Into<String>>(
        about: impl Into<String>,
        message: impl Into<String>,
        next: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            standing: Standing::Warning,
            next: Some(NextCommand(next.into_iter().map(Into::into).collect())),
            ..Self::ok(about, message)
        }
    }
    /// What keeps every review from running.
    #[must_use]
    pub fn problem(about: impl Into<String>, failure: Failure) -> Self {
        Self {
            standing: Standing::Problem,
            code: Some(failure.code),
            next: Some(failure.next),
            ..Self::ok(about, failure.message)
        }
    }
    /// What is wrong and keeps no review from running.
    #[must_use]
    pub fn worth_knowing(about: impl Into<String>, failure: Failure) -> Self {
        Self {
            standing: Standing::Warning,
            ..Self::problem(about, failure)
        }
    }
    /// The same with more lines.
    #[must_use]
    pub fn with(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }
}

/// The findings as lines, each with the command that helps below it.
#[must_use]
pub fn human(findings: &[Finding]) -> String {
    let about = findings
        .iter()
        .map(|one| text::line(&one.about).chars().count());
    let width = about.max().unwrap_or(0);
    let mut lines = Vec::new();
    let indent = " ".repeat(width + 11);
    for one in findings {
        let (standing, about) = (one.standing.as_str(), text::line(&one.about));
        let message = text::line(&one.message);
        lines.push(format!("{standing:<7}  {about:<width$}  {message}\n"));
        for detail in &one.details {
            lines.push(format!("{indent}{}\n", text::line(detail)));
        }
        if let Some(next) = &one.next {
            lines.push(format!("{indent}next: {}\n", text::line(&next.to_string())));
        }
    }
    lines.concat()
}

/// Why no review can run: the first problem, and how many there are.
#[must_use]
pub fn failure(findings: &[Finding]) -> Option<Failure> {
    let problem = |one: &&Finding| one.standing == Standing::Problem;
    let first = findings.iter().find(problem)?;
    let message = match findings.iter().filter(problem).count() {
        1 => format!("no review can run here: {}", first.message),
        many => format!(
            "no review can run here, for {many} reasons; the first: {}",
            first.message
        ),
    };
    let failure = Failure::new(first.code.unwrap_or(Code::Internal), message);
    Some(match &first.next {
        Some(next) => failure.next(next.0.iter().cloned()),
        None => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_line_up_and_act_on_no_terminal() {
        let findings = [
            Finding::ok("git", "2.39"),
            Finding::warning("agent x\u{1b}[2J", "other\nversion", ["run-loop", "a b"])
                .with(["more".to_owned()]),
        ];
        let expected = "\
ok       git               2.39
warning  agent x\\u{1b}[2J  other version
                           more
                           next: run-loop 'a b'
";
        assert_eq!(human(&findings), expected);
        assert_eq!(
            failure(&findings),
            None,
            "a warning keeps nothing from running"
        );
    }

    #[test]
    fn the_first_problem_ends_the_command() {
        let problem = |code, text: &str| Finding::problem("x", Failure::new(code, text));
        let findings = [
            Finding::ok("git", "2.39"),
            problem(Code::StateUnwritable, "read-only"),
            problem(Code::ConfigInvalid, "no YAML"),
        ];
        let failure = failure(&findings).unwrap();
        assert_eq!(failure.code, Code::StateUnwritable);
        assert_eq!(
            failure.message,
            "no review can run here, for 2 reasons; the first: read-only"
        );
        assert_eq!(failure.next.to_string(), "run-loop explain RL0121");
    }
}
