//! Which reports are verdicts under `contract: json`, and which are not.

use run_loop::contract::review::REPORT_CAP;
use run_loop::domain::agent::Contract;
use run_loop::domain::evidence::{ChangedFile, FileStatus, UnreviewedKind};
use run_loop::domain::finding::Disposition;
use run_loop::domain::id::FindingId;
use run_loop::domain::job::{ItemState, Reading};
use run_loop::domain::path::RepoPath;
use run_loop::domain::severity::Severity;
use run_loop::domain::verdict::{Coverage, Verdict};

use crate::fixture::{
    PASSING, REFUSING, World, each_line, evidence, file, invalid, is_pass, passing_with, read,
    read_as, report, valid,
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

fn none_is_a_verdict(cases: &[(&str, String)]) {
    for (what, text) in cases {
        let reading = read(text);
        assert!(
            matches!(reading, Reading::Invalid { .. }),
            "{what}: {reading:?}"
        );
        invalid(reading);
    }
}

/// "None of these ends 0" of the main job, as far as a report alone can show it; P04, P07, T-173:
/// text without a block that stands where it counts and is whole.
#[test]
fn a_block_counts_only_whole_and_at_the_end_of_the_top_level() {
    let whole = report(PASSING);
    let quoted = each_line(&whole, "> ");
    let indented = each_line(&whole, "    ");
    let item = each_line(&whole, "   ");
    let torn = whole.trim_end().trim_end_matches('`').to_owned();
    let second = |other: &str| format!("{other}\n{whole}");
    none_is_a_verdict(&[
        ("prose", "Looks good to me, PASS.".to_owned()),
        ("a plain line", "VERDICT: PASS\n".to_owned()),
        ("bare JSON", PASSING.to_owned()),
        ("another tag", whole.replace("run-loop-verdict", "json")),
        (
            "a longer tag",
            whole.replace("run-loop-verdict", "run-loop-verdicts"),
        ),
        (
            "a tag with more",
            whole.replace("run-loop-verdict", "run-loop-verdict v1"),
        ),
        (
            "another case of the tag",
            whole.replace("run-loop-verdict", "Run-Loop-Verdict"),
        ),
        ("a quote", quoted.clone()),
        ("an indented block", indented.clone()),
        ("a list item", format!("1. so:\n\n{item}")),
        ("a block in a block", format!("````\n{whole}````\n")),
        ("a block in an open block", format!("````\n{whole}")),
        ("a block in an open comment", format!("<!--\n{whole}")),
        ("a block in raw HTML", format!("<pre>\n{whole}")),
        ("two blocks", format!("{whole}{whole}")),
        ("a second block in a quote", second(&quoted)),
        ("a second block indented", second(&indented)),
        (
            "a second block in tildes",
            second("~~~run-loop-verdict\n{}\n~~~"),
        ),
        (
            "a second longer block",
            second("`````run-loop-verdict\n{}\n`````"),
        ),
        (
            "a second block in a block",
            second("````md\n```run-loop-verdict\n{}\n```\n````"),
        ),
        (
            "a second block in a list",
            second("- ```run-loop-verdict\n  {}\n  ```"),
        ),
        (
            "a second block behind a return",
            second("x\r```run-loop-verdict\r{}\r```"),
        ),
        (
            "a second block by an entity",
            second("```run-loop&#45;verdict\n{}\n```"),
        ),
        (
            "a second block with more tag",
            second("```json run-loop-verdict\n{}\n```"),
        ),
        (
            "text after the block",
            format!("{whole}\nWait, I am not sure.\n"),
        ),
        ("a torn fence", torn),
        ("a torn object", whole.replace("[]}\n```\n", "")),
        ("a torn object in a whole fence", whole.replace("[]}", "[")),
        ("two values", whole.replace("[]}", "[]} {}")),
        ("a list of values", report("[1, \"n\", \"t\", \"PASS\"]")),
        ("a comment", whole.replace("[]}", "[] /* none */}")),
        ("a trailing comma", whole.replace("[]}", "[],}")),
    ]);
}

/// Of the same list: blocks that are not about this job, or not by the contract's letter.
#[test]
fn a_block_counts_only_for_its_job() {
    none_is_a_verdict(&[
        (
            "an unknown field",
            passing_with("\"findings\"", "\"confidence\": 1, \"findings\""),
        ),
        (
            "a repeated field",
            passing_with("\"findings\"", "\"verdict\": \"PASS\", \"findings\""),
        ),
        (
            "a contradiction",
            passing_with("\"summary\"", "\"verdict\": \"NOT PASS\", \"summary\""),
        ),
        ("no version", passing_with("\"version\": 1, ", "")),
        (
            "another version",
            passing_with("\"version\": 1", "\"version\": 2"),
        ),
        (
            "a version as text",
            passing_with("\"version\": 1", "\"version\": \"1\""),
        ),
        ("a wrong nonce", passing_with("5eed", "5eee")),
        ("a nonce in capitals", passing_with("5eed", "5EED")),
        (
            "no nonce",
            passing_with("\"nonce\": \"5eed0123456789abcdef0123456789ab\",", ""),
        ),
        ("a wrong tree", passing_with("4b825dc6", "4b825dc7")),
        (
            "a short tree",
            passing_with("4b825dc642cb6eb9a060e54bf8d69288fbee4904", "4b825dc642cb"),
        ),
        ("lower case", passing_with("\"PASS\"", "\"pass\"")),
        (
            "a negation",
            passing_with("\"PASS\"", "\"PASS is not given\""),
        ),
        ("spaces", passing_with("\"PASS\"", "\"PASS \"")),
        ("another word", passing_with("\"PASS\"", "\"APPROVED\"")),
        (
            "a verdict as object",
            passing_with("\"PASS\"", "{\"PASS\": null}"),
        ),
        ("no verdict", passing_with("\"verdict\": \"PASS\",", "")),
        (
            "the template's words",
            passing_with("\"PASS\"", "<\"PASS\" or \"NOT PASS\">"),
        ),
        (
            "no summary",
            passing_with("\"summary\": \"Reads well.\",", ""),
        ),
    ]);
}

/// Of the same list: PASS without having opened everything.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_pass_needs_every_receipt_and_file() {
    none_is_a_verdict(&[
        ("a wrong receipt", passing_with("aa11bb22", "aa11bb23")),
        (
            "an empty receipt",
            passing_with("\"aa11bb22cc33dd44\"", "\"\""),
        ),
        (
            "a missing receipt",
            passing_with(", \"002\": \"ee55ff6677889900\"", ""),
        ),
        (
            "an extra receipt",
            passing_with("\"002\":", "\"003\": \"00\", \"002\":"),
        ),
        (
            "a repeated receipt",
            passing_with("\"002\":", "\"001\": \"aa11bb22cc33dd44\", \"002\":"),
        ),
        (
            "exchanged receipts",
            passing_with(
                "\"001\": \"aa11bb22cc33dd44\", \"002\": \"ee55ff6677889900\"",
                "\"002\": \"aa11bb22cc33dd44\", \"001\": \"ee55ff6677889900\"",
            ),
        ),
        (
            "a receipt as number",
            passing_with("\"aa11bb22cc33dd44\"", "11"),
        ),
        (
            "receipts as list",
            passing_with(
                "{\"001\": \"aa11bb22cc33dd44\", \"002\": \"ee55ff6677889900\"}",
                "[]",
            ),
        ),
        (
            "no receipts",
            passing_with(
                "\"receipts\": {\"001\": \"aa11bb22cc33dd44\", \"002\": \"ee55ff6677889900\"},",
                "",
            ),
        ),
        (
            "no coverage",
            passing_with(
                "\"coverage\": [{\"path\": \"src/lib.rs\", \"how\": \"read\"}, {\"path\": \"src/new.rs\", \"how\": \"read\"}],",
                "",
            ),
        ),
        (
            "a file missing in the coverage",
            passing_with("{\"path\": \"src/lib.rs\", \"how\": \"read\"}, ", ""),
        ),
        (
            "an unknown file in the coverage",
            passing_with(
                "[{\"path\": \"src/lib.rs\"",
                "[{\"path\": \"src/else.rs\", \"how\": \"read\"}, {\"path\": \"src/lib.rs\"",
            ),
        ),
        (
            "not-read",
            passing_with(
                "src/lib.rs\", \"how\": \"read\"",
                "src/lib.rs\", \"how\": \"not-read\"",
            ),
        ),
        (
            "read and not-read",
            passing_with(
                "[{\"path\": \"src/lib.rs\"",
                "[{\"path\": \"src/lib.rs\", \"how\": \"not-read\"}, {\"path\": \"src/lib.rs\"",
            ),
        ),
        (
            "skimmed",
            passing_with(
                "src/lib.rs\", \"how\": \"read\"",
                "src/lib.rs\", \"how\": \"skimmed\"",
            ),
        ),
        (
            "coverage as texts",
            passing_with(
                "{\"path\": \"src/lib.rs\", \"how\": \"read\"}",
                "\"src/lib.rs\"",
            ),
        ),
    ]);
}

/// Of the same list: findings and notes that contradict a PASS or cannot be read.
#[test]
fn a_pass_has_only_readable_findings_below_the_bar() {
    none_is_a_verdict(&[
        (
            "a blocking severity",
            passing_with(
                "[]",
                r#"[{"title": "t", "severity": "medium", "body": ""}]"#,
            ),
        ),
        (
            "a blocking finding",
            passing_with(
                "[]",
                r#"[{"title": "t", "severity": "info", "blocking": true, "body": ""}]"#,
            ),
        ),
        (
            "an unknown severity",
            passing_with("[]", r#"[{"title": "t", "severity": "minor", "body": ""}]"#),
        ),
        (
            "no severity",
            passing_with("[]", r#"[{"title": "t", "body": ""}]"#),
        ),
        ("a finding as text", passing_with("[]", r#"["crashes"]"#)),
        ("a finding as list", passing_with("[]", r#"[["t", "low"]]"#)),
        (
            "a finding without a title",
            passing_with("[]", r#"[{"severity": "low", "body": ""}]"#),
        ),
        (
            "an unknown field in a finding",
            passing_with(
                "[]",
                r#"[{"title": "t", "severity": "low", "body": "", "cwe": 7}]"#,
            ),
        ),
        (
            "line 0",
            passing_with(
                "[]",
                r#"[{"title": "t", "severity": "low", "body": "", "path": "src/lib.rs", "line": 0}]"#,
            ),
        ),
        (
            "lines backwards",
            passing_with(
                "[]",
                r#"[{"title": "t", "severity": "low", "body": "", "path": "src/lib.rs", "line": 9, "end_line": 3}]"#,
            ),
        ),
        (
            "a huge line",
            passing_with(
                "[]",
                r#"[{"title": "t", "severity": "low", "body": "", "line": 4294967296}]"#,
            ),
        ),
        ("findings as object", passing_with("[]", "{}")),
        ("findings as null", passing_with("[]", "null")),
        (
            "a bad earlier finding",
            passing_with(
                "[]",
                r#"[], "prior": [{"finding": "3", "disposition": "fixed"}]"#,
            ),
        ),
        (
            "a bad disposition",
            passing_with(
                "[]",
                r#"[], "prior": [{"finding": "F-3", "disposition": "gone"}]"#,
            ),
        ),
        (
            "a bad plan item",
            passing_with("[]", r#"[], "plan": [{"item": 1, "state": "done"}]"#),
        ),
    ]);
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

/// What a finding cites is known only where it is there: no line beyond the end, no other folder.
#[test]
fn a_place_that_does_not_resolve_has_no_blob() {
    for (place, resolves) in [
        (r#""path": "src/lib.rs", "line": 100"#, true),
        (r#""path": "src/lib.rs", "line": 90, "end_line": 100"#, true),
        (r#""path": "src/lib.rs""#, true),
        (r#""path": "src/lib.rs", "line": 101"#, false),
        (
            r#""path": "src/lib.rs", "line": 90, "end_line": 101"#,
            false,
        ),
        (r#""path": "other/lib.rs", "line": 1"#, false),
        (r#""path": null"#, false),
    ] {
        let finding = format!(r#"[{{"title": "t", "severity": "low", "body": "", {place}}}]"#);
        let review = valid(read(passing_with("[]", &finding)));
        assert_eq!(review.findings[0].blob.is_some(), resolves, "{place}");
    }
}

/// A place may be absent or null: a finding may be about the change as a whole.
#[test]
fn a_finding_needs_no_place() {
    for place in [
        "",
        r#", "path": null, "line": null, "end_line": null"#,
        r#", "path": """#,
    ] {
        let finding = format!(r#"[{{"title": "no tests", "severity": "low", "body": ""{place}}}]"#);
        let review = valid(read(passing_with("[]", &finding)));
        assert_eq!(
            (&review.findings[0].path, review.findings[0].line),
            (&None, None),
            "{place}"
        );
    }
}

/// C11, S26: "pre-existing" lowers a finding only if its lines exist and are unchanged.
#[test]
fn pre_existing_is_believed_only_of_unchanged_lines() {
    let cases = [
        (
            r#""path": "src/lib.rs", "line": 20"#,
            true,
            "an unchanged line",
        ),
        (
            r#""path": "src/lib.rs", "line": 13, "end_line": 20"#,
            true,
            "behind the changed lines",
        ),
        (
            r#""path": "src/lib.rs", "line": 8, "end_line": 10"#,
            false,
            "a range into changed lines",
        ),
        (
            r#""path": "src/lib.rs", "line": 11"#,
            false,
            "a changed line",
        ),
        (
            r#""path": "src/lib.rs", "line": 101"#,
            false,
            "a line behind the file's end",
        ),
        (r#""path": "src/lib.rs""#, false, "no line"),
        (
            r#""path": "src/far.rs", "line": 7"#,
            true,
            "a file that the change leaves alone",
        ),
        (
            r#""path": "far.rs", "line": 7"#,
            false,
            "a file that does not exist",
        ),
        (r#""line": 7"#, false, "no file"),
    ];
    for (place, believed, what) in cases {
        let finding = format!(
            r#"[{{"title": "t", "severity": "high", "body": "", "pre_existing": true, {place}}}]"#
        );
        let reading = read(passing_with("[]", &finding));
        assert_eq!(is_pass(&reading), believed, "{what}");
        if !believed {
            let (_, _, claims) = invalid(reading);
            assert!(
                !claims[0].pre_existing && claims[0].severity == Severity::High,
                "{what}"
            );
        }
    }
}

/// C11: where lines were not counted, an empty list of changed lines says nothing.
#[test]
fn pre_existing_is_not_believed_of_files_without_counted_lines() {
    let files = [
        ChangedFile {
            status: FileStatus::Added,
            ..file("src/lib.rs", &[])
        },
        ChangedFile {
            status: FileStatus::TypeChanged,
            ..file("src/lib.rs", &[])
        },
        ChangedFile {
            added: None,
            removed: None,
            ..file("src/lib.rs", &[])
        },
        ChangedFile {
            unreviewed: Some(UnreviewedKind::Excluded),
            ..file("src/lib.rs", &[])
        },
    ];
    let finding = r#"[{"title": "t", "severity": "high", "body": "", "pre_existing": true, "path": "src/lib.rs", "line": 5}]"#;
    for file in files {
        let mut evidence = evidence();
        evidence.files[0] = file;
        let report = passing_with("[]", finding);
        assert!(
            !is_pass(&read_as(Contract::Json, report, &evidence)),
            "{:?}",
            evidence.files[0]
        );
    }
}

/// A path that is no text is covered by its bytes, or as it is shown.
#[test]
fn paths_that_are_no_text_can_be_covered() {
    let mut evidence = evidence();
    evidence.files[0].path = RepoPath::new(b"src/\xff.rs".to_vec());
    for entry in [r#""path_b64": "c3JjL/8ucnM=""#, r#""path": "src/\\xff.rs""#] {
        let text = passing_with("\"path\": \"src/lib.rs\"", entry);
        assert!(
            is_pass(&read_as(Contract::Json, &text, &evidence)),
            "{entry}"
        );
    }
    let text = passing_with("\"path\": \"src/lib.rs\"", r#""path_b64": "c3JjL/8ucnM""#);
    assert!(
        !is_pass(&read_as(Contract::Json, &text, &evidence)),
        "broken base64"
    );
}

/// A renamed file is read under its new path; its old one does not harm, and does not suffice.
#[test]
fn a_renamed_file_is_covered_by_its_new_path() {
    let mut evidence = evidence();
    evidence.files[0].old_path = Some(RepoPath::from("src/old.rs"));
    let both = "[{\"path\": \"src/old.rs\", \"how\": \"read\"}, {\"path\": \"src/lib.rs\"";
    let text = passing_with("[{\"path\": \"src/lib.rs\"", both);
    assert!(is_pass(&read_as(Contract::Json, text, &evidence)));
    let text = passing_with("[{\"path\": \"src/lib.rs\"", "[{\"path\": \"src/old.rs\"");
    assert!(!is_pass(&read_as(Contract::Json, text, &evidence)));
}

/// Up to 200 files each is named; above, the receipts suffice, and what is named must be right.
#[test]
fn the_receipts_suffice_above_200_files() {
    let mut evidence = evidence();
    let more = (0..198).map(|n| file(&format!("src/more/{n:03}.rs"), &[]));
    evidence.files.extend(more);
    assert_eq!(evidence.files.len(), 200);
    assert!(!is_pass(&read_as(
        Contract::Json,
        report(PASSING),
        &evidence
    )));
    evidence.files.push(file("src/more/last.rs", &[]));
    assert!(is_pass(&read_as(
        Contract::Json,
        report(PASSING),
        &evidence
    )));
    for bad in [
        "src/lib.rs\", \"how\": \"not-read\"",
        "src/elsewhere.rs\", \"how\": \"read\"",
    ] {
        let text = passing_with("src/lib.rs\", \"how\": \"read\"", bad);
        assert!(!is_pass(&read_as(Contract::Json, text, &evidence)), "{bad}");
    }
    let text = passing_with("aa11bb22", "aa11bb23");
    assert!(
        !is_pass(&read_as(Contract::Json, text, &evidence)),
        "receipts still count"
    );
}

/// Nothing shown is nothing approved.
#[test]
fn a_change_without_evidence_never_passes() {
    let mut nothing = evidence();
    nothing.parts.clear();
    let text = passing_with(
        "{\"001\": \"aa11bb22cc33dd44\", \"002\": \"ee55ff6677889900\"}",
        "{}",
    );
    assert!(!is_pass(&read_as(Contract::Json, &text, &nothing)));
    let mut nothing = evidence();
    nothing.files.clear();
    assert!(!is_pass(&read_as(
        Contract::Json,
        report(PASSING),
        &nothing
    )));
}

/// V03: a diff that was spilled to files is not read by not opening them.
#[test]
fn a_spilled_part_that_was_not_opened_is_no_pass() {
    let mut world = World::full();
    world.run.task = None;
    let prompt = world.render();
    assert!(
        !prompt.contains(&world.evidence.parts[1].receipt),
        "the prompt lacks part 002"
    );
    let text = passing_with(", \"002\": \"ee55ff6677889900\"", "");
    let (problems, ..) = invalid(read(text));
    assert_eq!(problems, ["the receipt of part 002 is missing"]);
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
        text_at: &|_| None,
    };
    invalid(run_loop::contract::review::read(text.as_bytes(), &expect));
}
