//! Whose the edits are that a job of the run took away (A5-19).

use run_loop::domain::identity::Pin;
use run_loop::domain::look::{IndexAlone, Look, Since};
use run_loop::domain::path::RepoPath;
use run_loop::git::{own, staged, unmerged};

use crate::support::repo::Repo;
use crate::support::source::Source;

const LIB: &str = "src/lib.rs";

/// A source with the looks that were taken at it.
struct History {
    repo: Repo,
    source: Source,
    pin: Pin,
    looks: Vec<Look>,
}

impl History {
    /// A step is about to begin, with this done to the source before.
    fn new(before: impl FnOnce(&Repo)) -> Self {
        let repo = Repo::new();
        repo.git(&["checkout", "-q", "-b", "feature"]);
        repo.write(".gitignore", "*.log\n");
        repo.write("other.rs", "// other\n");
        repo.commit("more files");
        before(&repo);
        let source = Source::of(&repo, "main");
        let pin = source.pin();
        let looks = Vec::new();
        let history = Self {
            repo,
            source,
            pin,
            looks,
        };
        history.pinned(|_| ())
    }
    /// The source is pinned for a step, after this.
    fn pinned(mut self, done: impl FnOnce(&Repo)) -> Self {
        done(&self.repo);
        self.pin = self.source.pin();
        let Source {
            git, found, store, ..
        } = &self.source;
        self.pin.alone = Some(IndexAlone {
            staged: staged::keep(git, found, store, &self.pin, "run/1-correct-staged").unwrap(),
            unmerged: unmerged::keep(git, found, store, &self.pin, "run/1-correct-unmerged")
                .unwrap(),
        });
        self.looks.push(Look::of(&self.pin, Since::Anybody));
        self
    }
    /// It is measured after this.
    fn seen(mut self, since: Since, done: impl FnOnce(&Repo)) -> Self {
        done(&self.repo);
        let now = self.source.measure(&self.pin).pin;
        self.looks.push(Look::of(&now, since));
        self
    }
    fn jobs(self, done: impl FnOnce(&Repo)) -> Self {
        self.seen(Since::Jobs, done)
    }
    fn anybody(self, done: impl FnOnce(&Repo)) -> Self {
        self.seen(Since::Anybody, done)
    }
    /// What is so after this, which no look has seen yet.
    fn after(self, done: impl FnOnce(&Repo), holds: impl FnOnce(&Self)) {
        done(&self.repo);
        holds(&self);
    }
    fn own(&self, path: &str) -> bool {
        let Source {
            git, found, store, ..
        } = &self.source;
        let path = RepoPath::from(path);
        let now = self.source.measure(&self.pin).pin.identity.tree;
        let (looks, paths) = ((&self.looks[..], &now), std::slice::from_ref(&path));
        let own = own::own(git, (found, store), looks, paths).unwrap();
        own.contains(&path)
    }
}

fn writes(text: &str) -> impl FnOnce(&Repo) {
    move |repo| repo.write(LIB, format!("// {text}\n"))
}

fn stages(path: &str) -> impl FnOnce(&Repo) {
    move |repo| drop(repo.git(&["add", "--", path]))
}

fn nothing(_: &Repo) {}

/// A job wrote the first version in a clean tree.
fn written() -> History {
    History::new(nothing).jobs(writes("one"))
}

/// The simplest: a job rewrites what one before it wrote; so does a third.
#[test]
fn what_jobs_alone_wrote_is_the_runs_own() {
    let history = written().pinned(nothing);
    assert!(history.own(LIB));
    assert!(history.jobs(writes("two")).pinned(nothing).own(LIB));
    let new = |repo: &Repo| repo.write("new.rs", "// new\n");
    assert!(
        History::new(nothing)
            .jobs(new)
            .pinned(nothing)
            .own("new.rs")
    );
}

#[test]
fn what_was_edited_before_the_first_job_is_the_users() {
    let history = History::new(writes("mine")).jobs(writes("both"));
    assert!(!history.pinned(nothing).jobs(writes("two")).own(LIB));
    let history = History::new(|repo| repo.write("notes.txt", "mine\n"));
    let history = history.jobs(writes("one")).pinned(nothing);
    assert!(!history.own("notes.txt") && history.own(LIB));
}

/// Between two jobs, while the run lies aside, and back to what the job had left.
#[test]
fn what_was_edited_between_jobs_is_the_users() {
    assert!(!written().pinned(writes("mine")).own(LIB));
    let aside = written().anybody(writes("mine"));
    assert!(!aside.jobs(writes("two")).pinned(nothing).own(LIB));
    let back = written().pinned(|repo| {
        writes("mine")(repo);
        writes("one")(repo);
    });
    assert!(back.own(LIB), "it is what the job had left");
    let beside = written().pinned(|repo| repo.write("other.rs", "// mine\n"));
    assert!(beside.own(LIB) && !beside.own("other.rs"));
}

/// Where nobody looked right after a job, the user may have written what lies there.
#[test]
fn what_a_job_of_a_dead_engine_left_is_not_known() {
    let history = History::new(nothing).anybody(writes("one"));
    assert!(!history.pinned(nothing).own(LIB));
    let again = History::new(nothing).anybody(nothing).jobs(writes("one"));
    assert!(
        again.pinned(nothing).own(LIB),
        "nothing moved until the look"
    );
}

/// Staged or not; what is in the index alone counts, too.
#[test]
fn what_is_staged_is_looked_at() {
    assert!(written().pinned(stages(LIB)).own(LIB), "the same, staged");
    let job = |repo: &Repo| {
        writes("one")(repo);
        stages(LIB)(repo);
        writes("two")(repo);
    };
    assert!(History::new(nothing).jobs(job).pinned(nothing).own(LIB));
    let mine = |repo: &Repo| {
        writes("mine")(repo);
        stages(LIB)(repo);
        writes("one")(repo);
    };
    assert!(!written().pinned(mine).own(LIB), "in the index alone");
    assert!(!written().anybody(mine).jobs(nothing).own(LIB));
    // Nobody looked what was staged: it may be the user's alone.
    assert!(!written().anybody(stages(LIB)).own(LIB));
    // A job brings it out of the index.
    let staged = |repo: &Repo| {
        writes("mine")(repo);
        stages(LIB)(repo);
        repo.git(&["restore", "--source=HEAD", "--worktree", LIB]);
    };
    let taken = |repo: &Repo| drop(repo.git(&["checkout", "--", LIB]));
    let history = History::new(staged).jobs(taken);
    assert!(!history.pinned(nothing).own(LIB));
}

/// What HEAD has is nobody's edit, until HEAD is taken back.
#[test]
fn commits_are_looked_at() {
    let commits = |repo: &Repo| drop(repo.commit("all"));
    let history = History::new(writes("mine")).pinned(commits);
    let history = history.jobs(writes("one")).pinned(nothing);
    assert!(history.own(LIB));
    let back = |repo: &Repo| drop(repo.git(&["reset", "-q", "--soft", "HEAD~1"]));
    let history = History::new(writes("mine")).pinned(commits).pinned(back);
    assert!(!history.own(LIB), "it was committed, and is an edit again");
    let history = written().pinned(|repo| {
        repo.write("other.rs", "// mine\n");
        repo.git(&["commit", "-q", "-m", "other", "--", "other.rs"]);
    });
    assert!(history.own(LIB), "another file was committed");
}

/// A file that was ignored is the user's when it shows.
#[test]
fn what_is_ignored_no_more_is_the_users() {
    let history = History::new(|repo| repo.write("mine.log", "hours\n"));
    let history = history.jobs(|repo| {
        repo.write(".gitignore", "");
        repo.write("new.rs", "// new\n");
        writes("one")(repo);
    });
    let history = history.pinned(nothing);
    assert!(!history.own("mine.log") && history.own(LIB));
}

/// A job made an ignored file visible without a rule that moved, by the index alone: it was the user's before.
#[test]
fn what_was_ignored_and_is_added_all_the_same_is_the_users() {
    let mine = |repo: &Repo| repo.write("mine.log", "hours\n");
    let added = |repo: &Repo| {
        repo.git(&["add", "-f", "mine.log"]);
        repo.write("new.rs", "// new\n");
    };
    let history = || History::new(mine).jobs(added).pinned(nothing);
    assert!(!history().own("mine.log") && history().own("new.rs"));
    let removed = |repo: &Repo| drop(repo.git(&["rm", "-q", "-f", "mine.log"]));
    history().after(removed, |history| assert!(!history.own("mine.log")));
    // The rule that says so is gone by then, with it or before.
    let bare = |repo: &Repo| {
        removed(repo);
        repo.write(".gitignore", "");
    };
    history().after(bare, |history| assert!(!history.own("mine.log")));
    let unruled = |repo: &Repo| repo.write(".gitignore", "");
    assert!(!history().pinned(unruled).own("mine.log"));
    // Once it was committed it is what HEAD has.
    let commits = |repo: &Repo| drop(repo.commit("all"));
    let history = history().pinned(commits).jobs(|repo| {
        repo.write("mine.log", "other\n");
    });
    assert!(history.pinned(nothing).own("mine.log"));
}

/// A job that touches what the user edited may carry lines of it elsewhere; one that leaves it does not.
#[test]
fn what_a_job_may_have_carried_is_the_users() {
    let mine = || History::new(|repo| repo.write("other.rs", "// one\n// two\n"));
    let carries = |repo: &Repo| {
        repo.write("other.rs", "// one\n");
        repo.write("new.rs", "// two\n");
        writes("two")(repo);
    };
    let history = mine().jobs(carries).pinned(nothing);
    assert!(!history.own("new.rs") && !history.own(LIB));
    // And on from there.
    let on = |repo: &Repo| {
        repo.write("new.rs", "// 2\n");
        repo.write("newer.rs", "// two\n");
    };
    assert!(!history.jobs(on).pinned(nothing).own("newer.rs"));
    let beside = mine().jobs(writes("one")).pinned(nothing);
    assert!(beside.own(LIB));
}

/// Without a look nothing is known, and neither where an older engine did not look at the index.
#[test]
fn without_a_look_nothing_is_known() {
    let mut history = written().pinned(nothing);
    for look in &mut history.looks {
        look.alone = None;
    }
    assert!(!history.own(LIB));
    history.looks.clear();
    assert!(!history.own(LIB));
}
