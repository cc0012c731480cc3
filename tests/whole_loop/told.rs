//! What a job is told of the findings that it is asked about: who said what of them before, where their
//! lines are now, and what whoever is to mend them needs.

use crate::ledger::{by_round, says};
use crate::overruled::LINE;
use crate::stage::{MISSING, Stage, adds, by_role, implements};
use crate::support::agents::finding;

/// Texts that stand in a prompt in this order, and some that do not.
#[track_caller]
fn tells(prompt: &str, words: &[&str], none: &[&str]) {
    let places: Vec<_> = words.iter().map(|word| prompt.find(word)).collect();
    assert!(
        places.is_sorted() && places.iter().all(Option::is_some),
        "{places:?} of {words:?} in {prompt}"
    );
    for word in none {
        assert!(!prompt.contains(word), "{word} in {prompt}");
    }
}

/// A finding that is called fixed, found again, refuted and upheld; with what the creator says of it first.
fn found_again(fixed: &str) -> Stage {
    let correct = by_round(&[
        String::new(),
        format!(
            "{}; block answers answers '[{{\"finding\": \"F-1\", \"action\": \"fixed\"{fixed}}}]' | deliver",
            adds("// tried")
        ),
        "answers refuted 'It is meant so.' | deliver".to_owned(),
    ]);
    let raised = finding(MISSING, "high", "src/lib.rs", 1);
    let review = by_round(&[
        says("NOT PASS", &[raised], &[]),
        says("NOT PASS", &[], &[("F-1", "open")]),
    ]);
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", &correct),
    ]);
    let reviewer = by_role(&[
        ("review", &review),
        (
            "readjudicate",
            "rulings upheld 'Nobody means that.' | deliver",
        ),
    ]);
    Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", "rulings overruled 'They do.' | deliver")
        .ready()
}

/// Who rules on a finding with a history is told the refutation as one, and no word as somebody's who never
/// said it.
#[test]
fn a_dispute_about_a_finding_with_a_history_is_told_as_it_was() {
    let stage = found_again(r#", "note": "I mended it.""#);
    stage.run(&LINE).ends(0);
    let history = [
        "The creator calls it fixed:",
        "| I mended it.",
        "Its reviewer calls it open:",
        "| I looked.",
        "The creator refutes it:",
        "| It is meant so.",
    ];
    let before = stage.prompt("readjudicate", "bob");
    tells(&before, &history, &["The arbiter", "upholds it:"]);
    let after = [
        &history[..],
        &["Its reviewer upholds it:", "| Nobody means that."],
    ]
    .concat();
    tells(&stage.prompt("arbitrate", "eve"), &after, &["The arbiter"]);
    assert_eq!(stage.bench().sidecar("bob")["by"], "arbitration");
}

/// An answer without a word is allowed, and nobody is kept from being asked by it.
#[test]
fn an_answer_without_a_word_hinders_no_ruling() {
    let stage = found_again("");
    stage.run(&LINE).ends(0);
    let asked = stage.asked();
    assert_eq!(
        asked[asked.len() - 2..],
        ["readjudicate bob", "arbitrate eve"]
    );
    tells(
        &stage.prompt("readjudicate", "bob"),
        &[
            "Its reviewer calls it open:",
            "The creator refutes it:",
            "| It is meant so.",
        ],
        &["calls it fixed"],
    );
}

/// The lines of a finding are followed to the source that the job sees: what reviewers were shown, and
/// what was changed since by the one who answers.
#[test]
fn who_is_asked_about_moved_lines_finds_them() {
    let above = |count: usize| "sed -i '1i // above' src/lib.rs; ".repeat(count);
    let correct = by_round(&[
        String::new(),
        format!("{}answers deferred 'Not now.' | deliver", above(3)),
        format!("{}answers refuted 'It is meant so.' | deliver", above(2)),
    ]);
    let raised = finding(MISSING, "high", "src/lib.rs", 1);
    let review = by_round(&[
        says("NOT PASS", &[raised], &[]),
        says("NOT PASS", &[], &[("F-1", "open")]),
        says("PASS", &[], &[("F-1", "withdrawn")]),
    ]);
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", &correct),
    ]);
    let reviewer = by_role(&[
        ("review", &review),
        ("readjudicate", "rulings withdrawn 'So it is.' | deliver"),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", "rulings overruled | deliver")
        .ready();
    stage.run(&LINE).ends(0);
    let now = |line: u32| format!("| src/lib.rs:1, now src/lib.rs:{line}: {MISSING}");
    let correct = stage.prompt("correct", "ann");
    tells(
        &correct,
        &[&now(4), "leaves it for later:", "calls it open:"],
        &["refutes it"],
    );
    tells(&stage.prompt("readjudicate", "bob"), &[&now(6)], &[]);
}

/// Whoever is to mend a command of `checks` is told which it was and what it printed, and that nobody
/// takes it back: a refutation is asked again, and the run goes on.
#[test]
fn a_failing_check_is_told_with_its_output_and_not_refuted() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!(
                "if [[ $PROMPT == *'does not count'* ]]; then {}; answers fixed | deliver; \
                 else answers refuted 'It works here.' | deliver; fi",
                adds("// a sum")
            ),
        ),
    ]);
    let run = "grep -q sum src/lib.rs || { echo it began; echo no sum in lib >&2; exit 7; }";
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent(
            "bob",
            &by_role(&[("review", "verdict PASS '[]' | deliver")]),
        )
        .agent("eve", "rulings overruled | deliver")
        .config(&format!("checks: [{{name: test, run: {run:?}}}]"))
        .ready();
    let line = [&LINE[..], &["--reviewer", "checks"]].concat();
    stage.run(&line).ends(0);
    assert_eq!(
        stage.asked(),
        [
            "implement ann",
            "review bob",
            "correct ann",
            "correct ann",
            "review bob"
        ]
    );
    let told = [
        "raised by `checks`, nobody rules on it",
        "check `test` failed with exit 7",
        &format!("| Its command line: {run}"),
        "| it began",
        "| no sum in lib",
        "Nobody rules on F-1",
        "on which nobody rules",
        r#"<"fixed" or "deferred">"#,
    ];
    tells(
        &stage.prompt("correct", "ann"),
        &told,
        &["answer `refuted`"],
    );
    let shown = stage.bench().run(&["show", "--findings"]);
    assert!(shown.stdout.contains("no sum in lib"), "{}", shown.stdout);
}

/// The numbers of acceptance items are those that stand in the plan: agents see no others.
#[test]
fn a_plan_with_a_gap_in_its_numbers_is_answered_as_it_is_written() {
    let stage = Stage::new()
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent(
            "bob",
            &by_role(&[("review", "verdict PASS '[]' | deliver")]),
        )
        .ready();
    let file = stage.bench().repo.beside("plan.md");
    std::fs::write(&file, "# Acceptance\n\n1. A sum.\n3. It is small.\n").unwrap();
    let file = file.to_str().unwrap();
    let line = ["--plan-file", file, "--creator", "ann", "--reviewer", "bob"];
    stage.run(&line).ends(0);

    std::fs::write(file, "# Acceptance\n\n1. A sum.\n1. It is small.\n").unwrap();
    stage
        .run(&line)
        .says("several acceptance items with the number 1:");
}
