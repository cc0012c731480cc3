//! `docs/agents.md` is what the profiles and the last real run say.
//!
//! After a change that is meant: `RUN_LOOP_BLESS=1 cargo nextest run --test agents page`.

use std::fmt::Write as _;
use std::path::Path;

use run_loop::config::profiles;
use run_loop::domain::agent::PromptChannel;
use run_loop::domain::profile::{Profile, Stream, WorksIn};
use serde_json::Value;

use crate::driven::digest;
use crate::recorded::profile;

const HEAD: &str = "\
# Agent programs

Generated from `profiles/*.yaml` and from the last runs of `.ci/real-agents` and `.ci/real-agents --more`, which
install the pinned programs and drive them against a scripted model in a network namespace without a way out.

`run-loop agents` says which of them are on your machine. `--reviewer NAME` or `--reviewer NAME:MODEL`
is all that a known program needs; an entry in `agents:` with `profile: NAME` sets a model, an effort,
a budget, another program or more variables. A file `profiles/NAME.yaml` in your configuration folder
replaces an embedded profile.

How a program failed is told by its own events, and where those say nothing by its exit code and the words
of its errors, as each section lists them. Some try again for many minutes what their provider refuses: where
the budget of the job ends that, a key that was not taken is told as one, and a limit lets the run wait
(exit code 75) as if the program had given up.

A program has succeeded when it exits with 0, says itself that it is done, tells of no error that it
gave up on, and was not ended by us. What it does not tell of tokens and cost is unknown, never zero.
Nor has one succeeded of whose events one is torn: what it said might have been anything. Of more than 64 MiB of
events nothing is read.

A re-ask, a correction and a re-adjudication go on in the session of the program that the job before
them was in, where its profile says how: in the same folder, for the same position, and only after jobs
that ended well. Nonce, tree and receipts are new in each job, so what a session holds proves nothing.
A session that is not there any more is replaced by a new one, once, which is told what was reported
before; `run-loop log` says so, and it says where a program left the session that it was to go on in. A delegated job goes on in the session of an earlier one where it is told to
(`run-loop job submit --continue JOB`), and in its own where its answer did not fit its schema.

Its keys go to it alone (of one that asks many providers: those of the provider that the name of its model
begins with; without such a name those of all), and their values are taken out of reports, messages and captured output of every
job of the run, also as JSON or an address writes them. So is the value of a variable that `env` of an entry
names where the variable's name says that it is secret (`KEY`, `TOKEN`, `SECRET`, `PASSWORD`, `CREDENTIAL`,
`LOGIN`, `AUTH` and the like) or the value looks drawn at random (16 or more letters and digits in a row, some of each);
a setting like `NODE_ENV=production` is none. What has less than 8 characters stays. User and password of an
address (`https://user:token@host`) go, whosever they are, and so does what is a token by its shape (`ghp_...`,
`sk-...`, `AKIA...` and the like). What is under review is never touched, nor what digests are of, and a report is
judged as it came, and kept without them. Output that cannot be read for this is removed,
and what is left in its place says so. No job can read the environment of `run-loop` itself, unless it is root and not confined; those of other agents that work
at the same time, and that of your shell, can be read by any that is not confined.

Profiles whose names end with `-acp` drive a program over the Agent Client Protocol: our client of it is
what the job starts. It offers the agent neither files nor terminals. A permission that a reviewer or
planner asks for is refused, one that a creator asks for is given once; the kind of an option decides,
never its name. A turn that ends in another way than `end_turn`, a line that is no message, and an agent
that goes before its turn ended are no answer; nor is one that is not ready for its prompt within 120 s
(`ready-within` of its profile), or that asks on and on without reading what it is answered. `kind: acp` with `command` in an entry of `agents:` is any
other program that speaks it. The client is our own, and always built in.

`run-loop job submit --schema FILE` asks for one JSON value that fits a JSON Schema. Every agent is
asked for it in words, one that can be told the schema is told; that the answer fits is checked by us
either way. The first one that does not is asked for once more with the reason; after a second one the
job has failed. What was handed over is kept, and nothing is made up in its place. `format` is held as well. A
schema may hold itself, as that of a tree does: an answer for which it is more than 64 deep, keyword by keyword,
does not fit. One that comes back to itself without going into a part of the answer, or names another file, is
refused.

Where the kernel has Landlock (version 3 or newer), reviewers and planners of most are confined: they
write nothing but their review tree, their job's folder and what their program keeps of its own, and read
nothing of other jobs, slots and runs. Sessions of the same program lie in what it keeps of its own,
so it can read and write those of others; so does its configuration, except opencode's. A reader that runs
commands (one of `kind: command`; those of profiles that are confined are given none) can change the mode, the times and
the owner of what its user owns, and ask services of the machine: Landlock covers neither. `confine: false` in an entry of `agents:` lets one go,
`confine: true` confines one of which nobody has tried it; creators are never confined, nor are
reviewers under `--review-isolation env` where the source root holds `.git` and with it the records of
runs. A folder that a program keeps of its own and that leads into or above the source root, its `.git`
or our cache is refused, since to write it would be to write those (RL0021). What is
promoted says which it was.

`run-loop skills install` writes into `.claude/skills`, which Claude Code, opencode and GitHub Copilot CLI read, and
into `.agents/skills`, which Codex CLI, Gemini CLI, Qwen Code, opencode and GitHub Copilot CLI read: so their own
documents and programs say, and no test drives it. aider has no skills. They are for your own sessions and for
creators; reviewers and planners of most profiles are kept from what the tree holds of that kind, and every prompt
says all that its answer needs.
";

#[test]
fn the_page_holds_what_the_profiles_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let last: Value = serde_json::from_slice(
        &std::fs::read(root.join("tests/real_agents/last-run.json")).unwrap(),
    )
    .unwrap();
    let mut page = HEAD.to_owned();
    page.push_str(
        "\n| profile | program | tested version | driven for real as | prompt | sessions go on | tokens | cost | readers are confined |\n",
    );
    page.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for name in profiles::names() {
        row(&mut page, &profile(name), &last);
    }
    for name in profiles::names() {
        section(&mut page, &profile(name), &last);
    }
    let path = root.join("docs/agents.md");
    if std::env::var_os("RUN_LOOP_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), page);
}

fn row(page: &mut String, profile: &Profile, last: &Value) {
    let (tokens, cost) = match profile.stream {
        Stream::Claude if profile.name == "claude" => ("yes", "yes"),
        Stream::Opencode | Stream::Aider => ("yes", "yes"),
        Stream::Codex | Stream::Claude | Stream::Gemini => ("yes", "no"),
        Stream::Acp if profile.name == "claude-acp" => ("yes", "yes"),
        Stream::Acp if profile.name == "opencode-acp" => ("no", "yes"),
        Stream::Acp if matches!(&*profile.name, "codex-acp" | "gemini-acp" | "qwen-acp") => {
            ("yes", "no")
        }
        Stream::Copilot | Stream::Acp | Stream::Text => ("no", "no"),
    };
    let driven = [
        ("reviewer", "passes"),
        ("planner", "plans and refines"),
        ("creator", "a correction"),
    ];
    let cases = cases(last, profile);
    let roles = driven.iter().filter(|(_, case)| cases.contains(case));
    let roles: Vec<&str> = roles.map(|(role, _)| *role).collect();
    let roles = match &roles[..] {
        [] if is_recorded(profile) => "no: recorded output alone".to_owned(),
        [] => "no, and none of its output was recorded".to_owned(),
        roles => roles.join(", "),
    };
    let prompt = match profile.prompt {
        PromptChannel::Stdin => "standard input",
        PromptChannel::File => "file",
    };
    let yes = |is: bool| if is { "yes" } else { "no" };
    let goes_on = yes(profile.continues_sessions());
    let confined = yes(profile.confined.is_some());
    writeln!(
        page,
        "| `{}` | {} | {} | {roles} | {prompt} | {goes_on} | {tokens} | {cost} | {confined} |",
        profile.name,
        profile.title,
        profile.tested.as_deref().unwrap_or("-"),
    )
    .unwrap();
}

/// What is told in the protocol, where that is how it is driven.
fn acp(page: &mut String, profile: &Profile) {
    if profile.continues_sessions() {
        page.push_str("- A session goes on, where it says that it can\n");
    }
    let modes = [
        ("Mode of a reviewer or planner", &profile.acp.reader_mode),
        ("Mode of a creator", &profile.acp.writer_mode),
        ("Option of the model", &profile.acp.model_option),
    ];
    for (what, set) in modes {
        if let Some(set) = set {
            writeln!(page, "- {what}: `{set}`").unwrap();
        }
    }
    if let Some(meta) = &profile.acp.session_meta {
        writeln!(page, "- Asked for with each session: `{meta}`").unwrap();
    }
}

fn section(page: &mut String, profile: &Profile, last: &Value) {
    let code = |words: &[String]| match words {
        [] => "nothing".to_owned(),
        words => format!("`{}`", words.join(" ")),
    };
    writeln!(page, "\n## {}\n", profile.name).unwrap();
    writeln!(page, "- Always: {}", code(&profile.always.args)).unwrap();
    writeln!(
        page,
        "- Reviewer or planner: {}",
        code(&profile.reader.args)
    )
    .unwrap();
    if profile.reader_works_in == WorksIn::Own {
        page.push_str(
            "- A reviewer or planner works in a folder of its own and is told where the tree is; one folder for \
             each position of a run, made anew for each job.\n",
        );
    }
    match &profile.confined {
        Some(confined) => {
            let writes: Vec<String> = confined.writes.iter().map(|p| format!("`{p}`")).collect();
            writeln!(
                page,
                "- A reviewer or planner is confined; besides tree and job it writes {}",
                writes.join(", ")
            )
            .unwrap();
        }
        None => page.push_str("- A reviewer or planner is not confined\n"),
    }
    writeln!(page, "- Creator: {}", code(&profile.writer.args)).unwrap();
    writeln!(
        page,
        "- Model: {}; effort: {}",
        code(&profile.model),
        code(&profile.effort)
    )
    .unwrap();
    if profile.stream == Stream::Acp {
        acp(page, profile);
    }
    if !profile.session.resume.is_empty() {
        let resume = code(&profile.session.resume);
        writeln!(page, "- A session goes on: {resume}").unwrap();
    }
    if let Some(structured) = &profile.structured {
        let which = if structured.strict {
            ", where all objects of it are closed"
        } else {
            ""
        };
        let args = code(&structured.args);
        writeln!(page, "- A schema for its answer{which}: {args}").unwrap();
    }
    environment(page, profile);
    failures(page, profile);
    for line in &profile.limits() {
        writeln!(page, "- Cannot be switched off: {line}").unwrap();
    }
    let cases = cases(last, profile);
    if !cases.is_empty() {
        let as_it_is = last["programs"][&profile.name]["profile"] == digest(profile);
        let changed = if as_it_is {
            ""
        } else {
            ", before its profile was changed"
        };
        writeln!(page, "- Driven for real{changed}: {}", cases.join(", ")).unwrap();
    }
}

/// What it gets of the variables of whoever starts it, and what is set for it.
fn environment(page: &mut String, profile: &Profile) {
    let provider = |key: &String| {
        let mut of = profile.providers.iter();
        let of = of.find(|(_, keys)| keys.contains(key));
        of.map_or_else(String::new, |(name, _)| {
            format!(" (of a model `{name}/...`)")
        })
    };
    let keys: Vec<String> = profile
        .keys
        .iter()
        .map(|key| format!("`{key}`{}", provider(key)))
        .collect();
    if !keys.is_empty() {
        writeln!(page, "- Keys: {}", keys.join(", ")).unwrap();
    }
    let passed: Vec<String> = profile.env.iter().map(|name| format!("`{name}`")).collect();
    if !passed.is_empty() {
        writeln!(
            page,
            "- Variables that it gets besides: {}",
            passed.join(", ")
        )
        .unwrap();
    }
    for (whose, start) in [
        ("always", &profile.always),
        ("for a reviewer or planner", &profile.reader),
        ("for a creator", &profile.writer),
    ] {
        let set: Vec<String> = start
            .env
            .iter()
            .map(|(name, value)| format!("`{name}={value}`"))
            .collect();
        if !set.is_empty() {
            writeln!(page, "- Set {whose}: {}", set.join(", ")).unwrap();
        }
    }
}

/// What tells how it failed, besides its own events.
fn failures(page: &mut String, profile: &Profile) {
    let exits: Vec<String> = profile
        .exits
        .iter()
        .map(|exit| format!("{} is {}", exit.code, exit.means.said()))
        .collect();
    if !exits.is_empty() {
        writeln!(page, "- Exit codes: {}", exits.join("; ")).unwrap();
    }
    let errors: Vec<String> = profile
        .errors
        .iter()
        .map(|error| format!("`{}` is {}", error.text, error.means.said()))
        .collect();
    if !errors.is_empty() {
        writeln!(page, "- Words of its errors: {}", errors.join("; ")).unwrap();
    }
    if let Some(words) = &profile.acp.gives_up_with {
        writeln!(
            page,
            "- A turn that gave up: its last words begin with `{words}`"
        )
        .unwrap();
    }
}

/// Whether what it prints was recorded once: its adapter is tested with that.
fn is_recorded(profile: &Profile) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/agents/transcripts")
        .join(&profile.name)
        .is_dir()
}

/// What passed with the real program, in the version that the profile says was tested.
fn cases<'a>(last: &'a Value, profile: &Profile) -> Vec<&'a str> {
    let program = &last["programs"][&profile.name];
    let Some(cases) = program["cases"].as_array() else {
        return Vec::new();
    };
    assert_eq!(program["version"].as_str(), profile.tested.as_deref());
    cases.iter().filter_map(Value::as_str).collect()
}
