//! A repository with a user's things in it, and photographs of whole folders.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::bench::{Bench, Ran};
use crate::support::repo::git;

/// Every path below a folder, with what it is: a folder's mode, a file's bytes, a link's target.
pub(crate) fn photo(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(path) = todo.pop() {
        let meta = path.symlink_metadata().unwrap();
        let what = if meta.is_symlink() {
            std::fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes()
        } else if meta.is_dir() {
            todo.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|it| it.unwrap().path()),
            );
            format!("folder {:o}", meta.permissions().mode()).into_bytes()
        } else if meta.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            b"special".to_vec()
        };
        found.insert(path, what);
    }
    found
}

/// A bench whose user has a stash, a second working tree with edits, and settings of their own.
pub(crate) struct User {
    pub(crate) bench: Bench,
}

impl User {
    pub(crate) fn new() -> Self {
        Self::with_config("")
    }
    /// With lines of configuration at the base.
    pub(crate) fn with_config(lines: &str) -> Self {
        let bench = Bench::new().config(lines).ready();
        let repo = &bench.repo;
        std::fs::write(
            repo.beside("home").join(".gitconfig"),
            "[user]\n\tname = Ann\n\temail = ann@example.org\n[protocol \"file\"]\n\tallow = always\n",
        )
        .unwrap();
        repo.git(&["config", "user.name", "Ann of the repository"]);
        repo.write("README.md", "# stashed\n");
        repo.git(&["stash", "push", "-q", "-m", "the user's"]);
        let other = repo.linked("other", "other", "main");
        std::fs::write(other.join("README.md"), "# being edited\n").unwrap();
        repo.write("notes.txt", "not committed\n");
        Self { bench }
    }
    pub(crate) fn root(&self) -> &Path {
        self.bench.repo.root()
    }
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.bench.repo.beside(name)
    }
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.bench.repo.git(args)
    }
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.bench.run(args)
    }
    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> Ran {
        let output = self.bench.command(args).current_dir(folder).output();
        Ran::of(&output.unwrap())
    }
    /// Everything of the user's: the repository and its working trees, not our cache.
    pub(crate) fn photo(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = photo(self.root().parent().unwrap());
        let cache = self.beside("home").join(".cache");
        all.retain(|path, _| !path.starts_with(&cache));
        all
    }
    /// Runs a command that must be refused: this exit, this code, these words, no data, and
    /// nothing anywhere is changed.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str], exit: i32, code: &str, words: &str) -> String {
        let before = self.photo();
        let ran = self.run(args);
        ran.ends(exit).with(code).says(words);
        assert_eq!(ran.stdout, "", "{args:?}: data of a refused command");
        same(&before, &self.photo());
        let next = ran
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("next: "));
        next.unwrap().to_owned()
    }
    /// Prepares a working tree for a branch; its folder.
    #[track_caller]
    pub(crate) fn prepare(&self, args: &[&str]) -> PathBuf {
        let ran = self.run(&[&["worktree", "prepare"], args].concat());
        ran.ends(0);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{}", ran.stdout);
        let (base, worktree) = (lines[0], lines[1]);
        assert!(base.starts_with("BASE="), "{base}");
        PathBuf::from(worktree.strip_prefix("WORKTREE=").unwrap())
    }
}

/// Compares two photographs and names what differs, instead of printing all bytes.
#[track_caller]
pub(crate) fn same(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) {
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let paths: Vec<&PathBuf> = before.keys().chain(after.keys()).filter(differs).collect();
    assert!(paths.is_empty(), "changed: {paths:?}");
}

/// Commits in a working tree.
pub(crate) fn commit(folder: &Path, name: &str) -> String {
    std::fs::write(folder.join(name), format!("{name}\n")).unwrap();
    git(folder, &["add", "--", name]);
    git(folder, &["commit", "-q", "-m", name]);
    git(folder, &["rev-parse", "HEAD"])
}
