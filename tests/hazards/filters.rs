//! Content filters: a selected one runs as in plain git, or is refused; it is never left out.

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;

use crate::support::repo::Repo;
use crate::support::skipped;
use crate::support::source::Source;
use crate::trial::{Trial, moment, same, script, set_mtime};

const PROCESS: &str = include_str!("filter_process.sh");

/// `*.f` selects the filter `f`.
fn filtered(settings: &[(&str, &str)]) -> Repo {
    let repo = Repo::new();
    for (key, value) in settings {
        repo.git(&["config", &format!("filter.f.{key}"), value]);
    }
    repo.write(".gitattributes", "*.f filter=f\n");
    repo.write("x.f", "text\n");
    repo
}

#[test]
fn clean_filter() {
    let repo = filtered(&[("clean", "tr a-z A-Z"), ("smudge", "tr A-Z a-z")]);
    Trial::of(&repo).allow("f").same().shows("x.f", "TEXT\n");
}

/// What was committed unfiltered: the file is the same, its blob is another one.
#[test]
fn clean_filter_on_a_tracked_file() {
    let repo = filtered(&[]);
    repo.commit("unfiltered");
    repo.git(&["config", "filter.f.clean", "tr a-z A-Z"]);
    repo.write("x.f", "more\n");
    Trial::of(&repo).allow("f").same().shows("x.f", "MORE\n");
}

#[test]
fn process_filter() {
    let repo = filtered(&[]);
    let program = repo.beside("process");
    script(&program, PROCESS);
    let program = program.to_str().unwrap();
    repo.git(&["config", "filter.f.process", program]);
    repo.git(&["config", "filter.f.required", "true"]);
    repo.write("y.f", "other\n");
    Trial::of(&repo)
        .allow("f")
        .same()
        .shows("x.f", "TEXT\n")
        .shows("y.f", "OTHER\n");
}

#[test]
fn filter_that_is_not_allowed_is_refused() {
    for key in ["clean", "process", "smudge"] {
        let repo = filtered(&[(key, "cat")]);
        Trial::of(&repo).refused(Code::FilterNotAllowed, "--allow-filter f");
    }
}

/// No option can name it; the one whose text stands in its place allows nothing.
#[test]
fn filter_whose_name_is_no_text_is_refused() {
    let repo = Repo::new();
    let config = repo.root().join(".git/config");
    let mark = repo.beside("ran");
    let mut text = std::fs::read(&config).unwrap();
    text.extend_from_slice(b"[filter \"\xff\"]\n\tclean = touch '");
    text.extend_from_slice(mark.to_str().unwrap().as_bytes());
    text.extend_from_slice(b"'; cat\n");
    std::fs::write(&config, text).unwrap();
    repo.write(".gitattributes", b"*.f filter=\xff\n");
    repo.write("x.f", "text\n");
    Trial::of(&repo)
        .allow("\u{fffd}")
        .refused(Code::FilterNotAllowed, "not UTF-8");
    assert!(!mark.exists(), "it ran");
}

#[test]
fn filter_that_nothing_defines() {
    let repo = filtered(&[]);
    Trial::of(&repo).same().shows("x.f", "text\n");
}

#[test]
fn filter_that_nothing_selects() {
    let repo = filtered(&[("clean", "false")]);
    std::fs::remove_file(repo.root().join("x.f")).unwrap();
    Trial::of(&repo).same().lacks("x.f");
}

#[test]
fn required_filter_that_fails_is_refused() {
    let repo = filtered(&[("clean", "false"), ("required", "true")]);
    Trial::of(&repo)
        .allow("f")
        .refused(Code::SnapshotRefused, "x.f");
}

/// Plain git adds the raw bytes and says so.
#[test]
fn filter_that_fails_is_refused() {
    let repo = filtered(&[("clean", "false")]);
    Trial::of(&repo)
        .allow("f")
        .refused(Code::SnapshotRefused, "false");
}

#[test]
fn required_filter_without_a_command_is_refused() {
    let repo = filtered(&[("required", "true")]);
    Trial::of(&repo).refused(Code::SnapshotRefused, "x.f");
}

fn lfs(repo: &Repo, settings: &[(&str, &str)], program: &str) -> std::path::PathBuf {
    let folder = repo.beside("bin");
    script(&folder.join("git-lfs"), program);
    for (key, value) in settings {
        repo.git(&["config", &format!("filter.lfs.{key}"), value]);
    }
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs -text\n");
    repo.write("large.bin", "large\n");
    folder
}

#[test]
fn lfs_clean() {
    let repo = Repo::new();
    let settings = [
        ("clean", "git-lfs clean -- %f"),
        ("smudge", "git-lfs smudge -- %f"),
        ("required", "true"),
    ];
    let programs = lfs(&repo, &settings, "echo \"pointer to $(cat | wc -c)\"");
    Trial::of(&repo)
        .programs(&programs)
        .same()
        .shows("large.bin", "pointer to 6\n");
}

#[test]
fn lfs_process() {
    let repo = Repo::new();
    let settings = [
        ("clean", "git-lfs clean -- %f"),
        ("smudge", "git-lfs smudge -- %f"),
        ("process", "git-lfs filter-process"),
        ("required", "true"),
    ];
    let programs = lfs(&repo, &settings, PROCESS);
    Trial::of(&repo)
        .programs(&programs)
        .same()
        .shows("large.bin", "LARGE\n");
}

/// No script in its place: what it makes for a capture, the user's repository does not get, nor the hooks that
/// it writes wherever it finds none.
#[test]
fn lfs_itself() {
    let there = std::process::Command::new("git-lfs")
        .arg("version")
        .output();
    if !there.is_ok_and(|output| output.status.success()) {
        return skipped("git-lfs is not installed");
    }
    let pointer = |content: &str| {
        let (id, size) = (Digest::of(content.as_bytes()), content.len());
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
    };
    for process in [true, false] {
        let repo = Repo::new();
        let set = |key: &str, value: &str| {
            repo.git(&["config", &format!("filter.lfs.{key}"), value]);
        };
        set("clean", "git-lfs clean -- %f");
        set("smudge", "git-lfs smudge -- %f");
        set("required", "true");
        if process {
            set("process", "git-lfs filter-process");
        }
        repo.write(".gitattributes", "*.bin filter=lfs diff=lfs -text\n");
        repo.write("new.bin", "new\n");
        Source::of(&repo, "HEAD").pin();
        assert!(!repo.root().join(".git/lfs").exists());
        assert!(!repo.root().join(".git/hooks/pre-push").exists());
        same(&repo).shows("new.bin", pointer("new\n"));
        repo.write("large.bin", "large\n");
        repo.commit("stored by it");
        // Else plain git asks the filter when it is asked what changed, and that leaves a trace.
        for file in ["large.bin", "new.bin"] {
            set_mtime(&repo.root().join(file), moment());
        }
        repo.git(&["update-index", "--refresh"]);
        same(&repo)
            .shows("large.bin", pointer("large\n"))
            .is_clean();
        repo.write("large.bin", "edited\n");
        same(&repo).shows("large.bin", pointer("edited\n"));
    }
}

#[test]
fn lfs_that_is_not_installed_is_refused() {
    let repo = Repo::new();
    let settings = [("clean", "git-lfs clean -- %f"), ("required", "true")];
    let programs = lfs(&repo, &settings, "exit 127");
    Trial::of(&repo)
        .programs(&programs)
        .refused(Code::SnapshotRefused, "large.bin");
}

/// The name allows nothing.
#[test]
fn lfs_in_name_only_is_refused() {
    let repo = Repo::new();
    let programs = lfs(&repo, &[("clean", "cat")], "true");
    Trial::of(&repo)
        .programs(&programs)
        .refused(Code::FilterNotAllowed, "--allow-filter lfs");
}
