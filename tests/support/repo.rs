//! Real git repositories in temporary folders, cut off from the machine's configuration.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository in a temporary folder that goes with it.
pub struct Repo {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Repo {
    /// A repository with branch `main` and no commit.
    pub fn unborn() -> Self {
        Self::unborn_in(&std::env::temp_dir())
    }
    fn unborn_in(folder: &Path) -> Self {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let root = folder.path().canonicalize().unwrap().join("repo");
        std::fs::create_dir(&root).unwrap();
        let repo = Self { folder, root };
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }
    /// A repository with one commit on `main`: `README.md` and `src/lib.rs`.
    pub fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }
    /// As [`Self::new`], in a folder on another file system.
    pub fn new_in(folder: &Path) -> Self {
        let repo = Self::unborn_in(folder);
        repo.write("README.md", "# A project\n");
        repo.write("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n");
        repo.commit("first");
        repo
    }
    /// The working tree.
    pub fn root(&self) -> &Path {
        &self.root
    }
    /// A folder beside the working tree, for linked worktrees, caches and homes; not made.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap().join(name)
    }
    /// Writes a file of the working tree, folders included.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    /// Stages everything and commits it; returns the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }
    /// Writes an object that nothing holds yet.
    pub fn write_blob(&self, content: &str) -> String {
        self.fed(&["hash-object", "-w", "--stdin"], content)
    }
    /// Enters lines into the index, each ended by NUL.
    pub fn index_info(&self, lines: &str) {
        self.fed(&["update-index", "-z", "--index-info"], lines);
    }
    fn fed(&self, args: &[&str], input: &str) -> String {
        use std::io::Write as _;
        let mut command = git_command(&self.root);
        let piped = std::process::Stdio::piped;
        let mut child = command
            .args(args)
            .stdin(piped())
            .stdout(piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success());
        String::from_utf8(done.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }
    /// A linked working tree beside the main one, on a new branch that starts at a revision.
    #[track_caller]
    pub fn linked(&self, name: &str, branch: &str, start: &str) -> PathBuf {
        let place = self.beside(name);
        let shown = place.to_str().unwrap();
        self.git(&["worktree", "add", "-q", "-b", branch, shown, start]);
        place
    }
    /// A clone of its own, made with these options, of a URL that leads here or of `.`.
    #[track_caller]
    pub fn cloned(&self, url: &str, options: &[&str]) -> Self {
        let clone = Self::unborn();
        std::fs::remove_dir_all(clone.root()).unwrap();
        let ends = [url, clone.root().to_str().unwrap()];
        self.git(&[&["clone", "-q"], options, &ends].concat());
        clone
    }
    /// Where it is cloned from like from another machine.
    pub fn url(&self) -> String {
        format!("file://{}", self.root.display())
    }
    /// Runs git in the working tree; panics when it fails; trimmed standard output.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        git(&self.root, args)
    }
}

/// Makes a named pipe: whoever opens it waits.
#[track_caller]
pub fn pipe(path: &Path) {
    let (kind, mode) = (
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    );
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

/// The git under test: `RUN_LOOP_TEST_GIT` names another one.
pub fn git_program() -> PathBuf {
    std::env::var_os("RUN_LOOP_TEST_GIT").map_or_else(|| PathBuf::from("git"), PathBuf::from)
}

/// Runs git in a folder without the machine's configuration; trimmed standard output.
#[track_caller]
pub fn git(directory: &Path, args: &[&str]) -> String {
    let output = git_command(directory).args(args).output().unwrap();
    assert!(
        output.status.success(),
        "git {args:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

/// A git process with fixed author, dates and no configuration but the repository's.
pub fn git_command(directory: &Path) -> Command {
    let mut command = Command::new(git_program());
    command.current_dir(directory).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    for (name, value) in [
        ("HOME", "/nonexistent"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "Ann"),
        ("GIT_AUTHOR_EMAIL", "ann@example.org"),
        ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
        ("GIT_COMMITTER_NAME", "Ann"),
        ("GIT_COMMITTER_EMAIL", "ann@example.org"),
        ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
        // Submodules of tests are local folders.
        ("GIT_ALLOW_PROTOCOL", "file"),
    ] {
        command.env(name, value);
    }
    command
}
