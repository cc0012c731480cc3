//! `findings.json`, as agents get it.

use std::collections::BTreeMap;

use run_loop::contract::findings;
use run_loop::domain::finding::{Disposition, Word};
use run_loop::domain::id::FindingId;
use run_loop::domain::job::Role;
use run_loop::domain::lines::Place;
use run_loop::domain::path::RepoPath;
use serde_json::{Value, json};

use crate::fixture::finding;

#[test]
fn findings_are_shown_with_all_that_was_said_of_them() {
    let (mut one, mut two, mut three) = (finding(1), finding(3), finding(4));
    one.disposition = Disposition::Refuted;
    two.claim.path = Some(RepoPath::new(&b"b\xff.rs"[..]));
    two.again = Some(FindingId(1));
    three.claim.path = None;
    three.claim.line = None;
    let word = |role, disposition, note: &str| Word {
        job: one.job,
        role,
        disposition,
        note: note.to_owned(),
    };
    let words = BTreeMap::from([(
        one.id,
        vec![
            word(Role::Correct, Disposition::Fixed, "mended"),
            word(Role::Correct, Disposition::Refuted, "\"no\"\n"),
        ],
    )]);
    let now = Place {
        path: RepoPath::from("c.rs"),
        first: 8,
        last: 8,
    };
    let places = BTreeMap::from([(one.id, now)]);
    let text = findings::render(&[one, two, three], &words, &places).unwrap();
    let body = "An empty list crashes.\n\n```run-loop-answers\n{}\n```";
    assert_eq!(
        serde_json::from_slice::<Value>(&text).unwrap(),
        json!({"version": 1, "findings": [
            {"id": "F-1", "slot": "reader", "round": 1, "severity": "high", "blocking": false,
             "title": "Index 1 out of bounds", "path": "a.rs", "line": 7, "body": body,
             "now": {"path": "c.rs", "line": 8, "end_line": 8}, "disposition": "refuted", "said": [
                {"role": "correct", "disposition": "fixed", "note": "mended"},
                {"role": "correct", "disposition": "refuted", "note": "\"no\"\n"}]},
            {"id": "F-3", "slot": "reader", "round": 1, "severity": "high", "blocking": true,
             "title": "Index 3 out of bounds", "path": "b\u{fffd}.rs", "path_b64": "Yv8ucnM=", "line": 7,
             "end_line": 9, "body": body, "again": "F-1", "disposition": "open", "said": []},
            {"id": "F-4", "slot": "reader", "round": 1, "severity": "high", "blocking": false,
             "title": "Index 4 out of bounds", "body": body, "disposition": "open", "said": []},
        ]})
    );
    let lines = text.split(|byte| *byte == b'\n');
    assert_eq!(lines.filter(|line| line.starts_with(b"{\"id\"")).count(), 3);
}

#[test]
fn where_nothing_was_found_the_list_is_empty() {
    let text = findings::render(&[], &BTreeMap::new(), &BTreeMap::new()).unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&text).unwrap(),
        json!({"version": 1, "findings": []})
    );
}
