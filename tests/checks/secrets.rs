//! Secrets: in the change, in its history, before it; and never in what is said of them.

use run_loop::domain::severity::Severity;
use run_loop::domain::verdict::Verdict;

use crate::change::{change, edit, github_token};

#[test]
fn a_secret_in_an_added_line_blocks_and_is_not_shown() {
    let token = github_token();
    let examined = edit(|repo| {
        repo.write(
            "src/lib.rs",
            format!("one\ntwo\nlet token = \"{token}\";\n"),
        );
    })
    .examine();
    assert_eq!(examined.verdict(), Verdict::NotPass);
    assert!(
        examined
            .found()
            .contains(&"!github-token src/lib.rs:3".to_owned())
    );
    assert_eq!(examined.claims()[0].severity, Severity::Critical);
    let said = examined.everything();
    assert!(
        !said.contains(&token) && !said.contains(&token[8..]),
        "{said}"
    );
    assert!(examined.report.contains("github-token"));
}

/// A secret that was committed and removed again is out all the same.
#[test]
fn a_secret_in_the_history_of_the_change_blocks() {
    let token = github_token();
    let change = edit(|repo| {
        repo.write("notes.txt", format!("\n{token}\n"));
        repo.commit("oops");
        repo.write("notes.txt", format!("more\n\n{token}\n"));
        repo.commit("worse");
        std::fs::remove_file(repo.root().join("notes.txt")).unwrap();
        repo.write("README.md", "# Changed\n");
    });
    let examined = change.examine();
    assert_eq!(examined.claims().len(), 1, "said once");
    let claim = &examined.claims()[0];
    assert!(claim.blocking && claim.path == Some("notes.txt".into()));
    // The body names a blob that git finds again.
    let blob = claim.body.split("--find-object=").nth(1).unwrap();
    let blob = blob.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap();
    assert!(
        !change
            .repo
            .git(&["log", "--format=%s", "--find-object", blob])
            .is_empty()
    );
    assert!(!examined.everything().contains(&token));
}

/// Scenario C11.
#[test]
fn a_secret_that_stood_there_before_is_told_and_does_not_block() {
    let token = github_token();
    let examined = change(
        |repo| repo.write("old.env", format!("A=1\nT={token}\n")),
        |repo| {
            repo.write("old.env", format!("A=2\nT={token}\n"));
            repo.commit("one");
            repo.write("old.env", format!("A=3\nT={token}\nB=1\n"));
        },
    )
    .examine();
    examined.passes();
    assert_eq!(examined.found(), ["github-token old.env:2"]);
    assert!(examined.claims()[0].pre_existing);
    assert!(!examined.everything().contains(&token));
}

/// What main brought is not this change's, also when it was merged in.
#[test]
fn a_secret_of_the_base_is_not_the_changes() {
    let token = github_token();
    let change = edit(|repo| {
        repo.write("mine.txt", "mine\n");
        repo.commit("mine");
        repo.git(&["switch", "-q", "main"]);
        repo.write("theirs.txt", &token);
        repo.commit("theirs");
        repo.git(&["switch", "-q", "feature"]);
        repo.git(&["merge", "-q", "-m", "merge", "main"]);
    });
    change.examine().passes();
}

#[test]
fn a_secret_in_a_binary_or_a_long_blob_is_found() {
    let token = github_token();
    let examined = edit(|repo| {
        let mut long = "0123456789abcdef ".repeat(900_000).into_bytes();
        long.splice(7_000_000..7_000_000, format!(" {token} ").into_bytes());
        repo.write("long.dat", long);
        repo.write("image.bin", [b"\0\0\x01", token.as_bytes(), b"\0"].concat());
    })
    .examine();
    let found = examined.found();
    assert!(
        found.contains(&"!github-token long.dat:1".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"!github-token image.bin:1".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"large-file long.dat".to_owned()),
        "{found:?}"
    );
}

/// Test keys are allowed by the base's policy alone, never by a mark in the file.
#[test]
fn the_policy_allows_a_secret_by_rule_and_path() {
    let token = github_token();
    let with = |rule: &str, paths: &str| {
        edit(|repo| {
            repo.write(
                "tests/keys/one.txt",
                format!("{token} # nosec, gitleaks:allow\n"),
            );
        })
        .allow(rule, paths)
        .examine()
    };
    with("github-token", "tests/keys/**").passes();
    assert_eq!(with("github-token", "tests/*").verdict(), Verdict::NotPass);
    assert_eq!(with("private-key", "**").verdict(), Verdict::NotPass);
    let allowed = with("github-token", "tests/keys/**");
    assert_eq!(allowed.found(), ["github-token tests/keys/one.txt:1"]);
    assert!(!allowed.everything().contains(&token));
}

/// A move brings no byte: what a moved binary holds stood there before.
#[test]
fn a_secret_in_a_moved_binary_is_not_new() {
    let token = github_token();
    let examined = change(
        |repo| repo.write("old.rs", [b"\0", token.as_bytes()].concat()),
        |repo| {
            repo.git(&["mv", "old.rs", "new.rs"]);
        },
    )
    .examine();
    examined.passes();
    assert_eq!(examined.found(), ["github-token new.rs:1"]);
    assert!(examined.claims()[0].pre_existing);
}
