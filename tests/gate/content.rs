//! The gate on content: what is the same, and what is not.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use run_loop::domain::code::Code;
use run_loop::domain::id::{JobId, LoopId};
use run_loop::gate::{Attested, human};

use crate::world::{World, refused};

#[test]
fn approved_content_passes_and_the_full_ids_are_printed() {
    let world = World::new();
    let round = world.approve();
    let approval = world.gate().unwrap();
    assert_eq!(approval.head.oid, world.rev("HEAD"));
    assert_eq!(approval.base, world.rev("main"));
    assert_eq!(approval.content_tree, world.rev("HEAD^{tree}"));
    assert_eq!(approval.loop_id, round.spec.loop_id);
    assert_eq!(approval.attested, Attested::Journal);
    assert_eq!((approval.readers, approval.carried.clone()), (1, None));
    let text = human(&approval);
    for oid in [&approval.head.oid, &approval.base, &approval.content_tree] {
        assert!(text.contains(oid.as_str()), "{text}");
    }
    assert!(!text.contains("UNATTESTED"), "{text}");
}

#[test]
fn s32_message_author_amend_and_squash_do_not_matter_and_it_is_said_why() {
    let world = World::new();
    world
        .repo
        .write("src/lib.rs", "pub fn one() -> u32 {\n    3\n}\n");
    world.repo.commit("a second commit");
    world.approve();
    let approved = world.rev("HEAD");
    world
        .repo
        .git(&["commit", "-q", "--amend", "-m", "another message"]);
    let amended = world.gate().unwrap();
    assert_eq!(amended.approved_head, approved);
    assert!(amended.carried.unwrap().contains("policy.carry: identity"));
    world.repo.git(&[
        "commit",
        "-q",
        "--amend",
        "--author",
        "Bob <bob@example.org>",
        "-C",
        "HEAD",
    ]);
    assert!(world.gate().unwrap().carried.is_some());
    world.repo.git(&["reset", "-q", "--soft", "main"]);
    world.repo.git(&["commit", "-q", "-m", "squashed"]);
    assert!(world.gate().unwrap().carried.is_some());
}

#[test]
fn the_evidence_itself_may_be_committed() {
    let world = World::new();
    world.approve();
    world.repo.commit("the approval");
    assert!(world.gate().unwrap().carried.is_some());
    // And again from the commit alone: a checkout where nobody ran has it in its tree.
    std::fs::remove_dir_all(world.repo.root().join(".agents")).unwrap();
    world.gate().unwrap();
}

#[test]
fn s01_one_byte_changed_is_another_content_and_the_path_is_named() {
    for how in ["commit", "amend"] {
        let world = World::new();
        world.approve();
        world
            .repo
            .write("src/lib.rs", "pub fn one() -> u32 {\n    2;\n}\n");
        world.repo.git(&["add", "src"]);
        if how == "amend" {
            world.repo.git(&["commit", "-q", "--amend", "--no-edit"]);
        } else {
            world.repo.git(&["commit", "-q", "-m", "one more"]);
        }
        let failure = world.gate().unwrap_err();
        assert_eq!(failure.code, Code::GateContentDiffers, "{how}: {failure}");
        assert!(failure.message.contains("src/lib.rs"), "{failure}");
    }
}

#[test]
fn s07_t_028_a_rebase_or_merge_that_brings_new_content_is_not_approved() {
    for how in ["rebase", "merge"] {
        let world = World::new();
        world.approve();
        world.repo.git(&["switch", "-q", "main"]);
        world.repo.write("other.txt", "main moved\n");
        world.repo.git(&["add", "other.txt"]);
        world.repo.git(&["commit", "-q", "-m", "main moved"]);
        world.repo.git(&["switch", "-q", "feature"]);
        if how == "rebase" {
            world.repo.git(&["rebase", "-q", "main"]);
        } else {
            world.repo.git(&["merge", "-q", "--no-edit", "main"]);
        }
        assert_eq!(refused(world.gate()), Code::GateContentDiffers, "{how}");
    }
}

#[test]
fn a_change_of_mode_alone_is_another_content() {
    let world = World::new();
    world.approve();
    world
        .repo
        .git(&["update-index", "--chmod=+x", "src/lib.rs"]);
    world.repo.git(&["commit", "-q", "-m", "executable"]);
    assert_eq!(refused(world.gate()), Code::GateContentDiffers);
}

#[test]
fn what_is_smuggled_into_the_reports_folder_is_content() {
    let world = World::new();
    world.approve();
    world.repo.commit("the approval");
    let stamp = world.stamp();
    let (job, run) = (JobId::mint(&stamp, "x"), LoopId::mint(&stamp, "x"));
    let report = format!("security/report-{job}.md");
    let large = "x".repeat(1024 * 1024 + 1);
    for (path, content, kind) in [
        ("security/run.sh".to_owned(), "#!/bin/sh\n", "file"),
        ("build.rs".to_owned(), "fn main() {}\n", "file"),
        (report.clone(), "#!/bin/sh\n", "executable"),
        (report.clone(), large.as_str(), "file"),
        (report, "src/lib.rs", "link"),
        (format!("approvals/{run}.sh"), "x", "file"),
        (format!("security/sub/report-{job}.md"), "x", "file"),
    ] {
        let place = world.reports(&path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        if kind == "link" {
            symlink(content, &place).unwrap();
        } else {
            std::fs::write(&place, content).unwrap();
        }
        if kind == "executable" {
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&place, mode).unwrap();
        }
        world.repo.commit("smuggled");
        let failure = world.gate().unwrap_err();
        assert_eq!(
            failure.code,
            Code::GateContentDiffers,
            "{kind} {path}: {failure}"
        );
        assert!(failure.message.contains(&path), "{failure}");
        world.repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
        world.gate().unwrap();
    }
}

#[test]
fn a_branch_that_nobody_reviewed_has_no_evidence() {
    let world = World::new();
    assert_eq!(refused(world.gate()), Code::GateNoEvidence);
    world.approve();
    world.repo.git(&["switch", "-q", "-c", "another", "main"]);
    world.repo.write("another.txt", "x\n");
    world.repo.git(&["add", "another.txt"]);
    world.repo.git(&["commit", "-q", "-m", "another"]);
    assert_eq!(refused(world.gate()), Code::GateNoEvidence);
}
