//! What a report says under `contract: json`: verdict, findings, notes, and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use run_loop::contract::review::REPORT_CAP;
use run_loop::domain::agent::Contract;
use run_loop::domain::finding::Disposition;
use run_loop::domain::id::FindingId;
use run_loop::domain::job::{ItemState, Reading};
use run_loop::domain::path::RepoPath;
use run_loop::domain::severity::Severity;
use run_loop::domain::verdict::{Coverage, Verdict};

use crate::fixture::{
    PASSING, REFUSING, evidence, invalid, is_pass, oid, passing_with, read, read_with, report,
    valid,
};

/// P05, P10: a clean review passes, and needs no made-up finding.
#[test]
fn a_whole_report_passes() {
    let review = valid(read(report(PASSING)));
    assert_eq!(review.verdict, Verdict::Pass);
    assert_eq!(review.coverage, Coverage::Full);
    assert_eq!(review.receipts, 2);
    assert_eq!(review.summary, "Reads well.");
    assert!(review.findings.is_empty());
    let without = PASSING.replace(",\n\"findings\": []", "");
    assert!(
        is_pass(&read(report(&without))),
        "absent findings are no findings"
    );
}

#[test]
fn a_refusal_keeps_its_findings() {
    let review = valid(read(report(REFUSING)));
    assert_eq!(review.verdict, Verdict::NotPass);
    assert_eq!(review.coverage, Coverage::Full);
    let told: Vec<_> = review
        .findings
        .iter()
        .map(|f| (f.title.as_str(), f.severity))
        .collect();
    assert_eq!(
        told,
        [
            ("Index out of bounds", Severity::High),
            ("Typo", Severity::Info)
        ]
    );
    assert_eq!(review.findings[0].path, Some(RepoPath::from("src/lib.rs")));
    assert_eq!(
        (review.findings[0].line, review.findings[0].end_line),
        (Some(10), Some(11))
    );
}

/// A refusal is one without receipts and coverage too, but then it is no full review: P02's
/// threshold must not turn it into a PASS.
#[test]
fn a_refusal_needs_no_receipts() {
    let block = r#"{"version": 1, "nonce": "5eed0123456789abcdef0123456789ab",
        "tree": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "verdict": "NOT PASS", "summary": ""}"#;
    let review = valid(read(report(block)));
    assert_eq!(
        (review.verdict, review.coverage),
        (Verdict::NotPass, Coverage::None)
    );
    let wrong = REFUSING.replace("aa11bb22cc33dd44", "0000000000000000");
    let review = valid(read(report(&wrong)));
    assert_eq!((review.coverage, review.receipts), (Coverage::None, 1));
}

/// P02, P05: findings below the bar stand in a PASS.
#[test]
fn minor_findings_do_not_hinder_a_pass() {
    for severity in ["low", "info", "P3", "LOW"] {
        let finding = format!(r#"[{{"title": "t", "severity": "{severity}", "body": ""}}]"#);
        let review = valid(read(passing_with("[]", &finding)));
        assert_eq!(
            (review.verdict, review.findings.len()),
            (Verdict::Pass, 1),
            "{severity}"
        );
    }
}

#[test]
fn silence_is_silence() {
    for blank in ["", " ", "\n\r\n\t\n", "\u{feff}\n"] {
        assert_eq!(read(blank), Reading::Silent, "{blank:?}");
    }
}

/// Line ends of other systems and a byte order mark change nothing.
#[test]
fn carriage_returns_and_a_byte_order_mark_are_accepted() {
    let windows = report(PASSING).replace('\n', "\r\n");
    assert!(is_pass(&read(&windows)));
    assert!(is_pass(&read(format!("\u{feff}{windows}\r\n \r\n"))));
}

/// Blocks that `CommonMark` takes as blocks at the top level count, whatever precedes them.
#[test]
fn other_markdown_before_the_block_does_not_hinder() {
    let before = [
        "",
        "# Review\n\n- item\n  ```rust\n  fn a() {}\n  ```\n",
        "- ```rust\n  fn a() {}\n  ```\n",
        "> quoted\n\n",
        "<details>\nseen\n</details>\n\n",
        "~~~\n```\n~~~\n",
        "The block tagged run-loop-verdict follows. VERDICT: NOT PASS is not what I say.\n",
    ];
    for before in before {
        assert!(
            is_pass(&read(format!("{before}{}", report(PASSING)))),
            "{before}"
        );
        let longer = report(PASSING).replace("```", "`````");
        assert!(is_pass(&read(format!("{before}{longer}"))), "{before}");
    }
}

/// All faults are told at once: there is only one re-ask.
#[test]
fn every_problem_is_told() {
    let block = PASSING
        .replace("5eed", "5eee")
        .replace("aa11bb22", "aa11bb23")
        .replace("\"how\": \"read\"}]", "\"how\": \"not-read\"}]")
        .replace("\"Reads well.\"", "7");
    let (problems, ..) = invalid(read(report(&block)));
    assert_eq!(
        problems,
        [
            "`summary` must be there, as text",
            "`nonce` is not the one in the prompt",
            "the receipt of part 001 is not the one at its end",
            "the verdict is PASS, but `coverage` says that src/new.rs was not read",
        ]
    );
}

#[test]
fn problems_stay_short_and_plain() {
    let names: Vec<String> = (0..100)
        .map(|n| format!("\"x{n}\\u001b[31m\": 1, "))
        .collect();
    let names = names.concat();
    let (problems, ..) = invalid(read(passing_with(
        "\"findings\"",
        &format!("{names}\"findings\""),
    )));
    assert_eq!(problems.len(), 21);
    assert_eq!(problems[20], "and 80 more problems like these");
    assert!(
        problems
            .iter()
            .all(|problem| !problem.contains(char::is_control)),
        "{problems:?}"
    );
}

#[test]
fn notes_on_earlier_findings_and_the_plan_are_kept() {
    let more = r#"[], "prior": [{"finding": "F-3", "disposition": "fixed", "note": "n"}],
        "plan": [{"item": 1, "state": "met"},
        {"item": 3, "state": "deviated", "note": "The file moved."}]"#;
    let review = valid(read(passing_with("[]", more)));
    assert_eq!(review.verdict, Verdict::Pass);
    let prior = &review.prior[0];
    // What the finding is about, as it is now.
    assert_eq!(prior.blob, Some(oid('b')));
    assert_eq!(
        (prior.finding, prior.disposition, prior.note.as_str()),
        (FindingId(3), Disposition::Fixed, "n")
    );
    let said: Vec<_> = review.plan.iter().map(|it| (it.item, it.state)).collect();
    assert_eq!(said, [(1, ItemState::Met), (3, ItemState::Deviated)]);
    for note in ["", r#", "note": " ""#] {
        let silent = format!(r#"[], "plan": [{{"item": 3, "state": "deviated"{note}}}]"#);
        let (problems, _, _) = invalid(read(passing_with("[]", &silent)));
        assert!(
            problems[0].contains("why the change deviates"),
            "{problems:?}"
        );
    }
}

/// A PASS that leaves an acceptance item of the plan out does not know whether it holds.
#[test]
fn a_pass_answers_each_acceptance_item() {
    let items = BTreeSet::from([1, 2, 4]);
    let read = |plan: &str, verdict: &str| {
        let report = passing_with("[]", &format!(r#"[], "plan": [{plan}]"#));
        let report = report.replace("\"PASS\"", &format!("\"{verdict}\""));
        read_with(Contract::Json, report, &evidence(), &items)
    };
    let met = |item: u32| format!(r#"{{"item": {item}, "state": "met", "note": "seen"}}"#);
    let (problems, _, _) = invalid(read(&met(2), "PASS"));
    assert_eq!(
        problems,
        [1, 4].map(|item| format!(
            "the verdict is PASS, but `plan` does not answer acceptance item {item}"
        ))
    );
    valid(read(&format!("{}, {}, {}", met(4), met(1), met(2)), "PASS"));
    valid(read(&met(2), "NOT PASS"));
}

/// An acceptance item that is not met is a claim that blocks, whatever the verdict says.
#[test]
fn an_item_that_is_not_met_blocks() {
    let unmet = r#"[], "plan": [{"item": 2, "state": "not met", "note": "No test."}]"#;
    let (problems, _, claims) = invalid(read(passing_with("[]", unmet)));
    assert!(problems[0].contains("item 2"), "{problems:?}");
    assert!(claims.iter().all(|claim| claim.blocks(Severity::Critical)));
    assert_eq!(claims.len(), 1);
    // A finding below the bar beside it does not make the whole pass.
    let low = unmet.replace(
        "[],",
        r#"[{"title": "t", "severity": "info", "body": ""}],"#,
    );
    let refused = passing_with("[]", &low).replace("\"PASS\"", "\"NOT PASS\"");
    let review = valid(read(refused));
    let unmet = &review.findings[1];
    assert_eq!(
        (unmet.title.as_str(), unmet.body.as_str(), unmet.blocking),
        ("acceptance item 2 of the plan is not met", "No test.", true)
    );
    // However the form is wrong, the claim stays.
    for state in ["Not met", "not_met", "unmet"] {
        let odd = format!(r#"[], "plan": [{{"item": 2, "state": "{state}"}}]"#);
        let (_, _, claims) = invalid(read(passing_with("[]", &odd)));
        assert_eq!(claims.len(), 1, "{state}");
    }
}

#[test]
fn what_is_too_large_is_invalid_and_kept() {
    let padding = " ".repeat(REPORT_CAP);
    let (problems, claimed, claims) = invalid(read(format!("{padding}{}", report(REFUSING))));
    assert!(problems[0].contains("bytes"), "{problems:?}");
    assert_eq!((claimed, claims.len()), (Some(Verdict::NotPass), 2));

    let one = r#"{"title": "t", "severity": "low", "body": "", "line": 1}"#;
    let many: Vec<_> = (1..=501)
        .map(|n| one.replace('1', &n.to_string()))
        .collect();
    let (problems, _, claims) = invalid(read(passing_with("[]", &format!("[{}]", many.join(",")))));
    assert_eq!(
        problems,
        ["`findings` has 501 entries; at most 500 are read"]
    );
    assert_eq!(claims.len(), 501);

    for (from, to) in [
        ("Reads well.", "x".repeat(20_001)),
        (
            "[]",
            format!(
                r#"[{{"title": "{}", "severity": "low", "body": ""}}]"#,
                "x".repeat(301)
            ),
        ),
        (
            "[]",
            format!(
                r#"[{{"title": "t", "severity": "low", "body": "{}"}}]"#,
                "x".repeat(20_001)
            ),
        ),
        ("[]", "[".repeat(100_000)),
    ] {
        invalid(read(passing_with(from, &to)));
    }
}

#[test]
fn what_is_not_utf_8_is_invalid_and_kept() {
    let mut bytes = report(REFUSING).into_bytes();
    bytes.insert(0, 0xff);
    let (problems, claimed, claims) = invalid(read(bytes));
    assert_eq!(problems, ["the report is not UTF-8"]);
    assert_eq!((claimed, claims.len()), (Some(Verdict::NotPass), 2));
}

/// A word on a finding that the prompt did not show, or two on one, say nothing of the one that was meant:
/// such a report is no verdict.
#[test]
fn a_report_speaks_of_the_findings_that_it_was_shown_and_once_of_each() {
    for (prior, told) in [
        (
            "F-10",
            "`prior` names F-10, which is none of the earlier findings",
        ),
        ("F-3", "`prior` names F-3 twice"),
    ] {
        for verdict in ["PASS", "NOT PASS"] {
            let more = format!(
                r#"[], "prior": [{{"finding": "F-3", "disposition": "fixed", "note": "n"}},
                {{"finding": "{prior}", "disposition": "open", "note": "still there"}}]"#
            );
            let text = passing_with("[]", &more);
            let text = text.replace("\"PASS\"", &format!("\"{verdict}\""));
            let (problems, claimed, _) = invalid(read(&text));
            assert!(problems.iter().any(|it| it.contains(told)), "{problems:?}");
            let refuses = (verdict == "NOT PASS").then_some(Verdict::NotPass);
            assert_eq!(claimed, refuses);
        }
    }
}

/// An empty nonce is never fulfilled, not even by an empty nonce.
#[test]
fn a_job_without_nonce_never_passes() {
    let tree = run_loop::domain::oid::Oid::parse(crate::fixture::TREE).unwrap();
    let text = passing_with("5eed0123456789abcdef0123456789ab", "");
    let expect = run_loop::contract::Expect {
        contract: Contract::Json,
        nonce: "",
        tree: &tree,
        evidence: &evidence(),
        fail_on: Severity::Medium,
        items: &BTreeSet::new(),
        prior: &BTreeMap::new(),
        text_at: &|_| None,
    };
    invalid(run_loop::contract::review::read(text.as_bytes(), &expect));
}

/// Claims never vanish: what an invalid report does not clearly call settled stays open, in whatever form.
#[test]
fn what_an_invalid_report_keeps_open_is_kept() {
    let ids = |numbers: &[u32]| numbers.iter().copied().map(FindingId).collect::<Vec<_>>();
    let all = ids(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let kept = |prior: &str| {
        // No such field: nothing of it is a verdict.
        let more = format!(r#"[], "odd": 1, "prior": {prior}"#);
        let reading = read(passing_with("[]", &more));
        let open = reading.still_open();
        invalid(reading);
        open
    };
    for (prior, open) in [
        (
            r#"[{"finding": "F-3", "disposition": "open", "note": "n"},
                {"finding": "F-1", "disposition": "Upheld"},
                {"finding": "F-2", "disposition": "fixed"},
                {"finding": "F-4", "disposition": "maybe"}]"#,
            ids(&[1, 3, 4]),
        ),
        (
            r#"[{"finding": "F-3", "disposition": "not fixed"}]"#,
            ids(&[3]),
        ),
        (r#"[{"finding": "F-3", "disposition": "OPEN."}]"#, ids(&[3])),
        (r#"[{"finding": "F-3", "disposition": "Fixed."}]"#, ids(&[])),
        (r#"[{"finding": "F-3", "state": "open"}]"#, ids(&[3])),
        (r#"[{"finding": "f-03", "disposition": "open"}]"#, ids(&[3])),
        (r#"[{"finding": "3", "disposition": "open"}]"#, ids(&[3])),
        (r#"{"F-3": "open", "F-4": "fixed"}"#, ids(&[3])),
        (r#"[["F-3", "open"], ["F-4", "withdrawn"]]"#, ids(&[3])),
        (r#""F-3 open""#, ids(&[3])),
        (r#"["F-3: still there", "F-4 fixed"]"#, ids(&[3])),
        (r#""none""#, ids(&[])),
        ("[]", ids(&[])),
        // One that was shown is meant, and nobody knows which.
        (
            r#"[{"finding": "F-11", "disposition": "open"}]"#,
            all.clone(),
        ),
        (r#"[{"finding": "five", "disposition": "open"}]"#, all),
    ] {
        assert_eq!(kept(prior), open, "{prior}");
    }
}
