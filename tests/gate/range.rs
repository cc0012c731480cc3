//! The gate on the range: everything that merges was reviewed.

use run_loop::domain::code::Code;
use run_loop::domain::policy::Carry;

use crate::sample::rules;
use crate::world::{World, refused};

/// One more commit on `main`, which is left checked out no longer.
fn main_moves(world: &World, path: &str) {
    world.repo.git(&["switch", "-q", "main"]);
    world.repo.write(path, "main moved\n");
    world.repo.git(&["add", path]);
    world.repo.git(&["commit", "-q", "-m", "main moved"]);
    world.repo.git(&["switch", "-q", "feature"]);
}

#[test]
fn s04_main_that_moved_on_must_be_merged_in_first() {
    let world = World::new();
    world.approve();
    main_moves(&world, "other.txt");
    let failure = world.gate().unwrap_err();
    assert_eq!(failure.code, Code::GateBaseMovedOn);
    assert!(failure.message.contains("1 commit"), "{failure}");
    let mut rules = rules();
    rules.policy.up_to_date = false;
    let approval = world.gate_by(&rules).unwrap();
    assert_eq!(approval.base, approval.approved_base);
    assert_eq!(approval.tip.oid, world.rev("main"));
}

#[test]
fn a_narrower_range_than_what_merges_is_refused() {
    let world = World::new();
    // Reviewed from the middle of the branch; the first half was read by nobody.
    let middle = world.rev("HEAD");
    world.repo.write("src/two.rs", "// two\n");
    world.repo.git(&["add", "src"]);
    world.repo.git(&["commit", "-q", "-m", "the second half"]);
    world.approve_as(|round| {
        for pin in [
            &mut round.pinned,
            &mut round.sealed.pin,
            &mut round.before_promotion.pin,
        ] {
            pin.identity.base = middle.clone();
        }
    });
    assert_eq!(refused(world.gate()), Code::GateRangeNarrower);
    world.gate_of(Some(middle.as_str()), None, None).unwrap();
}

#[test]
fn a_base_that_this_repository_does_not_have_proves_no_range() {
    let world = World::new();
    let nowhere = run_loop::domain::oid::Oid::parse(&"1".repeat(40)).unwrap();
    world.approve_as(|round| {
        for pin in [
            &mut round.pinned,
            &mut round.sealed.pin,
            &mut round.before_promotion.pin,
        ] {
            pin.identity.base = nowhere.clone();
        }
    });
    assert_eq!(refused(world.gate()), Code::GateRangeNarrower);
}

#[test]
fn main_may_move_along_the_approved_branch() {
    let world = World::new();
    let first = world.rev("HEAD");
    world
        .repo
        .write("src/lib.rs", "pub fn one() -> u32 {\n    3\n}\n");
    world
        .repo
        .git(&["commit", "-q", "-am", "a second commit to the same file"]);
    world.approve();
    world.repo.git(&["branch", "-f", "main", first.as_str()]);
    let approval = world.gate().unwrap();
    assert_eq!(approval.base, first);
    assert_ne!(approval.approved_base, first);
}

#[test]
fn a_merge_that_undoes_what_main_got_meanwhile_is_refused() {
    let world = World::new();
    world.approve();
    main_moves(&world, "fix.txt");
    // The content stays as approved: the merge drops main's fix, which no reviewer knew of.
    world
        .repo
        .git(&["merge", "-q", "-s", "ours", "--no-edit", "main"]);
    let failure = world.gate().unwrap_err();
    assert_eq!(failure.code, Code::GateRangeNarrower, "{failure}");
    assert!(failure.message.contains("fix.txt"), "{failure}");
}

#[test]
fn no_common_history_is_refused() {
    let world = World::new();
    world.approve();
    world.repo.git(&["switch", "-q", "--orphan", "island"]);
    world.repo.write("island.txt", "x\n");
    world.repo.git(&["add", "island.txt"]);
    world.repo.git(&["commit", "-q", "-m", "an island"]);
    world.repo.git(&["switch", "-q", "feature"]);
    assert_eq!(
        refused(world.gate_of(Some("island"), None, None)),
        Code::NoCommonHistory
    );
    let mut rules = rules();
    rules.policy.up_to_date = false;
    let answer = world.judge(Some("island"), None, None, &rules);
    assert_eq!(refused(answer), Code::NoCommonHistory);
}

#[test]
fn carry_none_holds_for_the_approved_commit_alone() {
    let world = World::new();
    world.approve();
    let mut rules = rules();
    rules.policy.carry = Carry::None;
    world.gate_by(&rules).unwrap();
    world
        .repo
        .git(&["commit", "-q", "--amend", "-m", "another message"]);
    assert_eq!(refused(world.gate_by(&rules)), Code::GateHeadUnexpected);
}
