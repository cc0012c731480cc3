//! The chapters of the demo.

use crate::domain::exit::Exit;

/// One step: an edit, a command, and how it must end.
pub(super) struct Chapter {
    /// What happens, for the reader.
    pub(super) title: &'static str,
    /// A file of the feature branch that is written first, and committed if it has a message.
    pub(super) edit: Option<(Option<&'static str>, &'static str, &'static str)>,
    /// The arguments of `run-loop`.
    pub(super) args: &'static [&'static str],
    /// The exit code that the step must have.
    pub(super) exit: Exit,
}

const FLAWED: &str = "\
def average(values):
    return sum(values) / len(values)
";
const MENDED: &str = "\
def average(values):
    if not values:
        return None
    return sum(values) / len(values)
";
const TOUCHED: &str = "\
def average(values):
    if not values:
        return None
    return sum(values) / len(values)


def total(values):
    return sum(values)
";

const REVIEW: &[&str] = &[
    "--base",
    "main",
    "--review-only",
    "--reviewer",
    "careful",
    "--reviewer",
    "checks",
];

/// The story, in order.
pub(super) const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "1. A feature branch with a mistake: a reviewer says NOT PASS, nothing is promoted",
        edit: Some((Some("average"), "stats.py", FLAWED)),
        args: REVIEW,
        exit: Exit::NotPass,
    },
    Chapter {
        title: "2. Mended, but somebody saves a file during the review: that round is void, the next one counts",
        edit: Some((Some("average of nothing"), "stats.py", MENDED)),
        args: &[
            "--base",
            "main",
            "--review-only",
            "--reviewer",
            "careful",
            "--reviewer",
            "busy",
            "--reviewer",
            "checks",
        ],
        exit: Exit::Approved,
    },
    Chapter {
        title: "3. The edit made during the review is committed: the content is the approved one, so it may merge",
        edit: Some((Some("notes"), "NOTES.md", super::agent::NOTE)),
        args: &["gate", "--base", "main", "--head", "feature"],
        exit: Exit::Approved,
    },
    Chapter {
        title: "4. One more edit after the approval: the gate says no",
        edit: Some((Some("total"), "stats.py", TOUCHED)),
        args: &["gate", "--base", "main", "--head", "feature"],
        exit: Exit::Stale,
    },
];
