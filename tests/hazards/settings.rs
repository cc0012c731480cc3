//! Settings of a repository under which git, or what stands in for it, looks at less.

use run_loop::domain::code::Code;

use crate::support::repo::{Repo, git_command};
use crate::trial::{Trial, chmod, link, refused, remove, same};

/// An edit and a new file under a setting.
#[track_caller]
fn under(name: &str, value: &str) -> Repo {
    let repo = Repo::new();
    repo.git(&["config", name, value]);
    repo.git(&["-c", "core.fsmonitor=false", "status", "-uall"]);
    repo.write("README.md", "# Edited\n");
    repo.write("new/file.txt", "new\n");
    Trial::of(&repo)
        .careful("core.fsmonitor=false")
        .same()
        .shows("README.md", "# Edited\n")
        .shows("new/file.txt", "new\n");
    repo
}

#[test]
fn show_untracked_files_no() {
    under("status.showUntrackedFiles", "no");
}

#[test]
fn preload_index_false() {
    under("core.preloadIndex", "false");
}

#[test]
fn add_ignore_errors_true() {
    under("add.ignoreErrors", "true");
}

#[test]
fn many_files_feature() {
    under("feature.manyFiles", "true");
}

/// Where git has a monitor of its own (not on Linux yet), no capture starts it. That none is believed is
/// shown by `flags::fsmonitor_that_reports_nothing`.
#[test]
fn fsmonitor_builtin() {
    let repo = under("core.fsmonitor", "true");
    let status = git_command(repo.root())
        .args(["fsmonitor--daemon", "status"])
        .output();
    assert!(!status.unwrap().status.success(), "a daemon runs");
}

#[test]
fn submodule_recurse_true() {
    under("submodule.recurse", "true");
}

#[test]
fn quotepath_and_precompose_unicode() {
    let repo = Repo::new();
    repo.git(&["config", "core.precomposeUnicode", "true"]);
    repo.git(&["config", "core.quotePath", "true"]);
    repo.write("e\u{301}.txt", "decomposed\n");
    repo.write("\u{e9}.txt", "composed\n");
    same(&repo)
        .shows("e\u{301}.txt", "decomposed\n")
        .shows("\u{e9}.txt", "composed\n");
}

/// The file's mode is noise; a new file is none either.
#[test]
fn file_mode_false() {
    let repo = Repo::new();
    repo.git(&["config", "core.fileMode", "false"]);
    chmod(&repo.root().join("README.md"), 0o755);
    repo.write("new.sh", "true\n");
    chmod(&repo.root().join("new.sh"), 0o755);
    same(&repo)
        .has_mode("README.md", "100644")
        .has_mode("new.sh", "100644");
}

#[test]
fn file_mode_false_keeps_a_tracked_executable() {
    let repo = Repo::new();
    repo.write("run.sh", "true\n");
    chmod(&repo.root().join("run.sh"), 0o755);
    repo.commit("executable");
    repo.git(&["config", "core.fileMode", "false"]);
    chmod(&repo.root().join("run.sh"), 0o644);
    repo.write("run.sh", "false\n");
    same(&repo).has_mode("run.sh", "100755");
}

/// A file that holds a link's target is the link.
#[test]
fn symlinks_false() {
    let repo = Repo::new();
    link(&repo, "README.md", "link");
    repo.commit("link");
    repo.git(&["config", "core.symlinks", "false"]);
    remove(&repo, "link");
    repo.write("link", "src/lib.rs");
    same(&repo)
        .has_mode("link", "120000")
        .shows("link", "src/lib.rs");
}

#[test]
fn ignore_case_true() {
    let repo = Repo::new();
    repo.git(&["config", "core.ignoreCase", "true"]);
    std::fs::rename(repo.root().join("README.md"), repo.root().join("ReadMe.md")).unwrap();
    repo.write("SRC/other.rs", "x\n");
    same(&repo);
}

/// Git takes both for one file, and what it enters depends on the order of its reading.
#[test]
fn ignore_case_and_two_names_is_refused() {
    let repo = Repo::new();
    repo.write("readme.MD", "# Another\n");
    repo.commit("two names");
    same(&repo).is_clean();
    repo.git(&["config", "core.ignoreCase", "true"]);
    refused(&repo, Code::SnapshotRefused, "core.ignoreCase");
}

#[test]
fn ignore_case_in_hex() {
    let repo = Repo::new();
    repo.write("readme.MD", "# Another\n");
    repo.commit("two names");
    repo.git(&["config", "core.ignoreCase", "0x1"]);
    refused(&repo, Code::SnapshotRefused, "core.ignoreCase");
}

#[test]
fn case_only_rename() {
    let repo = Repo::new();
    std::fs::rename(repo.root().join("README.md"), repo.root().join("ReadMe.md")).unwrap();
    same(&repo)
        .lacks("README.md")
        .shows("ReadMe.md", "# A project\n");
}

/// Git takes the repository's word for what a command of its own means only where it has none.
#[test]
fn alias_of_a_git_command() {
    let repo = Repo::new();
    for name in ["add", "write-tree", "ls-files", "update-index", "rev-parse"] {
        repo.git(&["config", &format!("alias.{name}"), "version"]);
    }
    repo.write("new.txt", "new\n");
    same(&repo).shows("new.txt", "new\n");
}

/// Settings of the repository that the user's own files would be stored otherwise by.
#[test]
fn compression_and_large_file_settings() {
    let repo = Repo::new();
    for (name, value) in [
        ("core.bigFileThreshold", "10"),
        ("core.compression", "0"),
        ("core.looseCompression", "9"),
        ("pack.packSizeLimit", "1m"),
        ("core.multiPackIndex", "false"),
        ("core.fsync", "none"),
    ] {
        repo.git(&["config", name, value]);
    }
    repo.write("large.txt", "more than ten bytes\n".repeat(10));
    same(&repo).shows("large.txt", "more than ten bytes\n".repeat(10));
}

#[test]
fn included_configuration() {
    let repo = Repo::new();
    let included = repo.beside("included");
    std::fs::write(&included, "[core]\n\tautocrlf = input\n").unwrap();
    repo.git(&["config", "include.path", included.to_str().unwrap()]);
    repo.write("new.txt", "a\r\nb\r\n");
    same(&repo).shows("new.txt", "a\nb\n");
}

#[test]
fn configuration_that_git_cannot_read_is_refused() {
    let repo = Repo::new();
    let source = crate::support::source::Source::of(&repo, "HEAD");
    std::fs::write(repo.root().join(".git/config"), "[core\n").unwrap();
    assert!(
        !git_command(repo.root())
            .arg("status")
            .output()
            .unwrap()
            .status
            .success()
    );
    let failure = source.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::GitFailed);
}
