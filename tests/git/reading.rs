//! Both readers of names, objects and ancestry say the same (issue 3, item 5). The hazard suite compares
//! them on each of its repositories too.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use run_loop::domain::oid::Oid;
use run_loop::git::object;
use run_loop::git::read::layout;

use crate::support::reading::{Readers, agree};
use crate::support::repo::{self, Repo, pipe};
use crate::support::source::git;

pub(crate) fn git_dir(repo: &Repo) -> PathBuf {
    repo.root().join(".git")
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
    let linked = repo.linked("linked", "other", "HEAD");
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
    let repo = lender.cloned(".", &["--shared"]);
    let (answered, _) = agree(&git(), repo.root());
    assert!(answered > 20, "{answered}");
}

/// The whole: neither variables nor anybody's configuration reach the library. A pipe in place of the
/// user's would hold it for ever.
#[test]
fn the_library_reads_no_variables_and_no_home() {
    let repo = Repo::new();
    let home = repo.beside("home");
    std::fs::create_dir_all(home.join(".config/git")).unwrap();
    for name in [".gitconfig", ".config/git/config"] {
        pipe(&home.join(name));
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
