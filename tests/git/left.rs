//! What the library is not trusted with, and so is left to the program: nothing of it is lost.

use std::os::unix::fs::symlink;

use run_loop::domain::oid::Oid;
use run_loop::git::object;
use run_loop::git::read::library::Library;
use run_loop::git::read::{Peel, Place, Read as _, layout};

use crate::reading::git_dir;
use crate::support::reading::agree;
use crate::support::repo::{Repo, pipe};
use crate::support::source::{discover, git, store};

fn opens(repo: &Repo) -> bool {
    Library::open(Place::new(&git_dir(repo))).is_ok()
}

/// What is left to the program, which answers: nothing of it is lost.
#[track_caller]
fn left_to_the_program(repo: &Repo) {
    assert!(!opens(repo), "the library took it");
    assert!(layout::of(repo.root()).is_err());
    let head = repo.git(&["rev-parse", "HEAD"]);
    let (git, dir) = (git(), git_dir(repo));
    let found = object::commit_of(&git, &dir, "HEAD").unwrap().unwrap();
    assert_eq!(found.as_str(), head);
    let bytes = object::blob(&git, &dir, "HEAD:README.md").unwrap().unwrap();
    assert_eq!(bytes, b"# A project\n");
    let listed = object::tree_entries(&git, &dir, "HEAD", "").unwrap();
    assert_eq!(listed.len(), 2);
    assert!(object::is_ancestor(&git, &dir, &found, &found).unwrap());
    assert_eq!(discover(repo.root()).source_root, repo.root());
}

/// A repository of a format, made anew.
fn made_with(options: &[&str]) -> Repo {
    let repo = Repo::unborn();
    std::fs::remove_dir_all(git_dir(&repo)).unwrap();
    repo.git(&[&["init", "-q", "-b", "main"], options].concat());
    repo.write("README.md", "# A project\n");
    repo.write("src/lib.rs", "x\n");
    repo.commit("first");
    repo
}

/// A repository whose configuration moves its working tree, and a submodule's.
#[test]
fn working_trees_by_configuration_are_left_to_the_program() {
    let repo = Repo::new();
    let other = repo.beside("work");
    std::fs::create_dir(&other).unwrap();
    repo.git(&["config", "core.worktree", other.to_str().unwrap()]);
    assert!(layout::of(repo.root()).is_err());
    agree(&git(), &other);
    let outer = Repo::new();
    let part = Repo::new();
    let allow = ["-c", "protocol.file.allow=always"];
    let add = [
        "submodule",
        "--quiet",
        "add",
        part.root().to_str().unwrap(),
        "part",
    ];
    outer.git(&[allow.as_slice(), &add].concat());
    let inside = outer.root().join("part");
    assert!(layout::of(&inside).is_err());
    agree(&git(), &inside);
    outer.commit("with a part");
    agree(&git(), outer.root());
}

#[test]
fn sha256_is_left_to_the_program() {
    left_to_the_program(&made_with(&["--object-format=sha256"]));
}

#[test]
fn reftable_is_left_to_the_program() {
    if git().version() >= (2, 45) {
        left_to_the_program(&made_with(&["--ref-format=reftable"]));
    } else {
        crate::support::skipped("this git knows no reftable");
    }
}

#[test]
fn a_shallow_clone_is_left_to_the_program() {
    let repo = Repo::new();
    repo.write("README.md", "# A project\n");
    repo.commit("second");
    let clone = repo.cloned(&repo.url(), &["--depth=1"]);
    left_to_the_program(&clone);
    agree(&git(), clone.root());
}

/// The blobs that a partial clone lacks are git's to refuse or to fetch.
#[test]
fn a_partial_clone_is_left_to_the_program() {
    let repo = Repo::new();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = repo.cloned(&repo.url(), &["--filter=blob:none"]);
    left_to_the_program(&clone);
}

/// A remote can be a command of a shell. Git takes one only where the configuration allows it, which whoever
/// works in a repository can write as well: it would run where nobody confines it.
#[test]
fn no_command_of_the_configuration_is_run_for_a_missing_object() {
    let repo = Repo::new();
    let ran = repo.beside("ran");
    let url = format!("ext::sh -c touch% {}", ran.display());
    for [name, value] in [
        ["remote.away.url", url.as_str()],
        ["remote.away.promisor", "true"],
        ["protocol.ext.allow", "always"],
        ["protocol.allow", "always"],
    ] {
        repo.git(&["config", name, value]);
    }
    let id = repo.git(&["rev-parse", "HEAD:README.md"]);
    let (folder, file) = id.split_at(2);
    std::fs::remove_file(repo.root().join(".git/objects").join(folder).join(file)).unwrap();
    let dir = git_dir(&repo);
    assert!(object::blob(&git(), &dir, "HEAD:README.md").is_err());
    assert!(!ran.exists());
    let found = discover(repo.root());
    let store = store(&repo, &found);
    assert!(object::blob(&git(), store.git_dir(), &id).is_err());
    assert!(!ran.exists());
}

/// Extensions that git knows and the library does not, and one in an old format that git overlooks.
#[test]
fn unknown_extensions_are_left_to_the_program() {
    let repo = Repo::new();
    repo.git(&["config", "extensions.somethingElse", "true"]);
    left_to_the_program(&repo);
    let repo = Repo::new();
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    assert!(opens(&repo));
    agree(&git(), repo.root());
    repo.git(&["config", "extensions.preciousObjects", "true"]);
    assert!(opens(&repo));
    agree(&git(), repo.root());
    repo.git(&["config", "core.repositoryFormatVersion", "2"]);
    assert!(!opens(&repo));
    let refused = run_loop::git::Repository::discover(&git(), repo.root()).unwrap_err();
    assert!(refused.message.contains("version"), "{refused}");
}

#[test]
fn configuration_by_working_tree_is_left_to_the_program() {
    let repo = Repo::new();
    repo.git(&["config", "extensions.worktreeConfig", "true"]);
    repo.git(&["config", "--worktree", "some.thing", "x"]);
    left_to_the_program(&repo);
}

/// An included file can be anything, anywhere: even one that never ends.
#[test]
fn included_configuration_is_left_to_the_program() {
    let repo = Repo::new();
    repo.git(&["config", "include.path", "/nonexistent"]);
    left_to_the_program(&repo);
}

/// Our git is called without grafts; libgit2 would follow them.
#[test]
fn grafts_are_left_to_the_program() {
    let repo = Repo::new();
    let first = repo.git(&["rev-parse", "HEAD"]);
    let second = repo.commit("second");
    std::fs::write(git_dir(&repo).join("info/grafts"), format!("{second}\n")).unwrap();
    left_to_the_program(&repo);
    let oid = |text: &str| Oid::parse(text).unwrap();
    let leads = object::is_ancestor(&git(), &git_dir(&repo), &oid(&first), &oid(&second));
    assert!(leads.unwrap());
}

/// Odd files in the places that the library would open: a pipe would hold the whole process.
#[test]
fn odd_files_are_left_to_the_program() {
    for name in [
        "HEAD",
        "config",
        "packed-refs",
        "commondir",
        "objects/info/alternates",
    ] {
        let repo = Repo::new();
        let path = git_dir(&repo).join(name);
        drop(std::fs::remove_file(&path));
        pipe(&path);
        assert!(!opens(&repo), "{name}");
        assert!(layout::of(repo.root()).is_err(), "{name}");
    }
    let repo = Repo::new();
    let head = git_dir(&repo).join("HEAD");
    std::fs::rename(&head, git_dir(&repo).join("REAL")).unwrap();
    symlink("REAL", &head).unwrap();
    assert!(!opens(&repo));
    // A ref, and an object, that is a link or a pipe.
    let repo = Repo::new();
    let heads = git_dir(&repo).join("refs/heads");
    symlink("main", heads.join("linked")).unwrap();
    let library = Library::open(Place::new(&git_dir(&repo)));
    assert!(library.unwrap().resolves("refs/heads/linked").is_err());
    let oid = "5".repeat(40);
    let folder = git_dir(&repo).join("objects/55");
    std::fs::create_dir_all(&folder).unwrap();
    pipe(&folder.join(&oid[2..]));
    let library = Library::open(Place::new(&git_dir(&repo))).unwrap();
    assert!(library.peeled(&oid, Peel::Commit).is_err());
    assert!(library.blob_sizes(&[&Oid::parse(&oid).unwrap()]).is_err());
}

/// libgit2 1.9 ends the process on a pack's index with one wrong byte: packs are left to the program.
#[test]
fn packed_objects_are_left_to_the_program() {
    let repo = Repo::new();
    repo.git(&["gc", "-q"]);
    let head = repo.git(&["rev-parse", "HEAD"]);
    let dir = git_dir(&repo);
    let library = Library::open(Place::new(&dir)).unwrap();
    assert!(library.peeled("HEAD", Peel::Commit).is_err());
    assert!(library.resolves("HEAD").unwrap());
    assert!(library.objects(std::slice::from_ref(&head)).is_err());
    let found = object::commit_of(&git(), &dir, "HEAD").unwrap().unwrap();
    assert_eq!(found.as_str(), head);
    agree(&git(), repo.root());
}

/// Names that git finds by rules of its own are git's.
#[test]
fn names_that_are_no_full_names_are_left_to_the_program() {
    let repo = Repo::new();
    repo.commit("second");
    let library = Library::open(Place::new(&git_dir(&repo))).unwrap();
    let short = &repo.git(&["rev-parse", "HEAD"])[..10];
    for name in [
        "main",
        "heads/main",
        "HEAD~1",
        "HEAD^",
        "@",
        "@{0}",
        "refs/heads/main~1",
        "ORIG_HEAD",
        "refs/bisect/bad",
        "refs/worktree/x",
        "refs/heads/../../HEAD",
        "refs/heads/none",
        "",
        short,
        "refs/stash",
    ] {
        assert!(library.peeled(name, Peel::Commit).is_err(), "{name}");
        assert!(library.resolves(name).is_err(), "{name}");
    }
    for path in [
        "",
        "./README.md",
        "../x",
        "src//lib.rs",
        "src/",
        ":/README.md",
        ":(top)README.md",
    ] {
        assert!(library.entry("HEAD", path).is_err(), "{path}");
    }
}

/// Another user's repository is git's to judge, by the user's own configuration.
#[test]
fn somebody_elses_repository_is_left_to_the_program() {
    if !rustix::process::geteuid().is_root() {
        crate::support::skipped("only root can give files away");
        return;
    }
    for given in ["", ".git"] {
        let repo = Repo::new();
        std::os::unix::fs::chown(repo.root().join(given), Some(12345), None).unwrap();
        assert!(layout::of(repo.root()).is_err());
        let refused = run_loop::git::Repository::discover(&git(), repo.root());
        let refused = refused.unwrap_err();
        assert!(refused.message.contains("dubious ownership"), "{refused}");
    }
}
