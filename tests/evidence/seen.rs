//! What changed since a tree that somebody saw (issue 5, item 3).

use run_loop::domain::seen::{Change, SeenPart};
use run_loop::git::evidence;

use crate::fixture::{git, oid, review, store};
use crate::support::repo::Repo;

fn between(repo: &Repo, old: &str, new: &str, exclude: &[&str], diff_cap: u64) -> Change {
    let (store, trees) = (
        store(repo),
        [old, new].map(|rev| oid(repo, &format!("{rev}^{{tree}}"))),
    );
    let mut rules = review(exclude);
    rules.diff_cap = diff_cap;
    let scratch = repo.beside("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let change =
        evidence::change_between(&git(repo), &store, [&trees[0], &trees[1]], &rules, &scratch);
    assert_eq!(
        std::fs::read_dir(&scratch).unwrap().count(),
        0,
        "a draft is left"
    );
    change
}

fn text(parts: &[SeenPart]) -> String {
    parts
        .iter()
        .map(|part| String::from_utf8_lossy(&part.bytes).into_owned())
        .collect()
}

/// Three commits: `base`, what was seen, what there is now.
fn history() -> Repo {
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.commit("base");
    repo.write("a", "1\nseen before\n");
    repo.commit("seen");
    repo.git(&["tag", "seen"]);
    repo.write("a", "1\nseen before\nadded now\n");
    repo.write("gen/b", "made\n");
    repo.commit("now");
    repo
}

#[test]
fn only_what_is_new_is_shown() {
    let repo = history();
    let Change::Differs {
        parts,
        hidden,
        left_out,
    } = between(&repo, "seen", "HEAD", &["gen/**"], 200_000)
    else {
        panic!("nothing differs");
    };
    let shown = text(&parts);
    assert!(
        shown.contains("+added now") && !shown.contains("+seen before"),
        "{shown}"
    );
    assert!(!shown.contains("gen/b"), "{shown}");
    assert!(parts.iter().all(|part| part.in_prompt));
    assert_eq!((hidden, left_out), (1, 0));
}

#[test]
fn the_same_content_is_the_same() {
    let repo = history();
    assert_eq!(between(&repo, "HEAD", "HEAD", &[], 200_000), Change::Same);
}

/// The prompt's room for a diff is halved: what is over that lies as a file alone.
#[test]
fn what_does_not_fit_stands_in_no_prompt() {
    let repo = history();
    let Change::Differs { parts, .. } = between(&repo, "seen", "HEAD", &[], 100) else {
        panic!("nothing differs");
    };
    assert!(!parts.is_empty() && parts.iter().all(|part| !part.in_prompt));
}

/// It is never taken for "nothing changed" when it cannot be made.
#[test]
fn a_tree_that_is_not_there_is_unknown() {
    let repo = history();
    let (store, now) = (store(&repo), oid(&repo, "HEAD^{tree}"));
    let gone = run_loop::domain::oid::Oid::parse(&"1".repeat(40)).unwrap();
    let scratch = repo.beside("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let change =
        evidence::change_between(&git(&repo), &store, [&gone, &now], &review(&[]), &scratch);
    assert_eq!(change, Change::Unknown);
    let wrong = between(&repo, "seen", "HEAD", &["[x"], 200_000);
    assert_eq!(wrong, Change::Unknown);
}
