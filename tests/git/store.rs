//! The review store: ours, private, borrowing, rebuilt when damaged.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use run_loop::domain::code::Code;
use run_loop::git::object::{blob, commit_of, is_ancestor};
use run_loop::git::{Error, ReviewStore};

use crate::support::repo::{self, Repo};
use crate::support::source::{discover, git, store};

#[test]
fn the_store_reads_the_users_objects_and_holds_none() {
    let repo = Repo::new();
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.write("src/lib.rs", "pub fn two() {}\n");
    let second = repo.commit("second");
    let store = store(&repo, &discover(repo.root()));
    let dir = store.git_dir();
    let oid = |rev: &str| commit_of(&git(), dir, rev).unwrap().unwrap();
    assert!(is_ancestor(&git(), dir, &oid(&first), &oid(&second)).unwrap());
    assert!(!is_ancestor(&git(), dir, &oid(&second), &oid(&first)).unwrap());
    assert_eq!(commit_of(&git(), dir, "nowhere").unwrap(), None);
    let path = |rest: &str| format!("{second}:{rest}");
    let read = |rest: &str| blob(&git(), dir, &path(rest));
    assert_eq!(read("src/lib.rs").unwrap().unwrap(), b"pub fn two() {}\n");
    assert_eq!(read("src/none.rs").unwrap(), None);
    assert!(matches!(read("src"), Err(Error::NotAFile { .. })));
    assert!(
        blob(&git(), dir, "nowhere:README.md").is_err(),
        "an unknown revision is no absence"
    );
    let mode = std::fs::metadata(dir).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(repo::git(dir, &["count-objects"]).starts_with("0 objects"));
}

/// A `:` in a path breaks `GIT_ALTERNATE_OBJECT_DIRECTORIES` with exit 0; the file has no such
/// fault. The user's own alternates, relative ones too, are borrowed directly.
#[test]
fn odd_paths_and_chains_of_alternates_work() {
    let repo = Repo::new();
    let odd = repo.beside("with:colon \"and\" #hash");
    let oid = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["clone", "-q", "--shared", ".", odd.to_str().unwrap()]);
    std::fs::write(
        odd.join(".git/objects/info/alternates"),
        "# borrowed\n../../../repo/.git/objects\n",
    )
    .unwrap();
    let found = discover(&odd);
    let store = ReviewStore::open(&git(), &found, &repo.beside("ca:che")).unwrap();
    assert!(commit_of(&git(), store.git_dir(), &oid).unwrap().is_some());
    let listed = std::fs::read_to_string(store.objects().join("info/alternates")).unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.contains(&repo.root().join(".git/objects").to_str().unwrap()));
}

#[test]
fn sha256_repositories_have_a_sha256_store() {
    let repo = Repo::unborn();
    std::fs::remove_dir_all(repo.root().join(".git")).unwrap();
    repo.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    let oid = repo.commit("first");
    let store = store(&repo, &discover(repo.root()));
    assert_eq!(oid.len(), 64);
    assert!(commit_of(&git(), store.git_dir(), &oid).unwrap().is_some());
}

#[test]
fn a_shallow_boundary_is_carried_over_and_lifted() {
    let origin = Repo::new();
    origin.commit("second");
    let repo = Repo::unborn();
    let url = format!("file://{}", origin.root().display());
    repo.git(&["fetch", "-q", "--depth=1", &url, "main:refs/heads/got"]);
    let found = discover(repo.root());
    let store = store(&repo, &found);
    assert_eq!(
        repo::git(store.git_dir(), &["rev-list", "--count", "--all"]),
        "0"
    );
    assert_eq!(
        repo::git(
            store.git_dir(),
            &["rev-list", "--count", &repo.git(&["rev-parse", "got"])]
        ),
        "1"
    );
    repo.git(&["fetch", "-q", "--unshallow", &url, "main"]);
    store.refresh(&found).unwrap();
    assert_eq!(
        repo::git(
            store.git_dir(),
            &["rev-list", "--count", &repo.git(&["rev-parse", "got"])]
        ),
        "2"
    );
}

#[test]
fn a_store_that_is_not_ours_is_refused() {
    let repo = Repo::new();
    let found = discover(repo.root());
    let dir = store(&repo, &found).git_dir().to_owned();
    let open = || ReviewStore::open(&git(), &found, &repo.beside("cache"));
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(open().unwrap_err().code, Code::StateUnwritable);
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).unwrap();
    open().unwrap();
    let moved = repo.beside("moved");
    std::fs::rename(&dir, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &dir).unwrap();
    assert_eq!(open().unwrap_err().code, Code::StateUnwritable);
}

#[test]
fn a_damaged_store_is_set_aside_and_made_anew() {
    let repo = Repo::new();
    let found = discover(repo.root());
    let damage: [fn(&Path); 3] = [
        |dir| std::fs::write(dir.join("config"), "[core]\n\tbare = false\n").unwrap(),
        |dir| std::fs::remove_dir_all(dir.join("objects/pack")).unwrap(),
        |dir| std::fs::remove_file(dir.join("HEAD")).unwrap(),
    ];
    for (number, damage) in damage.into_iter().enumerate() {
        let dir = store(&repo, &found).git_dir().to_owned();
        damage(&dir);
        let anew = store(&repo, &found);
        assert_eq!(anew.git_dir(), dir);
        assert!(
            commit_of(&git(), &dir, &repo.git(&["rev-parse", "HEAD"]))
                .unwrap()
                .is_some()
        );
        let mut aside = dir.clone().into_os_string();
        aside.push(format!(".damaged-{}", number + 1));
        assert!(Path::new(&aside).is_dir(), "set aside, not deleted");
    }
}

/// What the repository says of its remotes is the store's too, and nothing that it holds goes for that.
#[test]
fn the_settings_of_promisors_follow() {
    let repo = Repo::new();
    let found = discover(repo.root());
    let dir = store(&repo, &found).git_dir().to_owned();
    let held = repo::git(
        &dir,
        &[
            "commit-tree",
            "-m",
            "held",
            &repo.git(&["rev-parse", "HEAD^{tree}"]),
        ],
    );
    let urls = ["file:///nonexistent/one", "file:///nonexistent/two"];
    for url in urls {
        repo.git(&["config", "remote.away.url", url]);
        repo.git(&["config", "remote.away.promisor", "true"]);
        assert!(store(&repo, &found).is_promisor());
        assert_eq!(repo::git(&dir, &["config", "remote.away.url"]), url);
    }
    repo.git(&["config", "remote.away.promisor", "false"]);
    assert!(!store(&repo, &found).is_promisor());
    assert_eq!(repo::git(&dir, &["cat-file", "-t", &held]), "commit");
}

#[test]
fn a_damaged_store_in_use_is_refused() {
    let repo = Repo::new();
    let found = discover(repo.root());
    let held = store(&repo, &found);
    std::fs::remove_file(held.git_dir().join("HEAD")).unwrap();
    let failure = ReviewStore::open(&git(), &found, &repo.beside("cache")).unwrap_err();
    assert_eq!(failure.code, Code::StateUnwritable);
    assert!(failure.message.contains("in use"), "{}", failure.message);
}
