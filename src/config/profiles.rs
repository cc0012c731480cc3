//! Profiles of agent programs: embedded, and replaced by files of the user's own.

use crate::config::sources::File;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::profile::Profile;

/// The profile of any program that speaks the Agent Client Protocol: `kind: acp`.
pub const ACP: &str = "acp";

/// The profiles of this version, by name.
const EMBEDDED: [(&str, &str); 15] = [
    ("claude", include_str!("../../profiles/claude.yaml")),
    ("codex", include_str!("../../profiles/codex.yaml")),
    ("gemini", include_str!("../../profiles/gemini.yaml")),
    ("opencode", include_str!("../../profiles/opencode.yaml")),
    ("qwen", include_str!("../../profiles/qwen.yaml")),
    ("copilot", include_str!("../../profiles/copilot.yaml")),
    ("aider", include_str!("../../profiles/aider.yaml")),
    ("claude-acp", include_str!("../../profiles/claude-acp.yaml")),
    ("codex-acp", include_str!("../../profiles/codex-acp.yaml")),
    ("gemini-acp", include_str!("../../profiles/gemini-acp.yaml")),
    (
        "opencode-acp",
        include_str!("../../profiles/opencode-acp.yaml"),
    ),
    ("qwen-acp", include_str!("../../profiles/qwen-acp.yaml")),
    (
        "copilot-acp",
        include_str!("../../profiles/copilot-acp.yaml"),
    ),
    (ACP, include_str!("../../profiles/acp.yaml")),
    ("generic", include_str!("../../profiles/generic.yaml")),
];

/// The names of the embedded profiles.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// An embedded profile; `None` where no profile has the name.
///
/// # Errors
/// `Internal`, where this version's own file cannot be read.
pub fn embedded(name: &str) -> Result<Option<Profile>, Failure> {
    let Some((_, text)) = EMBEDDED.iter().find(|(known, _)| *known == name) else {
        return Ok(None);
    };
    let wrong = |error: serde_yaml::Error| {
        Failure::new(Code::Internal, format!("the profile {name}: {error}"))
    };
    serde_yaml::from_str(text).map(Some).map_err(wrong)
}

/// Reads a profile of the user's, which replaces the embedded one of its name.
///
/// # Errors
/// `ConfigInvalid`, naming the file.
pub fn read(file: &File) -> Result<Profile, Failure> {
    let wrong = |what: &str| {
        Failure::new(Code::ConfigInvalid, format!("{}: {what}", file.name))
            // What lists the agents would meet the same fault.
            .next(["run-loop", "schema", "profile"])
    };
    let text = std::str::from_utf8(&file.bytes).map_err(|_| wrong("the file is not UTF-8"))?;
    serde_yaml::from_str(text).map_err(|error| {
        let said = error.to_string();
        wrong(&said.replace("expected struct Profile", "expected the keys of a profile"))
    })
}
