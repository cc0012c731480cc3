//! Which way a capture takes: by git alone wherever something is not covered, and else by giving git
//! what differs alone. That both make one tree is what every other hazard shows (`Trial::same`).

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use run_loop::git::Git;

use crate::support::reference::reference;
use crate::support::repo::{Repo, git as git_at, pipe};
use crate::support::source::{Source, environment};
use crate::trial::{link, moment, real_git, remove, script, set_mtime};

/// What is done to a repository.
type Change = fn(&Repo);

/// The commands that a pin of a working tree starts, each by its own name and what follows.
#[track_caller]
fn commands(repo: &Repo, root: &Path) -> Vec<String> {
    let (log, program) = (repo.beside("log"), repo.beside("logging"));
    let text = format!(
        "skip= line=\nfor word; do\n\
         if [ -n \"$line\" ]; then line=\"$line $word\"\n\
         elif [ -n \"$skip\" ]; then skip=\n\
         elif [ \"$word\" = -c ]; then skip=yes\n\
         else line=$word; fi\ndone\n\
         printf '%s\\n' \"$line\" >> '{}'\nexec '{}' \"$@\"",
        log.display(),
        real_git().display()
    );
    script(&program, &text);
    let mut environment = environment();
    environment.program = Some(program);
    let source = Source::at(
        repo,
        root,
        Some("HEAD"),
        Git::find_in(&environment).unwrap(),
    );
    std::fs::write(&log, "").unwrap();
    let pin = source.pin();
    let commands = std::fs::read_to_string(&log).unwrap();
    assert_eq!(pin.identity.tree.as_str(), reference(root, &[]));
    commands.lines().map(str::to_owned).collect()
}

/// Whether git goes through the whole working tree.
fn is_by_git(commands: &[String]) -> bool {
    let has = |name: &str| commands.iter().any(|command| command.starts_with(name));
    assert_eq!(has("add -A"), has("write-tree"), "{commands:?}");
    has("add -A")
}

#[track_caller]
fn quick(repo: &Repo) -> Vec<String> {
    quick_at(repo, repo.root())
}

#[track_caller]
fn quick_at(repo: &Repo, root: &Path) -> Vec<String> {
    let commands = commands(repo, root);
    assert!(!is_by_git(&commands), "{commands:?}");
    let of_capture = ["add", "check-ignore", "mktree", "--literal-pathspecs"];
    let is_of_capture = |command: &String| {
        let first = command.split(' ').next();
        first.is_some_and(|first| of_capture.contains(&first))
    };
    commands.into_iter().filter(is_of_capture).collect()
}

#[track_caller]
fn by_git(repo: &Repo) {
    let commands = commands(repo, repo.root());
    assert!(is_by_git(&commands), "{commands:?}");
}

/// Files that are older than the index: none is racily clean.
pub(crate) fn aged() -> Repo {
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\nbuild/\n");
    repo.write(".gitattributes", "*.md text eol=lf\n");
    repo.write("more/.gitattributes", "*.txt text\n");
    repo.write("empty.txt", "");
    repo.write("docs/deep/a.md", "one\n");
    repo.write("docs/b.md", "two\n");
    repo.write("run.sh", "true\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repo.root().join("run.sh"), executable).unwrap();
    link(&repo, "docs/b.md", "link");
    repo.git(&["add", "-A"]);
    age(&repo);
    repo.commit("aged");
    age(&repo);
    repo
}

fn age(repo: &Repo) {
    let files = repo.git(&["ls-files"]);
    for file in files.lines().filter(|file| *file != "link") {
        set_mtime(&repo.root().join(file), moment());
    }
    // Not refreshed: git overlooks a change of nothing but a time within one second.
    repo.git(&["read-tree", "HEAD"]);
    repo.git(&["update-index", "-q", "--refresh"]);
    // A link's time cannot be set everywhere: the index is later than its.
    let later = std::fs::symlink_metadata(repo.root().join("link"));
    let later = later.unwrap().modified().unwrap() + Duration::from_secs(2);
    set_mtime(&repo.root().join(".git/index"), later);
}

#[test]
fn clean_tree_needs_no_git() {
    assert_eq!(quick(&aged()), Vec::<String>::new());
}

#[test]
fn what_differs_is_all_that_git_is_given() {
    let repo = aged();
    repo.write("docs/deep/a.md", "six\r\n");
    assert_eq!(quick(&repo), ["add -u", "mktree -z --batch"]);
    repo.write("new.txt", "new\n");
    repo.write("a.log", "ignored\n");
    repo.write("build/out", "ignored\n");
    let paths = "--literal-pathspecs add -A --pathspec-from-file=- --pathspec-file-nul";
    let ignored = "check-ignore --no-index -z --stdin";
    assert_eq!(
        quick(&repo),
        [ignored, "add -u", paths, "mktree -z --batch"]
    );
    repo.git(&["checkout", "-q", "--", "docs"]);
    age(&repo);
    assert_eq!(quick(&repo), [ignored, paths, "mktree -z --batch"]);
    remove(&repo, "new.txt");
    assert_eq!(quick(&repo), [ignored], "all of it is ignored");
}

/// Times are the same, and only the second of the index says that the file may have changed.
#[test]
fn racily_clean_file_is_given_to_git() {
    let repo = aged();
    set_mtime(&repo.root().join(".git/index"), moment());
    assert_eq!(quick(&repo), ["add -u"]);
}

#[test]
fn every_kind_of_change_is_covered() {
    let changes: [(&str, Change); 16] = [
        ("removed", |it| remove(it, "docs/b.md")),
        ("a whole folder removed", |it| remove(it, "docs")),
        ("another mode", |it| {
            let plain = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(it.root().join("run.sh"), plain).unwrap();
        }),
        ("file to link", |it| {
            remove(it, "docs/b.md");
            link(it, "deep/a.md", "docs/b.md");
        }),
        ("link to file", |it| {
            remove(it, "link");
            it.write("link", "docs/b.md");
        }),
        ("file to folder", |it| {
            remove(it, "docs/b.md");
            it.write("docs/b.md/inside", "x");
        }),
        ("folder to file", |it| {
            remove(it, "docs");
            it.write("docs", "x");
        }),
        ("folder to link", |it| {
            remove(it, "docs/deep");
            link(it, "..", "docs/deep");
        }),
        ("folder to link to its like", |it| {
            std::fs::rename(it.root().join("docs"), it.root().join("docs-2")).unwrap();
            link(it, "docs-2", "docs");
        }),
        ("link to folder", |it| {
            remove(it, "link");
            it.write("link/inside", "x");
        }),
        ("folder to pipe", |it| {
            remove(it, "docs");
            pipe(&it.root().join("docs"));
        }),
        ("pipe", |it| pipe(&it.root().join("pipe"))),
        ("empty folders", |it| {
            std::fs::create_dir_all(it.root().join("void/void")).unwrap();
        }),
        ("folder with ignored files alone", |it| {
            it.write("new/x.log", "x");
        }),
        ("no longer empty", |it| it.write("empty.txt", "x")),
        ("everything ignored", |it| it.write(".gitignore", "*\n")),
    ];
    for (what, change) in changes {
        let repo = aged();
        change(&repo);
        let commands = quick(&repo);
        assert!(commands.len() <= 4, "{what}: {commands:?}");
    }
}

#[test]
fn names_that_git_could_read_in_another_way_are_covered() {
    let repo = aged();
    for name in [
        ":colon",
        ":(glob)**",
        "*.md",
        "[a]",
        "\"q\"",
        "a\nb",
        "-A",
        "é",
        "docs/:x",
        "docs/*",
    ] {
        repo.write(name, name);
    }
    repo.write(":ignored.log", "");
    quick(&repo);
}

/// A path that is ignored and tracked is no reason for git to complain.
#[test]
fn tracked_file_below_an_ignored_folder_is_covered() {
    let repo = aged();
    repo.write("build/kept", "one\n");
    repo.git(&["add", "-f", "build/kept"]);
    repo.commit("kept");
    repo.write("build/kept", "two\n");
    repo.write("build/new", "two\n");
    quick(&repo);
}

#[test]
fn staged_entries_are_covered() {
    let repo = aged();
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.git(&["rm", "-q", "--cached", "docs/b.md"]);
    assert!(quick(&repo).contains(&"mktree -z --batch".to_owned()));
}

#[test]
fn other_formats_and_places_are_covered() {
    let repo = aged();
    repo.git(&["update-index", "--index-version", "4"]);
    repo.write("docs/b.md", "edited\n");
    quick(&repo);
    let linked = repo.linked("linked", "other", "HEAD");
    std::fs::write(linked.join("new.txt"), "new").unwrap();
    quick_at(&repo, &linked);
}

/// What is not covered is captured by git alone.
#[test]
fn settings_that_are_not_covered() {
    for setting in [
        "core.fileMode=false",
        "core.symlinks=false",
        "core.ignoreCase=true",
        "core.precomposeUnicode=true",
        "core.sparseCheckout=true",
        "index.sparse=true",
        "filter.f.clean=cat",
        "filter.f.process=cat",
        "remote.origin.promisor=true",
        "remote.origin.partialCloneFilter=blob:none",
        "extensions.partialClone=origin",
    ] {
        let repo = aged();
        repo.write("docs/b.md", "edited\n");
        let (name, value) = setting.split_once('=').unwrap();
        repo.git(&["config", name, value]);
        by_git(&repo);
        repo.git(&["config", "--unset", name]);
        quick(&repo);
    }
}

#[test]
fn states_that_are_not_covered() {
    let states: [(&str, Change); 9] = [
        ("attributes that are gone", |it| {
            remove(it, "more/.gitattributes");
        }),
        ("assumed", |it| {
            it.git(&["update-index", "--assume-unchanged", "run.sh"]);
        }),
        ("skipped", |it| {
            it.git(&["update-index", "--skip-worktree", "run.sh"]);
        }),
        ("intended", |it| {
            it.write("later", "x");
            it.git(&["add", "-N", "later"]);
        }),
        ("in a conflict", |it| {
            let blob = it.write_blob("x");
            it.index_info(&format!("100644 {blob} 1\tboth\0100644 {blob} 2\tboth\0"));
        }),
        ("a submodule", |it| {
            let head = it.git(&["rev-parse", "HEAD"]);
            let entry = format!("160000,{head},module");
            it.git(&["update-index", "--add", "--cacheinfo", &entry]);
            std::fs::create_dir(it.root().join("module")).unwrap();
        }),
        ("split", |it| {
            it.git(&["update-index", "--split-index"]);
        }),
        ("an ignored repository", |it| {
            it.write("docs/.gitignore", "/deep/.git\n");
            git_at(it.root(), &["init", "-q", "docs/deep"]);
        }),
        ("a broken `.git` in a folder", |it| {
            it.write("docs/.git/x", "x");
        }),
    ];
    for (_, state) in states {
        let repo = aged();
        quick(&repo);
        state(&repo);
        by_git(&repo);
    }
}
