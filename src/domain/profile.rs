//! How a known agent program is driven, as data: one YAML file for each under `profiles/`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::agent::PromptChannel;
use crate::domain::spent::Counted;
use crate::domain::trouble::Trouble;

/// A known agent program. Frozen into a run, so that a resumed one drives it in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Profile {
    /// The profile's name, as in `--reviewer NAME`.
    pub name: String,
    /// What people call the program.
    pub title: String,
    /// Who makes the models, where the program has those of one maker only: agents of one family
    /// share their blind spots. `None`: each agent is a family of its own.
    pub family: Option<String>,
    /// Names that the program has on `PATH`.
    pub programs: Vec<String>,
    /// Where the native binary lies from the folder of the launcher, links followed; `{arch}` is
    /// this machine's. Launchers die of signals without their children.
    #[serde(default)]
    pub native: Vec<String>,
    /// Arguments that print the version.
    pub version: Vec<String>,
    /// The version that the project has driven for real.
    pub tested: Option<String>,
    /// What it prints.
    pub stream: Stream,
    /// Whether it counts what was read from a cache among what was read, where others that print the same
    /// do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_holds_cached: bool,
    /// How it takes the prompt.
    #[serde(default = "stdin")]
    pub prompt: PromptChannel,
    /// What it always gets.
    #[serde(default)]
    pub always: Start,
    /// What a reviewer or a planner gets besides: it may write nothing, and obeys nothing of the
    /// tree.
    #[serde(default)]
    pub reader: Start,
    /// Where a reviewer or a planner works. Programs that obey what lies in their working
    /// directory, and cannot be told not to, work in one of ours and are told where the tree is.
    #[serde(default)]
    pub reader_works_in: WorksIn,
    /// How readers are confined; `None` where that does not work, or nobody has tried it.
    #[serde(default)]
    pub confined: Option<Confined>,
    /// What a creator gets besides.
    #[serde(default)]
    pub writer: Start,
    /// Arguments that choose a model, `{model}`.
    #[serde(default)]
    pub model: Vec<String>,
    /// Arguments that choose an effort, `{effort}`.
    #[serde(default)]
    pub effort: Vec<String>,
    /// How a session is continued.
    #[serde(default)]
    pub session: Sessions,
    /// What it is told over the Agent Client Protocol, where it speaks that.
    #[serde(default)]
    pub acp: Acp,
    /// How it is told which form its answer must have; `None` where it can only be asked for it.
    #[serde(default)]
    pub structured: Option<Structured>,
    /// Arguments that stand last.
    #[serde(default)]
    pub last: Vec<String>,
    /// Variables of ours that it gets, where they are set.
    #[serde(default)]
    pub env: Vec<String>,
    /// Variables that hold its keys: it gets them, and nothing else may show their values.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Of a program that asks many providers, whose the keys are, by what the names of their models begin
    /// with before a slash: where a model is stated it gets the keys of no other one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, Vec<String>>,
    /// Whose shell commands see the keys.
    #[serde(default)]
    pub keys_reach: KeysReach,
    /// Exit codes that mean something.
    #[serde(default)]
    pub exits: Vec<Exit>,
    /// Texts of its errors that mean something, the first that is found.
    #[serde(default)]
    pub errors: Vec<Said>,
    /// What a reader still obeys or reveals, since the program cannot switch it off.
    #[serde(default)]
    pub cannot: Vec<String>,
}

/// Whose model's shell commands find the program's keys in their environment.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum KeysReach {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// Nobody's.
    Nobody,
    /// A creator's: readers run no commands.
    Creator,
    /// A reader's too.
    Everybody,
}

impl KeysReach {
    /// In whose commands, for people; `None` where it is nobody's, as far as is known.
    #[must_use]
    pub fn whose(self) -> Option<&'static str> {
        match self {
            Self::Unknown | Self::Nobody => None,
            Self::Creator => Some("in a creator"),
            Self::Everybody => Some("in a reviewer too"),
        }
    }
}

impl Profile {
    /// The variables with keys that it gets for this model.
    pub fn keys_for(&self, model: Option<&str>) -> impl Iterator<Item = &String> {
        let stated = model.and_then(|model| model.split_once('/'));
        let stated = stated.map(|(provider, _)| provider);
        self.keys.iter().filter(move |key| {
            let of = self.providers.iter();
            let mut of = of.filter(|(_, keys)| keys.contains(key)).peekable();
            of.peek().is_none()
                || stated.is_none_or(|stated| of.any(|(provider, _)| provider == stated))
        })
    }
    /// Whether a model can be chosen.
    #[must_use]
    pub fn takes_model(&self) -> bool {
        !self.model.is_empty() || self.acp.model_option.is_some()
    }
    /// Whether a session of it can be continued. By the protocol each agent says so itself; one that
    /// cannot is given a new session, as where the old one is gone.
    #[must_use]
    pub fn continues_sessions(&self) -> bool {
        let by_protocol = self.stream == Stream::Acp && !self.acp.forgets;
        by_protocol || !self.session.resume.is_empty()
    }
    /// What cannot be switched off, the reach of its keys among it.
    #[must_use]
    pub fn limits(&self) -> Vec<String> {
        let keys = self.keys_reach.whose().map(|whose| {
            format!("its key is in the environment of the model's shell commands, {whose}")
        });
        keys.into_iter()
            .chain(self.cannot.iter().cloned())
            .collect()
    }
}

/// How a program is told the JSON Schema of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Structured {
    /// Arguments; `{schema}` is the schema, `{files}/schema.json` a file with it.
    pub args: Vec<String>,
    /// Whether its provider takes only schemas whose objects name all their members and allow no
    /// others; it is not told of another one.
    #[serde(default)]
    pub strict: bool,
}

/// What a program needs where the kernel confines its readers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Confined {
    /// What it must write besides its tree and its job's folder: `~/…` or `${NAME:-~/…}/…`, with a
    /// slash at the end where it is a folder, which is then made if it is not there.
    #[serde(default)]
    pub writes: Vec<String>,
}

/// How a program continues a session of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sessions {
    /// Arguments that continue the session `{session}`, before those that stand last; none where
    /// the program cannot, or nobody has tried.
    #[serde(default)]
    pub resume: Vec<String>,
    /// What it counts on in a continued session, where others count anew.
    #[serde(default)]
    pub counts_on: Vec<Counted>,
}

/// What an agent that speaks the Agent Client Protocol is told in it, by its own names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Acp {
    /// The mode in which it asks before it does anything, for reviewers and planners; `None` where it
    /// starts in that.
    #[serde(default)]
    pub reader_mode: Option<String>,
    /// The mode of a creator.
    #[serde(default)]
    pub writer_mode: Option<String>,
    /// The option of a session that chooses the model.
    #[serde(default)]
    pub model_option: Option<String>,
    /// Whether its sessions cannot be continued, although it says that they can.
    #[serde(default)]
    pub forgets: bool,
    /// How the last piece begins that it says in a turn that gave up, where it ends that like any other.
    #[serde(default)]
    pub gives_up_with: Option<String>,
    /// Seconds in which it must be ready for its prompt; 120 where it is not said.
    #[serde(default)]
    pub ready_within: Option<u64>,
    /// What it is told of each session beside the protocol (`_meta`), by names of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_meta: Option<serde_json::Value>,
}

/// Where a reader's program is started.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum WorksIn {
    /// In the tree that it reads.
    #[default]
    Tree,
    /// In a folder that holds the profile's files and nothing else.
    Own,
}

/// What a program gets at its start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Start {
    /// Arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files made for the job, by their paths in the folder `{files}`.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// An exit code, and what it means. No map: keys that are numbers do not survive the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Exit {
    /// The code.
    pub code: i32,
    /// What it means.
    pub means: Trouble,
}

/// A text that an error may hold, and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Said {
    /// A part of the message; case does not count.
    pub text: String,
    /// What it means.
    pub means: Trouble,
}

/// What a program prints, and so who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// `codex exec --json`.
    Codex,
    /// `claude --output-format stream-json`, and programs that print the same.
    Claude,
    /// `gemini --output-format stream-json`.
    Gemini,
    /// `opencode run --format json`.
    Opencode,
    /// `copilot --output-format json`.
    Copilot,
    /// The Agent Client Protocol, which our own client speaks with it and takes down.
    Acp,
    /// `aider`: plain text with a line of tokens at its end.
    Aider,
    /// Plain text: all of it is the answer, and only the exit code tells how it went.
    Text,
}

fn stdin() -> PromptChannel {
    PromptChannel::Stdin
}
