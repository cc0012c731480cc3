//! Agents as data: how one is started and how it answers.

use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;
use crate::domain::job::Review;
use crate::domain::profile::{Profile, WorksIn};

/// An agent, resolved from the configuration and frozen at the start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The name in the configuration (`house-bot`), or a built-in name (`checks`).
    pub name: String,
    /// What kind of agent it is, with what that kind needs.
    pub kind: AgentKind,
    /// Whether the agent cannot see this machine's files (`remote: true`).
    pub remote: bool,
    /// Agents of one family share their blind spots; without a stated family, the agent's name.
    pub family: String,
    /// A job's budget in seconds, where the agent states its own.
    pub timeout: Option<u64>,
    /// How its reports are read.
    pub contract: Contract,
    /// The definition's hash: two agents of one name but other definitions differ in it.
    pub definition: Digest,
}

impl Agent {
    /// Whether two names stand for the same agent: one definition, or the same program started in the
    /// same way.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.definition == other.definition || self.kind == other.kind
    }
    /// The same with what one job states: its model and its effort come before those of the
    /// configuration, and those before the program's own.
    ///
    /// # Errors
    /// In words, where its program takes no such choice.
    pub fn choosing(self, choice: Choice) -> Result<Self, String> {
        let Choice { model, effort } = choice;
        let stated = [("model", &model), ("effort", &effort)];
        let Some((first, _)) = stated.iter().find(|(_, value)| value.is_some()) else {
            return Ok(self);
        };
        for (what, value) in stated {
            // It must not pass for an option of the program.
            let is_one = |value: &String| !value.trim().is_empty() && !value.starts_with('-');
            if value.as_ref().is_some_and(|value| !is_one(value)) {
                return Err(format!(
                    "{:?} is no {what}",
                    value.as_deref().unwrap_or_default()
                ));
            }
        }
        let AgentKind::Profile(mut program) = self.kind else {
            return Err(format!(
                "the agent {} is no known program: it takes no {first}",
                self.name
            ));
        };
        let takes = [
            ("model", model.is_none() || program.profile.takes_model()),
            (
                "effort",
                effort.is_none() || !program.profile.effort.is_empty(),
            ),
        ];
        if let Some((what, _)) = takes.iter().find(|(_, takes)| !takes) {
            return Err(format!(
                "the profile {} takes no {what}",
                program.profile.name
            ));
        }
        let definition = format!("{}\n{model:?}\n{effort:?}", self.definition.as_str());
        program.model = model.or(program.model);
        program.effort = effort.or(program.effort);
        Ok(Self {
            kind: AgentKind::Profile(program),
            definition: Digest::of(definition.as_bytes()),
            ..self
        })
    }
    /// Whether this is the built-in `checks` reviewer.
    #[must_use]
    pub fn is_checks(&self) -> bool {
        matches!(self.kind, AgentKind::Checks)
    }
    /// Whether it can rule on findings of its own or of others: `checks` has nobody to ask, and a person or
    /// a bare line gives no ruling.
    #[must_use]
    pub fn can_rule(&self) -> bool {
        let program = match self.kind {
            AgentKind::Command(_) | AgentKind::Profile(_) => true,
            AgentKind::Checks | AgentKind::Human => false,
        };
        program && self.contract == Contract::Json
    }
    /// Its program, absolute; `None` for one that is none.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match &self.kind {
            AgentKind::Command(command) => Some(&command.program),
            AgentKind::Profile(profile) => Some(&profile.program),
            AgentKind::Checks | AgentKind::Human => None,
        }
    }
    /// Whether it may cost money: `checks` and people are not paid by the token.
    #[must_use]
    pub fn costs(&self) -> bool {
        match self.kind {
            AgentKind::Command(_) | AgentKind::Profile(_) => true,
            AgentKind::Checks | AgentKind::Human => false,
        }
    }
    /// Whether its readers are started in a folder of their own and not in the tree.
    #[must_use]
    pub fn reads_from_elsewhere(&self) -> bool {
        match &self.kind {
            AgentKind::Profile(program) => program.profile.reader_works_in == WorksIn::Own,
            AgentKind::Command(_) | AgentKind::Checks | AgentKind::Human => false,
        }
    }
}

/// What one job states for the program of its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
}

/// What kind of agent it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentKind {
    /// A program of the user's.
    Command(CommandAgent),
    /// A known agent program, driven by its profile.
    Profile(Box<ProfileAgent>),
    /// The built-in deterministic reviewer.
    Checks,
    /// A person who answers at a terminal.
    Human,
}

/// How a program is started and where its report is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandAgent {
    /// The program, absolute, as found at validation.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How the prompt is handed over.
    pub prompt: PromptChannel,
    /// The one channel that holds the report.
    pub report: ReportChannel,
    /// Names of environment variables that are passed on, besides the built-in allow-list.
    pub env: Vec<String>,
    /// Whether its jobs that may not write are confined, where the kernel can.
    #[serde(default)]
    pub confine: bool,
}

/// A known agent program, and what was chosen for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileAgent {
    /// How it is driven.
    pub profile: Profile,
    /// The program, absolute, as found at validation.
    pub program: String,
    /// Arguments that the configuration adds.
    pub args: Vec<String>,
    /// The model; `None` leaves it to the program.
    pub model: Option<String>,
    /// The effort; `None` leaves it to the program.
    pub effort: Option<String>,
    /// Names of variables that the configuration passes on besides the profile's.
    pub env: Vec<String>,
    /// Whether its jobs that may not write are confined, where the kernel can.
    #[serde(default)]
    pub confine: bool,
}

/// How a prompt reaches a program; never as an argument (row M-101: 131,072 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptChannel {
    /// On standard input.
    Stdin,
    /// As a file, whose path replaces the argument `{prompt}` and stands in `RUN_LOOP_JOB_PROMPT`.
    File,
}

/// Where the report is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportChannel {
    /// Standard output is the final message.
    Stdout,
    /// The file named by `RUN_LOOP_JOB_REPORT`.
    File,
}

/// How a report is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// One fenced block of JSON, with nonce, tree, receipts and coverage.
    Json,
    /// One line `VERDICT: PASS` or `VERDICT: NOT PASS` and the nonce; coverage is `none`.
    Line,
}

impl Contract {
    /// Whether a review read and answered all that this form asks for.
    #[must_use]
    pub fn is_covered(self, review: &Review) -> bool {
        match self {
            Self::Json => review.is_whole(),
            Self::Line => true,
        }
    }
}
