//! Trees with names that git itself refuses to check out, made by hand: `git add` would not take them.

use std::io::Write as _;
use std::process::{Command, Stdio};

use run_loop::domain::code::Code;

use crate::fixture::World;
use crate::support::repo::{git, git_command};

const FILE: &str = "100644 blob";
const LINK: &str = "120000 blob";

fn fed(mut command: Command, input: &[u8]) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A commit whose tree has these entries, each a kind and a path.
fn commit(world: &World, entries: &[(&str, &str)]) -> String {
    let root = world.repo.root();
    let mktree = |lines: &[u8]| {
        let mut command = git_command(root);
        command.args(["mktree", "-z"]);
        fed(command, lines)
    };
    let mut command = git_command(root);
    command.args(["hash-object", "-w", "--stdin"]);
    let blob = fed(command, b"somewhere");
    let mut top = Vec::new();
    for (kind, path) in entries {
        let mut parts = path.rsplit('/');
        let mut line = format!("{kind} {blob}\t{}\0", parts.next().unwrap());
        for folder in parts {
            line = format!("040000 tree {}\t{folder}\0", mktree(line.as_bytes()));
        }
        top.extend_from_slice(line.as_bytes());
    }
    let tree = mktree(&top);
    git(root, &["commit-tree", "-m", "made by hand", &tree])
}

/// Whether git takes a tree into an index, and so into a working tree.
fn git_takes(world: &World, rev: &str) -> bool {
    let mut command = git_command(world.repo.root());
    command.env("GIT_INDEX_FILE", world.repo.beside("index"));
    let output = command.args(["read-tree", rev]).output().unwrap();
    output.status.success()
}

/// What a file system of Windows takes for `.git`, whatever kind of entry it is.
const NO_NAMES: [&str; 18] = [
    ".git",
    "sub/.GIT",
    ".git/x",
    "git~1",
    "GiT~1",
    "a/git~1/b",
    ".git.",
    ".git . .",
    ".git:x",
    ".git::$INDEX_ALLOCATION",
    "git~1 :s",
    ".git\\x",
    "a\\.git",
    "a\\git~1\\b",
    "sub\\b/c\\.Git ",
    "a/../b",
    "a/./b",
    "..",
];
/// What it takes for `.gitmodules`.
const NO_LINKS: [&str; 10] = [
    ".gitmodules",
    "sub/.GitModules",
    ".gitmodules/x",
    ".gitmodules .",
    ".gitmodules:x",
    "gitmod~1",
    "GITMOD~4 ",
    "gi7eba~1",
    "GI7E~123.",
    "a\\.gitmodules",
];
const NAMES: [&str; 9] = [
    ".git.x",
    ".gitx",
    "git~10",
    "git~2",
    "x.git",
    "...",
    "a\\b",
    ".gi\u{200c}t",
    "gi~1",
];
const LINKS: [&str; 6] = [
    ".gitmodulesx",
    "gitmod~5",
    "gi7eba~0",
    "gi7ebb~1",
    "gi7eba~",
    ".gitmodules\\x",
];

#[test]
fn a_name_that_git_checks_out_nowhere_opens_no_tree() {
    let world = World::new();
    let files = NO_NAMES.map(|name| (FILE, name));
    let links = NO_LINKS.map(|name| (LINK, name));
    for entry in files.into_iter().chain(links).chain([(LINK, "git~1")]) {
        let rev = commit(&world, &[entry]);
        assert!(!git_takes(&world, &rev), "git takes {entry:?}");
        // Into a tree that is there already we write by ourselves: git is asked nothing.
        world.try_open("a", "one").unwrap();
        let opened = world.try_open("a", &rev);
        let code = opened.map_err(|failure| failure.code);
        assert_eq!(code, Err(Code::ReviewTreeFailed), "{entry:?}");
    }
}

#[test]
fn a_name_that_only_looks_alike_is_checked_out() {
    let world = World::new();
    let names = NAMES.iter().chain(&NO_LINKS).map(|name| (FILE, *name));
    let links = LINKS.iter().map(|name| (LINK, *name));
    for entries in [names.collect::<Vec<_>>(), links.collect()] {
        let mut entries = entries;
        entries.retain(|(_, name)| *name != ".gitmodules/x");
        let rev = commit(&world, &entries);
        assert!(git_takes(&world, &rev));
        world.open("a", "one");
        let tree = world.open("a", &rev);
        for (_, name) in entries {
            assert!(tree.join(name).symlink_metadata().is_ok(), "{name}");
        }
    }
}
