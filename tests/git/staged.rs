//! Content that is in the index alone, and what a job does to it (issue 5, item 2).

use run_loop::domain::identity::{Kept, Pin};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::git::staged::{Gone, gone, keep};

use crate::support::repo::{self, Repo};
use crate::support::source::Source;

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
        gone(git, found, store, &self.kept, &self.pin.identity, &now).unwrap()
    }
    fn printed(&self, path: &str) -> String {
        let kept = Kept {
            store: self.source.store.git_dir().display().to_string(),
            snapshot: self.pin.snapshot.clone(),
            staged: Some(self.kept.clone()),
        };
        let words = kept.print(&self.kept, &RepoPath::from(path));
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
