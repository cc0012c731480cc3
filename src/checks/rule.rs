//! The rules by name: what a finding prints, and what `policy.allow-findings` names.

use crate::domain::severity::Severity;

/// A rule of the built-in reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its name.
    pub(crate) id: &'static str,
    /// How bad its findings are.
    pub(crate) severity: Severity,
    /// Whether its findings block whatever `review.fail-on` says.
    pub(crate) blocking: bool,
    /// What it looks for, in a few words.
    pub(crate) title: &'static str,
}

impl Rule {
    const fn blocking(id: &'static str, title: &'static str) -> Self {
        Self {
            id,
            severity: Severity::High,
            blocking: true,
            title,
        }
    }
    const fn graded(id: &'static str, severity: Severity, title: &'static str) -> Self {
        Self {
            id,
            severity,
            blocking: false,
            title,
        }
    }
}

pub(crate) const CONFLICT: Rule = Rule::blocking("conflict-marker", "unresolved merge conflict");
pub(crate) const HALF_CONFLICT: Rule = Rule::graded(
    "half-conflict-marker",
    Severity::Medium,
    "one marker of a merge conflict",
);
pub(crate) const BIDI: Rule = Rule::blocking("bidi-control", "bidirectional control character");
pub(crate) const HIDDEN_TEXT: Rule =
    Rule::blocking("hidden-text", "text in characters that nobody sees");
pub(crate) const INVISIBLE: Rule = Rule::graded(
    "invisible-character",
    Severity::Medium,
    "invisible character",
);
pub(crate) const BYTE_ORDER_MARK: Rule = Rule::graded(
    "byte-order-mark",
    Severity::Info,
    "byte order mark at the start of a file",
);
pub(crate) const CONTROL_CHARACTER: Rule = Rule::graded(
    "control-character",
    Severity::Low,
    "control character that a terminal obeys",
);
pub(crate) const NUL: Rule = Rule::graded("nul-in-text", Severity::Medium, "NUL in a text file");
pub(crate) const WHITESPACE: Rule = Rule::graded("whitespace", Severity::Info, "whitespace error");
pub(crate) const ASSIGNED_SECRET: Rule = Rule::graded(
    "assigned-secret",
    Severity::Low,
    "random-looking value assigned to a name like a secret's",
);
pub(crate) const LARGE: Rule = Rule::graded("large-file", Severity::Info, "file over 5 MiB");
pub(crate) const VERY_LARGE: Rule =
    Rule::graded("very-large-file", Severity::Medium, "file over 50 MiB");
pub(crate) const EXECUTABLE: Rule =
    Rule::graded("executable-bit", Severity::Low, "file became executable");
pub(crate) const MODE: Rule = Rule::graded("mode", Severity::Info, "mode or kind changed");
pub(crate) const LINK_OUTSIDE: Rule = Rule::blocking(
    "link-outside",
    "symbolic link that leads out of the tree or into `.git`",
);
pub(crate) const SUBMODULE: Rule = Rule::graded(
    "submodule",
    Severity::Medium,
    "submodule added, moved or removed",
);
pub(crate) const EXCLUDED_EXECUTABLE: Rule = Rule::blocking(
    "excluded-executable",
    "executable or link that `review.exclude` hides",
);
pub(crate) const CONTROL_FILE: Rule = Rule::blocking("control-file", "file that instructs agents");
pub(crate) const CHECK_FILE: Rule =
    Rule::blocking("check-file", "file that defines what is checked");
pub(crate) const CHECK_SCRIPTS: Rule = Rule::graded(
    "check-scripts",
    Severity::Low,
    "file that a check command reads its steps from",
);
pub(crate) const COMMAND: Rule = Rule::blocking("command", "check command that failed");
pub(crate) const SUPPRESSED: Rule = Rule::graded(
    "more-findings",
    Severity::Info,
    "findings that are not listed one by one",
);

/// Every rule of this file, in the order of the report; secrets have their own list.
pub(crate) const ALL: &[Rule] = &[
    CONFLICT,
    HALF_CONFLICT,
    BIDI,
    HIDDEN_TEXT,
    INVISIBLE,
    BYTE_ORDER_MARK,
    CONTROL_CHARACTER,
    NUL,
    WHITESPACE,
    ASSIGNED_SECRET,
    LARGE,
    VERY_LARGE,
    EXECUTABLE,
    MODE,
    LINK_OUTSIDE,
    SUBMODULE,
    EXCLUDED_EXECUTABLE,
    CONTROL_FILE,
    CHECK_FILE,
    CHECK_SCRIPTS,
    COMMAND,
];
