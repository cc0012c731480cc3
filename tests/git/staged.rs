//! Content that is in the index alone, and what a job does to it (issue 5, item 2).

use run_loop::domain::failure::NextCommand;
use run_loop::domain::identity::{Kept, Pin};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::git::staged::{Gone, Now, gone, keep};
use run_loop::report::text;

use crate::support::folders::hide;
use crate::support::repo::{self, Repo};
use crate::support::source::{Source, git};

fn feature() -> Repo {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo
}

/// A repository with things that are staged, one of them also as it lies there.
fn staged() -> Repo {
    let repo = feature();
    for (path, staged, worked) in [
        ("src/lib.rs", "// staged\n", Some("// worked\n")),
        ("new \n.txt", "staged too\n", None),
        ("same.txt", "as it lies there\n", Some("as it lies there\n")),
    ] {
        repo.write(path, staged);
        repo.git(&["add", "--", path]);
        match worked {
            Some(worked) => repo.write(path, worked),
            None => std::fs::remove_file(repo.root().join(path)).unwrap(),
        }
    }
    repo.write("later.txt", "");
    repo.git(&["add", "-N", "later.txt"]);
    repo
}

/// What an index says of its folders is not believed: it is lost where it names those of HEAD.
#[test]
fn what_is_staged_behind_the_folders_of_head_is_kept() {
    for options in [&[][..], &["--split-index"]] {
        let repo = feature();
        hide(repo.root(), "src", "lib.rs", "// staged\n", options);
        let source = Source::of(&repo, "main");
        repo.write("src/lib.rs", "// worked\n");
        let pin = source.pin();
        let Source {
            git, found, store, ..
        } = &source;
        // Git would run it on what it doubts, were the working tree there.
        repo.write(".git/info/attributes", "README.md filter=f\n");
        let ran = repo.beside("ran");
        let filter = format!("touch '{}'; cat", ran.display());
        repo.git(&["config", "filter.f.clean", &filter]);
        let index = std::fs::File::open(repo.root().join(".git/index")).unwrap();
        let readme = std::fs::metadata(repo.root().join("README.md")).unwrap();
        index.set_modified(readme.modified().unwrap()).unwrap();
        let kept = keep(git, found, store, &pin, "run/1-implement-staged").unwrap();
        assert!(!ran.exists(), "{options:?}");
        let file = format!("{}:src/lib.rs", kept.unwrap());
        let held = repo::git(store.git_dir(), &["show", &file]);
        assert_eq!(held, "// staged", "{options:?}");
    }
}

struct Before<'a> {
    repo: &'a Repo,
    source: Source,
    pin: Pin,
    kept: Oid,
}

impl<'a> Before<'a> {
    fn of(repo: &'a Repo) -> Self {
        let source = Source::of(repo, "main");
        let pin = source.pin();
        let Source {
            git, found, store, ..
        } = &source;
        let kept = keep(git, found, store, &pin, "run/1-implement-staged").unwrap();
        Self {
            repo,
            kept: kept.unwrap(),
            source,
            pin,
        }
    }
    fn gone(&self) -> Gone {
        let Source {
            git, found, store, ..
        } = &self.source;
        let now = self.source.measure(&self.pin).pin.identity;
        let now = Now {
            head: &now.head,
            tree: Some(&now.tree),
        };
        gone(git, found, store, &self.kept, &self.pin.identity, now).unwrap()
    }
    /// Where no snapshot can be made of what lies there.
    fn gone_unmeasured(&self) -> Gone {
        let Source {
            git, found, store, ..
        } = &self.source;
        let head = self.repo.git(&["rev-parse", "HEAD"]);
        let now = Now {
            head: &Oid::parse(&head).unwrap(),
            tree: None,
        };
        gone(git, found, store, &self.kept, &self.pin.identity, now).unwrap()
    }
    /// What the told command prints, run as it stands.
    fn pasted(&self, path: &str) -> String {
        let command = NextCommand(self.kept().print(&self.kept, &RepoPath::from(path)));
        let command = command.to_string();
        // Nothing that text passes on its way to people changes it.
        assert_eq!(text::line(&command), command);
        assert_eq!(text::block(&command), command);
        let ran = std::process::Command::new("bash")
            .args(["-c", &command])
            .current_dir(self.repo.root())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{command}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    }
    fn kept(&self) -> Kept {
        Kept {
            store: self.source.store.git_dir().display().to_string(),
            snapshot: self.pin.snapshot.clone(),
            staged: Some(self.kept.clone()),
            unmerged: None,
        }
    }
    fn printed(&self, path: &str) -> String {
        let words = self.kept().print(&self.kept, &RepoPath::from(path));
        let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        repo::git(self.repo.root(), &words)
    }
}

#[test]
fn what_is_replaced_in_the_index_is_told_and_kept() {
    let repo = staged();
    let before = Before::of(&repo);
    assert_eq!(before.gone(), Gone::default());
    repo.git(&["add", "-A"]);
    let gone = before.gone();
    assert_eq!(
        gone.staged,
        ["new \n.txt", "src/lib.rs"].map(RepoPath::from)
    );
    assert_eq!(gone.edits, []);
    // Nothing of the user's holds it any more.
    repo.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(before.printed("src/lib.rs"), "// staged");
    assert_eq!(before.printed("new \n.txt"), "staged too");
}

#[test]
fn what_was_committed_is_not_gone() {
    let repo = staged();
    let before = Before::of(&repo);
    repo.git(&["commit", "-q", "-m", "as it was staged"]);
    assert_eq!(before.gone(), Gone::default());
}

/// Putting back what is staged takes the edits away.
#[test]
fn edits_that_were_replaced_by_what_was_staged_are_lost() {
    let repo = staged();
    let before = Before::of(&repo);
    repo.git(&["checkout", "-q", "--", "."]);
    let gone = before.gone();
    assert_eq!(gone.edits, ["src/lib.rs"].map(RepoPath::from));
    assert_eq!(gone.staged, []);
}

#[test]
fn a_reset_takes_away_what_was_staged() {
    let repo = staged();
    let before = Before::of(&repo);
    repo.git(&["reset", "-q"]);
    let gone = before.gone();
    assert_eq!(
        gone.staged,
        ["new \n.txt", "src/lib.rs"].map(RepoPath::from)
    );
}

/// Nothing is in the index alone: nothing is kept.
#[test]
fn what_lies_there_too_is_not_kept() {
    let repo = feature();
    repo.write("src/lib.rs", "// mine\n");
    repo.git(&["add", "-A"]);
    repo.git(&["rm", "-q", "--cached", "README.md"]);
    let source = Source::of(&repo, "main");
    let pin = source.pin();
    let Source {
        git, found, store, ..
    } = &source;
    assert_eq!(keep(git, found, store, &pin, "run/1-staged"), Ok(None));
}

/// HEAD has what lay there: nothing is lost with it.
#[test]
fn a_file_that_was_as_head_has_it_had_no_edits() {
    let repo = feature();
    let head = std::fs::read_to_string(repo.root().join("src/lib.rs")).unwrap();
    repo.write("src/lib.rs", "// staged\n");
    repo.git(&["add", "src/lib.rs"]);
    repo.write("src/lib.rs", &head);
    let before = Before::of(&repo);
    repo.git(&["checkout", "-q", "--", "src/lib.rs"]);
    assert_eq!(before.gone(), Gone::default());
}

/// An operation that is left open keeps the source from being measured, and the index from nothing.
#[test]
fn what_was_staged_is_told_without_a_measurement() {
    let repo = staged();
    let before = Before::of(&repo);
    assert_eq!(before.gone_unmeasured(), Gone::default());
    repo.git(&["reset", "-q"]);
    let gone = before.gone_unmeasured();
    assert_eq!(
        gone.staged,
        ["new \n.txt", "src/lib.rs"].map(RepoPath::from)
    );
    assert_eq!(gone.edits, []);
}

/// A command that is told can be pasted, whatever the path is made of.
#[test]
fn a_told_command_runs_as_it_is_printed() {
    let repo = feature();
    let paths = [
        "tab\tand\nline",
        "\u{1b}[2J\u{202e}7",
        "##[error]it's",
        "back\\slash\r1",
        "plain 'quoted'",
    ];
    for path in paths {
        repo.write(path, format!("of {path:?}\n"));
        repo.git(&["add", "--", path]);
        repo.write(path, "another\n");
    }
    let before = Before::of(&repo);
    for path in paths {
        assert_eq!(before.pasted(path), format!("of {path:?}\n"));
    }
}

/// A partial clone lacks blobs; none of them is needed, and its remote is away.
#[test]
fn what_is_staged_in_a_partial_clone_is_kept() {
    let origin = Repo::new();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = origin.beside("clone");
    let url = format!("file://{}", origin.root().display());
    let place = clone.to_str().unwrap();
    origin.git(&["clone", "-q", "--sparse", "--filter=blob:none", &url, place]);
    repo::git(
        &clone,
        &["remote", "set-url", "origin", "file:///nonexistent"],
    );
    std::fs::write(clone.join("README.md"), "staged\n").unwrap();
    repo::git(&clone, &["add", "README.md"]);
    std::fs::write(clone.join("README.md"), "worked\n").unwrap();
    let missing = repo::git(
        &clone,
        &["rev-list", "--objects", "--missing=print", "HEAD"],
    );
    assert!(missing.contains("\n?"), "{missing}");
    let source = Source::at(&origin, &clone, Some("HEAD"), git());
    let pin = source.pin();
    let Source {
        git, found, store, ..
    } = &source;
    let kept = keep(git, found, store, &pin, "run/1-staged")
        .unwrap()
        .unwrap();
    let dir = format!("--git-dir={}", store.git_dir().display());
    let shown = repo::git(&clone, &[&dir, "show", &format!("{kept}:README.md")]);
    assert_eq!(shown, "staged");
}
