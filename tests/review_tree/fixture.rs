//! A repository with two snapshots, the trees of one run, and proofs about both.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use run_loop::domain::failure::Failure;
use run_loop::domain::id::LoopId;
use run_loop::domain::oid::Oid;
use run_loop::domain::slot::SlotName;
use run_loop::git::review_tree::ReviewTrees;
use run_loop::git::{Git, GitEnvironment, Repository, ReviewStore};

use crate::support::repo::{Repo, git, git_command, git_program};

pub(crate) const LOOP: &str = "019312d0-0000-7000-8000-000000000001";

pub(crate) struct World {
    pub(crate) repo: Repo,
    pub(crate) trees: ReviewTrees,
    before: BTreeMap<PathBuf, String>,
}

impl World {
    /// Two commits on `main`, tagged `one` and `two`, with every kind of entry; the proof about
    /// the user's repository starts here.
    pub(crate) fn new() -> Self {
        Self::of(Repo::new())
    }
    /// As [`Self::new`], in a folder on another file system.
    pub(crate) fn new_in(folder: &Path) -> Self {
        Self::of(Repo::new_in(folder))
    }
    fn of(repo: Repo) -> Self {
        repo.write("bin/run.sh", "#!/bin/sh\n");
        let run = repo.root().join("bin/run.sh");
        std::fs::set_permissions(run, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("README.md", repo.root().join("link")).unwrap();
        repo.write("deep/er/file", "deep\n");
        repo.write("same-size", "1111\n");
        repo.write(".gitignore", "*.log\n/target\n");
        repo.git(&["add", "-A"]);
        let sub = format!("160000,{},sub", "1".repeat(40));
        repo.git(&["update-index", "--add", "--cacheinfo", &sub]);
        repo.git(&["commit", "-q", "-m", "one"]);
        repo.git(&["tag", "one"]);
        repo.git(&["rm", "-q", "deep/er/file"]);
        repo.write("src/lib.rs", "pub fn two() {}\n");
        repo.write("new/file", "new\n");
        repo.git(&["add", "src", "new"]);
        repo.git(&["commit", "-q", "-m", "two"]);
        repo.git(&["tag", "two"]);
        // A user at work: a stash, a staged edit, an unstaged one, an untracked and an ignored
        // file, a hook and a linked worktree.
        repo.write("README.md", "stashed\n");
        repo.git(&["stash", "-q"]);
        repo.write("README.md", "staged\n");
        repo.git(&["add", "README.md"]);
        repo.write("README.md", "unstaged\n");
        repo.write("untracked", "mine\n");
        repo.write("x.log", "mine too\n");
        let linked = repo.beside("linked");
        repo.git(&[
            "worktree",
            "add",
            "-q",
            "--detach",
            linked.to_str().unwrap(),
        ]);
        Self::around(repo)
    }

    pub(crate) fn around(repo: Repo) -> Self {
        let trees = trees(&repo);
        let before = everything(&repo);
        Self {
            repo,
            trees,
            before,
        }
    }

    pub(crate) fn oid(&self, rev: &str) -> Oid {
        Oid::parse(&self.repo.git(&["rev-parse", "--verify", rev])).unwrap()
    }
    pub(crate) fn try_open(&self, slot: &str, rev: &str) -> Result<PathBuf, Failure> {
        self.try_open_of(&self.trees, slot, rev)
    }
    fn try_open_of(&self, trees: &ReviewTrees, slot: &str, rev: &str) -> Result<PathBuf, Failure> {
        let (snapshot, tree) = (self.oid(rev), self.oid(&format!("{rev}^{{tree}}")));
        trees
            .open(
                &slot_name(slot),
                &snapshot,
                &tree,
                &self.oid("one~1"),
                "main",
            )
            .map(|tree| PathBuf::from(tree.path))
    }
    /// Opens a slot and proves, with git alone, that it holds exactly the revision.
    #[track_caller]
    pub(crate) fn open(&self, slot: &str, rev: &str) -> PathBuf {
        let path = self.try_open(slot, rev).unwrap();
        self.holds(&path, rev);
        path
    }
    /// The trees of another run of the same repository.
    pub(crate) fn run(&self, number: u8) -> ReviewTrees {
        let id = LOOP.replace("0001", &format!("1{number:03}"));
        trees_of(&self.repo, LoopId::parse(&id).unwrap())
    }
    /// Opens a slot of another run, with the same proof.
    #[track_caller]
    pub(crate) fn open_of(&self, trees: &ReviewTrees, slot: &str, rev: &str) -> PathBuf {
        let path = self.try_open_of(trees, slot, rev).unwrap();
        self.holds(&path, rev);
        path
    }
    /// The trees that wait for a later run.
    pub(crate) fn waiting(&self) -> Vec<PathBuf> {
        let store = ReviewStore::find(
            &Repository::discover(
                &Git::find_in(&environment(&self.repo)).unwrap(),
                self.repo.root(),
            )
            .unwrap(),
            &self.repo.beside("cache"),
        )
        .unwrap();
        let pool = self.repo.beside("cache").join("pool");
        let Ok(entries) = std::fs::read_dir(pool.join(store.file_name().unwrap())) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
    /// Builds the tree from the files alone, with an index of its own, and compares.
    #[track_caller]
    pub(crate) fn holds(&self, path: &Path, rev: &str) {
        let scratch = tempfile::tempdir().unwrap();
        git(scratch.path(), &["init", "-q", "--bare", "."]);
        let run = |args: &[&str]| {
            let output = git_command(path)
                .arg("-c")
                .arg("core.excludesFile=/dev/null")
                .env("GIT_DIR", scratch.path())
                .env("GIT_WORK_TREE", path)
                .args(args)
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let info = scratch.path().join("info");
        std::fs::create_dir_all(&info).unwrap();
        std::fs::write(
            info.join("attributes"),
            "* -text !filter !ident !eol !working-tree-encoding\n",
        )
        .unwrap();
        run(&["add", "-A", "-f"]);
        // Of a submodule git sees nothing where no repository lies: its empty folder is found below.
        let list = |listing: String| -> Vec<String> {
            let lines = listing.lines().filter(|line| !line.contains("160000"));
            lines.map(str::to_owned).collect()
        };
        let stored = self.repo.git(&[
            "ls-tree",
            "-r",
            "--format=%(objectmode) %(objectname) %(path)",
            rev,
        ]);
        let found = run(&["ls-files", "--format=%(objectmode) %(objectname) %(path)"]);
        assert_eq!(list(found), list(stored));
        self.holds_these_names(path, rev);
    }
    /// Every file and folder is one of the revision's, and each of its is there, an empty folder for each
    /// submodule; but for the agent's git directory.
    #[track_caller]
    fn holds_these_names(&self, path: &Path, rev: &str) {
        let mut found = BTreeMap::new();
        let agents = path.join(".git");
        walk(path, &mut |entry, meta| {
            if !entry.starts_with(&agents) {
                let name = entry.strip_prefix(path).unwrap().to_owned();
                found.insert(name, meta.is_dir());
            }
        });
        let listing = git_command(self.repo.root())
            .args(["ls-tree", "-r", "-t", "-z", rev])
            .output()
            .unwrap();
        assert!(listing.status.success());
        let mut wanted = BTreeMap::new();
        for line in listing.stdout.split(|byte| *byte == 0) {
            if let Some(tab) = line.iter().position(|byte| *byte == b'\t') {
                let name = PathBuf::from(std::ffi::OsStr::from_bytes(&line[tab + 1..]));
                let is_folder = line.starts_with(b"040000") || line.starts_with(b"160000");
                wanted.insert(name, is_folder);
            }
        }
        assert_eq!(found, wanted, "names, and whether each is a folder");
    }
    /// The user's repository, working tree and linked worktree included, is as it was.
    #[track_caller]
    pub(crate) fn untouched(&self) {
        let now = everything(&self.repo);
        for (path, before) in &self.before {
            assert_eq!(now.get(path), Some(before), "{}", path.display());
        }
        assert_eq!(now.len(), self.before.len(), "nothing was added");
    }
    pub(crate) fn root(&self) -> PathBuf {
        self.repo.beside("cache").join("trees").join(LOOP)
    }
    pub(crate) fn quarantined(&self) -> usize {
        std::fs::read_dir(self.root().join(".quarantine"))
            .unwrap()
            .count()
    }
    /// Releases; everything must go.
    #[track_caller]
    pub(crate) fn release(&self) {
        assert_eq!(self.trees.release(), Vec::<String>::new());
        assert!(!self.root().exists());
        self.untouched();
    }
}

pub(crate) fn slot_name(name: &str) -> SlotName {
    SlotName::parse(name).unwrap()
}

pub(crate) fn environment(repo: &Repo) -> GitEnvironment {
    GitEnvironment {
        path: std::env::var_os("PATH").unwrap(),
        program: Some(git_program()),
        home: Some(repo.beside("home").into()),
        no_system_config: true,
        ..GitEnvironment::default()
    }
}

/// The trees of the run, as a new process has them.
pub(crate) fn trees(repo: &Repo) -> ReviewTrees {
    trees_of(repo, LoopId::parse(LOOP).unwrap())
}

/// The trees of a run whose git writes a line into a file for each of its processes.
pub(crate) fn counted_trees(repo: &Repo) -> (ReviewTrees, PathBuf) {
    let (log, program) = (repo.beside("git-log"), repo.beside("counting"));
    std::fs::create_dir(&program).unwrap();
    let path = std::env::var("PATH").unwrap();
    let folders = std::env::split_paths(&path).map(|folder| folder.join(git_program()));
    let real = folders.into_iter().find(|file| file.is_file()).unwrap();
    let text = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
        log.display(),
        real.display()
    );
    crate::support::agents::executable(&program, "git", &text);
    let environment = GitEnvironment {
        program: Some(program.join("git")),
        ..environment(repo)
    };
    let git = Git::find_in(&environment).unwrap();
    let id = LOOP.replace("0001", "2001");
    (trees_with(repo, &git, LoopId::parse(&id).unwrap()), log)
}

fn trees_of(repo: &Repo, id: LoopId) -> ReviewTrees {
    let git = Git::find_in(&environment(repo)).unwrap();
    trees_with(repo, &git, id)
}

fn trees_with(repo: &Repo, git: &Git, id: LoopId) -> ReviewTrees {
    let found = Repository::discover(git, repo.root()).unwrap();
    let cache = repo.beside("cache");
    let store = ReviewStore::open(git, &found, &cache).unwrap();
    ReviewTrees::new(git, &store, &found, &cache, id)
}

/// Every file of the user's: names, kinds, modes, bytes, times, names of the same file.
fn everything(repo: &Repo) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for root in [repo.root().to_owned(), repo.beside("linked")] {
        if root.exists() {
            walk(&root, &mut |path, meta| {
                let content = if meta.is_symlink() {
                    std::fs::read_link(path)
                        .unwrap()
                        .as_os_str()
                        .as_bytes()
                        .to_vec()
                } else if meta.is_file() {
                    std::fs::read(path).unwrap()
                } else {
                    Vec::new()
                };
                // Git freshens an object that it would otherwise write again, the agent's git too.
                let is_object = path.components().any(|part| part.as_os_str() == "objects");
                let is_timed = !meta.is_dir() && !is_object;
                let times = if is_timed { meta.mtime_nsec() } else { 0 };
                let digest = run_loop::domain::digest::Digest::of(&content);
                all.insert(
                    path.to_owned(),
                    format!("{:o} {times} {digest}", meta.mode()),
                );
            });
        }
    }
    all
}

fn walk(folder: &Path, visit: &mut impl FnMut(&Path, &std::fs::Metadata)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        visit(&path, &meta);
        if meta.is_dir() {
            walk(&path, visit);
        }
    }
}
