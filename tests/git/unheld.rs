//! Work of a job that no branch holds, and what only looks like it (issue 5, item 2).

use std::fmt::Write as _;

use run_loop::domain::identity::{About, Elsewhere, Site};
use run_loop::domain::oid::Oid;
use run_loop::git::unheld::{Found, found, marks};

use crate::support::repo::Repo;
use crate::support::source::{discover, git};

/// What is told of a job that does this.
fn told(repo: &Repo, job: impl FnOnce(&Repo)) -> Vec<Elsewhere> {
    let all = all_told(repo, job);
    assert_eq!(all.unknown, []);
    all.elsewhere
}

fn all_told(repo: &Repo, job: impl FnOnce(&Repo)) -> Found {
    let (git, place) = (git(), discover(repo.root()));
    let head = || Oid::parse(&repo.git(&["rev-parse", "HEAD"])).unwrap();
    let (before, start) = (marks(&git, &place).unwrap(), head());
    job(repo);
    found(&git, &place, &before, [&start, &head()]).unwrap()
}

fn is_told(all: &[Elsewhere], site: Site, commit: &str) -> bool {
    let mut all = all.iter();
    all.any(|it| it.site == site && it.to.as_str() == commit)
}

/// A commit that was left alone is not the one that is amended on a branch afterwards.
#[test]
fn what_is_amended_elsewhere_replaces_nothing() {
    let repo = Repo::new();
    let mut left = String::new();
    let all = told(&repo, |repo| {
        repo.git(&["checkout", "-q", "--detach"]);
        repo.write("work.txt", "hours of it");
        left = repo.commit("work");
        repo.git(&["checkout", "-q", "main"]);
        repo.git(&["commit", "-q", "--amend", "-m", "another word"]);
    });
    assert!(is_told(&all, Site::Detached, &left), "{all:?}");
    assert_eq!(all.len(), 1, "{all:?}");
}

/// What was amended where it stood is told by what replaced it alone.
#[test]
fn what_is_amended_where_it_stands_is_told_once() {
    let repo = Repo::new();
    let mut last = String::new();
    let all = told(&repo, |repo| {
        repo.git(&["checkout", "-q", "--detach"]);
        repo.write("work.txt", "hours of it");
        repo.commit("work");
        repo.git(&["commit", "-q", "--amend", "-m", "work, again"]);
        last = repo.git(&["rev-parse", "HEAD"]);
        repo.git(&["checkout", "-q", "main"]);
    });
    assert!(is_told(&all, Site::Detached, &last), "{all:?}");
    assert_eq!(all.len(), 1, "{all:?}");
}

fn stash(repo: &Repo) -> String {
    repo.write("src/lib.rs", "// work\n");
    repo.git(&["stash", "-q"]);
    repo.git(&["rev-parse", "refs/stash"])
}

/// A job may stash between two of its commits, or on a commit that it only came by.
#[test]
fn what_is_stashed_on_the_way_is_told() {
    let repo = Repo::new();
    let mut put = String::new();
    let all = told(&repo, |repo| {
        repo.commit("one");
        put = stash(repo);
        repo.commit("two");
    });
    assert!(is_told(&all, Site::Stash, &put), "{all:?}");
    repo.git(&["stash", "drop", "-q"]);
    let all = told(&repo, |repo| {
        repo.git(&["checkout", "-q", "HEAD~1"]);
        put = stash(repo);
        repo.git(&["checkout", "-q", "main"]);
    });
    assert!(is_told(&all, Site::Stash, &put), "{all:?}");
}

/// The stash is everybody's: what another working tree puts there, on a commit that this one was on
/// before the job, is nothing of the job's.
#[test]
fn what_others_stash_is_theirs() {
    let repo = Repo::new();
    let old = repo.git(&["rev-parse", "HEAD"]);
    repo.commit("later");
    let other = repo.beside("other").display().to_string();
    repo.git(&["worktree", "add", "-q", "--detach", &other, &old]);
    let all = told(&repo, |repo| {
        std::fs::write(repo.beside("other").join("README.md"), "theirs").unwrap();
        repo.git(&["-C", &other, "stash", "-q"]);
        repo.commit("ours");
    });
    assert_eq!(all, []);
}

/// Moves of HEAD, as if it had been checked out that often.
fn comes_and_goes(repo: &Repo, times: usize) {
    let head = repo.git(&["rev-parse", "HEAD"]);
    let log = repo.root().join(".git/logs/HEAD");
    let mut text = std::fs::read_to_string(&log).unwrap();
    for _ in 0..times {
        writeln!(
            text,
            "{head} {head} Ann <ann@example.org> 1767323045 +0000\tcheckout: moving from main to main"
        )
        .unwrap();
    }
    std::fs::write(&log, text).unwrap();
}

/// However much HEAD moves afterwards, nothing of before is out of sight.
#[test]
fn many_moves_hide_nothing() {
    let repo = Repo::new();
    let mut left = String::new();
    let all = told(&repo, |repo| {
        repo.git(&["checkout", "-q", "--detach"]);
        left = repo.commit("work");
        repo.git(&["checkout", "-q", "main"]);
        comes_and_goes(repo, 3_000);
    });
    assert!(is_told(&all, Site::Detached, &left), "{all:?}");
}

/// More moves than anybody looks at keep no job from starting, and make no job's work unusable: the
/// newest are known, and among them is what the job did.
#[test]
fn more_moves_than_are_looked_at_are_no_fault() {
    let repo = Repo::new();
    comes_and_goes(&repo, 100_001);
    // The branches' moves as well.
    let logs = repo.root().join(".git/logs");
    std::fs::copy(logs.join("HEAD"), logs.join("refs/heads/main")).unwrap();
    let mut left = String::new();
    let all = told(&repo, |repo| {
        repo.git(&["checkout", "-q", "--detach"]);
        left = repo.commit("work");
        repo.git(&["checkout", "-q", "main"]);
        repo.commit("held");
        repo.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "held too"]);
    });
    assert!(is_told(&all, Site::Detached, &left), "{all:?}");
    assert_eq!(all.len(), 1, "{all:?}");
}

fn doubts(found: &Found) -> Vec<About> {
    found.unknown.iter().map(|doubt| doubt.about).collect()
}

/// What git forgot of before may have taken something of the job's along: it is told that this is not
/// known, with what lists all that nothing holds.
#[test]
fn what_git_forgot_is_not_known() {
    let repo = Repo::new();
    let mut left = String::new();
    let all = all_told(&repo, |repo| {
        repo.git(&["checkout", "-q", "--detach"]);
        left = repo.commit("work");
        repo.git(&["checkout", "-q", "main"]);
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    });
    assert_eq!((doubts(&all), all.elsewhere), (vec![About::Head], vec![]));
    let doubt = &all.unknown[0];
    let said = doubt.said();
    assert!(
        said.contains("on no branch, which is not known, since"),
        "{said}"
    );
    let lists = doubt.lists(repo.root().to_str().unwrap());
    let words: Vec<&str> = lists[1..].iter().map(String::as_str).collect();
    assert!(repo.git(&words).contains(&left));
}

/// So many moves that none of before is among those that are looked at, and such a stash.
#[test]
fn more_than_is_looked_at_is_not_known() {
    let repo = Repo::new();
    stash(&repo);
    let log = repo.root().join(".git/logs/refs/stash");
    let one = std::fs::read_to_string(&log).unwrap();
    let all = all_told(&repo, |repo| {
        comes_and_goes(repo, 100_001);
        std::fs::write(&log, one.repeat(100_001)).unwrap();
    });
    assert_eq!(doubts(&all), [About::Head, About::Stash]);
    assert_eq!(all.elsewhere, []);
}
