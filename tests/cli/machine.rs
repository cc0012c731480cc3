//! A machine with one repository, an empty home, and the built binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::repo::Repo;

/// A repository with a feature branch checked out in it, beside an empty home.
pub(crate) struct Machine {
    pub(crate) repo: Repo,
    variables: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Machine {
    /// One commit on `main`, one more on `feature`, which is checked out.
    pub(crate) fn new() -> Self {
        let repo = Repo::new();
        repo.git(&["switch", "-q", "-c", "feature"]);
        repo.write("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n");
        repo.commit("two");
        Self::with(repo)
    }
    pub(crate) fn with(repo: Repo) -> Self {
        Self {
            repo,
            variables: Vec::new(),
        }
    }
    /// Puts a file at the base: commits it on `main` and brings `feature` on top.
    pub(crate) fn at_base(self, path: &str, content: &str) -> Self {
        self.repo.git(&["switch", "-q", "main"]);
        self.repo.write(path, content);
        self.repo.commit("configure");
        self.repo.git(&["switch", "-q", "feature"]);
        self.repo.git(&["rebase", "-q", "main"]);
        self
    }
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }
    pub(crate) fn home(&self) -> PathBuf {
        self.repo.beside("home")
    }
    /// Writes the user's own configuration.
    pub(crate) fn user_file(self, content: &str) -> Self {
        let folder = self.home().join("config/run-loop");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.yaml"), content).unwrap();
        self
    }
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.run_in(self.repo.root(), args)
    }
    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_run-loop"));
        command.args(args).current_dir(folder);
        self.prepare(&mut command);
        let output = command.output().unwrap();
        Ended {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
    /// Gives a command the environment of this machine, and no other.
    pub(crate) fn prepare(&self, command: &mut Command) {
        let home = self.home();
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
    }
    /// Runs a command that must be refused with this exit code and reason code, say this, name a
    /// next command, print no data, and leave nothing behind.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str], exit: i32, code: &str, message: &str) -> String {
        self.refuses_in(self.repo.root(), args, exit, code, message)
    }
    #[track_caller]
    pub(crate) fn refuses_in(
        &self,
        folder: &Path,
        args: &[&str],
        exit: i32,
        code: &str,
        message: &str,
    ) -> String {
        let before = self.everything();
        let ended = self.run_in(folder, args);
        assert_eq!(ended.code, exit, "{args:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{args:?}: data of a refused command");
        assert!(
            ended.stderr.contains(&format!("error {code}: ")),
            "{args:?}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
        let next = ended
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("next: "));
        let next = next.unwrap_or_else(|| panic!("{args:?}: no next command: {}", ended.stderr));
        assert!(!next.is_empty(), "{args:?}");
        assert_eq!(
            self.everything(),
            before,
            "{args:?}: a refusal left something behind"
        );
        next.to_owned()
    }
    /// Every path below the folder that holds repository and home, `.git` included.
    pub(crate) fn everything(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.repo.root().parent().unwrap().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                found.push(entry.path());
            }
        }
        found.sort();
        found
    }
}
