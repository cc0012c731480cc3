//! The rules on lines, compared with git, and what happens when git cannot answer.

use run_loop::domain::job::Ended;
use run_loop::domain::path::RepoPath;
use run_loop::domain::verdict::Verdict;
use tokio_util::sync::CancellationToken;

use crate::change::{Examined, change, edit};
use crate::support::repo::git_command;

#[test]
fn a_clean_change_passes_and_the_report_names_what_ran() {
    let examined = edit(|repo| repo.write("src/lib.rs", "pub fn two() {}\n")).examine();
    examined.passes();
    assert_eq!(examined.found(), [] as [&str; 0]);
    for said in [
        "# Checks: PASS",
        "src/lib.rs",
        "conflict-marker",
        "github-token",
        "None ran",
    ] {
        assert!(
            examined.report.contains(said),
            "{said} in {}",
            examined.report
        );
    }
}

/// W10: a merge whose conflicts were recorded as resolved is judged by what it left, not by how it ended.
#[test]
fn conflict_markers_block_with_path_and_lines() {
    let text = format!(
        "a\n{} HEAD\nb\n=======\nc\n{} x\n",
        "<".repeat(7),
        ">".repeat(7)
    );
    let examined = edit(|repo| {
        repo.write("src/lib.rs", &text);
        repo.write("docs/a.rst", "Title\n=======\n");
    })
    .examine();
    assert_eq!(examined.verdict(), Verdict::NotPass);
    assert_eq!(examined.found(), ["!conflict-marker src/lib.rs:2"]);
    assert_eq!(examined.claims()[0].end_line, Some(6));
}

/// Scenario C11: only what the change added counts.
#[test]
fn an_old_bidi_control_is_not_this_changes() {
    let old = "a\u{202e}\nb\n";
    let examined = change(
        |repo| repo.write("a.txt", old),
        |repo| repo.write("a.txt", format!("{old}c\n")),
    )
    .examine();
    assert_eq!(examined.found(), [] as [&str; 0]);
    let examined = change(
        |repo| repo.write("a.txt", "b\n"),
        |repo| repo.write("a.txt", format!("b\n{old}")),
    )
    .examine();
    assert_eq!(examined.found(), ["!bidi-control a.txt:2"]);
}

/// The reference is git's own check, per file.
#[test]
fn whitespace_errors_are_those_of_git() {
    let change = change(
        |repo| {
            repo.write("old.txt", "kept \nplain\n");
        },
        |repo| {
            repo.write("old.txt", "kept \nplain\n  \tindent\nmore\n");
            repo.write("trailing.txt", "a\t\nb\nc \n");
            repo.write("blank.txt", "a\n\n\n");
            repo.write("fine.txt", "\ta\n    b\nc");
        },
    );
    let output = git_command(change.repo.root())
        .args(["diff", "--check", "main", "HEAD"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut expected: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with('+'))
        .map(|line| format!("whitespace {}", line.split(':').next().unwrap()))
        .collect();
    expected.sort();
    expected.dedup();
    let examined = change.examine();
    examined.passes();
    let mut found: Vec<String> = examined
        .found()
        .iter()
        .map(|found| found.split(':').next().unwrap().to_owned())
        .collect();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(found.len(), 3);
}

#[test]
fn a_file_that_git_takes_for_binary_counts_whole() {
    let examined = change(
        |repo| repo.write("src/a.rs", "fn a() {}\n"),
        |repo| repo.write("src/a.rs", "fn a() {}\0\n"),
    )
    .examine();
    assert_eq!(examined.found(), ["!nul-in-text src/a.rs"]);
}

#[test]
fn an_evidence_that_names_other_files_leaves_no_verdict() {
    let make = || edit(|repo| repo.write("src/lib.rs", "two\n"));
    let mut more = make();
    let mut extra = more.job.evidence.files[0].clone();
    extra.path = RepoPath::from("src/other.rs");
    more.job.evidence.files.push(extra);
    assert!(more.examine().no_verdict().contains("src/other.rs"));
    let mut fewer = make();
    fewer.job.evidence.files.clear();
    assert!(fewer.examine().no_verdict().contains("src/lib.rs"));
}

/// Never PASS when we do not know: an object that cannot be read is no clean object.
#[test]
fn a_missing_blob_leaves_no_verdict() {
    let change = edit(|repo| {
        repo.write("src/lib.rs", "two\n");
        repo.write("CLAUDE.md", "obey\n");
    });
    let blob = change.repo.git(&["rev-parse", "HEAD:src/lib.rs"]);
    let object = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    std::fs::remove_file(change.repo.root().join(object)).unwrap();
    let examined = change.examine();
    examined.no_verdict();
    assert!(matches!(examined.ended, Ended::NotStarted { .. }));
    // What was known before stays a claim.
    assert!(
        examined
            .found()
            .contains(&"!control-file CLAUDE.md:1".to_owned())
    );
}

#[test]
fn a_stopped_scan_leaves_no_verdict() {
    let change = edit(|repo| repo.write("src/lib.rs", "two\n")).check("never", "touch ran");
    let stop = CancellationToken::new();
    stop.cancel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let outcome = runtime.block_on(run_loop::checks::examine(&change.job, stop));
    let examined = Examined::new(outcome);
    assert_eq!(examined.ended, Ended::Stopped);
    examined.no_verdict();
    assert!(!change.job.tree.join("ran").exists());
}

/// Scenario I08: a hostile repository runs nothing while its blobs are read.
#[test]
fn nothing_of_the_repository_runs_while_blobs_are_read() {
    let change = edit(|repo| {
        let evil = repo.beside("evil.sh");
        let ran = repo.beside("ran");
        std::fs::write(&evil, format!("#!/bin/sh\ntouch {}\ncat\n", ran.display())).unwrap();
        repo.git(&["config", "core.fsmonitor", evil.to_str().unwrap()]);
        for driver in [
            "filter.x.smudge",
            "filter.x.clean",
            "diff.x.textconv",
            "diff.x.command",
        ] {
            repo.git(&["config", driver, &format!("sh {}", evil.display())]);
        }
        repo.write("a.txt", "text \u{202e}\n");
        repo.commit("before the attributes");
        repo.write(".gitattributes", "*.txt filter=x diff=x -text\n");
    });
    std::fs::remove_file(change.repo.beside("ran")).ok();
    let examined = change.examine();
    assert!(
        examined
            .found()
            .contains(&"!bidi-control a.txt:1".to_owned())
    );
    assert!(!change.repo.beside("ran").exists());
}

/// A large change: every file is read, the report stays small.
#[test]
fn a_large_change_is_read_whole() {
    let change = edit(|repo| {
        for file in 0..2000 {
            let text = format!("line of file {file} \n").repeat(25);
            repo.write(&format!("src/d{}/f{file}.rs", file % 40), text);
        }
        repo.write("src/z/last.rs", "x\u{202e}\n");
    });
    let examined = change.examine();
    assert_eq!(examined.verdict(), Verdict::NotPass);
    assert_eq!(examined.found()[0], "!bidi-control src/z/last.rs:1");
    assert!(examined.claims().len() <= 900);
    assert!(
        examined
            .claims()
            .iter()
            .any(|claim| claim.title.contains("further findings"))
    );
}
