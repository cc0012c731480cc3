//! Refusals: each with its code, the path and a next command; nothing partial is ever used.

use std::path::PathBuf;

use run_loop::domain::code::Code;
use run_loop::git::{Git, GitEnvironment};

use crate::support::reference::Untouched;
use crate::support::repo::{self, Repo};
use crate::support::source::{Source, environment, git};
use crate::trial::{real_git, refused, script};

#[test]
fn unfinished_operations_are_refused_unless_allowed() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("README.md", "# Side\n");
    repo.commit("side");
    repo.write("README.md", "# Side again\n");
    repo.commit("side again");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("README.md", "# Main\n");
    repo.commit("main");
    let fails = |args: &[&str]| {
        let output = repo::git_command(repo.root()).args(args).output().unwrap();
        assert!(
            !output.status.success(),
            "git {args:?} was to stop with a conflict"
        );
    };
    for (start, abort, named) in [
        (&["merge", "side"][..], &["merge", "--abort"][..], "a merge"),
        (&["rebase", "side"], &["rebase", "--abort"], "a rebase"),
        (
            &["cherry-pick", "side"],
            &["cherry-pick", "--abort"],
            "a cherry-pick",
        ),
        (
            &["revert", "--no-edit", "side"],
            &["revert", "--abort"],
            "a revert",
        ),
    ] {
        fails(start);
        let failure = refused(&repo, Code::OperationInProgress, named);
        assert!(failure.message.contains("--allow-in-progress"));
        let mut source = Source::of(&repo, "HEAD");
        source.spec.allow_in_progress = true;
        // The conflict's markers are content.
        let pin = source.pin();
        let path = format!("{}:README.md", pin.snapshot);
        assert!(repo::git(source.store.git_dir(), &["show", &path]).contains("<<<<<<<"));
        repo.git(abort);
    }
    repo.git(&["bisect", "start", "--no-checkout"]);
    refused(&repo, Code::OperationInProgress, "a bisect");
}

#[test]
fn a_source_without_a_commit_is_refused() {
    let repo = Repo::unborn();
    repo.write("file.txt", "x");
    let found = crate::support::source::discover(repo.root());
    let rule = run_loop::git::base::BaseRule::MergeBase;
    for given in [None, Some("HEAD"), Some("main")] {
        let failure = run_loop::git::base::resolve(&git(), &found, given, rule).unwrap_err();
        assert_eq!(failure.code, Code::UnbornBranch);
    }
}

/// A stash that was applied with a conflict leaves no operation behind, only sides of a conflict.
#[test]
fn conflicts_without_an_operation_are_content() {
    let repo = Repo::new();
    repo.write("README.md", "# Stashed\n");
    repo.git(&["stash", "-q"]);
    repo.write("README.md", "# Committed\n");
    repo.commit("other");
    let popped = repo::git_command(repo.root())
        .args(["stash", "pop"])
        .output()
        .unwrap();
    assert!(!popped.status.success());
    let before = Untouched::of(&repo, repo.root());
    let source = Source::of(&repo, "HEAD");
    let pin = source.pin();
    assert_eq!(before, Untouched::of(&repo, repo.root()));
    let path = format!("{}:README.md", pin.snapshot);
    assert!(repo::git(source.store.git_dir(), &["show", &path]).contains("<<<<<<<"));
}

/// A git that behaves as told for `add`, and else as the real one.
fn posing(repo: &Repo, name: &str, on_add: &str) -> Git {
    let real = real_git();
    let real = real.to_str().unwrap();
    let program: PathBuf = repo.beside(name);
    let text = format!(
        "last=\nfor word; do [ \"$word\" = add ] && last=add; done\n\
         if [ \"$last\" = add ]; then\n{on_add}\nfi\nexec {real} \"$@\""
    );
    script(&program, &text);
    Git::find_in(&GitEnvironment {
        program: Some(program),
        ..environment()
    })
    .unwrap()
}

/// Scenario S16: three tries with new names, then a refusal; in a later round it is stale.
#[test]
fn a_source_that_does_not_hold_still_is_refused() {
    let repo = Repo::new();
    let tries = repo.beside("tries");
    let unstable = "echo 'error: unstable object source data for README.md' >&2; exit 128";
    let count = format!("echo $GIT_INDEX_FILE >> {}; {unstable}", tries.display());
    let git = posing(&repo, "unstable", &count);
    let source = Source::at(&repo, repo.root(), Some("HEAD"), git);
    assert_eq!(source.try_pin(1).unwrap_err().code, Code::SourceNotQuiet);
    let names = std::fs::read_to_string(&tries).unwrap();
    let mut names: Vec<&str> = names.lines().collect();
    names.dedup();
    assert_eq!(names.len(), 3, "three tries, each with a new index");
    assert_eq!(
        source.try_pin(2).unwrap_err().code,
        Code::SourceUnquietLater
    );

    let once = repo.beside("once");
    let then_fine = format!("[ -e {0} ] || {{ touch {0}; {unstable}; }}", once.display());
    let git = posing(&repo, "unstable-once", &then_fine);
    Source::at(&repo, repo.root(), Some("HEAD"), git).pin();

    // A file that is cut short while it is mapped kills git.
    let git = posing(&repo, "killed", "kill -BUS $$");
    let source = Source::at(&repo, repo.root(), Some("HEAD"), git);
    assert_eq!(source.try_pin(1).unwrap_err().code, Code::SourceNotQuiet);
}

/// Whatever git says beside a success is a failure, and an unknown failure is a refusal.
#[test]
fn a_complaint_of_git_is_never_noise() {
    let repo = Repo::new();
    for (name, on_add, code) in [
        (
            "warns",
            "echo 'warning: something' >&2",
            Code::SnapshotRefused,
        ),
        ("fails", "exit 1", Code::SnapshotRefused),
        (
            "folder",
            "echo \"warning: could not open directory 'x/': Permission denied\" >&2",
            Code::UnreadableFile,
        ),
        (
            "full",
            "echo 'error: unable to write file: No space left on device' >&2; exit 128",
            Code::StateUnwritable,
        ),
        (
            "full-too",
            "echo \"fatal: sha1 file 'pack.idx' write error. Out of diskspace\" >&2; exit 128",
            Code::StateUnwritable,
        ),
        (
            "full-output",
            "echo 'fatal: unknown write failure on standard output' >&2; exit 128",
            Code::StateUnwritable,
        ),
        // Of a checkout, which gives no reason then.
        (
            "cut-short",
            "echo \"error: unable to write file 'src/lib.rs'\" >&2; exit 128",
            Code::StateUnwritable,
        ),
        (
            "locked",
            "echo \"error: unable to write file 'src/lib.rs': Read-only file system\" >&2; exit 1",
            Code::SnapshotRefused,
        ),
    ] {
        let git = posing(&repo, name, on_add);
        let source = Source::at(&repo, repo.root(), Some("HEAD"), git);
        let failure = source.try_pin(1).unwrap_err();
        assert_eq!(failure.code, code, "{name}: {failure}");
        let shows_room = failure.next.0 == ["df", "-h"];
        assert_eq!(
            shows_room,
            code == Code::StateUnwritable,
            "{name}: {failure}"
        );
    }
}
