//! `status`, `list`, `show` and `log`, and what they render.

use std::path::Path;

use run_loop::cli::args::Format;
use run_loop::cli::args::history::{ListArgs, ShowArgs, StatusArgs};
use run_loop::cli::args::{FormatArgs, RepositoryArgs};
use run_loop::cli::history::History;
use run_loop::cli::{list, log, show, status};
use run_loop::domain::code::Code;
use run_loop::domain::event::RoundResult;
use run_loop::domain::failure::Failure;
use run_loop::domain::id::LoopId;
use run_loop::report::short_id::short_id;
use run_loop::store::Journal;
use serde_json::Value;

use crate::reviewed::reviewed;
use crate::sample::{Place, approved, judged, refused, run_id, stamp};

const SOURCE: &str = "/src";

fn history(place: &Place, format: Format) -> History<'_> {
    History {
        state: Some(&place.state),
        source_root: Some(Path::new(SOURCE)),
        control_root: None,
        format,
        now: stamp(90).at,
    }
}

fn repository() -> RepositoryArgs {
    RepositoryArgs { worktree: None }
}

fn run_status(place: &Place, run: Option<&str>, format: Format) -> Result<String, Failure> {
    let args = StatusArgs {
        run: run.map(str::to_owned),
        repository: repository(),
        output: FormatArgs::default(),
    };
    let mut out = Vec::new();
    status::run(&args, &history(place, format), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn run_show(place: &Place, run: &str, format: Format) -> Result<String, Failure> {
    let args = ShowArgs {
        cost: false,
        run: Some(run.to_owned()),
        findings: false,
        plan: false,
        repository: repository(),
        output: FormatArgs::default(),
    };
    let mut out = Vec::new();
    show::run(&args, &history(place, format), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn run_log(place: &Place, run: LoopId, format: Format) -> String {
    let (run, mut out) = (run.to_string(), Vec::new());
    log::run(Some(&run), None, &history(place, format), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn run_list(place: &Place, limit: usize, format: Format) -> String {
    let args = ListArgs {
        limit,
        repository: repository(),
        output: FormatArgs::default(),
    };
    let mut out = Vec::new();
    list::run(&args, &history(place, format), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// H09: what the last event says does not count; a dead engine is said at once, with what to do.
#[test]
fn h09_a_dead_engine_is_interrupted_at_once() {
    let place = Place::new();
    let mut journal = Journal::create(&place.state, run_id(1)).unwrap();
    journal
        .append(&judged(1, Path::new(SOURCE), 'd', RoundResult::Passed))
        .unwrap();
    let text = run_status(&place, None, Format::Human).unwrap();
    assert!(
        text.starts_with(&format!("run {}: running\n", run_id(1))),
        "{text}"
    );
    drop(journal);
    let text = run_status(&place, None, Format::Human).unwrap();
    assert!(
        text.contains(": interrupted: its engine died, nothing was approved"),
        "{text}"
    );
    let next = format!("next: run-loop resume {}", run_id(1));
    assert!(text.contains(&next), "{text}");
    let json: Value =
        serde_json::from_str(&run_status(&place, None, Format::Json).unwrap()).unwrap();
    assert_eq!(json["state"], "interrupted");
    assert_eq!(json["exit"], Value::Null);
    assert_eq!(json["approved"], false);
}

/// S24: the newest run of this source, by id; a file's time says nothing.
#[test]
fn s24_a_run_is_chosen_by_id_and_source_never_by_time() {
    let place = Place::new();
    place.run(1, &approved(1, Path::new(SOURCE), 'd'));
    let newest = place.run(5, &approved(5, Path::new(SOURCE), 'd'));
    place.run(9, &approved(9, Path::new("/peer"), 'd'));
    let touched = std::process::Command::new("touch")
        .arg(place.database(run_id(1)))
        .status();
    assert!(touched.unwrap().success());
    let text = run_status(&place, None, Format::Human).unwrap();
    assert!(text.starts_with(&format!("run {newest}: PASS\n")), "{text}");
}

#[test]
fn an_unknown_or_ambiguous_id_names_what_can_be_run() {
    let place = Place::new();
    let run = place.run(1, &approved(1, Path::new(SOURCE), 'd'));
    place.run(5, &approved(5, Path::new(SOURCE), 'd'));
    for given in ["", "0", "ffffffff", "../x"] {
        let failure = run_show(&place, given, Format::Human).unwrap_err();
        assert_eq!(failure.code, Code::UnknownRun, "{given}");
        assert_eq!(failure.next.to_string(), "run-loop list");
    }
    let all = place.state.run_ids().unwrap();
    let short = short_id(run, &all);
    assert!(short.len() >= 8 && !short.ends_with('-'), "{short}");
    assert!(
        run_show(&place, &short, Format::Human)
            .unwrap()
            .contains(&run.to_string())
    );
    run_show(&place, &run.to_string().to_uppercase(), Format::Human).unwrap();

    let nowhere = History {
        state: None,
        ..history(&place, Format::Human)
    };
    assert_eq!(nowhere.choose(None).unwrap_err().code, Code::UnknownRun);
}

/// G02: a damaged run is a line of the list, and the others are shown.
#[test]
fn g02_a_damaged_run_is_listed_and_blocks_nothing() {
    let place = Place::new();
    let good = place.run(1, &approved(1, Path::new(SOURCE), 'd'));
    let bad = place.run(5, &approved(5, Path::new(SOURCE), 'd'));
    std::fs::write(place.database(bad), b"garbage").unwrap();
    let text = run_list(&place, 20, Format::Human);
    assert!(
        text.contains("damaged") && text.contains("PASS (checks only), exit 0"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&run_list(&place, 20, Format::Json)).unwrap();
    assert_eq!(json["runs"][0]["run"], bad.to_string(), "newest first");
    assert_eq!(json["runs"][0]["state"], "damaged");
    assert_eq!(json["runs"][0]["failure"]["code"], "RL0501");
    assert_eq!(json["runs"][1]["state"], "ended");
    assert_eq!(run_list(&place, 1, Format::Ndjson).lines().count(), 1);
    // What the list leaves out is told.
    assert_eq!(json["older"], 0);
    assert!(!text.contains("not shown"), "{text}");
    let newest: Value = serde_json::from_str(&run_list(&place, 1, Format::Json)).unwrap();
    assert_eq!(newest["older"], 1);
    let newest = run_list(&place, 1, Format::Human);
    let told = "1 older run is not shown: run-loop list --limit 2\n";
    assert!(newest.ends_with(told), "{newest}");
    run_status(&place, Some(&good.to_string()), Format::Human).unwrap();
    let failure = run_show(&place, &bad.to_string(), Format::Human).unwrap_err();
    assert_eq!(failure.code, Code::JournalFailed);
}

/// Corrupt is never "empty": the run before one that cannot be read is not the newest, unless the newer
/// one is known to be of another working tree, or never began.
#[test]
fn the_run_before_one_that_cannot_be_read_is_not_the_newest() {
    let place = Place::new();
    let old = place.run(1, &approved(1, Path::new(SOURCE), 'd'));
    let peer = place.run(5, &approved(5, Path::new("/peer"), 'd'));
    let newest = || run_status(&place, None, Format::Human);
    newest().unwrap();
    // The index has seen it.
    std::fs::write(place.database(peer), b"garbage").unwrap();
    assert!(newest().unwrap().contains(&old.to_string()));
    drop(Journal::create(&place.state, run_id(6)).unwrap());
    newest().unwrap();

    let bad = place.run(7, &judged(7, Path::new(SOURCE), 'd', refused()));
    std::fs::write(place.database(bad), b"").unwrap();
    let failure = newest().unwrap_err();
    assert_eq!(failure.code, Code::JournalFailed);
    for run in [bad, old] {
        assert!(failure.message.contains(&run.to_string()), "{failure}");
    }
    assert_eq!(failure.next.to_string(), format!("run-loop show {old}"));
    place.run(8, &approved(8, Path::new(SOURCE), 'd'));
    newest().unwrap();
}

#[test]
fn a_run_is_shown_with_matrix_findings_identity_and_files() {
    let place = Place::new();
    let run = place.run(1, &reviewed(1, Path::new(SOURCE)));
    let text = run_show(&place, &run.to_string(), Format::Human).unwrap();
    let folder = place.state.run_path(run);
    for expected in [
        format!("run {run}: STALE\n"),
        format!("  head     {}\n", "b".repeat(40)),
        "  slot      agent   round 1   round 2\n".to_owned(),
        "  security  claude  NOT PASS  -\n".to_owned(),
        "  checks    checks  PASS      -\n".to_owned(),
        "  round             NOT PASS  STALE\n".to_owned(),
        "round 2: moved: src/lib.rs".to_owned(),
        "F-1 high, blocking src/\\xff\\u{1b}.rs:10-14: ".to_owned(),
        "(security, round 1)".to_owned(),
        format!("  run               {}\n", folder.display()),
        "RL0201".to_owned(),
        "next: run-loop explain RL0201".to_owned(),
    ] {
        assert!(
            text.contains(&expected),
            "{expected:?} is missing in\n{text}"
        );
    }
    let json: Value =
        serde_json::from_str(&run_show(&place, &run.to_string(), Format::Json).unwrap()).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["exit"], 4);
    assert_eq!(
        json["failure"]["next"],
        serde_json::json!(["run-loop", "explain", "RL0201"])
    );
    assert_eq!(
        json["rounds"][0]["slots"][0]["agent"], "gemini",
        "the one that answered"
    );
    assert_eq!(json["rounds"][0]["slots"][0]["verdict"], "NOT PASS");
    assert_eq!(json["rounds"][0]["slots"][0]["attempts"], 2);
    assert_eq!(
        json["findings"][0]["finding"]["path"]["path_b64"],
        "c3JjL/8bLnJz"
    );
}

/// Nothing that an agent wrote reaches a terminal or a CI system as a command.
#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let place = Place::new();
    let run = place.run(1, &reviewed(1, Path::new(SOURCE)));
    let texts = [
        run_show(&place, &run.to_string(), Format::Human).unwrap(),
        run_status(&place, None, Format::Human).unwrap(),
        run_log(&place, run, Format::Human),
        run_list(&place, 9, Format::Human),
    ];
    for text in texts {
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(bad), "{text:?}");
        assert!(
            !text.lines().any(|line| line.trim_start().starts_with("::")),
            "{text}"
        );
        assert!(!text.contains("##["), "{text}");
    }
}

/// P14: every event names its run, and round, slot, agent and tree where it is about one.
#[test]
fn p14_every_event_says_what_it_is_about() {
    let place = Place::new();
    let run = place.run(1, &reviewed(1, Path::new(SOURCE)));
    let text = run_log(&place, run, Format::Ndjson);
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), reviewed(1, Path::new(SOURCE)).len());
    let mut seen = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let kind = event["event"]["kind"].as_str().unwrap();
        assert_eq!(event["version"], 1);
        assert_eq!(event["run"], run.to_string());
        assert_eq!(event["seq"], index + 1);
        assert!(event["at"].as_str().unwrap().ends_with('Z'));
        let about_run = ["run_started", "run_ended"].contains(&kind);
        assert_eq!(event["round"].is_null(), about_run, "{event}");
        let about_slot = kind.starts_with("job_")
            || kind.starts_with("slot_")
            || ["finding_raised", "tree_opened"].contains(&kind);
        if about_slot {
            assert!(
                event["slot"].is_string() && event["agent"].is_string(),
                "{event}"
            );
            assert_eq!(event["tree"], "c".repeat(40), "{event}");
        }
        if kind.starts_with("job_") {
            seen.push(format!("{} {}", event["slot"], event["agent"]));
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(
        seen,
        [
            "\"checks\" \"checks\"",
            "\"security\" \"claude\"",
            "\"security\" \"gemini\""
        ]
    );
    // A job that we stopped has no verdict, whatever its report says.
    let stopped = events
        .iter()
        .find(|e| e["event"]["kind"] == "job_ended")
        .unwrap();
    assert_eq!(stopped["event"]["verdict"], Value::Null);
    assert_eq!(stopped["event"]["ended"], "stopped: its budget was spent");
}

#[test]
fn a_log_reads_as_it_happened() {
    let place = Place::new();
    let run = place.run(1, &reviewed(1, Path::new(SOURCE)));
    let text = run_log(&place, run, Format::Human);
    for expected in [
        "   0.0s  run ",
        "   1.0s  round 1: base aaaa",
        "round 1 security (claude): started (attempt 1, at most 1800 s)",
        "round 1 security (claude): ended after 1m01s (stopped: its budget was spent): its report does not count",
        "round 1 security (gemini): asked as the fallback: its budget was spent",
        "round 1 security (gemini): NOT PASS",
        "round 1 checks: PASS",
        "round 2: STALE: what was reviewed moved, the round is void\n           moved: src/lib.rs",
    ] {
        assert!(
            text.contains(expected),
            "{expected:?} is missing in\n{text}"
        );
    }
}

#[test]
fn a_running_log_ends_where_the_run_is() {
    let place = Place::new();
    let mut journal = Journal::create(&place.state, run_id(1)).unwrap();
    let events = reviewed(1, Path::new(SOURCE));
    journal.append(&events[..9]).unwrap();
    let text = run_log(&place, run_id(1), Format::Human);
    assert!(text.ends_with("running\n"), "{text}");
    let text = run_status(&place, None, Format::Human).unwrap();
    assert!(text.contains("  checks is asked for "), "{text}");
    assert!(text.contains("security  claude  asked"), "{text}");
    journal.append(&events[9..]).unwrap();
}
