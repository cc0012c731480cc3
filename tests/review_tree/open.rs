//! What an agent finds in its tree (rows M-070 to M-072, T-012, T-015).

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use run_loop::domain::code::Code;
use run_loop::domain::oid::Oid;

use crate::fixture::{World, slot_name, trees};
use crate::support::repo::{Repo, git, git_command};

#[test]
fn a_tree_holds_exactly_the_snapshot_and_then_the_next() {
    let world = World::new();
    let first = world.open("a", "one");
    assert_eq!(std::fs::read_dir(first.join("sub")).unwrap().count(), 0);
    let second = world.open("a", "two");
    assert_eq!(first, second, "the slot is kept");
    assert!(!second.join("deep").exists());
    world.open("a", "one");
    assert_eq!(world.quarantined(), 0);
    world.release();
}

/// I04: one tree per reviewer.
#[test]
fn slots_are_apart_and_open_at_once() {
    let world = World::new();
    std::thread::scope(|scope| {
        for slot in ["a", "b", "c", "d"] {
            let world = &world;
            scope.spawn(move || world.open(slot, "two"));
        }
    });
    let (a, b) = (world.root().join("a/tree"), world.root().join("b/tree"));
    std::fs::write(a.join("README.md"), "probe\n").unwrap();
    world.holds(&b, "two");
    world.release();
}

#[test]
fn the_agents_git_knows_the_history() {
    let world = World::new();
    let tree = world.open("a", "two");
    let run = |args: &[&str]| git(&tree, args);
    assert_eq!(run(&["status", "--porcelain", "-uall"]), "");
    assert_eq!(run(&["rev-parse", "HEAD"]), world.oid("two").to_string());
    assert_eq!(run(&["rev-parse", "main"]), world.oid("one~1").to_string());
    assert_eq!(
        run(&["rev-parse", "refs/tags/one"]),
        world.oid("one").to_string()
    );
    assert_eq!(run(&["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
    assert_eq!(run(&["log", "--format=%s"]), "two\none\nfirst");
    assert!(run(&["diff", "--stat", "main"]).contains("new/file"));
    run(&["fsck", "--connectivity-only"]);
    // What an agent does there stays there.
    std::fs::write(tree.join("README.md"), "experiment\n").unwrap();
    run(&["commit", "-q", "-a", "-m", "experiment"]);
    run(&["branch", "wild"]);
    run(&["gc", "-q", "--prune=now"]);
    world.untouched();
    world.open("a", "two");
    world.release();
}

/// T-015, I03: what a reviewer edits is not the source, and is gone in the next round.
#[test]
fn edits_of_a_reviewer_reach_nobody() {
    let world = World::new();
    let tree = world.open("a", "two");
    std::fs::write(tree.join("README.md"), "edited\n").unwrap();
    std::fs::remove_dir_all(tree.join("src")).unwrap();
    world.untouched();
    world.open("a", "two");
    assert_eq!(world.quarantined(), 0);
    world.release();
}

#[test]
fn files_are_the_blobs_whatever_attributes_and_settings_say() {
    let repo = Repo::new();
    repo.write("crlf", "a\r\nb\r\n");
    repo.write("lf.txt", "a\nb $Id$\n");
    repo.write("secret.lfs", "version https://git-lfs.github.com/spec/v1\n");
    repo.write("evil.x", "raw\n");
    repo.git(&["-c", "core.autocrlf=false", "add", "-A"]);
    repo.git(&["commit", "-q", "-m", "raw"]);
    repo.write(
        ".gitattributes",
        "* text=auto eol=crlf\n*.txt ident working-tree-encoding=UTF-16\n*.lfs filter=lfs\n*.x filter=evil\n",
    );
    repo.git(&["add", ".gitattributes"]);
    repo.git(&["commit", "-q", "-m", "one"]);
    repo.git(&["tag", "one"]);
    repo.git(&["tag", "one-more"]);
    let ran = repo.beside("ran");
    let home = repo.beside("home");
    std::fs::create_dir(&home).unwrap();
    let touch = format!("touch {}; cat", ran.display());
    let settings = format!(
        "[core]\n\tautocrlf = true\n\tfsmonitor = \"{touch}\"\n\
         [filter \"evil\"]\n\tsmudge = \"{touch}\"\n\tclean = \"{touch}\"\n\trequired = true\n\
         [filter \"lfs\"]\n\tsmudge = \"{touch}\"\n\tclean = \"{touch}\"\n\trequired = true\n",
    );
    std::fs::write(home.join(".gitconfig"), &settings).unwrap();
    let config = repo.root().join(".git/config");
    let own = std::fs::read_to_string(&config).unwrap();
    std::fs::write(config, own + &settings).unwrap();
    let hook = repo.root().join(".git/hooks/post-checkout");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let world = World::around(repo);
    let tree = world.open("a", "one");
    assert_eq!(std::fs::read(tree.join("crlf")).unwrap(), b"a\r\nb\r\n");
    assert_eq!(std::fs::read(tree.join("lf.txt")).unwrap(), b"a\nb $Id$\n");
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
    world.open("a", "one");
    assert!(!ran.exists(), "no filter and no hook ran");
    world.release();
}

#[test]
fn a_base_that_is_no_plain_name_makes_no_ref() {
    let world = World::new();
    let (snapshot, tree) = (world.oid("two"), world.oid("two^{tree}"));
    for name in [
        "two~1",
        "bad\nname",
        "one",
        "HEAD",
        "-x",
        world.oid("one").as_str(),
    ] {
        let opened = world
            .trees
            .open(&slot_name("a"), &snapshot, &tree, &world.oid("one"), name);
        let path = opened.unwrap().path;
        let refs = git(
            Path::new(&path),
            &["for-each-ref", "--format=%(refname)", "refs/heads"],
        );
        assert!(
            matches!(refs.as_str(), "" | "refs/heads/-x"),
            "{name:?}: {refs}"
        );
        assert_eq!(git(Path::new(&path), &["status", "--porcelain"]), "");
    }
    let opened = world.trees.open(
        &slot_name("a"),
        &snapshot,
        &tree,
        &world.oid("one"),
        "origin/main",
    );
    let path = opened.unwrap().path;
    git(Path::new(&path), &["diff", "--quiet", "origin/main", "one"]);
    world.release();
}

/// T-012, M-071: a tree that cannot be opened refuses the round; nothing is lowered.
#[test]
fn a_tree_that_cannot_be_made_is_a_failure() {
    let world = World::new();
    let (snapshot, tree) = (world.oid("two"), world.oid("one^{tree}"));
    let open = |tree: &Oid| {
        world
            .trees
            .open(&slot_name("a"), &snapshot, tree, &snapshot, "main")
    };
    let failure = open(&tree).unwrap_err();
    assert_eq!(failure.code, Code::ReviewTreeFailed);
    assert!(
        failure.message.contains("does not hold the tree"),
        "{}",
        failure.message
    );
    std::fs::write(world.repo.beside("cache").join("trees"), "in the way").unwrap();
    let failure = open(&world.oid("two^{tree}")).unwrap_err();
    assert_eq!(failure.code, Code::ReviewTreeFailed);
    world.untouched();
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    let world = World::new();
    let root = world.root();
    std::fs::create_dir_all(&root).unwrap();
    for folder in [root.parent().unwrap(), &root] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    std::fs::write(root.join("precious"), "mine").unwrap();
    assert_eq!(
        world.try_open("a", "one").unwrap_err().code,
        Code::ReviewTreeFailed
    );
    assert_eq!(world.trees.release().len(), 1);
    assert_eq!(std::fs::read(root.join("precious")).unwrap(), b"mine");
}

/// A slot of a process that died is not believed; a new one is made.
#[test]
fn after_a_crash_the_slot_is_new() {
    let world = World::new();
    world.open("a", "one");
    let World { repo, .. } = &world;
    let later = trees(repo);
    let tree = later
        .open(
            &slot_name("a"),
            &world.oid("two"),
            &world.oid("two^{tree}"),
            &world.oid("one"),
            "main",
        )
        .unwrap();
    world.holds(Path::new(&tree.path), "two");
    assert_eq!(world.quarantined(), 1);
    assert_eq!(later.release(), Vec::<String>::new());
    assert!(!world.root().exists());
    world.untouched();
}

#[test]
fn a_repository_with_sha_256() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("repo");
    std::fs::create_dir(&root).unwrap();
    git(
        &root,
        &["init", "-q", "--object-format=sha256", "-b", "main"],
    );
    std::fs::write(root.join("a"), "a\n").unwrap();
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "one"]);
    let found = run_loop::git::Git::find_in(&run_loop::git::GitEnvironment {
        path: std::env::var_os("PATH").unwrap(),
        program: Some(crate::support::repo::git_program()),
        no_system_config: true,
        ..run_loop::git::GitEnvironment::default()
    })
    .unwrap();
    let repo = run_loop::git::Repository::discover(&found, &root).unwrap();
    let cache = folder.path().canonicalize().unwrap().join("cache");
    let store = run_loop::git::ReviewStore::open(&found, &repo, &cache).unwrap();
    let id = run_loop::domain::id::LoopId::parse(crate::fixture::LOOP).unwrap();
    let trees = run_loop::git::review_tree::ReviewTrees::new(&found, &store, &repo, &cache, id);
    let oid = |rev: &str| Oid::parse(&git(&root, &["rev-parse", rev])).unwrap();
    let tree = trees
        .open(
            &slot_name("a"),
            &oid("HEAD"),
            &oid("HEAD^{tree}"),
            &oid("HEAD"),
            "main",
        )
        .unwrap();
    let status = git_command(Path::new(&tree.path))
        .args(["status", "--porcelain"])
        .output()
        .unwrap();
    assert!(status.status.success() && status.stdout.is_empty());
    assert_eq!(trees.release(), Vec::<String>::new());
}
