//! Measuring again: what moved, what did not, and what we cannot know.

use run_loop::domain::code::Code;
use run_loop::domain::identity::{Kept, Remeasured, Trip};
use run_loop::domain::path::RepoPath;

use crate::support::repo::{self, Repo};
use crate::support::source::{Source, git};

/// A repository with `main` one commit behind `feature`, which is checked out.
fn feature() -> Repo {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.write("src/lib.rs", "pub fn two() -> u32 {\n    2\n}\n");
    repo.commit("two");
    repo
}

/// T-010: an edit between verdict and promotion is found, and its path named.
#[test]
fn an_edit_moves_the_content_and_is_named() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.write("src/lib.rs", "// edited\n");
    repo.write("new \n.txt", "x");
    let again = source.measure(&pin);
    assert_eq!(
        again.moved_paths,
        [RepoPath::from("new \n.txt"), RepoPath::from("src/lib.rs")]
    );
    let drift = again.drift_from(&pin);
    assert!(drift.content_moved && !drift.base_moved);
    assert_eq!(drift.trips, []);
    repo.git(&["checkout", "-q", "--", "."]);
    std::fs::remove_file(repo.root().join("new \n.txt")).unwrap();
    assert!(
        !source.measure(&pin).drift_from(&pin).is_stale(),
        "back to the pinned content"
    );
}

/// Design, section 5: the user commits exactly what is under review.
#[test]
fn committing_what_is_reviewed_is_not_stale() {
    let repo = feature();
    repo.write("src/lib.rs", "// edited\n");
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let head = repo.commit("the same content");
    let again = source.measure(&pin);
    assert_eq!(again.pin.identity.head.as_str(), head);
    assert!(again.head_descends);
    let drift = again.drift_from(&pin);
    assert!(!drift.is_stale());
    assert_eq!(drift.trips, []);
}

/// Design, section 4: uncommitted edits that a job lost are told, each with what brings it back.
#[test]
fn lost_edits_are_named_with_their_restoring_command() {
    let repo = feature();
    repo.write("gone", "x");
    repo.commit("a file");
    repo.write("src/lib.rs", "// mine\n");
    repo.write("README.md", "mine\n");
    repo.write("new \n.txt", "mine too\n");
    repo.write("kept.txt", "kept\n");
    std::fs::remove_file(repo.root().join("gone")).unwrap();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    assert_eq!(source.measure(&pin).lost, []);
    // Work on top of it: a line of it is left.
    repo.write("README.md", "theirs\nmine\n");
    repo.git(&["checkout", "-q", "--", "src/lib.rs", "gone"]);
    std::fs::remove_file(repo.root().join("new \n.txt")).unwrap();
    let lost = source.measure(&pin).lost;
    let expected = ["new \n.txt", "src/lib.rs"].map(RepoPath::from);
    assert_eq!(lost, expected);
    let kept = Kept {
        store: source.store.git_dir().display().to_string(),
        snapshot: pin.snapshot.clone(),
        staged: None,
        unmerged: None,
    };
    let restored = lost.iter().map(|path| {
        let words = kept.print(&kept.snapshot, path);
        assert_eq!(words[0], "git");
        let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        repo::git(repo.root(), &words)
    });
    assert_eq!(restored.collect::<Vec<_>>(), ["mine too", "// mine"]);
}

/// Issue 5: a file that was put back and written anew has nothing of the edit any more, although it is not
/// what HEAD has; neither has an untracked one that was written over.
#[test]
fn edits_of_which_no_line_is_left_are_lost() {
    let repo = feature();
    let committed = "pub fn two() -> u32 {\n    2\n}\n";
    for path in ["src/lib.rs", "moved.rs", "kept.rs"] {
        repo.write(path, committed);
    }
    repo.commit("three files");
    let edited = format!("// hours of work 1\n// hours of work 2\n{committed}");
    for path in ["src/lib.rs", "moved.rs", "kept.rs"] {
        repo.write(path, &edited);
    }
    repo.write("new.rs", "fn mine() {\n}\n");
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.write("src/lib.rs", format!("{committed}// sum\n"));
    repo.write("new.rs", "fn theirs() {\n}\n");
    repo.write("moved.rs", edited.replace('\n', "\n    "));
    repo.write("kept.rs", "// hours of work 2\n");
    let lost = source.measure(&pin).lost;
    assert_eq!(lost, ["new.rs", "src/lib.rs"].map(RepoPath::from));
}

#[test]
fn an_edit_that_was_committed_is_not_lost_and_a_branch_that_was_left_is_told() {
    let repo = feature();
    repo.write("src/lib.rs", "// mine\n");
    repo.write("new.txt", "x");
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.git(&["checkout", "-q", "-b", "away"]);
    repo.commit("all of it");
    let again = source.measure(&pin);
    assert_eq!(again.lost, []);
    assert_eq!(again.branch_switched(&pin), Some("refs/heads/away"));
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let lost = source.measure(&pin).lost;
    assert_eq!(lost, ["new.txt", "src/lib.rs"].map(RepoPath::from));
    repo.git(&["checkout", "-q", "feature"]);
    assert_eq!(source.measure(&pin).branch_switched(&pin), None);
    // As an older journal holds it.
    let mut old = serde_json::to_value(source.measure(&pin)).unwrap();
    old.as_object_mut().unwrap().remove("lost");
    let old: Remeasured = serde_json::from_value(old).unwrap();
    assert_eq!(old.lost, []);
}

#[test]
fn a_rewritten_head_trips_the_wire_though_the_content_is_the_same() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.git(&["commit", "-q", "--amend", "-m", "another message"]);
    let again = source.measure(&pin);
    assert!(!again.head_descends);
    let drift = again.drift_from(&pin);
    assert!(!drift.is_stale());
    assert_eq!(drift.trips, [Trip::BranchTip]);
}

#[test]
fn a_base_that_moves_forward_is_a_notice() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let tree = repo.git(&["rev-parse", "main^{tree}"]);
    let next = repo.git(&["commit-tree", "-p", "main", "-m", "main moves", &tree]);
    repo.git(&["update-ref", "refs/heads/main", &next]);
    let again = source.measure(&pin);
    assert!(!again.drift_from(&pin).is_stale());
    assert_eq!(again.pin.behind, 1);
    assert_eq!(again.pin.base_tip.as_ref().unwrap().as_str(), next);
    assert!(
        again.pin.notices[0].contains("moved forward"),
        "{:?}",
        again.pin.notices
    );
    assert!(again.pin.notices[1].contains("1 commit(s) that HEAD lacks"));
}

/// T-028: the base is merged in during the round, so the merge base is another.
#[test]
fn another_merge_base_is_stale() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let tree = repo.git(&["rev-parse", "main^{tree}"]);
    let next = repo.git(&["commit-tree", "-p", "main", "-m", "main moves", &tree]);
    repo.git(&["update-ref", "refs/heads/main", &next]);
    repo.git(&["merge", "-q", "-m", "main merged in", "main"]);
    let again = source.measure(&pin);
    assert_eq!(again.pin.identity.base.as_str(), next);
    let drift = again.drift_from(&pin);
    assert!(drift.base_moved && !drift.content_moved);
}

#[test]
fn a_rewound_base_is_stale_though_the_merge_base_stays() {
    let repo = feature();
    let tree = repo.git(&["rev-parse", "main^{tree}"]);
    let commit =
        |message: &str| repo.git(&["commit-tree", "-p", "feature~1", "-m", message, &tree]);
    repo.git(&["update-ref", "refs/heads/main", &commit("one")]);
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.git(&["update-ref", "refs/heads/main", &commit("another")]);
    let again = source.measure(&pin);
    assert_eq!(again.pin.identity.base, pin.identity.base);
    assert!(again.base_rewound && again.drift_from(&pin).base_moved);
}

#[test]
fn a_base_that_is_gone_is_stale_and_never_unchanged() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.git(&["branch", "-q", "-D", "main"]);
    assert_eq!(source.try_measure(&pin).unwrap_err().code, Code::BaseMoved);
}

#[test]
fn every_part_of_the_tripwire_is_seen() {
    let repo = feature();
    let linked = repo.linked("linked", "other", "feature");
    let dir = repo.root().join(".git");
    std::fs::create_dir_all(dir.join("info")).unwrap();
    let source = Source::at(&repo, &linked, Some("main"), git());
    let trips = |change: &dyn Fn(), undo: &dyn Fn()| {
        let pin = source.pin();
        change();
        let trips = source.measure(&pin).drift_from(&pin).trips;
        undo();
        trips
    };
    let at = |name: &str| dir.join(name);
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        std::fs::write(dir.join(name), text).unwrap();
    };
    let remove = |name: &str| std::fs::remove_file(at(name)).unwrap();
    let hook = "hooks/pre-push";
    assert_eq!(
        trips(&|| write(hook, "#!/bin/sh\n"), &|| remove(hook)),
        [Trip::Hooks]
    );
    let info = "info/grafts";
    assert_eq!(trips(&|| write(info, ""), &|| remove(info)), [Trip::Info]);
    let set = || drop(repo.git(&["config", "user.name", "Eve"]));
    let unset = || drop(repo.git(&["config", "--unset", "user.name"]));
    assert_eq!(trips(&set, &unset), [Trip::Config]);
    let away = || drop(repo::git(&linked, &["checkout", "-q", "-b", "away"]));
    let back = || drop(repo::git(&linked, &["checkout", "-q", "other"]));
    assert_eq!(trips(&away, &back), [Trip::HeadRef]);
    let evidence = repo.root().join(".agents/reports/approvals/x.json");
    let forge = || {
        std::fs::create_dir_all(evidence.parent().unwrap()).unwrap();
        std::fs::write(&evidence, "{}").unwrap();
    };
    assert_eq!(
        trips(&forge, &|| ()),
        [Trip::Manifests],
        "the control root's, not the source's"
    );
    let plant = |name: &str| {
        let path = evidence.with_file_name(name);
        move || std::fs::write(&path, "{}").unwrap()
    };
    assert_eq!(trips(&plant("y.json"), &|| ()), [Trip::Manifests]);
    // Staging what lies there counts only where the content moved too.
    std::fs::write(linked.join("new.txt"), "x").unwrap();
    let stage = || drop(repo::git(&linked, &["add", "new.txt"]));
    assert_eq!(trips(&stage, &|| ()), []);
    let hide = || {
        std::fs::write(linked.join("new.txt"), "y").unwrap();
        repo::git(
            &linked,
            &["update-index", "--assume-unchanged", "README.md"],
        );
    };
    assert_eq!(
        trips(&hide, &|| ()),
        [Trip::Index],
        "a flag is part of an entry"
    );
}

/// A run that died while it promoted goes on: its own manifest and what its write left are no move.
#[test]
fn a_runs_own_promotion_is_no_move() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let approvals = repo.root().join(".agents/reports/approvals");
    std::fs::create_dir_all(&approvals).unwrap();
    let trips = || source.measure(&pin).drift_from(&pin).trips;
    assert_eq!(trips(), []);
    std::fs::write(approvals.join(".tmp-77-1"), "{").unwrap();
    let own = approvals.join(format!("{}.json", source.spec.loop_id));
    std::fs::write(&own, "{}").unwrap();
    assert_eq!(trips(), []);
    // The folder itself must still be one.
    std::fs::rename(&approvals, repo.beside("elsewhere")).unwrap();
    std::os::unix::fs::symlink(repo.beside("elsewhere"), &approvals).unwrap();
    assert_eq!(trips(), [Trip::Manifests]);
}

/// T-204: the snapshot was pruned by somebody; making it again in silence would hide that.
#[test]
fn a_snapshot_that_is_gone_fails_closed() {
    let repo = feature();
    repo.write("new.txt", "x");
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let store = source.store.git_dir();
    std::fs::remove_dir_all(store.join("refs/run-loop")).unwrap();
    repo::git(store, &["gc", "-q", "--prune=now"]);
    let failure = source.try_measure(&pin).unwrap_err();
    assert_eq!(failure.code, Code::MeasureFailed, "{failure}");
}

/// M-065, T-006: what no snapshot can hold makes an open round stale.
#[test]
fn a_nested_repository_that_appears_is_a_moved_source() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    repo.git(&["init", "-q", "nested"]);
    let failure = source.try_measure(&pin).unwrap_err();
    assert_eq!(failure.code, Code::SourceMoved, "{failure}");
    assert!(failure.message.contains("nested"), "{failure}");
}

#[test]
fn a_folder_that_became_another_repository_cannot_be_measured() {
    let repo = feature();
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    std::fs::rename(repo.root().join(".git"), repo.beside("old.git")).unwrap();
    repo.git(&["init", "-q"]);
    repo.commit("another first commit");
    assert!(source.try_measure(&pin).is_err());
    std::fs::remove_dir_all(repo.root().join(".git")).unwrap();
    assert!(source.try_measure(&pin).is_err());
}
