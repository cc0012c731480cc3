//! Large changes (scenario V13: chunked, never cut silently).

use std::fmt::Write as _;

use run_loop::domain::digest::Digest;
use run_loop::domain::evidence::UnreviewedKind;

use crate::fixture::{Made, changed};

/// Puts the parts together by the text of their closing lines alone.
fn joined(made: &Made) -> Vec<u8> {
    let mut diff = Vec::new();
    for part in &made.evidence.parts {
        let bytes = made.part(&part.name);
        assert!(bytes.len() <= 100_000);
        assert_eq!(bytes.len() as u64, part.bytes);
        let receipt = format!("receipt {} {}\n", part.name, part.receipt);
        let body = bytes.strip_suffix(receipt.as_bytes()).unwrap();
        let note = body[..body.len() - 1]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |n| n + 1);
        if body[note..].starts_with(b"[the line above goes on in part ") {
            diff.extend_from_slice(&body[..note - 1]);
        } else {
            diff.extend_from_slice(body);
        }
    }
    diff
}

#[test]
fn two_thousand_files_and_fifty_thousand_lines() {
    let (_repo, made) = changed(
        |_| {},
        |r| {
            for file in 0..2_000 {
                let mut text = String::new();
                for line in 0..25 {
                    writeln!(text, "line {line} of file {file}").unwrap();
                }
                r.write(&format!("d{}/f{file}.txt", file % 50), text);
            }
        },
    );
    assert_eq!(made.evidence.files.len(), 2_000);
    let added: u64 = made.evidence.files.iter().filter_map(|f| f.added).sum();
    assert_eq!(added, 50_000);
    assert!(made.evidence.parts.len() > 10);
    assert!(made.evidence.is_cut());
    assert!(joined(&made) == made.diff(), "the parts are the diff");
    assert_eq!(made.evidence.diff_sha256, Digest::of(&made.diff()));
    let shown: u64 = made
        .evidence
        .parts
        .iter()
        .filter(|p| p.in_prompt)
        .map(|p| p.bytes)
        .sum();
    assert!(shown <= 200_000 && shown > 100_000);
}

#[test]
fn one_line_longer_than_a_part() {
    let (_repo, made) = changed(
        |_| {},
        |r| r.write("min.js", "é;".repeat(150_000) + "\nend\n"),
    );
    assert_eq!(made.file("min.js").added, Some(2));
    assert!(made.evidence.parts.len() >= 5);
    assert!(joined(&made) == made.diff(), "the parts are the diff");
}

#[test]
fn a_binary_of_100_megabytes() {
    let (_repo, made) = changed(
        |_| {},
        |r| {
            let file = std::fs::File::create(r.root().join("big.bin")).unwrap();
            file.set_len(100_000_000).unwrap();
        },
    );
    assert_eq!(
        made.file("big.bin").unreviewed,
        Some(UnreviewedKind::Binary)
    );
    assert_eq!(made.file("big.bin").size, Some(100_000_000));
    assert!(made.diff().len() < 1_000);
}
