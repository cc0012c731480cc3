//! The file's text: what counts, and what could, as comments.

use crate::init::project::Project;

/// Who could work here.
#[derive(Debug, Clone, Default)]
pub struct Who {
    /// Who is asked to review, by name; nobody but the built-in `checks` where it is empty.
    pub reviewers: Vec<String>,
    /// Known agent programs that are on this machine.
    pub found: Vec<String>,
}

const HEAD: &str = "\
# How run-loop reviews changes of this repository; made by `run-loop init`.
#
# It counts once it is committed on the branch that you merge into: run-loop reads it at the base,
# never from the change under review. Every key: `run-loop schema config`; what counts and why:
# `run-loop config show --origin`.
version: 1

";

const AGENTS: &str = "\
# Agents. Known programs (`run-loop agents`) need no entry: claude, claude:opus, codex, …
# agents:
#   careful: {profile: claude, model: opus, timeout: 1800}
#   house-bot: {kind: command, command: [/usr/local/bin/bot, --stdin], env: [BOT_TOKEN]}
#   pat: {kind: human}

";

const REST: &str = "\
# A finding blocks when it is at least this bad.
# review: {fail-on: medium, max-rounds: 5}

# Seconds that one job may take.
# limits: {job-timeout: 3600}

# What a commit must have before `run-loop gate` lets it pass.
# policy: {require: [checks], families: 1}
";

/// The whole file.
#[must_use]
pub fn text(project: &Project, who: &Who) -> String {
    let mut text = vec![HEAD.to_owned(), AGENTS.to_owned(), roles(who)];
    text.push(setup(project));
    text.push(checks(project));
    text.push(cache(project));
    text.push(REST.to_owned());
    text.concat()
}

fn roles(who: &Who) -> String {
    let mut lines = vec![
        "roles:\n".to_owned(),
        "  # Who reviews. `checks` is built in: it needs no model, and runs the commands below.\n"
            .to_owned(),
    ];
    let panel = |names: &[String]| {
        let names = names.iter().map(|name| quoted(name));
        let all = names.filter(|name| name != "checks");
        all.chain(["checks".to_owned()])
            .collect::<Vec<_>>()
            .join(", ")
    };
    lines.push(format!("  reviewers: [{}]\n", panel(&who.reviewers)));
    let idle: Vec<String> = who
        .found
        .iter()
        .filter(|name| !who.reviewers.contains(name))
        .cloned()
        .collect();
    if !idle.is_empty() {
        let all: Vec<String> = who.reviewers.iter().chain(&idle).cloned().collect();
        lines.push(
            "  # Also on the machine that made this file; each review then costs a call of each:\n"
                .to_owned(),
        );
        lines.push(format!("  # reviewers: [{}]\n", panel(&all)));
    }
    let first = who.found.first().map_or("claude", String::as_str);
    let second = who.found.get(1).map_or(first, String::as_str);
    lines.push(
        "  # Who writes when a run has a task, and who plans and rules on disputes:\n".to_owned(),
    );
    lines.push(format!("  # creator: {first}\n  # planner: {second}\n\n"));
    lines.concat()
}

fn setup(project: &Project) -> String {
    if project.setup.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = project
        .setup
        .iter()
        .map(|run| format!("  - {}\n", quoted(run)))
        .collect();
    format!(
        "# What the commands need before they run.\nsetup:\n{}\n",
        lines.concat()
    )
}

fn checks(project: &Project) -> String {
    let comment = "# Commands that must end with 0, run in a tree of their own; the change under review runs there.\n";
    if project.checks.is_empty() {
        return format!(
            "{comment}# Nothing in this repository defines any that is known.\n\
             # checks:\n#   - {{name: test, run: ./test.sh, timeout: 900}}\n\n"
        );
    }
    let entry = |check: &super::project::Check| {
        format!(
            "  - {{name: {}, run: {}, timeout: 900}}\n",
            quoted(&check.name),
            quoted(&check.run)
        )
    };
    let lines: Vec<String> = project.checks.iter().map(entry).collect();
    format!(
        "{comment}# Taken from {}.\nchecks:\n{}\n",
        project.kinds.join(", "),
        lines.concat()
    )
}

fn cache(project: &Project) -> String {
    if project.cache.is_empty() {
        return String::new();
    }
    let folders = project.cache.join(", ");
    format!("# Folders that the commands may use again from run to run.\ncache: [{folders}]\n\n")
}

/// Plain words as they are, everything else as JSON, which is YAML too.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./ ".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && text.chars().all(plain) && !text.ends_with(' ') {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::project::Check;

    #[test]
    fn a_repository_with_nothing_gives_a_file_that_says_so() {
        let text = text(&Project::default(), &Who::default());
        assert!(text.contains("  reviewers: [checks]\n"), "{text}");
        assert!(
            text.contains("# Nothing in this repository defines any"),
            "{text}"
        );
        let counting: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#') && !line.is_empty())
            .collect();
        assert_eq!(counting, ["version: 1", "roles:", "  reviewers: [checks]"]);
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }

    #[test]
    fn whoever_is_only_found_stands_in_a_comment() {
        let who = Who {
            reviewers: vec!["claude:opus".to_owned(), "checks".to_owned()],
            found: vec!["claude".to_owned(), "codex".to_owned()],
        };
        let project = Project {
            kinds: vec!["go.mod"],
            checks: vec![Check::new("go-test", "go test ./...")],
            cache: vec!["target"],
            setup: vec!["npm ci"],
            notes: Vec::new(),
        };
        let text = text(&project, &who);
        assert!(
            text.contains("  reviewers: [\"claude:opus\", checks]\n"),
            "{text}"
        );
        assert!(
            text.contains("  # reviewers: [\"claude:opus\", claude, codex, checks]\n"),
            "{text}"
        );
        assert!(
            text.contains("  - {name: go-test, run: go test ./..., timeout: 900}\n"),
            "{text}"
        );
        assert!(text.contains("setup:\n  - npm ci\n"), "{text}");
    }

    #[test]
    fn words_that_yaml_reads_otherwise_are_quoted() {
        assert_eq!(quoted("go test ./..."), "go test ./...");
        for text in ["claude:opus", "- a", "1", "a # b", "{a}", "a, b", ""] {
            assert_eq!(
                quoted(text),
                serde_json::Value::from(text).to_string(),
                "{text}"
            );
        }
    }
}
