//! The files by which a repository instructs agents, as a list in data.
//!
//! A change to one of them is a change to what later agents do, so it is named in the scope and
//! is a finding of the `checks` reviewer. Names are compared without regard to ASCII case,
//! because file systems that ignore case load `claude.md` as well.

use std::sync::LazyLock;

use crate::domain::glob::Glob;

/// Files, as globs in lower case.
const FILES: &[&str] = &[
    "**/agent.md",
    "**/agents.md",
    "**/agents.override.md",
    "**/claude.md",
    "**/claude.local.md",
    "**/crush.md",
    "**/gemini.md",
    "**/qwen.md",
    "**/warp.md",
    "**/.mcp.json",
    "**/.vscode/mcp.json",
    "**/opencode.json",
    "**/opencode.jsonc",
    "**/.crush.json",
    "**/crush.json",
    "**/.aider*",
    // aider takes options from it, and others the address of their model.
    "**/.env",
    "**/.augment-guidelines",
    "**/.clinerules",
    "**/.cursorrules",
    "**/.cursorignore",
    "**/.goosehints",
    "**/.roorules*",
    "**/.rules",
    "**/.windsurfrules",
    "**/.github/copilot-instructions.md",
];

/// Folders with everything below them; a link or a file in a folder's place counts too.
const FOLDERS: &[&str] = &[
    ".agents/skills",
    ".amazonq",
    ".augment",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".crush",
    ".cursor",
    ".gemini",
    ".github/agents",
    ".github/chatmodes",
    ".github/instructions",
    ".github/prompts",
    ".junie",
    ".kiro",
    ".opencode",
    ".qwen",
    ".roo",
    ".windsurf",
];

static GLOBS: LazyLock<Vec<Glob>> = LazyLock::new(|| {
    let folders = FOLDERS
        .iter()
        .flat_map(|folder| [format!("**/{folder}"), format!("**/{folder}/**")]);
    FILES
        .iter()
        .map(|file| (*file).to_owned())
        .chain(folders)
        .filter_map(|text| Glob::parse(&text).ok())
        .collect()
});

/// Whether a repository path, as bytes, instructs agents.
#[must_use]
pub fn is_control_file(path: &[u8]) -> bool {
    let path = path.to_ascii_lowercase();
    GLOBS.iter().any(|glob| glob.matches(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_a_glob() {
        assert_eq!(GLOBS.len(), FILES.len() + 2 * FOLDERS.len());
    }

    #[test]
    fn knows_the_files_that_instruct_agents() {
        for path in [
            "CLAUDE.md",
            "claude.MD",
            "sub/AGENTS.md",
            ".mcp.json",
            ".claude/settings.json",
            ".claude",
            "a/.claude/hooks/x.sh",
            ".codex/config.toml",
            ".cursor/rules/a.mdc",
            ".github/copilot-instructions.md",
            ".gemini/settings.json",
            ".opencode/agent/x.md",
            "opencode.json",
            ".aider.conf.yml",
            ".env",
            "sub/.env",
            ".agents/skills/x/SKILL.md",
        ] {
            assert!(is_control_file(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn leaves_others_alone() {
        for path in [
            "README.md",
            "src/claude.md.rs",
            "docs/agents.txt",
            ".agents/reports/codex/report-1.md",
            ".github/workflows/ci.yml",
        ] {
            assert!(!is_control_file(path.as_bytes()), "{path}");
        }
    }
}
