//! Sides of conflicts that the index alone holds, and what a job does to them (issue 5, item 2).

use run_loop::domain::identity::{Kept, Pin, Side};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::git::staged::Now;
use run_loop::git::unmerged::{Gone, gone, keep};

use crate::support::repo::{self, Repo};
use crate::support::source::Source;

/// A branch and `main` that changed one line in two ways.
fn apart() -> Repo {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.write("src/lib.rs", "// ours\n");
    repo.commit("ours");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("src/lib.rs", "// theirs\n");
    repo.commit("theirs");
    repo.git(&["checkout", "-q", "feature"]);
    repo
}

fn fails(repo: &Repo, args: &[&str]) {
    let ran = repo::git_command(repo.root()).args(args).output().unwrap();
    assert!(!ran.status.success(), "{args:?}");
}

fn source(repo: &Repo) -> (Source, Pin) {
    let mut source = Source::of(repo, "main");
    source.spec.allow_in_progress = true;
    let pin = source.pin();
    (source, pin)
}

fn kept(source: &Source, pin: &Pin) -> Option<Oid> {
    let Source {
        git, found, store, ..
    } = source;
    keep(git, found, store, pin, "run/1-implement-unmerged").unwrap()
}

fn gone_of(source: &Source, pin: &Pin, kept: Option<&Oid>) -> Gone {
    let Source {
        git, found, store, ..
    } = source;
    let now = source.measure(pin).pin.identity;
    let now = Now {
        head: &now.head,
        tree: Some(&now.tree),
    };
    gone(git, found, store, kept, &pin.identity, now).unwrap()
}

/// What a merge, a cherry-pick and an applied stash leave is made of commits: whoever resolves it loses
/// nothing.
#[test]
fn conflicts_of_commits_are_not_kept() {
    for operation in [&["merge", "-q", "main"][..], &["cherry-pick", "main"]] {
        let repo = apart();
        fails(&repo, operation);
        let (source, pin) = source(&repo);
        assert_eq!(kept(&source, &pin), None, "{operation:?}");
        repo.write("src/lib.rs", "// both\n");
        repo.git(&["add", "-A"]);
        assert_eq!(gone_of(&source, &pin, None), Gone::default());
    }
    let repo = apart();
    repo.write("src/lib.rs", "// stashed\n");
    repo.git(&["stash", "-q"]);
    repo.write("src/lib.rs", "// ours again\n");
    repo.commit("ours again");
    fails(&repo, &["stash", "pop"]);
    let (source, pin) = source(&repo);
    assert_eq!(kept(&source, &pin), None);
}

/// A conflict of which no commit has a side: each is kept, told when it is gone, and printed.
#[test]
fn sides_that_the_index_alone_has_are_kept_and_told() {
    let repo = apart();
    fails(&repo, &["merge", "-q", "main"]);
    let ours = repo.write_blob("// ours, edited\n");
    let theirs = repo.write_blob("// theirs, edited\n");
    let path = "src/a \u{1b}[2J\nb.rs";
    let lines = format!("100644 {ours} 2\t{path}\0100644 {theirs} 3\t{path}\0");
    repo.index_info(&lines);
    let (source, pin) = source(&repo);
    let commit = kept(&source, &pin).unwrap();
    assert_eq!(gone_of(&source, &pin, Some(&commit)), Gone::default());
    // One side stays where it is; the other one nothing holds any more.
    repo.write("other.rs", "// ours, edited\n");
    repo.git(&["rm", "-q", "--cached", "--", path]);
    let sides = gone_of(&source, &pin, Some(&commit)).sides;
    let stage = 3;
    let lost = Side {
        path: RepoPath::from(path),
        stage,
    };
    assert_eq!(sides, std::slice::from_ref(&lost));
    repo.git(&["gc", "-q", "--prune=now"]);
    let kept = Kept {
        store: source.store.git_dir().display().to_string(),
        snapshot: pin.snapshot.clone(),
        staged: None,
        unmerged: Some(commit.clone()),
    };
    let prints = kept.print(&commit, &lost.kept_at());
    let words: Vec<&str> = prints[1..].iter().map(String::as_str).collect();
    assert_eq!(repo::git(repo.root(), &words), "// theirs, edited");
}

/// A conflict that took the place of edits is no work on top of them.
#[test]
fn edits_that_a_conflict_replaced_are_lost() {
    let repo = apart();
    repo.write("src/lib.rs", "// hours of work\n");
    repo.write("README.md", "mine\n");
    let (source, pin) = source(&repo);
    repo.git(&["checkout", "-q", "--", "src/lib.rs"]);
    fails(&repo, &["merge", "-q", "main"]);
    let gone = gone_of(&source, &pin, None);
    assert_eq!(gone.edits, ["src/lib.rs"].map(RepoPath::from));
    assert_eq!(gone.sides, []);
}
