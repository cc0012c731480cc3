//! The reference pages are what the code says: `docs/reference/*.md` are snapshots.
//!
//! After a change that is meant: `RUN_LOOP_BLESS=1 cargo nextest run --test config reference`.

use std::fmt::Write as _;
use std::path::Path;

use run_loop::cli::environment::{NEVER_READ, VARIABLES};
use run_loop::config::keys;
use run_loop::domain::code::Code;
use run_loop::domain::exit::Exit;

#[track_caller]
pub(crate) fn holds(name: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs/reference")
        .join(name);
    if std::env::var_os("RUN_LOOP_BLESS").is_some() {
        std::fs::write(&path, generated).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, generated,
        "docs/reference/{name} differs from the code"
    );
}

/// The word of the pages, and what it means in the loop and in the gate.
fn meaning(exit: Exit) -> (&'static str, &'static str, &'static str) {
    match exit {
        Exit::Approved => (
            "approved",
            "approved and promoted",
            "the content is approved",
        ),
        Exit::NotPass => (
            "NOT PASS",
            "findings stand, also when rounds are used up",
            "the evidence says NOT PASS, or it was revoked",
        ),
        Exit::Usage => (
            "usage error",
            "the command line or the configuration is wrong, or an agent is missing",
            "same",
        ),
        Exit::Refused => (
            "refused",
            "a precondition failed, nothing was changed",
            "same",
        ),
        Exit::Stale => (
            "stale",
            "the content moved, the base changed, or nothing is left to review",
            "content or base is not the approved one",
        ),
        Exit::Inconclusive => (
            "inconclusive",
            "no verdict, or evidence is missing",
            "evidence is missing, incomplete, unattested, or by checks only",
        ),
        Exit::ToolFailed => (
            "a tool failed",
            "the creator, the planner, the arbiter or our own tools failed: git outside measuring, the journal, promotion",
            "git failed",
        ),
        Exit::Limit => (
            "a limit",
            "a limit was reached: time, cost, no progress",
            "-",
        ),
        Exit::NeedsHuman => (
            "a human must decide",
            "a finding is in dispute and nobody may rule on it",
            "-",
        ),
        Exit::Parked => (
            "parked",
            "parked on a rate limit or quota; `resume` goes on",
            "-",
        ),
        Exit::NotStarted => (
            "not started",
            "`job submit` could not start, or could not write the prompt",
            "-",
        ),
        Exit::Interrupted => ("interrupted", "SIGINT", "same"),
        Exit::Terminated => ("terminated", "SIGTERM", "same"),
    }
}

#[test]
fn exit_codes() {
    let mut page = "# Exit codes\n\nOnly 0 means approved. Every other end prints a reason code to stderr, what happened, \
        and one command to run next; `run-loop explain CODE` prints the code's page. A shell pipeline shows the exit code \
        of its last command: `run-loop … | tee log` hides it (`set -o pipefail` in bash).\n\n\
        | exit | loop | gate | reason codes |\n|---|---|---|---|\n".to_owned();
    for exit in Exit::ALL {
        let (_, in_loop, in_gate) = meaning(exit);
        let codes: Vec<&str> = Code::ALL
            .iter()
            .filter(|code| code.exit() == exit)
            .map(|code| code.as_str())
            .collect();
        writeln!(
            page,
            "| {} | {in_loop} | {in_gate} | {} |",
            exit.code(),
            codes.join(" ")
        )
        .unwrap();
    }
    page += "\n## Reason codes\n\n| code | exit | what |\n|---|---|---|\n";
    for code in Code::ALL {
        let title = code
            .page()
            .lines()
            .next()
            .unwrap()
            .split_once(": ")
            .unwrap()
            .1;
        writeln!(
            page,
            "| [{code}](../errors/{code}.md) | {} | {title} |",
            code.exit().code()
        )
        .unwrap();
    }
    holds("exit-codes.md", &page);
    for code in Code::ALL {
        let stated = format!(
            "Exit code {} ({}).",
            code.exit().code(),
            meaning(code.exit()).0
        );
        assert_eq!(
            code.page()
                .lines()
                .nth(2)
                .unwrap()
                .split_inclusive('.')
                .next(),
            Some(stated.as_str()),
            "{code}"
        );
    }
}

#[test]
fn every_code_has_its_page_and_every_page_its_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors");
    let mut pages: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let mut codes: Vec<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
    codes.sort();
    assert_eq!(pages, codes);
    for code in Code::ALL {
        let page = code.page();
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        assert!(
            page.contains("\n## Why\n") && page.contains("\n## What to do\n"),
            "{code}"
        );
        assert!(page.contains("```console\n$ "), "{code} names a command");
    }
}

#[test]
fn configuration() {
    let mut page = "# Configuration\n\n`run-loop.yaml` at the root of the repository, read at the base; \
        and for you alone `$XDG_CONFIG_HOME/run-loop/config.yaml` (default `~/.config`), which may hold `agents`, `roles`, \
        `limits` and `prices`. Options beat variables, these beat the repository's file, that beats yours, that beats the defaults. \
        `run-loop config show --origin` prints each value with its layer, file and line; `run-loop schema config` prints a JSON schema.\n\n\
        | key | value | meaning |\n|---|---|---|\n".to_owned();
    for (path, key) in keys::all() {
        let must = if key.required { " **Required.**" } else { "" };
        writeln!(
            page,
            "| `{path}` | {} | {}{must} |",
            key.shape.wanted().replace('|', "\\|"),
            key.meaning
        )
        .unwrap();
    }
    page += "\n## Defaults\n\n```yaml\n";
    page += run_loop::config::load::DEFAULTS;
    page += "```\n";
    holds("config.md", &page);
}

#[test]
fn environment() {
    let mut page = "# Environment\n\n| variable | what it does |\n|---|---|\n".to_owned();
    for variable in VARIABLES {
        writeln!(page, "| `{}` | {} |", variable.name, variable.meaning).unwrap();
    }
    page += "| `XDG_CONFIG_HOME`, `HOME` | Where your own configuration lies. |\n\
             | `XDG_CACHE_HOME`, `HOME` | Where job folders, review trees and review stores lie. |\n\
             | `NO_COLOR`, `CLICOLOR`, `CI` | Whether output is coloured. |\n\
             \nOptions that decide what an approval means have no variable. These are not read, and run-loop says so if one is set:\n\n";
    for name in NEVER_READ {
        writeln!(page, "- `{name}`").unwrap();
    }
    page += "\n`RUN_LOOP_JOB_*` is what run-loop gives to its jobs (all of them: [agents of kind `command`](../command-agents.md)); none of them is an option.\n";
    holds("environment.md", &page);
}

#[test]
fn command_line() {
    use clap::CommandFactory as _;
    let mut page = "# Command line\n".to_owned();
    let mut command = run_loop::cli::args::Cli::command().term_width(100);
    command.build();
    describe(&mut command, "run-loop", &mut page);
    holds("cli.md", &page);
}

fn describe(command: &mut clap::Command, name: &str, page: &mut String) {
    let help = command.render_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    writeln!(
        page,
        "\n## {name}\n\n```text\n{}\n```",
        lines.join("\n").trim_end()
    )
    .unwrap();
    for sub in command
        .get_subcommands_mut()
        .filter(|sub| !sub.is_hide_set())
    {
        let name = format!("{name} {}", sub.get_name());
        describe(sub, &name, page);
    }
}
