//! Excludes at every level, and what is tracked all the same.

use crate::support::repo::Repo;
use crate::trial::{Trial, link, refused, same};

#[test]
fn gitignore() {
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\n/build/\n");
    repo.write("a.log", "x");
    repo.write("build/out", "x");
    repo.write("deep/build/kept", "x");
    same(&repo)
        .lacks("a.log")
        .lacks("build/out")
        .shows("deep/build/kept", "x");
}

#[test]
fn gitignore_nested_and_negated() {
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\n");
    repo.write("deep/.gitignore", "!kept.log\n*.tmp\n");
    repo.write("deep/kept.log", "x");
    repo.write("deep/other.log", "x");
    repo.write("deep/a.tmp", "x");
    repo.write("a.tmp", "x");
    same(&repo)
        .shows("deep/kept.log", "x")
        .lacks("deep/other.log")
        .lacks("deep/a.tmp")
        .shows("a.tmp", "x");
}

/// A file cannot come back from an excluded folder.
#[test]
fn gitignore_negation_below_an_excluded_folder() {
    let repo = Repo::new();
    repo.write(".gitignore", "/out/\n!/out/kept\n");
    repo.write("out/kept", "x");
    same(&repo).lacks("out/kept");
}

#[test]
fn gitignore_that_ignores_itself() {
    let repo = Repo::new();
    repo.write(".gitignore", ".gitignore\n*.log\n");
    repo.write("a.log", "x");
    same(&repo).lacks("a.log").lacks(".gitignore").is_clean();
}

#[test]
fn gitignore_with_crlf_and_a_byte_order_mark() {
    let repo = Repo::new();
    repo.write(".gitignore", "\u{feff}first.log\nsecond.log\r\n");
    for name in ["first.log", "second.log"] {
        repo.write(name, "x");
    }
    same(&repo).lacks("first.log");
}

#[test]
fn gitignore_that_is_a_folder() {
    let repo = Repo::new();
    repo.write(".gitignore/inside", "*.log\n");
    repo.write("a.log", "x");
    same(&repo).shows("a.log", "x");
}

/// Git reads no rules through a link, and says so on each command: what is excluded is in doubt.
#[test]
fn gitignore_that_is_a_link_is_refused() {
    let repo = Repo::new();
    repo.write("rules", "*.log\n");
    link(&repo, "rules", ".gitignore");
    refused(
        &repo,
        run_loop::domain::code::Code::SnapshotRefused,
        ".gitignore",
    );
}

#[test]
fn info_exclude() {
    let repo = Repo::new();
    std::fs::create_dir_all(repo.root().join(".git/info")).unwrap();
    std::fs::write(repo.root().join(".git/info/exclude"), "/private.txt\n").unwrap();
    repo.write("private.txt", "x");
    same(&repo).lacks("private.txt").is_clean();
}

#[test]
fn core_excludes_file() {
    let repo = Repo::new();
    let file = repo.beside("excludes");
    std::fs::write(&file, "*.swp\n").unwrap();
    repo.git(&["config", "core.excludesFile", file.to_str().unwrap()]);
    repo.write("a.swp", "x");
    same(&repo).lacks("a.swp").is_clean();
}

/// The user's own excludes are part of what git takes for the change.
#[test]
fn excludes_of_the_users_home() {
    let repo = Repo::new();
    let home = repo.beside("home");
    std::fs::create_dir_all(home.join(".config/git")).unwrap();
    std::fs::write(home.join(".config/git/ignore"), "*.swp\n").unwrap();
    repo.write("a.swp", "x");
    Trial::of(&repo).home(&home).same().lacks("a.swp");
    same(&repo).shows("a.swp", "x");
}

#[test]
fn tracked_then_ignored() {
    let repo = Repo::new();
    repo.write("build/kept.txt", "tracked\n");
    repo.write("build/gone.txt", "tracked\n");
    repo.commit("tracked");
    repo.write(".gitignore", "build/\n");
    repo.write("build/kept.txt", "edited\n");
    std::fs::remove_file(repo.root().join("build/gone.txt")).unwrap();
    repo.write("build/other.txt", "ignored\n");
    same(&repo)
        .shows("build/kept.txt", "edited\n")
        .lacks("build/gone.txt")
        .lacks("build/other.txt");
}

#[test]
fn ignored_then_forced() {
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\n");
    repo.write("forced.log", "forced\n");
    repo.git(&["add", "-f", "forced.log"]);
    repo.write("forced.log", "forced, then edited\n");
    same(&repo).shows("forced.log", "forced, then edited\n");
}

/// Out of the index and ignored: `add -A` leaves it out, an index seeded from HEAD alone would not.
#[test]
fn removed_and_ignored() {
    let repo = Repo::new();
    repo.write("secrets.env", "x\n");
    repo.commit("by mistake");
    repo.git(&["rm", "-q", "--cached", "secrets.env"]);
    repo.write(".gitignore", "secrets.env\n");
    same(&repo).lacks("secrets.env");
}

/// Out of the index, and neither ignored nor deleted: it is as if nothing had been done.
#[test]
fn removed_and_still_there() {
    let repo = Repo::new();
    repo.git(&["rm", "-q", "--cached", "README.md"]);
    same(&repo).shows("README.md", "# A project\n").is_clean();
}
