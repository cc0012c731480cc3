//! Which files and parts a PASS must have opened under `contract: json`.

use run_loop::domain::agent::Contract;
use run_loop::domain::path::RepoPath;

use crate::fixture::{
    PASSING, World, evidence, file, invalid, is_pass, passing_with, read, read_as, report,
};

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
