//! What became of earlier findings decides what a reviewer's next words are worth: late wishes are
//! advisory, what was dismissed does not come back on the same bytes, and what is said to be still
//! there is.

use crate::stage::{Stage, adds, by_role, implements};
use crate::support::agents::{finding, quote};

const LINE: [&str; 6] = ["--creator", "ann", "--reviewer", "bob", "--max-rounds", "3"];

/// What a reviewer says in a round: verdict, findings, what became of earlier ones.
pub(crate) fn says(verdict: &str, findings: &[String], prior: &[(&str, &str)]) -> String {
    let findings = format!("[{}]", findings.join(","));
    let prior: Vec<String> = prior
        .iter()
        .map(|(id, how)| {
            format!(r#"{{"finding": "{id}", "disposition": "{how}", "note": "I looked."}}"#)
        })
        .collect();
    let prior = format!(r#", "prior": [{}]"#, prior.join(","));
    format!(
        "EXTRA={}; found={}; verdict {} \"${{found//LAST/$(wc -l < src/lib.rs)}}\" | deliver",
        quote(&prior),
        quote(&findings),
        quote(verdict)
    )
}

/// A reviewer that speaks by the round.
pub(crate) fn by_round(rounds: &[String]) -> String {
    use std::fmt::Write as _;
    let mut script = String::from("case $RUN_LOOP_JOB_ROUND in\n");
    for (nth, said) in rounds.iter().enumerate() {
        writeln!(script, "{})\n{said}\n;;", nth + 1).unwrap();
    }
    script.push_str("esac");
    script
}

/// Two rounds with a wish each, both granted, and a third one.
fn third_wish(third: &[String], prior: &[(&str, &str)]) -> Stage {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// as wished")),
        ),
    ]);
    let wish = |title| finding(title, "medium", "src/lib.rs", 1);
    let reviewer = by_round(&[
        says("NOT PASS", &[wish("first wish")], &[]),
        says("NOT PASS", &[wish("second wish")], &[("F-1", "fixed")]),
        says("NOT PASS", third, prior),
    ]);
    Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready()
}

const GRANTED: [(&str, &str); 2] = [("F-1", "fixed"), ("F-2", "fixed")];

/// Design, section 4: after two completed reports, a new finding below high on lines that nobody
/// touched is advisory (scenarios C01, C04: the bar rises with the rounds).
#[test]
fn a_late_wish_is_advisory_and_shown_as_such() {
    let third = finding("third wish", "medium", "src/lib.rs", 1);
    let stage = third_wish(&[third], &GRANTED);
    let ran = stage.run(&LINE);
    ran.ends(0);
    assert_eq!(stage.asked().last().unwrap(), "review bob");
    let sidecar = stage.bench().sidecar("bob");
    assert_eq!(sidecar["by"], "threshold");
    assert_eq!(sidecar["verdict"], "NOT PASS");
    assert_eq!(sidecar["advisory"][0]["finding"], "F-3");
    assert_eq!(sidecar["advisory"][0]["title"], "third wish");
    stage.gate_ends(0);
    let shown = stage.bench().run(&["show", "--findings"]);
    assert!(
        shown.stdout.contains("F-3 medium, advisory src/lib.rs:1"),
        "{}",
        shown.stdout
    );
}

/// S26: what is not surely late blocks: a line that was touched, a place that does not resolve, the
/// same words as before, and a report that does not say that all of before is done.
#[test]
fn what_is_not_surely_late_blocks() {
    let at = |path, line| vec![finding("third wish", "medium", path, line)];
    let again = vec![finding("Second  wish!", "medium", "src/lib.rs", 1)];
    for (third, prior) in [
        // The last line was written after the last report.
        (at("src/lib.rs", u32::MAX), &GRANTED[..]),
        (at("src/nowhere.rs", 1), &GRANTED[..]),
        (again, &GRANTED[..]),
        (at("src/lib.rs", 1), &GRANTED[..1]),
    ] {
        let third: Vec<String> = third
            .iter()
            .map(|found| found.replace(&u32::MAX.to_string(), "LAST"))
            .collect();
        let stage = third_wish(&third, prior);
        let ran = stage.run(&LINE);
        assert_eq!(ran.code, Some(1), "{third:?} {prior:?}: {}", ran.stderr);
        stage.promoted_nothing();
    }
}

/// A finding that was overruled, and one that is mended elsewhere.
fn overruled_before(mends: &str) -> Stage {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!(
                r#"{mends}; block answers answers '[{{"finding": "F-1", "action": "refuted", "note": "It is meant so."}}, {{"finding": "F-2", "action": "fixed", "note": "Mended."}}]' | deliver"#
            ),
        ),
    ]);
    let disputed = || finding("a matter of taste", "high", "src/lib.rs", 1);
    let missing = finding("a file is missing", "high", "src/lib.rs", 2);
    let review = by_round(&[
        says("NOT PASS", &[disputed(), missing], &[]),
        says("NOT PASS", &[disputed()], &[("F-2", "fixed")]),
        says("PASS", &[], &[("F-2", "fixed")]),
    ]);
    let reviewer = by_role(&[
        ("review", &review),
        ("readjudicate", "rulings upheld 'I think not.' | deliver"),
    ]);
    Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", "rulings overruled 'It is taste.' | deliver")
        .ready()
}

const WITH_ARBITER: [&str; 8] = [
    "--creator",
    "ann",
    "--reviewer",
    "bob",
    "--arbiter",
    "eve",
    "--max-rounds",
    "2",
];

/// C03: what was dismissed does not come back as a blocker, on the same bytes.
#[test]
fn a_dismissed_finding_does_not_come_back() {
    let stage = overruled_before("echo '// there' > src/there.rs");
    stage.run(&WITH_ARBITER).ends(0);
    assert_eq!(
        stage.asked(),
        [
            "implement ann",
            "review bob",
            "correct ann",
            "readjudicate bob",
            "arbitrate eve",
            "review bob",
        ]
    );
    let sidecar = stage.bench().sidecar("bob");
    assert_eq!(sidecar["by"], "arbitration");
    assert_eq!(sidecar["rulings"][0]["finding"], "F-3");
    assert_eq!(sidecar["rulings"][0]["note"], "It is taste.");
    stage.gate_ends(0);
    let shown = stage.bench().run(&["show", "--findings"]);
    let line = "F-3 high, dismissed before src/lib.rs:1: a matter of taste (again F-1)";
    assert!(shown.stdout.contains(line), "{}", shown.stdout);
}

/// An overruling lapses with the name of its file: what is harmless in one place need not be so in
/// another, and who renames it may be the one whose work is reviewed.
#[test]
fn a_dismissed_finding_comes_back_when_its_file_has_another_name() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            r#"mv src/lib.rs src/core.rs; block answers answers '[{"finding": "F-1", "action": "refuted", "note": "It is meant so."}, {"finding": "F-2", "action": "fixed", "note": "Renamed."}]' | deliver"#,
        ),
    ]);
    let disputed = |path| finding("a matter of taste", "high", path, 1);
    let name = finding("the name is wrong", "high", "src/lib.rs", 2);
    let review = by_round(&[
        says("NOT PASS", &[disputed("src/lib.rs"), name], &[]),
        says("NOT PASS", &[disputed("src/core.rs")], &[("F-2", "fixed")]),
    ]);
    let reviewer = by_role(&[
        ("review", &review),
        ("readjudicate", "rulings upheld 'I think not.' | deliver"),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", "rulings overruled 'It is taste.' | deliver")
        .ready();
    let ran = stage.run(&WITH_ARBITER);
    ran.ends(1).with("RL0401");
    stage.promoted_nothing();
    let shown = stage.bench().run(&["show", "--findings"]);
    let line = "F-3 high, blocking src/core.rs:1: a matter of taste (again F-1)";
    assert!(shown.stdout.contains(line), "{}", shown.stdout);
}

/// An overruling lapses with the blob that it was made on.
#[test]
fn a_dismissed_finding_comes_back_when_its_file_changed() {
    let stage = overruled_before(&adds("// there"));
    let ran = stage.run(&WITH_ARBITER);
    ran.ends(1).with("RL0401");
    stage.promoted_nothing();
    let shown = stage.bench().run(&["show", "--findings"]);
    let line = "F-3 high, blocking src/lib.rs:1: a matter of taste (again F-1)";
    assert!(shown.stdout.contains(line), "{}", shown.stdout);
}

/// A PASS beside the word that an earlier finding is still there is none.
#[test]
fn a_pass_that_calls_an_earlier_finding_open_is_none() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// as wished")),
        ),
    ]);
    let wish = finding("a wish", "high", "src/lib.rs", 1);
    let review = by_round(&[
        says("NOT PASS", &[wish], &[]),
        says("PASS", &[], &[("F-1", "open")]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &review)]))
        .ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob", "--max-rounds", "2"]);
    ran.ends(1).with("RL0401");
    stage.promoted_nothing();
    let shown = stage.bench().run(&["show", "--findings"]);
    assert!(
        shown.stdout.contains("open by bob (review)"),
        "{}",
        shown.stdout
    );
}

/// What was left for later and is still said to block goes to the creator again, while there are rounds.
#[test]
fn what_was_left_for_later_is_asked_for_again() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!(
                "{}; if [ \"$RUN_LOOP_JOB_ROUND\" = 1 ]; then answers deferred 'Later.'; else answers fixed; fi | deliver",
                adds("// a part of it")
            ),
        ),
    ]);
    let reviewer = by_round(&[
        says(
            "NOT PASS",
            &[finding("no bounds", "high", "src/lib.rs", 1)],
            &[],
        ),
        says("NOT PASS", &[], &[("F-1", "open")]),
        says("PASS", &[], &[("F-1", "fixed")]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready();
    stage.run(&LINE).ends(0);
    let corrections = stage.asked();
    let corrections = corrections.iter().filter(|asked| *asked == "correct ann");
    assert_eq!(corrections.count(), 2);
    assert!(stage.prompt("correct", "ann").contains("no bounds"));
    stage.gate_ends(0);
}

/// A PASS closes what its reviewer raised before, in the reviewer's own words.
#[test]
fn a_pass_closes_a_finding_in_its_reviewers_words() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!(
                "{}; answers deferred 'Later.' | deliver",
                adds("// another")
            ),
        ),
    ]);
    let reviewer = by_round(&[
        says(
            "NOT PASS",
            &[finding("no bounds", "high", "src/lib.rs", 1)],
            &[],
        ),
        says("PASS", &[], &[("F-1", "withdrawn")]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready();
    stage.run(&LINE).ends(0);
    let shown = stage.bench().run(&["show", "--findings"]);
    shown
        .ends(0)
        .says("withdrawn by bob (review)")
        .says("I looked.");
    let shown = stage.bench().run(&["show"]);
    shown
        .ends(0)
        .says("F-1 high, blocking, withdrawn src/lib.rs:1: no bounds");
    stage.gate_ends(0);
}

/// What its reviewer still calls open is not mended because another finding was taken back: the content as
/// it is passes by nothing but a fresh word.
#[test]
fn the_withdrawal_of_another_finding_closes_nothing_that_is_open() {
    let correct = format!(
        "if asked_findings | grep -q F-2; then block answers answers \
         '[{{\"finding\": \"F-1\", \"action\": \"fixed\", \"note\": \"It is.\"}}, \
         {{\"finding\": \"F-2\", \"action\": \"refuted\", \"note\": \"It is not.\"}}]' | deliver; \
         else {}; answers fixed | deliver; fi",
        adds("// as wished")
    );
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", &correct),
    ]);
    let wish = |title| finding(title, "medium", "src/lib.rs", 1);
    let reviewer = by_round(&[
        says("NOT PASS", &[wish("first wish")], &[]),
        says("NOT PASS", &[wish("second wish")], &[("F-1", "open")]),
    ]);
    let reviewer = by_role(&[
        ("review", &reviewer),
        ("readjudicate", "rulings withdrawn 'I was wrong.' | deliver"),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
    ran.ends(1)
        .with("RL0401")
        .says("nothing changed since F-1 was found");
    assert!(stage.asked().contains(&"readjudicate bob".to_owned()));
    stage.promoted_nothing();
}

/// V21: a quorum forgives silence. Who found something and is not there to look at it again has not said
/// that it is mended, and the creator's word is none.
#[test]
fn a_quorum_does_not_speak_for_who_found_something() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// as wished")),
        ),
    ]);
    let wish = finding("first wish", "medium", "src/lib.rs", 1);
    let finder = by_round(&[says("NOT PASS", &[wish], &[]), "exit 1".to_owned()]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &finder)]))
        .agent("cid", "verdict PASS '[]' | deliver")
        .config("review: {quorum: 1}")
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--reviewer", "cid"];
    stage
        .run(&line)
        .ends(5)
        .says("nobody else can say that F-1 is mended");
    stage.promoted_nothing();
}

/// What a reviewer says of its earlier finding alone, as NOT PASS. It stands or falls with the finding.
fn says_it_is_still_there(correct: &str) -> Stage {
    let creator = by_role(&[("implement", &implements("// begun")), ("correct", correct)]);
    let wish = finding("first wish", "medium", "src/lib.rs", 1);
    let reviewer = by_round(&[
        says("NOT PASS", &[wish], &[]),
        says("NOT PASS", &[], &[("F-1", "open")]),
        says("NOT PASS", &[], &[("F-1", "open")]),
    ]);
    let rules = "rulings withdrawn 'I was wrong.' | deliver";
    let reviewer = by_role(&[("review", &reviewer), ("readjudicate", rules)]);
    let wish = finding("second wish", "medium", "src/lib.rs", 1);
    let other = by_round(&[says("PASS", &[], &[]), says("NOT PASS", &[wish], &[])]);
    let other = by_role(&[("review", &other), ("readjudicate", rules)]);
    Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("cid", &other)
        .ready()
}

/// M-011: a NOT PASS that finds nothing new goes with the finding that it calls open.
#[test]
fn a_word_that_an_earlier_finding_is_still_there_goes_with_it() {
    let correct = format!(
        "if [ $RUN_LOOP_JOB_ROUND = 2 ]; then {}; answers fixed | deliver; \
         else answers refuted 'It is there.' | deliver; fi",
        adds("// as wished")
    );
    let stage = says_it_is_still_there(&correct);
    stage.run(&LINE).ends(0);
    let sidecar = stage.bench().sidecar("bob");
    assert_eq!(sidecar["by"], "withdrawal");
    assert_eq!(sidecar["rulings"][0]["finding"], "F-1");
    assert_eq!(sidecar["rulings"][0]["ruling"], "withdrawn");
    stage.gate_ends(0);
}

/// What was taken back before it was said did not take it back: the content is another one now.
#[test]
fn a_word_that_a_finding_is_there_again_stands() {
    let correct = format!("{}; answers refuted 'No.' | deliver", adds("// more"));
    let correct = format!(
        "if [ $RUN_LOOP_JOB_ROUND = 2 ]; then {correct}; else answers refuted 'No.' | deliver; fi"
    );
    let stage = says_it_is_still_there(&correct);
    let line = ["--creator", "ann", "--reviewer", "bob", "--reviewer", "cid"];
    let ran = stage.run(&line);
    ran.ends(1).with("RL0402");
    assert!(stage.asked().contains(&"readjudicate cid".to_owned()));
    stage.promoted_nothing();
}

/// The same of what was mended, and found again since: an earlier PASS does not say that it is mended now.
#[test]
fn what_was_found_again_is_not_mended_by_an_earlier_pass() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// as wished")),
        ),
    ]);
    let wish = || finding("first wish", "medium", "src/lib.rs", 1);
    let breaks_off = format!("{}; exit 1", says("NOT PASS", &[], &[("F-1", "open")]));
    let finder = by_round(&[
        says("NOT PASS", &[wish()], &[]),
        says("PASS", &[], &[("F-1", "fixed")]),
        breaks_off,
        "exit 1".to_owned(),
    ]);
    let other = finding("second wish", "medium", "src/lib.rs", 1);
    let second = by_round(&[
        says("PASS", &[], &[]),
        says("NOT PASS", &[other], &[]),
        says("NOT PASS", &[], &[("F-2", "open")]),
        says("PASS", &[], &[("F-2", "fixed")]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &finder)]))
        .agent("cid", &by_role(&[("review", &second)]))
        .config("review: {quorum: 1, max-rounds: 4}")
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--reviewer", "cid"];
    stage
        .run(&line)
        .ends(5)
        .says("nobody else can say that F-1 is mended");
    stage.promoted_nothing();
}

/// Agents that work by programs have the ledger as a file beside the diff.
#[test]
fn who_writes_and_who_reads_again_find_the_ledger_in_a_file() {
    let stage = Stage::new();
    let kept = |name: &str| stage.bench().repo.beside(name);
    let keeps = |name: &str| {
        let to = quote(kept(name).to_str().unwrap());
        format!("cp \"$RUN_LOOP_JOB_EVIDENCE/findings.json\" {to}")
    };
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!(
                "{}; {}; answers fixed | deliver",
                keeps("correct"),
                adds("// as wished")
            ),
        ),
    ]);
    let wish = finding("a wish", "medium", "src/lib.rs", 1);
    let reviewer = by_round(&[
        format!("{}; {}", keeps("first"), says("NOT PASS", &[wish], &[])),
        format!(
            "{}; {}",
            keeps("second"),
            says("PASS", &[], &[("F-1", "fixed")])
        ),
    ]);
    let (first, correct, second) = (kept("first"), kept("correct"), kept("second"));
    let stage = stage
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready();
    stage.run(&LINE).ends(0);
    let read = |path| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    assert_eq!(
        read(first),
        serde_json::json!({"version": 1, "findings": []})
    );
    let correct = read(correct);
    assert_eq!(correct["findings"][0]["title"], "a wish");
    assert_eq!(correct["findings"][0]["disposition"], "open");
    let second = read(second);
    assert_eq!(second["findings"][0]["said"][0]["role"], "correct");
    assert_eq!(second["findings"][0]["disposition"], "fixed");
}
