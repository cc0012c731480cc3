//! Pinning: what the snapshot holds and what it leaves alone (T-001 to T-003, T-021, T-022).

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use run_loop::domain::code::Code;
use run_loop::domain::run_spec::BaseSpec;

use crate::support::reference::{Untouched, reference};
use crate::support::repo::{self, Repo};
use crate::support::source::{Source, environment, git};

/// A repository with `main` one commit behind `feature`, which is checked out.
fn feature() -> Repo {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.write("src/lib.rs", "pub fn two() -> u32 {\n    2\n}\n");
    repo.commit("two");
    repo
}

/// T-001.
#[test]
fn a_clean_source_is_head_itself() {
    let repo = feature();
    let before = Untouched::of(&repo, repo.root());
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let again = source.measure(&pin);
    assert_eq!(before, Untouched::of(&repo, repo.root()));
    let head = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(pin.snapshot.as_str(), head);
    assert_eq!(pin.identity.head.as_str(), head);
    assert_eq!(
        pin.identity.tree.as_str(),
        repo.git(&["rev-parse", "HEAD^{tree}"])
    );
    assert_eq!(pin.identity.content_tree, pin.identity.tree);
    assert_eq!(pin.identity.base.as_str(), repo.git(&["rev-parse", "main"]));
    assert_eq!(
        pin.base_content_tree.as_str(),
        repo.git(&["rev-parse", "main^{tree}"])
    );
    assert_eq!(pin.base_tip.as_ref(), Some(&pin.identity.base));
    assert_eq!(pin.branch.as_deref(), Some("refs/heads/feature"));
    assert_eq!((pin.commits, pin.behind, pin.dirty), (1, 0, false));
    assert_eq!(pin.notices, Vec::<String>::new());
    assert!(!pin.is_empty());
    assert_eq!(again.pin, pin);
    assert!(again.moved_paths.is_empty() && again.head_descends && !again.base_rewound);
}

/// T-002, with everything else that a working tree can hold.
#[test]
fn staged_unstaged_and_untracked_edits_are_in_the_tree() {
    let repo = feature();
    repo.write("gone.txt", "gone");
    repo.write("staged-only.txt", "a");
    repo.write("run.sh", "#!/bin/sh\n");
    repo.write(".gitignore", "ignored\n");
    repo.commit("more");
    repo.write("README.md", "# Staged\n");
    repo.write("new-staged.txt", "new\n");
    repo.git(&["add", "README.md", "new-staged.txt"]);
    repo.git(&["rm", "-q", "--cached", "staged-only.txt"]);
    repo.write("README.md", "# Staged, then edited\n");
    repo.write("src/lib.rs", "// unstaged\n");
    repo.write("with space/\n\t\"quote\".txt", "odd");
    let bytes = std::ffi::OsStr::from_bytes(b"not-utf8-\xff\xfe");
    std::fs::write(repo.root().join(bytes), "bytes").unwrap();
    std::os::unix::fs::symlink("nowhere", repo.root().join("link")).unwrap();
    std::fs::remove_file(repo.root().join("gone.txt")).unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repo.root().join("run.sh"), executable).unwrap();
    repo.write("ignored", "not in the tree");
    repo.git(&["stash", "list"]);
    let before = Untouched::of(&repo, repo.root());
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    source.measure(&pin);
    assert_eq!(before, Untouched::of(&repo, repo.root()));

    assert!(pin.dirty);
    let store = source.store.git_dir();
    let show = |format: &str| {
        repo::git(
            store,
            &[
                "show",
                "-s",
                &format!("--format={format}"),
                pin.snapshot.as_str(),
            ],
        )
    };
    assert_eq!(show("%T"), pin.identity.tree.as_str());
    assert_eq!(show("%P"), pin.identity.head.as_str());
    let us = "run-loop <run-loop@localhost>";
    assert_eq!(show("%an <%ae>|%cn <%ce>"), format!("{us}|{us}"));
    let listed = repo::git_command(store)
        .args(["ls-tree", "-r", "--name-only", "-z", pin.snapshot.as_str()])
        .output()
        .unwrap();
    let listed: Vec<&[u8]> = listed.stdout.split(|byte| *byte == 0).collect();
    for (path, there) in [
        ("new-staged.txt", true),
        ("staged-only.txt", true),
        ("link", true),
        ("gone.txt", false),
        ("ignored", false),
    ] {
        assert_eq!(listed.contains(&path.as_bytes()), there, "{path}");
    }
    assert!(
        !repo::git_command(repo.root())
            .args(["cat-file", "-e", pin.snapshot.as_str()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
}

#[test]
fn the_same_state_gives_the_same_snapshot() {
    let repo = feature();
    repo.write("src/lib.rs", "// edited\n");
    let source = Source::of(&repo, "main");
    assert_eq!(source.pin(), source.pin());
}

/// T-003.
#[test]
fn untracked_files_that_status_hides_are_in_the_tree() {
    let repo = feature();
    repo.git(&["config", "status.showUntrackedFiles", "no"]);
    repo.write("hidden/new.rs", "fn hidden() {}\n");
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let path = format!("{}:hidden/new.rs", pin.snapshot);
    assert_eq!(
        repo::git(source.store.git_dir(), &["show", &path]),
        "fn hidden() {}"
    );
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
}

#[test]
fn a_linked_worktree_is_pinned_with_its_own_index() {
    let repo = feature();
    let linked = repo.linked("linked", "other", "main");
    std::fs::write(linked.join("only-here.txt"), "x").unwrap();
    repo.write("only-there.txt", "x");
    let before = Untouched::of(&repo, &linked);
    let source = Source::at(&repo, &linked, Some("main"), git());
    let pin = source.pin();
    assert_eq!(before, Untouched::of(&repo, &linked));
    assert_eq!(pin.identity.tree.as_str(), reference(&linked, &[]));
    assert_eq!(pin.branch.as_deref(), Some("refs/heads/other"));
}

/// T-021.
#[test]
fn a_base_that_equals_a_clean_head_is_an_empty_change_set() {
    let repo = feature();
    assert!(Source::of(&repo, "feature").pin().is_empty());
    assert!(Source::of(&repo, "HEAD").pin().is_empty());
    repo.write("new.txt", "x");
    assert!(!Source::of(&repo, "feature").pin().is_empty());
}

#[test]
fn without_a_base_it_is_head_at_the_start() {
    let repo = feature();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let source = Source::at(&repo, repo.root(), None, git());
    assert!(
        matches!(&source.spec.base, BaseSpec::StartHead { head: start } if start.as_str() == head)
    );
    repo.write("new.txt", "x");
    repo.commit("later");
    let pin = source.pin();
    assert_eq!(pin.identity.base.as_str(), head);
    assert_eq!((pin.base_tip.clone(), pin.commits), (None, 1));
}

/// T-022: an error is neither "empty" nor "changes".
#[test]
fn a_git_error_is_an_error() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let base = repo.git(&["rev-parse", "main"]);
    let commit = repo
        .root()
        .join(".git/objects")
        .join(&base[..2])
        .join(&base[2..]);
    std::fs::remove_file(&commit).unwrap();
    let failure = source.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::GitFailed, "{failure}");
    let failure = source.try_measure(&pin).unwrap_err();
    assert_eq!(failure.code, Code::MeasureFailed, "{failure}");
}

#[test]
fn promoted_evidence_is_in_the_tree_and_not_in_the_content() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let before = source.pin();
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    repo.write(&format!(".agents/reports/security/report-{id}.md"), "PASS");
    let after = source.measure(&before);
    assert_ne!(after.pin.identity.tree, before.identity.tree);
    assert_eq!(
        after.pin.identity.content_tree,
        before.identity.content_tree
    );
    assert!(!after.drift_from(&before).is_stale());
    repo.write(".agents/reports/approvals/another.json", "{}");
    let trips = source.measure(&before).drift_from(&before).trips;
    assert_eq!(format!("{trips:?}"), "[Manifests]");
}

/// Garbage collection in the user's repository cannot take a snapshot away.
#[test]
fn a_snapshot_survives_garbage_collection_in_the_users_repository() {
    let repo = feature();
    repo.write("staged.txt", "staged at pin time\n");
    repo.git(&["add", "staged.txt"]);
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.git(&["reset", "-q", "--hard", "main"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    let store = source.store.git_dir();
    let path = format!("{}:staged.txt", pin.snapshot);
    assert_eq!(repo::git(store, &["show", &path]), "staged at pin time");
    repo::git(
        store,
        &["fsck", "--connectivity-only", pin.snapshot.as_str()],
    );
    repo::git(store, &["gc", "-q", "--prune=now"]);
    assert_eq!(
        repo::git(store, &["show", &path]),
        "staged at pin time",
        "a ref of the store holds it"
    );
}

#[test]
fn kept_snapshots_are_the_only_refs_that_are_written() {
    let repo = feature();
    repo.write("new.txt", "x");
    let refs = repo.git(&["for-each-ref", "--format=%(refname)"]);
    let mut source = Source::of(&repo, "main");
    source.pin();
    assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)"]), refs);
    source.spec.keep_snapshots = true;
    let pin = source.pin();
    let name = format!("refs/run-loop/{}/1", source.spec.loop_id);
    assert_eq!(repo.git(&["rev-parse", &name]), pin.snapshot.as_str());
    assert_eq!(repo.git(&["show", &format!("{name}:new.txt")]), "x");
    assert_eq!(
        repo.git(&["for-each-ref", "--format=%(refname)"]),
        format!("{refs}\n{name}")
    );
}

/// Starting a process costs more than most of what it does.
#[test]
fn a_pin_takes_at_most_twelve_processes() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.commit("on the branch");
    repo.git(&["update-index", "--assume-unchanged", "README.md"]);
    repo.write("new.txt", "x");
    let log = repo.beside("log");
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(repo::git_program()))
        .find(|file| file.is_file())
        .unwrap();
    let text = format!(
        "#!/bin/sh\necho x >> '{}'\nexec '{}' \"$@\"\n",
        log.display(),
        real.display()
    );
    let folder = repo.beside("bin");
    std::fs::create_dir(&folder).unwrap();
    let script = crate::support::agents::executable(&folder, "counting", &text);
    let counting = run_loop::git::Git::find_in(&run_loop::git::GitEnvironment {
        program: Some(script),
        ..environment()
    });
    let source = Source::at(&repo, repo.root(), Some("main"), counting.unwrap());
    let count = || std::fs::read_to_string(&log).unwrap().lines().count();
    let before = count();
    let pin = source.pin();
    let pinned = count() - before;
    assert!(pinned <= 12, "{pinned} processes for a pin");
    source.measure(&pin);
    let measured = count() - before - pinned;
    assert!(measured <= 10, "{measured} processes for a measurement");
}
