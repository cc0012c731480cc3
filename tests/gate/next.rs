//! The command that a refusal of the gate names: it acts on the tree and the branch that were judged, or only
//! reads, wherever it is pasted.

use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::isolation::{EvidenceKind, Isolation};
use run_loop::domain::oid::Oid;
use run_loop::domain::severity::Severity;

use crate::sample::rules;
use crate::world::World;

/// The repository's folder as the gate prints it.
fn root(world: &World) -> String {
    world.repository.source_root.display().to_string()
}

/// `main` with one commit more, and somewhere else checked out: neither main nor feature.
fn main_moves_and_hotfix_is_here(world: &World) {
    world.repo.git(&["switch", "-q", "main"]);
    world.repo.write("other.txt", "main moved\n");
    world.repo.git(&["add", "other.txt"]);
    world.repo.git(&["commit", "-q", "-m", "main moved"]);
    world.repo.git(&["switch", "-q", "-c", "hotfix", "main~1"]);
}

/// A linked working tree of `feature`.
fn linked(world: &World) -> String {
    let path = world.repo.beside("of-feature").display().to_string();
    world.repo.git(&["worktree", "add", "-q", &path, "feature"]);
    let path = std::fs::canonicalize(path).unwrap();
    path.display().to_string()
}

fn gate_of_feature(world: &World) -> Failure {
    let judged = world.gate_of(Some("main"), Some("feature"), None);
    judged.unwrap_err()
}

/// Scenario S04 where another branch is checked out here: nothing is merged into that one.
#[test]
fn a_base_that_moved_on_is_merged_where_head_is_checked_out() {
    let world = World::new();
    world.approve();
    main_moves_and_hotfix_is_here(&world);
    let failure = gate_of_feature(&world);
    assert_eq!(failure.code, Code::GateBaseMovedOn);
    let prepare = ["run-loop", "worktree", "prepare", "feature", "--base"];
    assert_eq!(failure.next.0[..5], prepare);
    let linked = linked(&world);
    let failure = gate_of_feature(&world);
    let main = world.rev("main");
    let merge = ["git", "-C", &linked, "merge", main.as_str()];
    assert_eq!(failure.next.0, merge);
    // By its id alone it stands there as well.
    let feature = world.rev("feature");
    let judged = world.gate_of(Some("main"), Some(feature.as_str()), None);
    assert_eq!(judged.unwrap_err().next.0, merge);
}

#[test]
fn a_review_is_asked_of_the_tree_that_was_judged_and_of_those_who_approved() {
    let world = World::new();
    world.approve();
    world.repo.write("src/lib.rs", "pub fn two() {}\n");
    world.repo.git(&["commit", "-q", "-am", "unseen"]);
    let next = |place: &str, more: &[&str]| {
        let review = ["run-loop", "--worktree", place, "--base", "main"];
        let all = [&review[..], &["--review-only"], more].concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut nobody = rules();
    nobody.panel = Vec::new();
    let failure = world.gate_by(&nobody).unwrap_err();
    assert_eq!(failure.code, Code::GateContentDiffers);
    let asked = ["--reviewer", "security-bot"];
    assert_eq!(failure.next.0, next(&root(&world), &asked));
    // The base names its own.
    let failure = world.gate().unwrap_err();
    assert_eq!(failure.next.0, next(&root(&world), &[]));
    world.repo.git(&["switch", "-q", "main"]);
    let linked = linked(&world);
    assert_eq!(gate_of_feature(&world).next.0, next(&linked, &[]));
    // No branch has it: it is only looked for.
    let lost = world.repo.git(&[
        "commit-tree",
        "-p",
        "feature",
        "-m",
        "lost",
        "feature^{tree}",
    ]);
    let judged = world.gate_of(Some("main"), Some(&lost), None);
    let next = judged.unwrap_err().next.0;
    assert_eq!(next[3..], ["branch", "--all", "--contains", &lost]);
}

/// A run that was milder than the base asks is mended by a review as the base has it; whom the base requires
/// is another matter.
#[test]
fn a_review_that_was_milder_than_the_base_is_asked_again() {
    let world = World::new();
    world.approve_as(|round| {
        round.spec.review.fail_on = Severity::Critical;
        round.spec.review.isolation = Isolation::Env;
        round.slots[0].jobs[0].job.evidence = EvidenceKind::SourceTree;
    });
    let failure = world.gate().unwrap_err();
    assert_eq!(failure.code, Code::GatePolicyUnmet);
    let review = [
        "run-loop",
        "--worktree",
        &root(&world),
        "--base",
        "main",
        "--review-only",
    ];
    assert_eq!(failure.next.0, review);
    let mut stricter = rules();
    stricter.policy.families = 2;
    let failure = world.gate_by(&stricter).unwrap_err();
    assert_eq!(failure.code, Code::GatePolicyUnmet);
    assert_ne!(failure.next.0, review);
}

/// What was approved are edits on top of the very commit that is judged: reviewing it again would buy the
/// same approval for ever.
#[test]
fn what_was_approved_and_not_committed_is_to_be_committed() {
    let world = World::new();
    world.repo.write("src/lib.rs", "pub fn edited() {}\n");
    world.repo.git(&["add", "src/lib.rs"]);
    let unseen = Oid::parse(&world.repo.git(&["write-tree"])).unwrap();
    world.approve_as(|round| {
        for pin in [
            &mut round.pinned,
            &mut round.sealed.pin,
            &mut round.before_promotion.pin,
        ] {
            pin.identity.tree = unseen.clone();
            pin.identity.content_tree = unseen.clone();
            pin.dirty = true;
        }
    });
    let failure = world.gate().unwrap_err();
    assert_eq!(failure.code, Code::GateContentDiffers);
    assert!(failure.message.contains("not committed yet"), "{failure}");
    assert_eq!(failure.next.0, ["git", "-C", &root(&world), "commit"]);
}

/// What is asked about is the head that is judged, in its repository.
#[test]
fn an_abbreviated_id_is_resolved_for_the_head_that_was_named() {
    let world = World::new();
    world.approve();
    let judged = world.gate_of(Some("main"), Some("feature"), Some("abc"));
    let next = judged.unwrap_err().next.0;
    assert_eq!(next, ["git", "-C", &root(&world), "rev-parse", "feature"]);
}

/// A cut history says nothing of what either lacks.
#[test]
fn without_a_common_history_nothing_is_called_stale() {
    let world = World::new();
    world.approve();
    let graft = world.repo.git(&["commit-tree", "-m", "cut", "main^{tree}"]);
    world.repo.git(&["branch", "cut", &graft]);
    let failure = world.gate_of(Some("cut"), None, None).unwrap_err();
    assert_eq!(failure.code, Code::NoCommonHistory);
    let shallow = world.repository.common_dir.join("shallow");
    std::fs::write(shallow, format!("{graft}\n")).unwrap();
    let failure = world.gate_of(Some("cut"), None, None).unwrap_err();
    assert!(failure.message.contains("shallow"), "{failure}");
    assert!(failure.next.to_string().ends_with(" fetch --unshallow"));
}

/// A commit is no place that anything merges into.
#[test]
fn a_base_that_is_no_branch_is_told() {
    let world = World::new();
    world.approve();
    let main = world.rev("main");
    let approval = world.gate_of(Some(main.as_str()), None, None).unwrap();
    let told = |notices: &[String]| notices.iter().any(|it| it.contains("not a branch"));
    assert!(told(&approval.notices), "{:?}", approval.notices);
    assert!(!told(&world.gate().unwrap().notices));
}
