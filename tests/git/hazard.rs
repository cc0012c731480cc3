//! Hazards: settings, flags and clocks under which other ways of capturing go wrong. Each is
//! compared with the tree that plain git makes by an index seeded from HEAD.

use std::fs::{File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::fixture::{Source, Untouched, environment, git, reference};
use crate::support::repo::{self, Repo};

#[track_caller]
fn same_as_reference(repo: &Repo) -> String {
    let before = Untouched::of(repo, repo.root());
    let source = Source::of(repo, "HEAD");
    let pin = source.pin();
    assert_eq!(source.measure(&pin).pin, pin);
    assert_eq!(before, Untouched::of(repo, repo.root()));
    let tree = pin.identity.tree.to_string();
    assert_eq!(tree, reference(repo.root(), &[]));
    tree
}

fn set_mtime(path: &Path, time: SystemTime) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// A moment in whole seconds, a little in the past.
fn moment() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000)
}

/// T-202.
#[test]
fn edits_that_git_was_told_to_overlook_are_in_the_tree() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = Repo::new();
        repo.write("kept.txt", "kept\n");
        repo.write("gone.txt", "gone\n");
        repo.write("plain.txt", "plain\n");
        let head = repo.commit("files");
        repo.git(&[
            "update-index",
            flag,
            "README.md",
            "src/lib.rs",
            "kept.txt",
            "gone.txt",
        ]);
        assert_eq!(
            same_as_reference(&repo),
            repo.git(&["rev-parse", &format!("{head}^{{tree}}")])
        );
        repo.write("README.md", "# Hidden edit\n");
        std::fs::remove_file(repo.root().join("gone.txt")).unwrap();
        repo.write("plain.txt", "seen\n");
        assert_eq!(
            repo.git(&["status", "--porcelain"]),
            " M plain.txt",
            "{flag} hides the rest"
        );
        same_as_reference(&repo);
    }
}

#[test]
fn both_flags_on_one_file_hide_nothing() {
    let repo = Repo::new();
    repo.git(&["update-index", "--assume-unchanged", "README.md"]);
    repo.git(&["update-index", "--skip-worktree", "README.md"]);
    repo.write("README.md", "# Hidden edit\n");
    same_as_reference(&repo);
}

/// Same size, same mtime, an index that is younger: stat data say nothing, and flagged entries
/// never got the racily-clean check.
#[test]
fn a_hidden_edit_of_the_same_size_and_time_is_in_the_tree() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let repo = Repo::new();
        let file = repo.root().join("README.md");
        set_mtime(&file, moment());
        repo.git(&["add", "README.md"]);
        repo.git(&["update-index", flag, "README.md"]);
        repo.write("README.md", "# a projecT\n");
        set_mtime(&file, moment());
        set_mtime(
            &repo.root().join(".git/index"),
            moment() + Duration::from_mins(1),
        );
        same_as_reference(&repo);
    }
}

/// The index is as old as the file, so git looks inside; a copy with a later mtime would not.
#[test]
fn a_racily_clean_edit_is_in_the_tree() {
    let repo = Repo::new();
    let file = repo.root().join("README.md");
    set_mtime(&file, moment());
    repo.git(&["update-index", "--really-refresh"]);
    repo.git(&["add", "README.md"]);
    repo.write("README.md", "# a projecT\n");
    set_mtime(&file, moment());
    set_mtime(&repo.root().join(".git/index"), moment());
    same_as_reference(&repo);
}

#[test]
fn settings_that_make_git_look_less_carefully_change_nothing() {
    for (name, value) in [
        ("core.ignoreStat", "true"),
        ("core.checkStat", "minimal"),
        ("core.trustctime", "false"),
        ("core.untrackedCache", "true"),
        ("core.preloadIndex", "false"),
        ("core.fsmonitor", "true"),
        ("add.ignoreErrors", "true"),
        ("index.version", "4"),
        ("feature.manyFiles", "true"),
        ("status.showUntrackedFiles", "no"),
    ] {
        let repo = Repo::new();
        repo.git(&["config", name, value]);
        repo.git(&["-c", "core.fsmonitor=false", "status", "-uall"]);
        repo.write("README.md", "# Edited\n");
        repo.write("new/file.txt", "new\n");
        let before = Untouched::of(&repo, repo.root());
        let pin = Source::of(&repo, "HEAD").pin();
        assert_eq!(before, Untouched::of(&repo, repo.root()), "{name}");
        // The reference must not look less carefully itself, nor start a daemon.
        let careful = ["core.ignoreStat=false", "core.fsmonitor=false"];
        assert_eq!(
            pin.identity.tree.as_str(),
            reference(repo.root(), &careful),
            "{name}"
        );
    }
}

#[test]
fn conversions_that_the_user_configured_are_gits_own() {
    for setting in [
        &["core.autocrlf", "true"][..],
        &["core.autocrlf", "input"],
        &["core.safecrlf", "warn", "core.autocrlf", "true"],
        &["core.fileMode", "false"],
        &["core.symlinks", "false"],
        &["core.ignoreCase", "true"],
    ] {
        let repo = Repo::new();
        for pair in setting.chunks(2) {
            repo.git(&["config", pair[0], pair[1]]);
        }
        repo.write(
            ".gitattributes",
            "*.utf16 working-tree-encoding=UTF-16LE-BOM\n*.id ident\n*.bat text eol=crlf\n",
        );
        repo.write("lf.txt", "a\nb\n");
        repo.write("crlf.txt", "a\r\nb\r\n");
        repo.write("x.bat", "a\r\nb\r\n");
        repo.write("x.id", "$Id: stale$\n");
        repo.write("x.utf16", [0xff, 0xfe, b'a', 0, b'\n', 0]);
        let file = repo.root().join("src/lib.rs");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, executable).unwrap();
        same_as_reference(&repo);
    }
}

#[test]
fn ignored_tracked_and_intended_files_are_gits_own() {
    let repo = Repo::new();
    repo.write("build/kept.txt", "tracked, then ignored\n");
    repo.commit("tracked");
    repo.write(".gitignore", "build/\n*.log\n");
    repo.write("build/kept.txt", "edited\n");
    repo.write("build/other.txt", "ignored\n");
    repo.write("a.log", "ignored\n");
    repo.write("forced.log", "forced\n");
    repo.git(&["add", "-f", "forced.log"]);
    repo.write("forced.log", "forced, then edited\n");
    repo.write("intended.txt", "intended\n");
    repo.git(&["add", "-N", "intended.txt"]);
    let excludes = repo.root().join(".git/info/exclude");
    std::fs::create_dir_all(excludes.parent().unwrap()).unwrap();
    std::fs::write(excludes, "/private.txt\n").unwrap();
    repo.write("private.txt", "ignored\n");
    same_as_reference(&repo);
}

#[test]
fn kinds_that_change_into_others_are_gits_own() {
    let repo = Repo::new();
    repo.write("file-to-folder", "x");
    repo.write("folder-to-file/inside.txt", "x");
    repo.write("folder-to-link/inside.txt", "x");
    repo.commit("kinds");
    std::fs::remove_file(repo.root().join("file-to-folder")).unwrap();
    repo.write("file-to-folder/inside.txt", "x");
    for folder in ["folder-to-file", "folder-to-link"] {
        std::fs::remove_dir_all(repo.root().join(folder)).unwrap();
    }
    repo.write("folder-to-file", "x");
    std::os::unix::fs::symlink("src", repo.root().join("folder-to-link")).unwrap();
    same_as_reference(&repo);
}

#[test]
fn a_split_index_is_read_whole_and_its_halves_stay() {
    let repo = Repo::new();
    repo.git(&["config", "core.splitIndex", "true"]);
    repo.git(&["update-index", "--split-index"]);
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.write("README.md", "# Edited\n");
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(repo.root().join(".git"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let index = || std::fs::read(repo.root().join(".git/index")).unwrap();
    let before = (names(), index());
    assert!(
        before
            .0
            .iter()
            .any(|name| name.to_string_lossy().starts_with("sharedindex"))
    );
    let pin = Source::of(&repo, "HEAD").pin();
    // Git touches the shared half's mtime whenever it reads it, so that it does not expire.
    assert_eq!(before, (names(), index()));
    assert_eq!(
        pin.identity.tree.as_str(),
        reference(repo.root(), &["core.splitIndex=false"])
    );
}

#[test]
fn a_missing_index_is_seeded_from_head() {
    let repo = Repo::new();
    repo.write(".gitignore", "ignored.txt\n");
    repo.write("ignored.txt", "tracked all the same\n");
    repo.git(&["add", "-f", "ignored.txt"]);
    repo.commit("files");
    std::fs::remove_file(repo.root().join(".git/index")).unwrap();
    let pin = Source::of(&repo, "HEAD").pin();
    assert!(!repo.root().join(".git/index").exists());
    assert_eq!(
        pin.identity.tree.as_str(),
        repo.git(&["rev-parse", "HEAD^{tree}"])
    );
}

/// The reference is a full checkout in which the same edits were made.
#[test]
fn a_sparse_checkout_loses_nothing_and_hides_nothing() {
    for kind in [
        &["--no-sparse-index"][..],
        &["--sparse-index"],
        &["--no-cone"],
    ] {
        let repo = Repo::new();
        repo.write("docs/guide.md", "guide\n");
        repo.write("docs/deep/more.md", "more\n");
        repo.write("tools/run.sh", "run\n");
        repo.commit("files");
        let full = repo.beside("full");
        repo.git(&["clone", "-q", ".", full.to_str().unwrap()]);
        let mut set = vec!["sparse-checkout", "set"];
        set.extend(kind);
        set.push("src");
        repo.git(&set);
        assert!(!repo.root().join("docs").exists(), "the checkout is sparse");
        let clean = Source::of(&repo, "HEAD").pin();
        assert!(!clean.dirty, "{kind:?}: absent files are no deletions");
        let edit = |root: &Path| {
            let write = |path: &str, text: &str| {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            };
            write("src/lib.rs", "// inside\n");
            write("src/new.rs", "// new inside\n");
            write("docs/guide.md", "edited outside\n");
            write("docs/new.md", "new outside\n");
        };
        edit(repo.root());
        edit(&full);
        let before = Untouched::of(&repo, repo.root());
        let pin = Source::of(&repo, "HEAD").pin();
        assert_eq!(before, Untouched::of(&repo, repo.root()));
        assert_eq!(
            pin.identity.tree.as_str(),
            reference(&full, &[]),
            "{kind:?}"
        );
    }
}

/// The flag of a file that lies outside the patterns is dropped in memory by newer git, but what
/// the index says about the file is as stale as before.
#[test]
fn a_hidden_edit_of_the_same_size_in_a_sparse_checkout_is_in_the_tree() {
    let repo = Repo::new();
    repo.write("docs/guide.md", "guide\n");
    repo.commit("files");
    let full = repo.beside("full");
    repo.git(&["clone", "-q", ".", full.to_str().unwrap()]);
    let file = repo.root().join("docs/guide.md");
    set_mtime(&file, moment());
    repo.git(&["update-index", "--refresh"]);
    repo.git(&["config", "core.sparseCheckout", "true"]);
    let patterns = repo.root().join(".git/info/sparse-checkout");
    std::fs::create_dir_all(patterns.parent().unwrap()).unwrap();
    std::fs::write(patterns, "/src/\n/README.md\n").unwrap();
    repo.git(&["update-index", "--skip-worktree", "docs/guide.md"]);
    std::fs::write(&file, "GUIDE\n").unwrap();
    set_mtime(&file, moment());
    set_mtime(
        &repo.root().join(".git/index"),
        moment() + Duration::from_mins(1),
    );
    std::fs::write(full.join("docs/guide.md"), "GUIDE\n").unwrap();
    let pin = Source::of(&repo, "HEAD").pin();
    assert_eq!(pin.identity.tree.as_str(), reference(&full, &[]));
}

#[test]
fn sha256_and_reftable_repositories_are_pinned() {
    let mut formats = vec![["--object-format=sha256"]];
    if git().version() >= (2, 45) {
        formats.push(["--ref-format=reftable"]);
    }
    for format in formats {
        let repo = Repo::unborn();
        std::fs::remove_dir_all(repo.root().join(".git")).unwrap();
        repo.git(&["init", "-q", "-b", "main", format[0]]);
        repo.write("file.txt", "x\n");
        repo.commit("first");
        repo.write("file.txt", "y\n");
        same_as_reference(&repo);
    }
}

#[test]
fn odd_names_of_folders_are_no_hazard() {
    let repo = Repo::new();
    let odd = repo.beside("od:d \"quoted\" 'tree'");
    repo.git(&["worktree", "add", "-q", "-b", "odd", odd.to_str().unwrap()]);
    std::fs::write(odd.join("new.txt"), "x").unwrap();
    let found = crate::fixture::discover(&odd);
    let store = run_loop::git::ReviewStore::open(&git(), &found, &repo.beside("ca:che \"x\""));
    let mut source = Source::at(&repo, &odd, Some("main"), git());
    source.store = store.unwrap();
    assert_eq!(source.pin().identity.tree.as_str(), reference(&odd, &[]));
}

/// Packing fetches nothing, and what the remote promised may stay away.
#[test]
fn partial_and_shallow_clones_are_pinned_offline() {
    let origin = Repo::new();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.write("README.md", "# Other\n");
    origin.commit("second");
    origin.write("README.md", "# Third\n");
    origin.commit("third");
    let url = format!("file://{}", origin.root().display());
    for kind in ["--filter=blob:none", "--depth=2"] {
        let clone = origin.beside("clone");
        origin.git(&["clone", "-q", kind, &url, clone.to_str().unwrap()]);
        let away = "file:///nonexistent";
        repo::git(&clone, &["remote", "set-url", "origin", away]);
        repo::git(&clone, &["checkout", "-q", "-b", "feature"]);
        std::fs::write(clone.join("README.md"), "# Fourth\n").unwrap();
        std::fs::write(clone.join("new.txt"), "x\n").unwrap();
        let source = Source::at(&origin, &clone, Some("HEAD~1"), git());
        let pin = source.pin();
        assert_eq!(pin.commits, 1, "{kind}");
        assert_eq!(pin.identity.tree.as_str(), reference(&clone, &[]), "{kind}");
        assert_eq!(source.measure(&pin).pin, pin, "{kind}");
        let path = format!("{}:README.md", pin.snapshot);
        assert_eq!(
            repo::git(source.store.git_dir(), &["show", &path]),
            "# Fourth"
        );
        std::fs::remove_dir_all(&clone).unwrap();
    }
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
    let script = repo.beside("counting");
    let text = format!(
        "#!/bin/sh\necho x >> '{}'\nexec '{}' \"$@\"\n",
        log.display(),
        real.display()
    );
    std::fs::write(&script, text).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).unwrap();
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
