//! Every key of `run-loop.yaml`, with what it means.

use crate::config::shape::{Key, Shape, join};

const fn key(name: &'static str, shape: Shape, meaning: &'static str) -> Key {
    Key {
        name,
        shape,
        meaning,
        required: false,
    }
}
const fn required(name: &'static str, shape: Shape, meaning: &'static str) -> Key {
    Key {
        name,
        shape,
        meaning,
        required: true,
    }
}

const WEEK: i64 = 604_800;
const TEXTS: Shape = Shape::List(&Shape::Text);
const TEXT_OR_NULL: Shape = Shape::Nullable(&Shape::Text);

/// The whole file.
pub const ROOT: Shape = Shape::Map(SECTIONS);

/// The top level.
pub const SECTIONS: &[Key] = &[
    required(
        "version",
        Shape::Whole(1, 1),
        "The version of the file's form.",
    ),
    key(
        "agents",
        Shape::Named(&Shape::Map(AGENT)),
        "Names for `--reviewer` and the other roles.",
    ),
    key("roles", Shape::Map(ROLES), "Who does what."),
    key("review", Shape::Map(REVIEW), "The rules of the review."),
    key(
        "checks",
        Shape::List(&Shape::Map(CHECK)),
        "Commands of the `checks` reviewer.",
    ),
    key(
        "setup",
        TEXTS,
        "Commands run in the tree of `checks` before its commands.",
    ),
    key(
        "cache",
        TEXTS,
        "Folders that the tree of `checks` keeps between rounds.",
    ),
    key(
        "templates",
        TEXT_OR_NULL,
        "A folder of prompt templates, read from the base: `run-loop schema templates`.",
    ),
    key("limits", Shape::Map(LIMITS), "Budgets."),
    key(
        "prices",
        Shape::List(&Shape::Map(PRICE)),
        "What tokens cost, for programs that tell no cost.",
    ),
    key(
        "policy",
        Shape::Map(POLICY),
        "What an approval must fulfil.",
    ),
    key(
        "reports",
        Shape::Text,
        "Where promoted evidence lies, relative to the repository.",
    ),
];

const AGENT: &[Key] = &[
    key(
        "profile",
        Shape::Text,
        "A known agent program, as `run-loop agents` lists them.",
    ),
    key(
        "model",
        Shape::Text,
        "The model, for a profile; default the program's own.",
    ),
    key(
        "effort",
        Shape::Text,
        "The effort, for a profile; default the program's own.",
    ),
    key(
        "kind",
        Shape::Choice(&["command", "human", "acp"]),
        "What kind of agent it is: a program, a person, or a program that speaks the Agent Client Protocol.",
    ),
    key(
        "command",
        TEXTS,
        "The program and its arguments; for a profile the program, and arguments more.",
    ),
    key(
        "prompt",
        Shape::Choice(&["stdin", "file"]),
        "How the prompt is handed over; default `stdin`.",
    ),
    key(
        "output",
        Shape::Choice(&["text"]),
        "What standard output holds; default `text`.",
    ),
    key(
        "report",
        Shape::Choice(&["stdout", "file"]),
        "The one channel of the report; default `stdout`.",
    ),
    key(
        "contract",
        Shape::Choice(&["json", "line"]),
        "How the report is read; default `json`.",
    ),
    key(
        "remote",
        Shape::Flag,
        "Whether it cannot see this machine; default `false`.",
    ),
    key(
        "family",
        Shape::Text,
        "Agents of one family share blind spots; default its own.",
    ),
    key(
        "timeout",
        Shape::Whole(1, WEEK),
        "A job's budget in seconds.",
    ),
    key("env", TEXTS, "Names of variables that are passed on to it."),
    key(
        "confine",
        Shape::Flag,
        "Whether its jobs that may not write are confined by the kernel (Linux with Landlock); default `false` for `kind: command`, for a profile what `run-loop agents` says.",
    ),
];

const ROLES: &[Key] = &[
    key("planner", TEXT_OR_NULL, "The agent that plans."),
    key("creator", TEXT_OR_NULL, "The agent that writes."),
    key(
        "reviewers",
        Shape::Nullable(&Shape::List(&Shape::Short(REVIEWER))),
        "The panel.",
    ),
    key("arbiter", TEXT_OR_NULL, "The agent that rules on disputes."),
];

const REVIEWER: &[Key] = &[
    required("agent", Shape::Text, "The agent."),
    key(
        "name",
        Shape::Text,
        "The slot's name; default made from the agent's.",
    ),
    key(
        "instructions",
        TEXTS,
        "Files of extra instructions, read at the base.",
    ),
    key(
        "fallback",
        TEXTS,
        "Agents tried in order when the one before gave no verdict.",
    ),
    key(
        "coverage",
        Shape::Choice(&["strict", "none"]),
        "`none` admits reports without coverage (`contract: line`, `human`).",
    ),
];

const REVIEW: &[Key] = &[
    key(
        "max-rounds",
        Shape::Whole(1, 100),
        "How many rounds at most. Where nobody says, a change of up to 20 lines gets 3 of the 5, and one of up to 200 gets 4.",
    ),
    key(
        "fail-on",
        Shape::Severity,
        "Findings at least this bad block.",
    ),
    key(
        "base",
        Shape::Choice(&["merge-base", "ancestor"]),
        "`ancestor` refuses a base that HEAD does not descend from.",
    ),
    key(
        "coverage",
        Shape::Choice(&["strict", "none"]),
        "What each slot must show, where it does not say.",
    ),
    key(
        "quorum",
        Shape::Quorum,
        "How many slots must have a verdict; forgives missing ones only.",
    ),
    key(
        "isolation",
        Shape::Choice(&["worktree", "env"]),
        "What the gate asks for; `env` in a run needs the option.",
    ),
    key(
        "max-parallel",
        Shape::Whole(1, 64),
        "How many jobs run at once.",
    ),
    key(
        "diff-cap",
        Shape::Size,
        "How much of the diff stands in a prompt.",
    ),
    key(
        "exclude",
        TEXTS,
        "Globs of paths whose bytes reviewers are not shown.",
    ),
];

const CHECK: &[Key] = &[
    required("name", Shape::Text, "Its name in reports."),
    required(
        "run",
        Shape::Text,
        "The command line, run by `bash` with `pipefail`.",
    ),
    key(
        "timeout",
        Shape::Whole(1, WEEK),
        "Its time limit in seconds; default 900.",
    ),
];

const LIMITS: &[Key] = &[
    key(
        "job-timeout",
        Shape::Whole(1, WEEK),
        "A job's budget in seconds, where its agent states none.",
    ),
    key(
        "job-wait",
        Shape::Nullable(&Shape::Whole(1, WEEK)),
        "How many seconds delegated jobs are waited for; a job's budget and 300 where it is null.",
    ),
    key(
        "max-wall",
        Shape::Nullable(&Shape::Whole(1, WEEK)),
        "Puts a run aside that ran for so many seconds.",
    ),
    key(
        "max-cost",
        Shape::Nullable(&Shape::Amount),
        "Puts a run aside that has cost so many USD.",
    ),
    key(
        "phases",
        Shape::Map(PHASES),
        "The most seconds that a job gets, by what it is for.",
    ),
];

const PRICE: &[Key] = &[
    required(
        "model",
        Shape::Text,
        "The model, as its program names it, or the agent's entry where the program names none.",
    ),
    required("input", Shape::Price, "A million tokens read."),
    required("output", Shape::Price, "A million tokens written."),
    key(
        "cached",
        Shape::Price,
        "A million tokens read from a cache; default like `input`.",
    ),
    key(
        "cache-write",
        Shape::Price,
        "A million tokens written to a cache; default like `input`.",
    ),
];

const PHASES: &[Key] = &[
    key("plan", Shape::Whole(1, WEEK), "A plan."),
    key("challenge", Shape::Whole(1, WEEK), "Objections to it."),
    key("refine", Shape::Whole(1, WEEK), "A refined plan."),
    key("implement", Shape::Whole(1, WEEK), "The implementation."),
    key("review", Shape::Whole(1, WEEK), "A review; `checks` aside."),
    key("correct", Shape::Whole(1, WEEK), "A correction."),
    key(
        "readjudicate",
        Shape::Whole(1, WEEK),
        "A reviewer's rulings.",
    ),
    key("arbitrate", Shape::Whole(1, WEEK), "The arbiter's rulings."),
    key("comply", Shape::Whole(1, WEEK), "What was sustained."),
];

const POLICY: &[Key] = &[
    key(
        "require",
        TEXTS,
        "Slots that must have passed; empty: any complete panel with a reader.",
    ),
    key(
        "attest",
        Shape::Choice(&["journal", "files", "signed"]),
        "Who vouches for evidence files; `signed` is not built yet.",
    ),
    key(
        "carry",
        Shape::Choice(&["identity", "none", "replay"]),
        "Which other commits an approval covers; `replay` is not built yet.",
    ),
    key(
        "up-to-date",
        Shape::Flag,
        "Whether the base's tip must be an ancestor of what merges.",
    ),
    key(
        "families",
        Shape::Whole(1, 32),
        "How many agent families must have read the change.",
    ),
    key(
        "allow-unreviewed",
        Shape::List(&Shape::Map(ALLOW)),
        "Kinds and paths of files that may stay unreviewed.",
    ),
    key(
        "allow-findings",
        Shape::List(&Shape::Map(ALLOW_FINDING)),
        "Rules of `checks` that do not block under a glob.",
    ),
];

const ALLOW: &[Key] = &[
    required(
        "kind",
        Shape::Choice(&["excluded", "binary", "lfs-pointer", "submodule"]),
        "The kind of file.",
    ),
    required(
        "paths",
        Shape::Text,
        "A glob: `*` within a component, `**` across them.",
    ),
];

const ALLOW_FINDING: &[Key] = &[
    required(
        "rule",
        Shape::Text,
        "The rule's name, as findings print it.",
    ),
    required(
        "paths",
        Shape::Text,
        "A glob: `*` within a component, `**` across them.",
    ),
];

/// The full path of a key that stands in some other place than where it was looked for.
#[must_use]
pub fn path_of(name: &str) -> Option<String> {
    all().into_iter().find_map(|(path, _)| {
        let last = path.rsplit('.').next()?;
        (last == name.replace('_', "-")).then_some(path)
    })
}

/// Every key with its full path, in order; names and list items are `NAME` and `[]`.
#[must_use]
pub fn all() -> Vec<(String, Key)> {
    let mut keys = Vec::new();
    collect(SECTIONS, "", &mut keys);
    keys
}

fn collect(keys: &[Key], path: &str, into: &mut Vec<(String, Key)>) {
    for key in keys {
        let path = join(path, key.name);
        into.push((path.clone(), *key));
        descend(key.shape, &path, into);
    }
}

fn descend(shape: Shape, path: &str, into: &mut Vec<(String, Key)>) {
    match shape {
        Shape::Map(keys) | Shape::Short(keys) => collect(keys, path, into),
        Shape::Nullable(inner) => descend(*inner, path, into),
        Shape::List(inner) => descend(*inner, &format!("{path}[]"), into),
        Shape::Named(inner) => descend(*inner, &format!("{path}.NAME"), into),
        Shape::Text
        | Shape::Flag
        | Shape::Whole(..)
        | Shape::Amount
        | Shape::Price
        | Shape::Size
        | Shape::Severity
        | Shape::Quorum
        | Shape::Choice(_) => {}
    }
}
