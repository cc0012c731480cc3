//! Sparse checkouts. The model is a full checkout in which the same edits were made.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::repo::Repo;
use crate::trial::{Seen, Trial, moment, remove, set_mtime};

fn sparse(kind: &str) -> (Repo, PathBuf) {
    let repo = Repo::new();
    repo.write("docs/guide.md", "guide\n");
    repo.write("docs/deep/more.md", "more\n");
    repo.write("tools/run.sh", "run\n");
    repo.commit("files");
    let full = repo.beside("full");
    repo.git(&["clone", "-q", ".", full.to_str().unwrap()]);
    repo.git(&["sparse-checkout", "set", kind, "src"]);
    assert!(!repo.root().join("docs").exists(), "the checkout is sparse");
    (repo, full)
}

/// Makes the same edit in both.
fn write(repo: &Repo, full: &Path, path: &str, text: &str) {
    for root in [repo.root(), full] {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[track_caller]
fn same(repo: &Repo, full: &Path) -> Seen {
    Trial::of(repo).model(full).same()
}

#[track_caller]
fn loses_nothing_and_hides_nothing(kind: &str) {
    let (repo, full) = sparse(kind);
    same(&repo, &full).is_clean();
    write(&repo, &full, "src/lib.rs", "// inside\n");
    write(&repo, &full, "src/new.rs", "// new inside\n");
    same(&repo, &full);
    write(&repo, &full, "docs/guide.md", "edited outside\n");
    write(&repo, &full, "docs/new.md", "new outside\n");
    same(&repo, &full)
        .shows("src/new.rs", "// new inside\n")
        .shows("docs/guide.md", "edited outside\n")
        .shows("docs/new.md", "new outside\n")
        .shows("tools/run.sh", "run\n");
}

#[test]
fn cone() {
    loses_nothing_and_hides_nothing("--no-sparse-index");
}

#[test]
fn non_cone() {
    loses_nothing_and_hides_nothing("--no-cone");
}

#[test]
fn sparse_index() {
    loses_nothing_and_hides_nothing("--sparse-index");
}

/// What git takes for a switch that is on, in whatever way the number is written.
#[test]
fn odd_spelling() {
    for value in ["0x1", "1k", "01"] {
        let (repo, full) = sparse("--no-sparse-index");
        repo.git(&["config", "--worktree", "core.sparseCheckout", value]);
        same(&repo, &full).is_clean();
        write(&repo, &full, "docs/guide.md", "edited outside\n");
        write(&repo, &full, "docs/new.md", "new outside\n");
        same(&repo, &full)
            .shows("docs/guide.md", "edited outside\n")
            .shows("docs/new.md", "new outside\n")
            .shows("tools/run.sh", "run\n");
    }
}

#[test]
fn deletion_inside() {
    let (repo, full) = sparse("--sparse-index");
    remove(&repo, "src/lib.rs");
    std::fs::remove_file(full.join("src/lib.rs")).unwrap();
    same(&repo, &full).lacks("src/lib.rs");
}

#[test]
fn file_in_place_of_a_folder_outside() {
    let (repo, full) = sparse("--no-sparse-index");
    std::fs::remove_dir_all(full.join("docs")).unwrap();
    repo.write("docs", "x\n");
    std::fs::write(full.join("docs"), "x\n").unwrap();
    same(&repo, &full).shows("docs", "x\n");
}

#[test]
fn disabled_again_with_flags_left_behind() {
    let (repo, full) = sparse("--no-sparse-index");
    repo.git(&["config", "--worktree", "core.sparseCheckout", "false"]);
    write(&repo, &full, "docs/guide.md", "edited\n");
    // Nothing says any more that the other files may be absent: they are deletions.
    std::fs::remove_dir_all(full.join("tools")).unwrap();
    std::fs::remove_dir_all(full.join("docs/deep")).unwrap();
    same(&repo, &full)
        .shows("docs/guide.md", "edited\n")
        .lacks("tools/run.sh");
}

#[test]
fn setting_of_the_working_tree_alone() {
    let (repo, full) = sparse("--cone");
    let config = repo.git(&["config", "--show-scope", "core.sparseCheckout"]);
    assert!(config.starts_with("worktree"), "{config}");
    let linked = repo.linked("linked", "linked", "HEAD");
    std::fs::write(linked.join("src/lib.rs"), "// linked\n").unwrap();
    std::fs::write(full.join("src/lib.rs"), "// linked\n").unwrap();
    Trial::at(&repo, &linked)
        .model(&full)
        .same()
        .shows("src/lib.rs", "// linked\n");
}

/// The flag of a file that lies outside the patterns is dropped in memory by newer git, but what
/// the index says about the file is as stale as before.
#[test]
fn hidden_edit_of_the_same_size_and_time() {
    let (repo, full) = sparse("--no-sparse-index");
    repo.git(&["sparse-checkout", "disable"]);
    let file = repo.root().join("docs/guide.md");
    set_mtime(&file, moment());
    repo.git(&["update-index", "--refresh"]);
    repo.git(&["config", "core.sparseCheckout", "true"]);
    repo.git(&["config", "core.sparseCheckoutCone", "false"]);
    let patterns = repo.root().join(".git/info/sparse-checkout");
    std::fs::create_dir_all(patterns.parent().unwrap()).unwrap();
    std::fs::write(patterns, "/src/\n/README.md\n").unwrap();
    repo.git(&["update-index", "--skip-worktree", "docs/guide.md"]);
    write(&repo, &full, "docs/guide.md", "GUIDE\n");
    set_mtime(&file, moment());
    set_mtime(
        &repo.root().join(".git/index"),
        moment() + Duration::from_mins(1),
    );
    same(&repo, &full).shows("docs/guide.md", "GUIDE\n");
}
