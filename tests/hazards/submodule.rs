//! Submodules must be clean, looked at from inside (T-005, T-006, T-203, scenario S19).

use std::path::PathBuf;

use run_loop::domain::code::Code;

use crate::support::reference::{Untouched, reference};
use crate::support::repo::{self, Repo};
use crate::support::source::Source;
use crate::trial::Trial;

/// A repository with a submodule `sub`, in which lies another one, `sub/inner`.
fn nested_submodules() -> (Repo, Repo, Repo) {
    let (inner, sub, repo) = (Repo::new(), Repo::new(), Repo::new());
    let url = |repo: &Repo| repo.root().to_str().unwrap().to_owned();
    sub.git(&["submodule", "--quiet", "add", &url(&inner), "inner"]);
    sub.commit("with inner");
    repo.git(&["submodule", "--quiet", "add", &url(&sub), "sub"]);
    repo.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    repo.commit("with sub");
    (repo, sub, inner)
}

fn at(repo: &Repo, path: &str) -> PathBuf {
    repo.root().join(path)
}

#[track_caller]
fn dirty(repo: &Repo, named: &str) {
    let failure = Source::of(repo, "HEAD~1").try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::DirtySubmodule, "{failure}");
    assert!(failure.message.contains(named), "{failure}");
}

#[test]
fn clean_submodules_are_held_by_their_commits() {
    let (repo, _sub, _inner) = nested_submodules();
    let before = Untouched::of(&repo, repo.root());
    let pin = Source::of(&repo, "HEAD~1").pin();
    assert_eq!(before, Untouched::of(&repo, repo.root()));
    assert!(!pin.dirty);
    let elsewhere = repo.beside("elsewhere");
    repo.git(&["clone", "-q", ".", elsewhere.to_str().unwrap()]);
    let source = Source::at(
        &repo,
        &elsewhere,
        Some("HEAD~1"),
        crate::support::source::git(),
    );
    assert_eq!(
        source.pin().identity.tree,
        pin.identity.tree,
        "not initialised is clean"
    );
    std::fs::write(elsewhere.join("sub/file.txt"), "hidden from git").unwrap();
    assert_eq!(source.try_pin(1).unwrap_err().code, Code::DirtySubmodule);
}

/// T-005.
#[test]
fn ignore_all_hides_no_edit() {
    let (repo, _sub, _inner) = nested_submodules();
    repo.git(&["config", "submodule.sub.ignore", "all"]);
    repo.git(&["config", "diff.ignoreSubmodules", "all"]);
    repo.git(&["config", "-f", ".gitmodules", "submodule.sub.ignore", "all"]);
    std::fs::write(at(&repo, "sub/README.md"), "# Edited\n").unwrap();
    dirty(&repo, "README.md");
    repo::git(&at(&repo, "sub"), &["add", "README.md"]);
    dirty(&repo, "README.md");
}

/// T-203: the file is shown neither by the superproject nor by a plain status inside.
#[test]
fn the_submodules_own_settings_hide_no_file() {
    let (repo, _sub, _inner) = nested_submodules();
    repo::git(
        &at(&repo, "sub"),
        &["config", "status.showUntrackedFiles", "no"],
    );
    Source::of(&repo, "HEAD~1").pin();
    std::fs::write(at(&repo, "sub/new file.txt"), "x").unwrap();
    assert_eq!(
        repo.git(&["status", "--porcelain", "-uall", "--ignore-submodules=none"]),
        ""
    );
    dirty(&repo, "new file.txt");
}

/// T-006: it appears while reviewers work; the round is stale.
#[test]
fn a_file_hidden_in_a_submodule_makes_an_open_round_stale() {
    let (repo, _sub, _inner) = nested_submodules();
    let inner = at(&repo, "sub/inner");
    repo::git(&inner, &["config", "status.showUntrackedFiles", "no"]);
    let source = Source::of(&repo, "HEAD~1");
    let pin = source.pin();
    std::fs::write(inner.join("new.txt"), "x").unwrap();
    let failure = source.try_measure(&pin).unwrap_err();
    assert_eq!(failure.code, Code::SourceMoved, "{failure}");
    assert!(failure.message.contains("sub/inner"), "{failure}");
}

#[test]
fn edits_that_git_was_told_to_overlook_are_seen_inside() {
    let (repo, _sub, _inner) = nested_submodules();
    let sub = at(&repo, "sub");
    repo::git(&sub, &["update-index", "--assume-unchanged", "README.md"]);
    repo::git(&sub, &["update-index", "--skip-worktree", "src/lib.rs"]);
    Source::of(&repo, "HEAD~1").pin();
    std::fs::write(sub.join("src/lib.rs"), "// hidden\n").unwrap();
    dirty(&repo, "src/lib.rs");
    repo::git(&sub, &["update-index", "--no-skip-worktree", "src/lib.rs"]);
    repo::git(&sub, &["checkout", "-q", "src/lib.rs"]);
    std::fs::write(sub.join("README.md"), "# hidden\n").unwrap();
    dirty(&repo, "README.md");
}

/// Scenario S19: a moved pointer is content, whatever hides it.
#[test]
fn a_moved_submodule_is_in_the_tree() {
    let (repo, _sub, _inner) = nested_submodules();
    repo.git(&["config", "submodule.sub.ignore", "all"]);
    let sub = at(&repo, "sub");
    repo::git(&sub, &["commit", "-q", "--allow-empty", "-m", "further"]);
    repo.git(&["update-index", "--assume-unchanged", "sub"]);
    let source = Source::of(&repo, "HEAD");
    let pin = source.pin();
    let entry = repo::git(
        source.store.git_dir(),
        &["ls-tree", pin.snapshot.as_str(), "sub"],
    );
    assert!(
        entry.contains(&repo::git(&sub, &["rev-parse", "HEAD"])),
        "{entry}"
    );
    repo.git(&["update-index", "--no-assume-unchanged", "sub"]);
    repo.git(&["config", "--unset", "submodule.sub.ignore"]);
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
    // The same inside: the submodule's own submodule stands elsewhere than it says.
    repo::git(
        &sub.join("inner"),
        &["commit", "-q", "--allow-empty", "-m", "further"],
    );
    repo::git(&sub, &["config", "submodule.inner.ignore", "all"]);
    dirty(&repo, "inner");
}

#[test]
fn a_submodule_whose_git_leads_elsewhere_is_refused() {
    let (repo, _sub, _inner) = nested_submodules();
    let sub = at(&repo, "sub");
    std::fs::remove_file(sub.join(".git")).unwrap();
    std::fs::create_dir(sub.join(".git")).unwrap();
    dirty(&repo, "sub");
    std::fs::remove_dir(sub.join(".git")).unwrap();
    let other = Repo::new();
    std::fs::write(
        sub.join(".git"),
        format!("gitdir: {}/.git\n", other.root().display()),
    )
    .unwrap();
    other.git(&["config", "core.worktree", other.root().to_str().unwrap()]);
    dirty(&repo, "sub");
}

#[test]
fn a_submodule_that_was_deleted_or_replaced_is_content() {
    let (repo, _sub, _inner) = nested_submodules();
    std::fs::remove_dir_all(at(&repo, "sub")).unwrap();
    let source = Source::of(&repo, "HEAD~1");
    assert_eq!(
        source.pin().identity.tree.as_str(),
        reference(repo.root(), &[])
    );
    repo.write("sub", "a file now");
    assert_eq!(
        source.pin().identity.tree.as_str(),
        reference(repo.root(), &[])
    );
}

/// One that carries its own git directory, as old ones do and as a plain clone is added.
#[test]
fn a_submodule_with_its_git_directory_inside() {
    let (sub, repo) = (Repo::new(), Repo::new());
    let inside = at(&repo, "sub");
    sub.git(&["clone", "-q", ".", inside.to_str().unwrap()]);
    repo.git(&["submodule", "--quiet", "add", "./sub", "sub"]);
    repo.commit("with sub");
    assert!(inside.join(".git").is_dir());
    crate::trial::same(&repo).is_clean();
    repo::git(&inside, &["commit", "-q", "--allow-empty", "-m", "further"]);
    crate::trial::same(&repo).has_mode("sub", "160000");
    std::fs::write(inside.join("new.txt"), "x").unwrap();
    dirty(&repo, "new.txt");
    std::fs::remove_file(inside.join("new.txt")).unwrap();
    repo.git(&["submodule", "--quiet", "absorbgitdirs"]);
    assert!(inside.join(".git").is_file());
    crate::trial::same(&repo).has_mode("sub", "160000");
}

/// No line of `.gitmodules` tells of it, and nothing of it is active.
#[test]
fn a_submodule_that_is_not_listed_or_not_active() {
    let (repo, _sub, _inner) = nested_submodules();
    repo.git(&["config", "submodule.sub.active", "false"]);
    repo.git(&["config", "submodule.sub.update", "none"]);
    crate::trial::same(&repo).is_clean();
    std::fs::remove_file(at(&repo, ".gitmodules")).unwrap();
    crate::trial::same(&repo).lacks(".gitmodules");
    std::fs::write(at(&repo, "sub/new.txt"), "x").unwrap();
    dirty(&repo, "new.txt");
}

#[test]
fn a_submodule_that_was_staged_and_not_committed() {
    let (sub, repo) = (Repo::new(), Repo::new());
    repo.commit("second");
    let url = sub.root().to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", url, "sub"]);
    crate::trial::same(&repo).has_mode("sub", "160000");
    std::fs::write(at(&repo, "sub/README.md"), "# Edited\n").unwrap();
    dirty(&repo, "README.md");
}

/// Taken out of the index, it is a repository that nobody knows of.
#[test]
fn a_submodule_that_was_removed_from_the_index_alone() {
    let (repo, _sub, _inner) = nested_submodules();
    repo.git(&["rm", "-q", "--cached", "sub"]);
    crate::trial::refused(&repo, Code::NestedRepository, "sub");
}

#[test]
fn a_submodule_without_a_commit() {
    let (repo, _sub, _inner) = nested_submodules();
    let sub = at(&repo, "sub");
    repo::git(&sub, &["checkout", "-q", "--orphan", "unborn"]);
    dirty(&repo, "sub");
}

/// Where a clone has an empty folder in its place, or nothing at all.
#[test]
fn a_submodule_that_is_not_initialised() {
    let (repo, _sub, _inner) = nested_submodules();
    let clone = repo.beside("clone");
    repo.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    Trial::at(&repo, &clone)
        .same()
        .is_clean()
        .has_mode("sub", "160000");
    std::fs::remove_dir(clone.join("sub")).unwrap();
    Trial::at(&repo, &clone).same().lacks("sub");
}

#[test]
fn a_submodule_that_is_not_initialised_and_holds_files_is_refused() {
    let (repo, _sub, _inner) = nested_submodules();
    let clone = repo.beside("clone");
    repo.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    std::fs::write(clone.join("sub/file.txt"), "hidden from git").unwrap();
    Trial::at(&repo, &clone).refused(Code::DirtySubmodule, "sub");
}

/// What its patterns leave out is no deletion, and what lies there all the same is an edit.
#[test]
fn a_sparse_submodule() {
    let (sub, repo) = (Repo::new(), Repo::new());
    let url = sub.root().to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", url, "sub"]);
    repo.commit("with sub");
    let inside = at(&repo, "sub");
    repo::git(&inside, &["sparse-checkout", "set", "--no-cone", "/src/"]);
    for value in ["true", "0x1"] {
        let setting = ["config", "--worktree", "core.sparseCheckout", value];
        repo::git(&inside, &setting);
        assert!(!inside.join("README.md").exists(), "the checkout is sparse");
        crate::trial::same(&repo).is_clean();
        std::fs::write(inside.join("README.md"), "# Edited\n").unwrap();
        dirty(&repo, "README.md");
        std::fs::remove_file(inside.join("README.md")).unwrap();
    }
}
