//! The base: names resolved once, refused when they are not one commit (T-032, S17, S22).

use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::run_spec::BaseSpec;
use run_loop::git::base::{BaseRule, resolve};

use crate::support::repo::{self, Repo};
use crate::support::source::{Source, discover, git};

fn base(repo: &Repo, given: &str, rule: BaseRule) -> Result<BaseSpec, Failure> {
    resolve(&git(), &discover(repo.root()), Some(given), rule)
}

#[track_caller]
fn resolved(repo: &Repo, given: &str) -> (String, String) {
    match base(repo, given, BaseRule::MergeBase).unwrap() {
        BaseSpec::MergeBase { resolved, tip, .. } => (resolved, tip.to_string()),
        BaseSpec::StartHead { .. } => panic!("a base was given"),
    }
}

#[track_caller]
fn refused(repo: &Repo, given: &str, code: Code) -> Failure {
    let failure = base(repo, given, BaseRule::MergeBase).unwrap_err();
    assert_eq!(failure.code, code, "{failure}");
    failure
}

#[test]
fn a_name_stays_a_name_and_anything_else_becomes_a_commit() {
    let repo = Repo::new();
    let first = repo.git(&["rev-parse", "HEAD"]);
    let second = repo.commit("second");
    repo.git(&["tag", "-a", "-m", "a tag", "v1", &first]);
    repo.git(&["update-ref", "refs/remotes/origin/topic", &first]);
    repo.git(&["update-ref", "refs/heads/topic/sub", &first]);
    for (given, name, tip) in [
        ("main", "refs/heads/main", &second),
        ("refs/heads/main", "refs/heads/main", &second),
        ("v1", "refs/tags/v1", &first),
        ("origin/topic", "refs/remotes/origin/topic", &first),
        ("topic/sub", "refs/heads/topic/sub", &first),
        (&first, first.as_str(), &first),
        ("HEAD", second.as_str(), &second),
        ("HEAD~1", first.as_str(), &first),
        ("main^", first.as_str(), &first),
        ("v1^{commit}", first.as_str(), &first),
    ] {
        assert_eq!(
            resolved(&repo, given),
            (name.to_owned(), tip.clone()),
            "{given}"
        );
    }
}

/// Scenario S12.
#[test]
fn an_abbreviated_id_is_refused() {
    let repo = Repo::new();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let failure = refused(&repo, &head[..10], Code::AbbreviatedOid);
    assert_eq!(failure.next.0.last().unwrap(), &head[..10]);
    refused(&repo, &format!("{}~1", &head[..10]), Code::AbbreviatedOid);
    refused(&repo, "v1-3-gabcdef0", Code::BaseUnknown);
    repo.git(&["branch", "beef"]);
    assert_eq!(resolved(&repo, "beef").0, "refs/heads/beef");
    refused(&repo, "deadbeef", Code::BaseUnknown);
}

#[test]
fn a_name_with_two_meanings_is_refused() {
    let repo = Repo::new();
    repo.git(&["tag", "main"]);
    let failure = refused(&repo, "main", Code::BaseAmbiguous);
    assert!(
        failure.message.contains("refs/heads/main, refs/tags/main"),
        "{failure}"
    );
    refused(&repo, "main~0", Code::BaseAmbiguous);
    assert_eq!(resolved(&repo, "refs/heads/main").0, "refs/heads/main");
    repo.git(&["tag", "origin/x"]);
    repo.git(&["update-ref", "refs/remotes/origin/x", "HEAD"]);
    refused(&repo, "origin/x", Code::BaseAmbiguous);
}

/// T-032, scenario G04: an unfetched base is told as such.
#[test]
fn an_unknown_name_is_refused_with_what_helps() {
    let repo = Repo::new();
    refused(&repo, "nowhere", Code::BaseUnknown);
    for odd in [
        "",
        "-x",
        "a b",
        "main*",
        "a\nb",
        "@{u}",
        ":/first",
        "main:README.md",
    ] {
        refused(&repo, odd, Code::BaseUnknown);
    }
    refused(&repo, &"1".repeat(40), Code::BaseUnknown);
    let blob = repo.git(&["rev-parse", "HEAD:README.md"]);
    refused(&repo, &blob, Code::BaseUnknown);
    repo.git(&["remote", "add", "up", "https://example.invalid/x.git"]);
    let next = refused(&repo, "up/main", Code::BaseUnknown)
        .next
        .to_string();
    let kept = "+refs/heads/main:refs/remotes/up/main";
    assert!(next.ends_with(&format!(" fetch up {kept}")), "{next}");
    let failure = refused(&repo, "v9", Code::BaseUnknown);
    assert!(failure.message.contains("up/v9"), "{failure}");
    let next = failure.next.to_string();
    let all = " fetch --tags up '+refs/heads/*:refs/remotes/up/*'";
    assert!(next.ends_with(all), "{next}");
    let next = refused(&repo, &"1".repeat(40), Code::BaseUnknown).next;
    assert!(next.to_string().ends_with(" fetch --all --tags"), "{next}");
}

/// Scenario G04 in a clone of one branch, as machines make them: what is proposed really brings the name.
#[test]
fn in_a_clone_of_one_branch_the_named_command_brings_the_base() {
    let repo = Repo::new();
    repo.git(&["branch", "feature"]);
    let (clone, url) = (
        repo.beside("single"),
        format!("file://{}", repo.root().display()),
    );
    let single = ["clone", "-q", "--single-branch", "-b", "feature", &url];
    repo.git(&[&single[..], &[clone.to_str().unwrap()]].concat());
    for (given, then) in [("origin/main", "origin/main"), ("main", "origin/main")] {
        let ask = |name: &str| resolve(&git(), &discover(&clone), Some(name), BaseRule::MergeBase);
        let failure = ask(given).unwrap_err();
        assert_eq!(failure.code, Code::BaseUnknown);
        let words: Vec<&str> = failure.next.0[3..].iter().map(String::as_str).collect();
        repo::git(&clone, &words);
        ask(then).unwrap();
        repo::git(&clone, &["update-ref", "-d", "refs/remotes/origin/main"]);
    }
}

#[test]
fn no_common_history_is_refused() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    repo.git(&["commit", "-q", "-m", "another root"]);
    refused(&repo, "main", Code::NoCommonHistory);
    // In a shallow clone the history may only be cut off.
    let clone = repo.beside("shallow");
    let url = format!("file://{}", repo.root().display());
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.commit("main again");
    let args = [
        "clone",
        "-q",
        "--depth=1",
        "--no-single-branch",
        &url,
        clone.to_str().unwrap(),
    ];
    repo.git(&args);
    let rule = BaseRule::MergeBase;
    let failure = resolve(&git(), &discover(&clone), Some("origin/side"), rule).unwrap_err();
    assert_eq!(failure.code, Code::NoCommonHistory);
    assert!(
        failure.next.to_string().ends_with(" fetch --unshallow"),
        "{}",
        failure.next
    );
}

/// T-032, row M-022: `review.base: ancestor`.
#[test]
fn a_base_that_moved_on_is_told_or_refused() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.write("new.txt", "x");
    repo.commit("feature");
    assert!(base(&repo, "main", BaseRule::Ancestor).is_ok());
    repo.git(&["checkout", "-q", "main"]);
    repo.commit("main moves");
    repo.commit("main moves again");
    repo.git(&["checkout", "-q", "feature"]);
    let failure = base(&repo, "main", BaseRule::Ancestor).unwrap_err();
    assert_eq!(failure.code, Code::BaseNotAncestor);
    let pin = Source::of(&repo, "main").pin();
    assert_eq!((pin.behind, pin.commits), (2, 1));
    assert!(
        pin.notices[0].contains("main has 2 commit(s) that HEAD lacks"),
        "{:?}",
        pin.notices
    );
}

/// Scenario S22.
#[test]
fn a_local_base_behind_its_upstream_is_told_with_its_age() {
    let origin = Repo::new();
    let clone = origin.beside("clone");
    origin.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    origin.commit("newer");
    repo::git(&clone, &["fetch", "-q"]);
    repo::git(&clone, &["checkout", "-q", "-b", "feature"]);
    std::fs::write(clone.join("new.txt"), "x").unwrap();
    let source = Source::at(&origin, &clone, Some("main"), git());
    let notices = source.pin().notices;
    assert_eq!(
        notices,
        [
            "main is behind origin/main by 1 commit(s): its newest is of 2026-01-02, the other's of \
          2026-01-02"
        ]
    );
    assert_eq!(
        source.try_pin(2).unwrap().notices,
        Vec::<String>::new(),
        "said once"
    );
}

#[test]
fn several_merge_bases_are_told() {
    let repo = Repo::new();
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let commit = |parents: &[&str], message: &str| {
        let mut args = vec!["commit-tree", "-m", message];
        for parent in parents {
            args.extend(["-p", parent]);
        }
        args.push(&tree);
        repo.git(&args)
    };
    let (a, b) = (commit(&["HEAD"], "a"), commit(&["HEAD"], "b"));
    let (one, two) = (commit(&[&a, &b], "one"), commit(&[&b, &a], "two"));
    repo.git(&["branch", "one", &one]);
    repo.git(&["reset", "-q", "--hard", &two]);
    let pin = Source::of(&repo, "one").pin();
    assert_eq!(
        pin.identity.base.as_str(),
        repo.git(&["merge-base", "one", "HEAD"])
    );
    assert!(
        pin.notices[0].contains("2 merge bases"),
        "{:?}",
        pin.notices
    );
    let range = format!("{}..HEAD", pin.identity.base);
    assert_eq!(
        pin.commits.to_string(),
        repo.git(&["rev-list", "--count", &range])
    );
}
