//! Flags of the index that tell git not to look (T-202).

use std::time::Duration;

use crate::clock::enter_ctime;
use crate::support::repo::Repo;
use crate::trial::{Trial, moment, remove, same, script, set_mtime};

fn flagged(flag: &str, paths: &[&str]) -> Repo {
    let repo = Repo::new();
    repo.write("gone.txt", "gone\n");
    repo.commit("files");
    let mut args = vec!["update-index", flag];
    args.extend(paths);
    repo.git(&args);
    repo
}

#[track_caller]
fn shows_hidden_edit(flag: &str) {
    let repo = flagged(flag, &["README.md", "src/lib.rs", "gone.txt"]);
    same(&repo).is_clean();
    repo.write("README.md", "# Hidden edit\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "{flag} hides it");
    same(&repo).shows("README.md", "# Hidden edit\n");
}

#[track_caller]
fn shows_hidden_deletion(flag: &str) {
    let repo = flagged(flag, &["README.md", "gone.txt"]);
    remove(&repo, "gone.txt");
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "{flag} hides it");
    same(&repo).lacks("gone.txt");
}

/// Same size, same times, an index that is younger: stat data say nothing, and flagged entries
/// never got the racily-clean check. To take the flag away shows nothing either.
#[track_caller]
fn shows_hidden_edit_of_the_same_size_and_time(flag: &str) {
    let repo = Repo::new();
    let (file, index) = (
        repo.root().join("README.md"),
        repo.root().join(".git/index"),
    );
    set_mtime(&file, moment());
    repo.git(&["add", "README.md"]);
    repo.git(&["update-index", flag, "README.md"]);
    repo.write("README.md", "# a projecT\n");
    set_mtime(&file, moment());
    enter_ctime(&repo, None);
    let is_overlooked = || {
        set_mtime(&index, moment() + Duration::from_mins(1));
        repo.git(&["--no-optional-locks", "status", "--porcelain"])
            .is_empty()
    };
    assert!(is_overlooked(), "the flag hides it");
    let before = std::fs::read(&index).unwrap();
    let no_flag = flag.replacen("--", "--no-", 1);
    repo.git(&["update-index", &no_flag, "README.md"]);
    assert!(is_overlooked(), "the stat data hide it too");
    std::fs::write(&index, before).unwrap();
    assert!(is_overlooked());
    same(&repo).shows("README.md", "# a projecT\n");
}

#[test]
fn assume_unchanged_present() {
    shows_hidden_edit("--assume-unchanged");
}

#[test]
fn skip_worktree_present() {
    shows_hidden_edit("--skip-worktree");
}

#[test]
fn assume_unchanged_absent() {
    shows_hidden_deletion("--assume-unchanged");
}

#[test]
fn skip_worktree_absent() {
    shows_hidden_deletion("--skip-worktree");
}

#[test]
fn assume_unchanged_same_size_and_time() {
    shows_hidden_edit_of_the_same_size_and_time("--assume-unchanged");
}

#[test]
fn skip_worktree_same_size_and_time() {
    shows_hidden_edit_of_the_same_size_and_time("--skip-worktree");
}

#[test]
fn both_flags_on_one_file() {
    let repo = Repo::new();
    repo.git(&["update-index", "--assume-unchanged", "README.md"]);
    repo.git(&["update-index", "--skip-worktree", "README.md"]);
    repo.write("README.md", "# Hidden edit\n");
    same(&repo).shows("README.md", "# Hidden edit\n");
}

/// The mode that was staged is kept where git is told not to believe the file's.
#[test]
fn flag_on_a_file_whose_staged_mode_counts() {
    let repo = Repo::new();
    repo.git(&["config", "core.fileMode", "false"]);
    repo.git(&["update-index", "--chmod=+x", "README.md"]);
    repo.git(&["update-index", "--skip-worktree", "README.md"]);
    repo.write("README.md", "# Hidden edit\n");
    same(&repo).has_mode("README.md", "100755");
}

#[test]
fn flag_on_a_link() {
    let repo = Repo::new();
    crate::trial::link(&repo, "README.md", "link");
    repo.commit("link");
    repo.git(&["update-index", "--assume-unchanged", "link"]);
    remove(&repo, "link");
    crate::trial::link(&repo, "src/lib.rs", "link");
    same(&repo)
        .has_mode("link", "120000")
        .shows("link", "src/lib.rs");
}

#[test]
fn flagged_file_that_is_a_folder_now() {
    let repo = flagged("--skip-worktree", &["gone.txt"]);
    remove(&repo, "gone.txt");
    repo.write("gone.txt/inside.txt", "x\n");
    same(&repo).shows("gone.txt/inside.txt", "x\n");
}

#[test]
fn flagged_file_whose_folder_is_a_file_now() {
    let repo = flagged("--assume-unchanged", &["src/lib.rs"]);
    remove(&repo, "src");
    repo.write("src", "x\n");
    same(&repo).shows("src", "x\n");
}

/// `core.ignoreStat` marks whatever git enters as assume-unchanged.
#[test]
fn ignorestat_true() {
    let repo = Repo::new();
    repo.git(&["config", "core.ignoreStat", "true"]);
    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["update-index", "--really-refresh"]);
    repo.write("README.md", "# Hidden edit\n");
    // Plain git must not look less carefully itself.
    Trial::of(&repo)
        .careful("core.ignoreStat=false")
        .same()
        .shows("README.md", "# Hidden edit\n");
}

/// A monitor that reports nothing: git believes it, and marks every file as valid.
#[test]
fn fsmonitor_that_reports_nothing() {
    let repo = Repo::new();
    let monitor = repo.beside("monitor");
    script(&monitor, "printf 'token\\0'");
    repo.git(&["config", "core.fsmonitor", monitor.to_str().unwrap()]);
    repo.git(&["update-index", "--fsmonitor"]);
    repo.git(&["status"]);
    repo.write("README.md", "# Hidden edit\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "it is believed");
    Trial::of(&repo)
        .careful("core.fsmonitor=false")
        .same()
        .shows("README.md", "# Hidden edit\n");
}

/// A cache of untracked files that was made while git looks away: its folder has the time that it had.
#[test]
fn untracked_cache_that_is_stale() {
    let repo = Repo::new();
    let folder = repo.root().join("src");
    repo.git(&["config", "core.untrackedCache", "true"]);
    repo.git(&["config", "core.trustctime", "false"]);
    repo.git(&["update-index", "--force-untracked-cache"]);
    repo.write(".git/info/exclude", "*.log\n");
    repo.write("src/ignored.log", "new\n");
    set_mtime(&folder, moment());
    repo.git(&["status"]);
    repo.git(&["status"]);
    // As many names as before: some file systems tell that by a folder's size.
    std::fs::rename(folder.join("ignored.log"), folder.join("new.rs")).unwrap();
    set_mtime(&folder, moment());
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "it is believed");
    same(&repo).shows("src/new.rs", "new\n");
}
