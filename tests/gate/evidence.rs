//! The gate on evidence that was touched, copied or forged.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use run_loop::domain::code::Code;
use run_loop::domain::policy::Attest;
use run_loop::gate::{Attested, GatePolicy, human};
use run_loop::promote::ApprovedRound;

use crate::sample::rules;
use crate::support::repo::git;
use crate::world::{World, refused};

fn by_files() -> GatePolicy {
    let mut rules = rules();
    rules.policy.attest = Attest::Files;
    rules
}

/// The manifest, the sidecar and the report of the reader.
fn places(world: &World, round: &ApprovedRound) -> [PathBuf; 3] {
    let job = round.slots[0].jobs[0].job.id;
    [
        world.reports(&format!("approvals/{}.json", round.spec.loop_id)),
        world.reports(&format!("security/report-{job}.identity.json")),
        world.reports(&format!("security/report-{job}.md")),
    ]
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

/// With `attest: files` a manifest is believed without a journal, and never against the run's own.
#[test]
fn a_file_that_claims_more_than_its_own_journal_is_not_believed() {
    let world = World::new();
    let round = world.approve();
    world.gate_by(&by_files()).unwrap();
    let [manifest, ..] = places(&world, &round);
    let approved = round.pinned.identity.content_tree.clone();
    world.repo.write("src/lib.rs", "pub fn unseen() {}\n");
    world.repo.git(&["commit", "-q", "-am", "unseen"]);
    let unseen = world.round().pinned.identity.content_tree;
    edit(&manifest, approved.as_str(), unseen.as_str());
    assert_eq!(refused(world.gate_by(&by_files())), Code::GateUnattested);
}

#[test]
fn every_file_missing_edited_torn_or_linked_is_damage() {
    let world = World::new();
    let round = world.approve();
    for path in places(&world, &round) {
        let bytes = std::fs::read(&path).unwrap();
        for how in [
            "missing", "edited", "torn", "empty", "linked", "folder", "large",
        ] {
            std::fs::remove_file(&path).unwrap();
            match how {
                "missing" => {}
                "edited" => std::fs::write(&path, [&bytes[..], b"\n"].concat()).unwrap(),
                "torn" => std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
                "empty" => std::fs::write(&path, "").unwrap(),
                "linked" => {
                    let outside = world.repo.beside("outside");
                    std::fs::write(&outside, &bytes).unwrap();
                    symlink(&outside, &path).unwrap();
                }
                "folder" => std::fs::create_dir(&path).unwrap(),
                "large" => {
                    let padding = vec![b'\n'; 1024 * 1024];
                    std::fs::write(&path, [&bytes[..], &padding].concat()).unwrap();
                }
                other => unreachable!("{other}"),
            }
            let failure = world.gate().unwrap_err();
            assert_eq!(failure.code, Code::GateDamaged, "{how}: {failure}");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(failure.message.contains(name), "{how}: {failure}");
            // Who believes files believes no damaged ones.
            world.gate_by(&by_files()).unwrap_err();
            match how {
                "missing" => {}
                "folder" => std::fs::remove_dir(&path).unwrap(),
                _ => std::fs::remove_file(&path).unwrap(),
            }
            std::fs::write(&path, &bytes).unwrap();
            world.gate().unwrap();
        }
    }
}

#[test]
fn a_reports_folder_behind_a_link_is_damage() {
    for place in [
        ".agents",
        ".agents/reports",
        ".agents/reports/approvals",
        ".agents/reports/security",
    ] {
        let world = World::new();
        world.approve();
        let path = world.repo.root().join(place);
        let outside = world.repo.beside("outside");
        std::fs::rename(&path, &outside).unwrap();
        symlink(&outside, &path).unwrap();
        for rules in [rules(), by_files()] {
            assert_eq!(refused(world.gate_by(&rules)), Code::GateDamaged, "{place}");
        }
    }
}

#[test]
fn a_forged_manifest_is_attested_by_nobody() {
    let world = World::new();
    // Everything is right about it, but for the run: it never was.
    world.publish(&world.round()).unwrap();
    assert_eq!(refused(world.gate()), Code::GateUnattested);
}

#[test]
fn attest_files_believes_it_and_says_so() {
    let world = World::new();
    world.publish(&world.round()).unwrap();
    let approval = world.gate_by(&by_files()).unwrap();
    assert_eq!(approval.attested, Attested::Nobody);
    assert!(human(&approval).contains("UNATTESTED"));
}

#[test]
fn s27_two_claims_without_an_order_are_not_guessed_between() {
    let world = World::new();
    world.publish(&world.round()).unwrap();
    world.publish(&world.round()).unwrap();
    assert_eq!(refused(world.gate_by(&by_files())), Code::GateAmbiguous);
}

#[test]
fn a_sidecar_that_contradicts_its_manifest_is_forged_even_with_right_hashes() {
    for (from, to) in [
        ("\"verdict\": \"PASS\"", "\"verdict\": \"NOT PASS\""),
        ("\"coverage\": \"full\"", "\"coverage\": \"none\""),
        ("\"fail_on\": \"medium\"", "\"fail_on\": \"low\""),
        ("\"name\": \"security-bot\"", "\"name\": \"another-bot\""),
        ("\"round\": 1", "\"round\": 2"),
        ("run-loop/sidecar/1", "run-loop/sidecar/2"),
    ] {
        let world = World::new();
        let round = world.round();
        world.publish(&round).unwrap();
        let [manifest, sidecar, _] = places(&world, &round);
        let hash = |path: &Path| {
            run_loop::domain::digest::Digest::of(&std::fs::read(path).unwrap()).to_string()
        };
        let old = hash(&sidecar);
        edit(&sidecar, from, to);
        edit(&manifest, &old, &hash(&sidecar));
        let expected = if from.contains("PASS") {
            Code::GateNotPass
        } else {
            Code::GateDamaged
        };
        assert_eq!(refused(world.gate_by(&by_files())), expected, "{to}");
    }
}

#[test]
fn a_manifest_that_contradicts_itself_is_forged() {
    for (from, to) in [
        ("\"readers\": 1", "\"readers\": 2"),
        (
            "\"fail_on\": \"medium\",\n    \"isolation\"",
            "\"fail_on\": \"info\",\n    \"isolation\"",
        ),
        ("\"slot\": \"checks\"", "\"slot\": \"security\""),
        ("run-loop/manifest/1", "run-loop/manifest/9"),
    ] {
        let world = World::new();
        let round = world.round();
        world.publish(&round).unwrap();
        edit(&places(&world, &round)[0], from, to);
        assert_eq!(
            refused(world.gate_by(&by_files())),
            Code::GateDamaged,
            "{to}"
        );
    }
}

#[test]
fn a_manifest_under_another_runs_name_is_damage() {
    let world = World::new();
    let round = world.approve();
    let other = run_loop::domain::id::LoopId::mint(&world.stamp(), "other");
    let [manifest, ..] = places(&world, &round);
    std::fs::rename(&manifest, manifest.with_file_name(format!("{other}.json"))).unwrap();
    for rules in [rules(), by_files()] {
        assert_eq!(refused(world.gate_by(&rules)), Code::GateDamaged);
    }
}

#[test]
fn s06_evidence_copied_to_another_branch_does_not_count_there() {
    let world = World::new();
    world.approve();
    world.repo.git(&["switch", "-q", "-c", "evil", "main"]);
    world
        .repo
        .write("src/lib.rs", "pub fn one() -> u32 {\n    666\n}\n");
    // The working copy keeps the evidence, and the commit has it too.
    world
        .repo
        .commit("evil, with the evidence of another branch");
    for rules in [rules(), by_files()] {
        assert_eq!(refused(world.gate_by(&rules)), Code::GateNoEvidence);
    }
}

#[test]
fn s27_evidence_of_another_run_does_not_count_for_this_one() {
    let world = World::new();
    let first = world.approve();
    world
        .repo
        .write("src/lib.rs", "pub fn one() -> u32 {\n    3\n}\n");
    world.repo.git(&["commit", "-q", "-am", "more"]);
    let second = world.approve();
    // The second run's manifest is replaced by the first one's.
    let [old, ..] = places(&world, &first);
    let [new, ..] = places(&world, &second);
    std::fs::copy(&old, &new).unwrap();
    assert_eq!(refused(world.gate()), Code::GateDamaged);
    let text = std::fs::read_to_string(&old).unwrap();
    let renamed = text.replace(
        &first.spec.loop_id.to_string(),
        &second.spec.loop_id.to_string(),
    );
    std::fs::write(&new, renamed).unwrap();
    assert_eq!(refused(world.gate()), Code::GateDamaged);
}

#[test]
fn evidence_copied_to_another_repository_is_attested_by_nobody() {
    let world = World::new();
    world.approve();
    world.repo.commit("the approval");
    let clone = world.repo.beside("clone");
    git(
        world.repo.root(),
        &["clone", "-q", ".", clone.to_str().unwrap()],
    );
    git(&clone, &["branch", "-q", "main", "origin/main"]);
    let elsewhere = World {
        repository: run_loop::git::Repository::discover(&world.git, &clone).unwrap(),
        state: run_loop::store::StateFolder::open(&clone.join(".git")).unwrap(),
        ..World::new()
    };
    assert_eq!(refused(elsewhere.gate()), Code::GateUnattested);
    assert_eq!(
        elsewhere.gate_by(&by_files()).unwrap().attested,
        Attested::Nobody
    );
}

#[test]
fn v08_removed_evidence_only_makes_it_worse() {
    let world = World::new();
    world.approve();
    let newest = world.approve();
    std::fs::remove_file(&places(&world, &newest)[0]).unwrap();
    // The older approval is intact, and it is not the one that counts.
    assert_eq!(refused(world.gate()), Code::GateDamaged);
    std::fs::remove_dir_all(world.repo.root().join(".agents")).unwrap();
    assert_eq!(refused(world.gate()), Code::GateDamaged);
    std::fs::remove_dir_all(world.repository.common_dir.join("run-loop/runs")).unwrap();
    assert_eq!(refused(world.gate()), Code::GateNoEvidence);
}

#[test]
fn g02_unrelated_damage_spoils_nothing() {
    let world = World::new();
    world.approve();
    let stamp = world.stamp();
    for (n, text) in ["", "{", "not json", "[]"].into_iter().enumerate() {
        let run = run_loop::domain::id::LoopId::mint(&stamp, &n.to_string());
        std::fs::write(world.reports(&format!("approvals/{run}.json")), text).unwrap();
    }
    std::fs::write(world.reports("approvals/notes.txt"), "x").unwrap();
    symlink("/nonexistent", world.reports("approvals/x.json")).unwrap();
    world.gate().unwrap();
    world.gate_by(&by_files()).unwrap();
}
