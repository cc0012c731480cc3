//! Texts that are no verdict under `contract: json`, in tables.

use run_loop::domain::job::Reading;

use crate::fixture::{PASSING, each_line, invalid, passing_with, read, report};

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
