//! Who says what of a finding, and what it is worth: each word has its speaker, a ruling is about what it
//! was made on, and what another slot still finds is not passed over.

use crate::ledger::{by_round, says};
use crate::stage::{Stage, adds, by_role, implements};
use crate::support::agents::finding;

const LINE: [&str; 4] = ["--creator", "ann", "--max-rounds", "3"];

fn wrong() -> String {
    finding("it is wrong", "high", "src/lib.rs", 1)
}

/// A finding that was called fixed, found again, refuted and upheld: each word under its speaker.
#[test]
fn a_dispute_is_told_as_it_is_after_whatever_came_before() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!(
                "if grep -q mended src/lib.rs; then answers refuted 'It is right so.' | deliver; \
                 else {}; answers fixed 'I mended it.' | deliver; fi",
                adds("// mended")
            ),
        ),
    ]);
    let review = by_round(&[
        says("NOT PASS", &[wrong()], &[]),
        says("NOT PASS", &[], &[("F-1", "open")]),
    ]);
    let reviewer = by_role(&[
        ("review", &review),
        ("readjudicate", "rulings upheld 'It is not.' | deliver"),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", "rulings overruled 'It is.' | deliver")
        .ready();
    let line = [&LINE[..], &["--reviewer", "bob", "--arbiter", "eve"]].concat();
    stage.run(&line).ends(0);
    let told = |prompt: &str, label: &str, text: &str| {
        let (_, rest) = prompt.split_once(label).unwrap();
        let near: Vec<&str> = rest.lines().take(4).collect();
        assert!(near.iter().any(|it| it.contains(text)), "{label} {near:?}");
    };
    let asked = stage.prompt("readjudicate", "bob");
    told(&asked, "The creator refutes it:", "It is right so.");
    assert!(!asked.contains("The arbiter "), "{asked}");
    let asked = stage.prompt("arbitrate", "eve");
    told(&asked, "The creator calls it fixed:", "I mended it.");
    told(&asked, "Its reviewer calls it open:", "I looked.");
    told(&asked, "The creator refutes it:", "It is right so.");
    told(&asked, "Its reviewer upholds it:", "It is not.");
    assert!(!asked.contains("The arbiter "), "{asked}");
}

/// What a reviewer takes back on mended content is no word on what it was: put back, it is found again.
#[test]
fn a_ruling_on_mended_content_dismisses_nothing_of_what_it_was() {
    let creator = by_role(&[
        ("implement", &implements("// evil")),
        (
            "correct",
            &format!(
                "if grep -q evil src/lib.rs; then sed -i /evil/d src/lib.rs; \
                 answers refuted 'There is nothing.' | deliver; \
                 else {}; echo more > src/more.rs; answers fixed | deliver; fi",
                adds("// evil")
            ),
        ),
    ]);
    let evil = finding("it is evil", "high", "src/lib.rs", 8);
    let bob = by_role(&[
        (
            "review",
            &format!(
                "if grep -q evil \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; then {}; else {}; fi",
                says("NOT PASS", std::slice::from_ref(&evil), &[]),
                says("PASS", &[], &[])
            ),
        ),
        (
            "readjudicate",
            "rulings withdrawn 'It is not there.' | deliver",
        ),
    ]);
    let wording = finding("a wording", "high", "src/lib.rs", 2);
    let sue = by_round(&[
        says("PASS", &[], &[]),
        says("NOT PASS", &[wording], &[]),
        says("PASS", &[], &[]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &bob)
        .agent("sue", &by_role(&[("review", &sue)]))
        .ready();
    let line = [&LINE[..], &["--reviewer", "bob", "--reviewer", "sue"]].concat();
    let ran = stage.run(&line);
    ran.ends(1).with("RL0401");
    assert!(stage.asked().contains(&"readjudicate bob".to_owned()));
    stage.promoted_nothing();
    let shown = stage.bench().run(&["show", "--findings"]);
    assert!(
        shown
            .stdout
            .contains("F-3 high, blocking src/lib.rs:8: it is evil"),
        "{}",
        shown.stdout
    );
}

/// What one reviewer raised and another still finds is open again, also where its own reviewer passes, and
/// whatever the other's verdict says: it is corrected, and everybody is told who said so.
#[test]
fn what_another_slot_still_finds_is_open_again() {
    for verdict in ["PASS", "NOT PASS"] {
        let creator = by_role(&[
            ("implement", &implements("// begun")),
            (
                "correct",
                &format!("{}; answers fixed | deliver", adds("// tried")),
            ),
        ]);
        let bob = by_round(&[
            says("NOT PASS", &[wrong()], &[]),
            says("PASS", &[], &[("F-1", "fixed")]),
            says("PASS", &[], &[("F-1", "fixed")]),
        ]);
        let sue = by_round(&[
            says("PASS", &[], &[]),
            says(verdict, &[], &[("F-1", "open")]),
            says("PASS", &[], &[("F-1", "fixed")]),
        ]);
        let stage = Stage::new()
            .agent("ann", &creator)
            .agent("bob", &by_role(&[("review", &bob)]))
            .agent("sue", &by_role(&[("review", &sue)]))
            .ready();
        let line = [&LINE[..], &["--reviewer", "bob", "--reviewer", "sue"]].concat();
        stage.run(&line).ends(0);
        let asked = stage.asked();
        let corrections = asked.iter().filter(|it| *it == "correct ann").count();
        assert_eq!(corrections, 2, "{asked:?}");
        let shown = stage.bench().run(&["show", "--findings"]);
        assert!(
            shown.stdout.contains("open by sue (review)"),
            "{}",
            shown.stdout
        );
    }
}

/// A finding that does not exist is not spoken of: such a report is asked for once more, and is no verdict. One
/// of those that exist is meant, so that each of them is open again.
#[test]
fn a_word_on_a_finding_that_was_not_shown_passes_nothing() {
    let review = by_round(&[
        says("NOT PASS", &[wrong()], &[]),
        says("PASS", &[], &[("F-11", "open")]),
        says("PASS", &[], &[("F-1", "fixed")]),
    ]);
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// sum")),
        ),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &review)]))
        .ready();
    let line = [&LINE[..], &["--reviewer", "bob"]].concat();
    stage.run(&line).ends(0);
    let asked = stage.asked();
    let times = |who: &str| asked.iter().filter(|it| *it == who).count();
    // Round 2 asked once more for the form.
    assert_eq!((times("correct ann"), times("review bob")), (2, 4));
}

/// A reviewer that cannot write JSON is answered as any other: what its NOT PASS says is corrected.
#[test]
fn what_a_reviewer_says_in_lines_is_corrected() {
    let review = "if grep -q sum \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; then said='It is all there.'; word=PASS; \
                  else said='The sum is missing.'; word='NOT PASS'; fi; \
                  printf '%s\\n\\nVERDICT: %s\\n\\nNonce: %s\\n' \"$said\" \"$word\" \"$NONCE\" | deliver";
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// sum")),
        ),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent_with("bob", review, "contract: line")
        .panel("{agent: bob, name: bob, coverage: none}")
        .ready();
    stage.run(&LINE).ends(0);
    assert_eq!(
        stage.asked(),
        ["implement ann", "review bob", "correct ann", "review bob"]
    );
    assert!(
        stage
            .prompt("correct", "ann")
            .contains("The sum is missing.")
    );
    let shown = stage.bench().run(&["show", "--findings"]);
    assert!(
        shown
            .stdout
            .contains("F-1 high, blocking, fixed: The sum is missing"),
        "{}",
        shown.stdout
    );
}
