//! Both readers of names, objects and ancestry: the library where it is sure, the program for the
//! rest (issue 3, item 5). The hazard suite compares them on each of its repositories too.

use std::os::unix::fs::symlink;
use std::path::Path;

use run_loop::domain::oid::Oid;
use run_loop::git::Git;
use run_loop::git::object::{self, Depth};
use run_loop::git::read::library::Library;
use run_loop::git::read::program::Program;
use run_loop::git::read::{Peel, Place, Read as _, layout};

use crate::support::reading::{Readers, agree};
use crate::support::repo::{self, Repo};
use crate::support::source::{discover, git};

fn git_dir(repo: &Repo) -> std::path::PathBuf {
    repo.root().join(".git")
}

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
    let listed = object::tree_entries(&git, &dir, "HEAD", "", Depth::All).unwrap();
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

#[test]
fn a_plain_repository_is_read_without_a_process() {
    let repo = Repo::new();
    repo.git(&["tag", "-a", "-m", "one", "v1"]);
    repo.git(&["tag", "-a", "-m", "of a tag", "v1-again", "v1"]);
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.write("deep/er/file.txt", "x");
    symlink("file.txt", repo.root().join("deep/er/link")).unwrap();
    repo.commit("second");
    repo.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/feature"]);
    let (answered, _) = agree(&git(), repo.root());
    let dir = git_dir(&repo);
    let all = git();
    let mut readers = Readers::of(&all, &dir);
    let oids = ["main", "feature"].map(|name| readers.name(&format!("refs/heads/{name}")).unwrap());
    for name in [
        "HEAD",
        "refs/tags/v1",
        "refs/tags/v1-again",
        "refs/heads/alias",
    ] {
        readers.name(name).unwrap();
    }
    readers.name(oids[0].as_str()).unwrap();
    readers.pair(&oids[0], &oids[0]);
    let everything = readers.left == 0;
    assert!(everything, "{} questions left", readers.left);
    assert!(answered > 40, "{answered}");
    // Packed refs: the same.
    repo.git(&["pack-refs", "--all"]);
    assert!(git_dir(&repo).join("packed-refs").exists());
    assert_eq!(agree(&git(), repo.root()).0, answered);
    // A commit graph is never read: what stands in it is nobody's proof.
    let graph = git_dir(&repo).join("objects/info/commit-graph");
    std::fs::create_dir_all(graph.parent().unwrap()).unwrap();
    drop(std::fs::remove_file(&graph));
    std::fs::write(&graph, "CGPH and nonsense").unwrap();
    assert_eq!(agree(&git(), repo.root()).0, answered);
}

/// Detached, unborn, in a linked working tree and below one.
#[test]
fn places_are_found_as_git_finds_them() {
    let repo = Repo::new();
    repo.write("sub/x", "x");
    let linked = repo.beside("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "other",
        linked.to_str().unwrap(),
    ]);
    let bare = repo.beside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let of_bare = repo.beside("of-bare");
    repo::git(&bare, &["worktree", "add", "-q", of_bare.to_str().unwrap()]);
    let apart = repo.beside("apart");
    let elsewhere = repo.beside("elsewhere.git");
    std::fs::create_dir(&apart).unwrap();
    let option = format!("--separate-git-dir={}", elsewhere.display());
    repo::git(&apart, &["init", "-q", &option]);
    std::fs::create_dir(linked.join("below")).unwrap();
    for (place, is_plain) in [
        (repo.root().to_owned(), true),
        (repo.root().join("sub"), true),
        (linked.clone(), true),
        (linked.join("below"), true),
        (apart, true),
        (of_bare, false),
        (bare, false),
        (git_dir(&repo), false),
        (git_dir(&repo).join("refs"), false),
        (repo.root().parent().unwrap().to_owned(), false),
    ] {
        agree(&git(), &place);
        assert_eq!(layout::of(&place).is_ok(), is_plain, "{place:?}");
    }
    repo.git(&["checkout", "-q", "--detach"]);
    agree(&git(), repo.root());
    let unborn = Repo::unborn();
    agree(&git(), unborn.root());
    assert!(layout::of(unborn.root()).is_ok());
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
    let url = format!("file://{}", repo.root().display());
    let clone = Repo::unborn();
    std::fs::remove_dir_all(clone.root()).unwrap();
    let place = clone.root().to_str().unwrap();
    repo.git(&["clone", "-q", "--depth=1", &url, place]);
    left_to_the_program(&clone);
    agree(&git(), clone.root());
}

/// The blobs that a partial clone lacks are git's to refuse or to fetch.
#[test]
fn a_partial_clone_is_left_to_the_program() {
    let repo = Repo::new();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", repo.root().display());
    let clone = Repo::unborn();
    std::fs::remove_dir_all(clone.root()).unwrap();
    let place = clone.root().to_str().unwrap();
    repo.git(&["clone", "-q", "--filter=blob:none", &url, place]);
    left_to_the_program(&clone);
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

/// Neither reader follows replacements.
#[test]
fn replacements_change_nothing() {
    let repo = Repo::new();
    let blob = repo.git(&["rev-parse", "HEAD:README.md"]);
    repo.write("other", "another\n");
    let other = repo.git(&["hash-object", "-w", "other"]);
    repo.git(&["replace", &blob, &other]);
    let (answered, _) = agree(&git(), repo.root());
    assert!(answered > 20, "{answered}");
    let bytes = object::blob(&git(), &git_dir(&repo), "HEAD:README.md").unwrap();
    assert_eq!(bytes.unwrap(), b"# A project\n");
}

#[test]
fn borrowed_objects_are_read() {
    let lender = Repo::new();
    let repo = Repo::unborn();
    std::fs::remove_dir_all(repo.root()).unwrap();
    let place = repo.root().to_str().unwrap();
    lender.git(&["clone", "-q", "--shared", ".", place]);
    let (answered, _) = agree(&git(), repo.root());
    assert!(answered > 20, "{answered}");
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
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
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
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join(&oid[2..]),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let library = Library::open(Place::new(&git_dir(&repo))).unwrap();
    assert!(library.peeled(&oid, Peel::Commit).is_err());
    assert!(library.blob_sizes(&[&Oid::parse(&oid).unwrap()]).is_err());
}

/// What is damaged is never taken for absent: the library says nothing, the program says what.
#[test]
fn damage_is_told_by_the_program() {
    let repo = Repo::new();
    let oid = |name: &str| repo.git(&["rev-parse", name]);
    let (good, bad) = (oid("HEAD:README.md"), oid("HEAD:src/lib.rs"));
    let loose = |oid: &str| {
        git_dir(&repo)
            .join("objects")
            .join(&oid[..2])
            .join(&oid[2..])
    };
    // The bytes of another object, and whole ones: only its id tells.
    std::fs::remove_file(loose(&good)).unwrap();
    std::fs::copy(loose(&bad), loose(&good)).unwrap();
    let dir = git_dir(&repo);
    let library = Library::open(Place::new(&dir)).unwrap();
    assert!(library.objects(std::slice::from_ref(&good)).is_err());
    // Half of an object.
    let tree = oid("HEAD^{tree}");
    let bytes = std::fs::read(loose(&tree)).unwrap();
    std::fs::remove_file(loose(&tree)).unwrap();
    std::fs::write(loose(&tree), &bytes[..bytes.len() / 2]).unwrap();
    assert!(library.tree_entries("HEAD", "", Depth::All).is_err());
    assert!(object::tree_entries(&git(), &dir, "HEAD", "", Depth::All).is_err());
    assert!(object::entry(&git(), &dir, "HEAD", "run-loop.yaml").is_err());
    // None at all.
    std::fs::remove_file(loose(&tree)).unwrap();
    assert!(library.tree_entries("HEAD", "", Depth::All).is_err());
    assert!(object::tree_entries(&git(), &dir, "HEAD", "", Depth::All).is_err());
    // A ref that says nothing.
    std::fs::write(dir.join("refs/heads/main"), "").unwrap();
    assert!(library.head().is_err());
    assert!(!matches!(
        object::commit_of(&git(), &dir, "HEAD"),
        Ok(Some(_))
    ));
}

/// Bytes turned over in the files that libgit2 parses, and files cut short: it comes back, and what it
/// says then the program says too.
#[test]
fn damaged_names_and_settings_are_read_alike_or_not_at_all() {
    let repo = Repo::new();
    repo.git(&["branch", "other"]);
    repo.git(&["tag", "-a", "-m", "one", "v1"]);
    repo.git(&["pack-refs", "--all"]);
    let linked = repo.beside("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "third",
        linked.to_str().unwrap(),
    ]);
    let dir = git_dir(&repo);
    let own = dir.join("worktrees/linked");
    let git = git();
    let mut answered = 0;
    for (place, file) in [
        (&dir, dir.join("packed-refs")),
        (&dir, dir.join("config")),
        (&dir, dir.join("HEAD")),
        (&own, own.join("HEAD")),
        (&own, own.join("commondir")),
        (&own, own.join("gitdir")),
        (&own, dir.join("refs/heads/third")),
        (&own, linked.join(".git")),
    ] {
        let bytes = std::fs::read(&file).unwrap();
        for at in 0..bytes.len() {
            for change in [0x01, 0x20, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= change;
                std::fs::write(&file, &damaged).unwrap();
                answered += usize::from(asked(&git, place, at % 16 == 0));
                // What the folder is taken for is told by both alike.
                let root = if place == &dir { repo.root() } else { &linked };
                if let Ok(found) = layout::of(root)
                    && at % 8 == 0
                {
                    let said = run_loop::git::Repository::by_program(&git, root);
                    // Git also stops at a setting that it does not need for this.
                    assert!(
                        said.is_err() || said.unwrap() == found,
                        "byte {at} of {file:?}"
                    );
                }
            }
            std::fs::write(&file, &bytes[..at]).unwrap();
            answered += usize::from(asked(&git, place, at % 16 == 0));
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    assert!(answered > 1_000, "{answered}");
    assert!(asked(&git, &dir, true));
}

/// Whether the library says where HEAD, a branch and a tag stand; the program is asked the same.
fn asked(git: &Git, place: &Path, compare: bool) -> bool {
    let Ok(library) = Library::open(Place::new(place)) else {
        return false;
    };
    let mut any = false;
    for name in ["HEAD", "refs/heads/other", "refs/tags/v1"] {
        let Ok(Some(oid)) = library.peeled(name, Peel::Commit) else {
            continue;
        };
        any = true;
        if compare {
            let place = Place::new(place);
            let said = Program { git, place }.peeled(name, Peel::Commit);
            // Git stops at any odd line of the packed refs, also at one that nobody asked for.
            assert!(said.is_err() || said.unwrap() == Some(oid), "{name}");
        }
    }
    any
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

/// The whole: neither variables nor anybody's configuration reach the library. A pipe in place of the
/// user's would hold it for ever.
#[test]
fn the_library_reads_no_variables_and_no_home() {
    let repo = Repo::new();
    let home = repo.beside("home");
    std::fs::create_dir_all(home.join(".config/git")).unwrap();
    for name in [".gitconfig", ".config/git/config"] {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            home.join(name),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
    }
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_run-loop"))
        .arg("status")
        .current_dir(repo.root().join("src"))
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/nonexistent")
        .envs([
            ("GIT_DIR", "/nonexistent"),
            ("GIT_COMMON_DIR", "/nonexistent"),
            ("GIT_WORK_TREE", "/nonexistent"),
            ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
            ("GIT_NAMESPACE", "other"),
            ("GIT_CEILING_DIRECTORIES", "/"),
            ("GIT_CONFIG_GLOBAL", "/nonexistent"),
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // There is no git on the PATH: that no run was started here was found out without one.
    assert!(said.contains("no run"), "{said}");
    assert!(!said.contains("RL0004"), "{said}");
}

/// Seeded histories with merges, wrong clocks, packs and packed refs.
#[test]
fn random_histories_are_read_alike() {
    let seeds = std::env::var("RUN_LOOP_TEST_ROUNDS").map_or(2, |text| text.parse().unwrap());
    for seed in 1..=seeds {
        random_history(seed);
    }
}

fn random_history(seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let repo = Repo::new();
    let mut commits = vec![repo.git(&["rev-parse", "HEAD"])];
    for number in 0..14 {
        let path = ["a", "b/c", "b/d e", "b/ü/f", "g\th", "src/lib.rs"][random(6)];
        repo.write(path, format!("{seed} {number} {}", random(3)));
        repo.git(&["add", "-A"]);
        let tree = repo.git(&["write-tree"]);
        let mut words = vec![
            "commit-tree".to_owned(),
            tree,
            "-m".to_owned(),
            "x".to_owned(),
        ];
        let mut parents: Vec<&String> = (0..random(8).min(3))
            .map(|_| &commits[random(commits.len())])
            .collect();
        parents.sort();
        parents.dedup();
        for parent in parents {
            words.extend(["-p".to_owned(), parent.clone()]);
        }
        let mut command = repo::git_command(repo.root());
        // Clocks of other machines: some are days behind.
        let time = 1_700_000_000 + number * 100 - i64::try_from(random(3) * 500).unwrap();
        command.env("GIT_COMMITTER_DATE", format!("{time} +0000"));
        let output = command.args(words).output().unwrap();
        let oid = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let name = format!("refs/heads/branch-{number}");
        repo.git(&["update-ref", &name, &oid]);
        commits.push(oid);
        match random(8) {
            0 => drop(repo.git(&["pack-refs", "--all"])),
            1 => drop(repo.git(&["repack", "-q"])),
            _ => {}
        }
    }
    let (git, dir) = (git(), git_dir(&repo));
    let mut readers = Readers::of(&git, &dir);
    let oids: Vec<Oid> = commits.iter().map(|oid| Oid::parse(oid).unwrap()).collect();
    for _ in 0..40 {
        let (one, other) = (random(oids.len()), random(oids.len()));
        readers.pair(&oids[one], &oids[other]);
    }
    for oid in oids.iter().step_by(5) {
        readers.tree(oid.as_str());
    }
    assert!(
        readers.answered > 60,
        "{} of {}",
        readers.answered,
        readers.left
    );
    agree(&git, repo.root());
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
