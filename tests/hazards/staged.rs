//! What stands in the index and what in the working tree.

use crate::support::repo::{Repo, git_command};
use crate::trial::{remove, same};

#[test]
fn staged_only() {
    let repo = Repo::new();
    repo.write("new.txt", "staged\n");
    repo.write("README.md", "# Staged\n");
    repo.git(&["add", "-A"]);
    same(&repo)
        .shows("new.txt", "staged\n")
        .shows("README.md", "# Staged\n");
}

#[test]
fn staged_then_edited() {
    let repo = Repo::new();
    repo.write("README.md", "# Staged\n");
    repo.git(&["add", "-A"]);
    repo.write("README.md", "# Edited\n");
    same(&repo).shows("README.md", "# Edited\n");
}

#[test]
fn staged_then_deleted() {
    let repo = Repo::new();
    repo.write("new.txt", "staged\n");
    repo.git(&["add", "-A"]);
    remove(&repo, "new.txt");
    same(&repo).lacks("new.txt").is_clean();
}

#[test]
fn staged_deletion_of_a_file_that_came_back() {
    let repo = Repo::new();
    repo.git(&["rm", "-q", "README.md"]);
    repo.write("README.md", "# Back\n");
    same(&repo).shows("README.md", "# Back\n");
}

#[test]
fn staged_rename() {
    let repo = Repo::new();
    repo.git(&["mv", "README.md", "docs.md"]);
    repo.write("docs.md", "# Renamed, then edited\n");
    same(&repo)
        .lacks("README.md")
        .shows("docs.md", "# Renamed, then edited\n");
}

/// `git add -p`: the index holds what neither HEAD nor the working tree does.
#[test]
fn staged_in_part() {
    let repo = Repo::new();
    repo.write("README.md", "# One\n");
    let blob = repo.git(&["hash-object", "-w", "README.md"]);
    repo.write("README.md", "# One\n# Two\n");
    let entry = format!("100644,{blob},README.md");
    repo.git(&["update-index", "--cacheinfo", &entry]);
    same(&repo).shows("README.md", "# One\n# Two\n");
}

#[test]
fn staged_mode_that_the_file_has_not() {
    let repo = Repo::new();
    repo.git(&["update-index", "--chmod=+x", "README.md"]);
    same(&repo).has_mode("README.md", "100644");
    repo.git(&["config", "core.fileMode", "false"]);
    same(&repo).has_mode("README.md", "100755");
}

#[test]
fn intent_to_add() {
    let repo = Repo::new();
    repo.write("intended.txt", "intended\n");
    repo.git(&["add", "-N", "intended.txt"]);
    same(&repo).shows("intended.txt", "intended\n");
}

/// The entry is in the index, so the file is tracked in spite of the rule.
#[test]
fn intent_to_add_of_an_ignored_file() {
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\n");
    repo.write("intended.log", "intended\n");
    repo.git(&["add", "-f", "-N", "intended.log"]);
    same(&repo).shows("intended.log", "intended\n");
}

#[test]
fn intent_to_add_of_a_file_that_is_gone() {
    let repo = Repo::new();
    repo.write("intended.txt", "intended\n");
    repo.git(&["add", "-N", "intended.txt"]);
    remove(&repo, "intended.txt");
    same(&repo).lacks("intended.txt").is_clean();
}

#[test]
fn intent_to_add_of_an_empty_file() {
    let repo = Repo::new();
    repo.write("empty.txt", "");
    repo.git(&["add", "-N", "empty.txt"]);
    same(&repo).shows("empty.txt", "");
}

/// A stash that was applied with a conflict leaves no operation behind, only its sides.
fn unmerged() -> Repo {
    let repo = Repo::new();
    repo.write("README.md", "# Stashed\n");
    repo.git(&["rm", "-q", "src/lib.rs"]);
    repo.git(&["stash", "-q"]);
    repo.write("README.md", "# Committed\n");
    repo.write("src/lib.rs", "// committed\n");
    repo.commit("other");
    let popped = git_command(repo.root())
        .args(["stash", "pop"])
        .output()
        .unwrap();
    assert!(!popped.status.success());
    assert_ne!(repo.git(&["ls-files", "-u"]), "");
    repo
}

#[test]
fn unmerged_with_markers() {
    let repo = unmerged();
    let text = std::fs::read(repo.root().join("README.md")).unwrap();
    assert!(String::from_utf8_lossy(&text).contains("<<<<<<<"));
    same(&repo).shows("README.md", text);
}

#[test]
fn unmerged_and_resolved_in_the_working_tree() {
    let repo = unmerged();
    repo.write("README.md", "# Resolved\n");
    same(&repo).shows("README.md", "# Resolved\n");
}

#[test]
fn unmerged_and_deleted() {
    let repo = unmerged();
    for path in ["README.md", "src"] {
        if repo.root().join(path).exists() {
            remove(&repo, path);
        }
    }
    same(&repo).lacks("README.md").lacks("src/lib.rs");
}

#[test]
fn unmerged_and_a_folder_now() {
    let repo = unmerged();
    remove(&repo, "README.md");
    repo.write("README.md/inside.txt", "x\n");
    same(&repo).shows("README.md/inside.txt", "x\n");
}
