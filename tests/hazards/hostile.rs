//! A hostile repository runs nothing (scenarios I08, I09); filters run by the allow-list alone.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use run_loop::domain::code::Code;
use run_loop::git::{Git, GitEnvironment, Repository};

use crate::support::reference::reference;
use crate::support::repo::{self, Repo};
use crate::support::source::{Source, environment, git};
use crate::trial::script;

/// A program that leaves a mark when it runs.
fn marking(repo: &Repo) -> (PathBuf, PathBuf) {
    let (mark, program) = (repo.beside("it-ran"), repo.beside("evil"));
    script(&program, &format!("echo \"$0 $*\" >> {}", mark.display()));
    (mark, program)
}

/// I08.
#[test]
fn hooks_monitors_aliases_and_helpers_never_run() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.commit("on the branch");
    let (mark, evil) = marking(&repo);
    let evil = evil.to_str().unwrap();
    for hook in [
        "post-index-change",
        "pre-commit",
        "post-commit",
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
        "sendemail-validate",
    ] {
        let text = format!("exec {evil} {hook}");
        script(&repo.root().join(".git/hooks").join(hook), &text);
        script(&repo.root().join("hooks").join(hook), &text);
    }
    for (name, value) in [
        ("core.hooksPath", "hooks"),
        ("core.fsmonitor", evil),
        ("core.sshCommand", evil),
        ("core.editor", evil),
        ("core.pager", evil),
        ("core.askPass", evil),
        ("core.gitProxy", evil),
        ("core.alternateRefsCommand", evil),
        ("credential.helper", evil),
        ("diff.external", evil),
        ("diff.evil.textconv", evil),
        ("merge.evil.driver", evil),
        ("gpg.program", evil),
        ("commit.gpgSign", "true"),
        ("pager.status", "true"),
        ("sequence.editor", evil),
        ("uploadpack.packObjectsHook", evil),
        ("gc.auto", "1"),
        ("maintenance.auto", "true"),
        ("gc.recentObjectsHook", evil),
        ("alias.add", &format!("!{evil}")),
        ("alias.status", &format!("!{evil}")),
    ] {
        repo::git_command(repo.root())
            .args(["config", name, value])
            .status()
            .unwrap();
    }
    std::fs::remove_file(&mark).ok();
    repo.write(".gitattributes", "* diff=evil merge=evil\n");
    repo.write("new.txt", "x");
    let mut source = Source::of(&repo, "main");
    source.spec.keep_snapshots = true;
    let pin = source.pin();
    repo.write("new.txt", "y");
    source.measure(&pin);
    let ran = || std::fs::read_to_string(&mark).unwrap_or_default();
    assert_eq!(ran(), "");
    // Plain git would have.
    repo.git(&["-c", "alias.add=", "add", "-A"]);
    for what in ["evil post-index-change", "evil 2 "] {
        assert!(ran().contains(what), "{what}: {}", ran());
    }
}

#[test]
fn a_selected_filter_that_is_not_allowed_is_refused_and_does_not_run() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.commit("on the branch");
    let (mark, evil) = marking(&repo);
    repo.write(".gitattributes", "*.evil filter=evil\n");
    repo.write("a.evil", "unfiltered");
    Source::of(&repo, "main").pin();
    for key in ["clean", "smudge", "process"] {
        let name = format!("filter.evil.{key}");
        repo.git(&["config", &name, evil.to_str().unwrap()]);
        let failure = Source::of(&repo, "main").try_pin(1).unwrap_err();
        assert_eq!(failure.code, Code::FilterNotAllowed, "{failure}");
        assert!(failure.message.contains("a.evil"), "{failure}");
        assert!(failure.message.contains("--allow-filter evil"), "{failure}");
        repo.git(&["config", "--unset", &name]);
    }
    assert!(!mark.exists());
    // Defined, but no file selects it.
    repo.git(&["config", "filter.evil.clean", evil.to_str().unwrap()]);
    std::fs::remove_file(repo.root().join("a.evil")).unwrap();
    Source::of(&repo, "main").pin();
    assert!(!mark.exists());
}

/// A file that comes to select the driver after we looked cannot run it either: git has no command
/// for it, and must have one. Shown by attributes that `check-attr` is not asked about.
#[test]
fn a_filter_that_is_selected_in_between_does_not_run() {
    let repo = Repo::new();
    let (mark, evil) = marking(&repo);
    repo.git(&["config", "filter.a=b.clean", evil.to_str().unwrap()]);
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(repo::git_program()))
        .find(|file| file.is_file())
        .unwrap();
    let posing = repo.beside("posing");
    let late = format!(
        "for word; do [ \"$word\" = add ] && echo '* filter=a=b' > .gitattributes; done\n\
         exec '{}' \"$@\"",
        real.display()
    );
    script(&posing, &late);
    repo.write("new.txt", "x");
    let git = Git::find_in(&GitEnvironment {
        program: Some(posing),
        ..environment()
    });
    let source = Source::at(&repo, repo.root(), Some("HEAD"), git.unwrap());
    let failure = source.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::FilterNotAllowed, "{failure}");
    assert!(!mark.exists());
}

#[test]
fn an_allowed_filter_runs_as_in_git_itself() {
    let repo = Repo::new();
    repo.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    repo.write(".gitattributes", "*.up filter=upper\n");
    repo.write("a.up", "shout\n");
    let mut source = Source::of(&repo, "HEAD");
    source.spec.allow_filters = vec!["upper".to_owned()];
    let pin = source.pin();
    let path = format!("{}:a.up", pin.snapshot);
    assert_eq!(repo::git(source.store.git_dir(), &["show", &path]), "SHOUT");
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
}

/// LFS works unasked, and keeps what it makes in the store.
#[test]
fn lfs_runs_with_a_storage_of_its_own() {
    let repo = Repo::new();
    let (folder, storage) = (repo.beside("bin"), repo.beside("storage"));
    let clean = format!(
        "cat > /dev/null; git config lfs.storage > {}; echo \"skip=$GIT_LFS_SKIP_SMUDGE pointer\"",
        storage.display()
    );
    script(&folder.join("git-lfs"), &clean);
    repo.git(&["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    repo.git(&["config", "filter.lfs.required", "true"]);
    repo.write(".gitattributes", "*.bin filter=lfs\n");
    repo.write("large.bin", "large");
    let mut environment = environment();
    let mut path = folder.clone().into_os_string();
    path.push(":");
    path.push(&environment.path);
    environment.path = path;
    let git = Git::find_in(&environment).unwrap();
    let source = Source::at(&repo, repo.root(), Some("HEAD"), git);
    let pin = source.pin();
    let path = format!("{}:large.bin", pin.snapshot);
    assert_eq!(
        repo::git(source.store.git_dir(), &["show", &path]),
        "skip=1 pointer"
    );
    let storage = std::fs::read_to_string(storage).unwrap();
    assert!(
        Path::new(storage.trim_end()).starts_with(source.store.git_dir()),
        "{storage}"
    );
    // The name alone allows nothing.
    repo.git(&["config", "filter.lfs.clean", "cat"]);
    let failure = source.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::FilterNotAllowed);
}

/// A filter of a submodule's own configuration is a filter.
#[test]
fn filters_inside_submodules_do_not_run() {
    let (sub, repo) = (Repo::new(), Repo::new());
    sub.write(".gitattributes", "*.evil filter=evil\n");
    sub.write("a.evil", "unfiltered");
    sub.commit("attributes");
    let url = sub.root().to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", url, "sub"]);
    repo.commit("with sub");
    let (mark, evil) = marking(&repo);
    let inside = repo.root().join("sub");
    repo::git(
        &inside,
        &["config", "filter.evil.clean", evil.to_str().unwrap()],
    );
    repo::git(
        &inside,
        &["config", "core.fsmonitor", evil.to_str().unwrap()],
    );
    std::fs::write(inside.join("a.evil"), "edited").unwrap();
    let failure = Source::of(&repo, "HEAD~1").try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::FilterNotAllowed, "{failure}");
    assert!(!mark.exists());
}

/// I08: a working tree elsewhere is not the one that the command was started in.
#[test]
fn a_configured_working_tree_elsewhere_is_not_followed() {
    let repo = Repo::new();
    let elsewhere = repo.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let source = Source::of(&repo, "HEAD");
    let pin = source.pin();
    repo.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    let failure = Repository::discover(&git(), repo.root()).unwrap_err();
    assert_eq!(failure.code, Code::NoWorkingTree, "{failure}");
    assert!(source.try_pin(1).is_err());
    assert_eq!(
        source.try_measure(&pin).unwrap_err().code,
        Code::MeasureFailed
    );
}

/// Replace refs and grafts show another history than the one that merges.
#[test]
fn replaced_objects_and_grafts_are_not_believed() {
    let repo = Repo::new();
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.write("evil.txt", "x");
    let second = repo.commit("second");
    let pin = Source::of(&repo, "main").pin();
    repo.git(&["replace", &second, &first]);
    std::fs::create_dir_all(repo.root().join(".git/info")).unwrap();
    std::fs::write(repo.root().join(".git/info/grafts"), format!("{second}\n")).unwrap();
    let again = Source::of(&repo, "main").pin();
    assert_eq!(again.identity, pin.identity);
}

/// I09, W12: nothing is inherited, so a variable of a hook that started us cannot reach git; and git opens
/// no editor and asks nothing at the terminal.
#[test]
fn the_environment_of_git_is_made_from_nothing() {
    let git = Git::find_in(&GitEnvironment {
        home: Some("/home/ann".into()),
        ..environment()
    });
    let command = git.unwrap().command(Path::new("/"));
    let names: Vec<&str> = command
        .env
        .keys()
        .map(|name| name.to_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "GIT_ADVICE",
            "GIT_CONFIG_NOSYSTEM",
            "GIT_EDITOR",
            "GIT_GRAFT_FILE",
            "GIT_NO_REPLACE_OBJECTS",
            "GIT_OPTIONAL_LOCKS",
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "LC_ALL",
            "PATH",
        ]
    );
    let value = |name: &str| command.env.get(OsStr::new(name)).unwrap().to_str().unwrap();
    let values = ["GIT_EDITOR", "GIT_TERMINAL_PROMPT"].map(value);
    assert_eq!(values, ["true", "0"]);
}
