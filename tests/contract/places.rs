//! The places that findings cite under `contract: json`, and what is believed of them.

use run_loop::domain::agent::Contract;
use run_loop::domain::evidence::{ChangedFile, FileStatus, UnreviewedKind};
use run_loop::domain::severity::Severity;

use crate::fixture::{evidence, file, invalid, is_pass, passing_with, read, read_as, valid};

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
