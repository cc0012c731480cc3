//! The gate on names: resolved once, in full, never guessed.

use run_loop::domain::code::Code;

use crate::world::{World, refused};

#[test]
fn s12_s02_the_expected_head_is_a_full_id_and_the_very_commit() {
    let world = World::new();
    world.approve();
    let head = world.rev("HEAD");
    let expect = |oid: &str| world.gate_of(Some("main"), None, Some(oid));
    expect(head.as_str()).unwrap();
    assert_eq!(refused(expect(&head.as_str()[..12])), Code::AbbreviatedOid);
    assert_eq!(refused(expect("HEAD")), Code::AbbreviatedOid);
    assert_eq!(refused(expect("")), Code::AbbreviatedOid);
    let main = world.rev("main");
    let failure = expect(main.as_str()).unwrap_err();
    assert_eq!(failure.code, Code::GateHeadUnexpected);
    assert!(failure.message.contains(head.as_str()), "{failure}");
    assert!(failure.message.contains(main.as_str()), "{failure}");
}

#[test]
fn head_may_be_any_revision_and_is_told_in_full() {
    let world = World::new();
    world.approve();
    let head = world.rev("HEAD");
    world.repo.git(&["switch", "-q", "main"]);
    for name in [
        "feature",
        "refs/heads/feature",
        head.as_str(),
        &head.as_str()[..10],
    ] {
        let approval = world.gate_of(Some("main"), Some(name), None).unwrap();
        assert_eq!(approval.head.oid, head, "{name}");
    }
    let approval = world.gate_of(Some("main"), Some("feature"), None).unwrap();
    assert_eq!(approval.head.name, "refs/heads/feature");
    // HEAD is main now: nobody approved that.
    assert_eq!(refused(world.gate()), Code::GateNoEvidence);
}

#[test]
fn g04_an_unfetched_base_is_its_own_reason_with_the_command_that_fetches_it() {
    let world = World::new();
    world.approve();
    let next = |given: &str| {
        let failure = world.gate_of(Some(given), None, None).unwrap_err();
        assert_eq!(failure.code, Code::BaseUnknown);
        failure.next.0[3..].join(" ")
    };
    // Without a remote there is nothing to fetch.
    assert_eq!(next("origin/main"), "branch --all --list");
    world.repo.git(&["remote", "add", "origin", "../nowhere"]);
    let kept = "+refs/heads/main:refs/remotes/origin/main";
    assert_eq!(next("origin/main"), format!("fetch origin {kept}"));
    let all = "fetch --tags origin +refs/heads/*:refs/remotes/origin/*";
    assert_eq!(next("release"), all);
    assert_eq!(next("release~3"), "fetch --all --tags");
    assert_eq!(
        refused(world.gate_of(Some("main"), Some("nowhere"), None)),
        Code::HeadUnknown
    );
    assert_eq!(
        refused(world.gate_of(Some(""), None, None)),
        Code::BaseUnknown
    );
    assert_eq!(
        refused(world.gate_of(Some("--all"), None, None)),
        Code::BaseUnknown
    );
}

#[test]
fn a_name_of_two_things_is_refused() {
    let world = World::new();
    world.approve();
    world.repo.git(&["tag", "feature", "main"]);
    assert_eq!(
        refused(world.gate_of(Some("main"), Some("feature"), None)),
        Code::HeadAmbiguous
    );
    assert_eq!(
        refused(world.gate_of(Some("main"), Some("feature~0"), None)),
        Code::HeadAmbiguous
    );
    world
        .gate_of(Some("main"), Some("refs/heads/feature"), None)
        .unwrap();
    world.repo.git(&["update-ref", "refs/remotes/main", "HEAD"]);
    assert_eq!(
        refused(world.gate_of(Some("main"), None, None)),
        Code::BaseAmbiguous
    );
}

#[test]
fn without_a_base_the_default_branch_is_meant_or_nothing() {
    let world = World::new();
    world.approve();
    assert_eq!(
        world.gate_of(None, None, None).unwrap().tip.name,
        "refs/heads/main"
    );
    world.repo.git(&["branch", "master", "main"]);
    assert_eq!(refused(world.gate_of(None, None, None)), Code::BaseUnknown);
    world
        .repo
        .git(&["update-ref", "refs/remotes/origin/trunk", "main"]);
    world.repo.git(&[
        "symbolic-ref",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/trunk",
    ]);
    let approval = world.gate_of(None, None, None).unwrap();
    assert_eq!(approval.tip.name, "refs/remotes/origin/HEAD");
}
