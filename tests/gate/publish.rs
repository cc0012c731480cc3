//! What is written, and what is not there after a failure.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::id::{LoopId, RoundNumber};
use run_loop::domain::isolation::{EvidenceKind, Isolation};
use run_loop::domain::job::Stored;
use run_loop::domain::layout;
use run_loop::domain::oid::Oid;
use run_loop::promote::{ApprovedRound, Manifest, Sidecar, canonical};
use serde_json::Value;

use crate::support::repo::git_command;
use crate::world::{CANARY, REPORT, World, refused};

/// Every file below a folder, relative to it, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(next) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                todo.push(path);
            } else {
                all.push(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    all.sort();
    all
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn swap_report(world: &World, round: &mut ApprovedRound, report: &[u8]) {
    let sha256 = Digest::of(report);
    world
        .artifacts
        .borrow_mut()
        .insert(sha256.clone(), report.to_vec());
    let bytes = report.len() as u64;
    round.slots[0].jobs[0].outcome.report = Some(Stored { sha256, bytes });
}

#[test]
fn m_082_m_085_reports_sidecars_and_a_manifest_that_names_them_all() {
    let world = World::new();
    let round = world.round();
    let promotion = world.publish(&round).unwrap();
    let run = round.spec.loop_id;
    let [security, checks] = [0, 1].map(|slot| round.slots[slot].jobs[0].job.id);
    let mut expected = vec![
        format!("approvals/{run}.json"),
        format!("checks/report-{checks}.identity.json"),
        format!("checks/report-{checks}.md"),
        format!("security/report-{security}.identity.json"),
        format!("security/report-{security}.md"),
    ];
    assert_eq!(files(&world.reports("")), expected);
    let report = std::fs::read_to_string(world.reports(&expected[4])).unwrap();
    assert_eq!(report, format!("{REPORT}By security.\n"));
    let bytes = std::fs::read(world.reports(&expected[0])).unwrap();
    assert_eq!(promotion.manifest_sha256, Digest::of(&bytes));
    let manifest: Manifest = canonical::from_bytes(&bytes).unwrap();
    assert_eq!(manifest.identity, round.pinned.identity);
    assert_eq!(manifest.readers, 1);
    for file in &manifest.files {
        let bytes = std::fs::read(world.repo.root().join(&file.path)).unwrap();
        assert_eq!(file.sha256, Digest::of(&bytes), "{}", file.path);
    }
    let sidecar = json(&world.reports(&expected[3]));
    assert_eq!(sidecar["loop_id"], run.to_string());
    assert_eq!(sidecar["base"], world.repo.git(&["rev-parse", "main"]));
    assert_eq!(sidecar["head"], world.repo.git(&["rev-parse", "HEAD"]));
    assert_eq!(
        sidecar["tree"],
        world.repo.git(&["rev-parse", "HEAD^{tree}"])
    );
    assert_eq!(sidecar["by"], "reviewer");
    assert_eq!(sidecar["confinement"], "none");
    assert_eq!(sidecar["report_received_sha256"], Value::Null);
    // The promotion names what lies there, the manifest last.
    expected.rotate_left(1);
    let mut named: Vec<String> = promotion.files.iter().map(ToString::to_string).collect();
    assert_eq!(named.pop(), Some(promotion.manifest.to_string()));
    named.sort();
    expected.pop();
    let expected: Vec<_> = expected
        .iter()
        .map(|path| format!(".agents/reports/{path}"))
        .collect();
    assert_eq!(named, expected);
}

#[test]
fn t_009_what_is_promoted_names_the_last_round_and_its_identity() {
    let world = World::new();
    let stale = world.round();
    world
        .repo
        .write("src/lib.rs", "pub fn one() -> u32 {\n    5\n}\n");
    world
        .repo
        .git(&["commit", "-q", "-am", "moved during round 1"]);
    let mut round = world.round();
    round.round = RoundNumber(2);
    for slot in &mut round.slots {
        slot.jobs[0].job.round = RoundNumber(2);
    }
    world.publish(&round).unwrap();
    assert_eq!(files(&world.reports("")).len(), 5);
    for (old, new) in stale.slots.iter().zip(&round.slots) {
        let place = |job| world.reports(&format!("{}/report-{job}.identity.json", new.slot));
        assert!(!place(old.jobs[0].job.id).exists());
        let sidecar = json(&place(new.jobs[0].job.id));
        assert_eq!(sidecar["round"], 2);
        assert_eq!(
            sidecar["tree"],
            world.repo.git(&["rev-parse", "HEAD^{tree}"])
        );
    }
}

#[test]
fn nothing_of_the_machine_is_promoted() {
    let world = World::new();
    world.publish(&world.round()).unwrap();
    for file in files(&world.reports("")) {
        let text = std::fs::read_to_string(world.reports(&file)).unwrap();
        assert!(!text.contains(CANARY), "{file}: {text}");
        assert!(!text.contains("/home/"), "{file}: {text}");
        let root = world.repo.root().display().to_string();
        assert!(!text.contains(&root), "{file}: {text}");
        let mode = std::fs::metadata(world.reports(&file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(
            mode & 0o111,
            0,
            "{file} is executable, and so would be content"
        );
    }
}

#[test]
fn t_019_the_sidecar_names_the_evidence() {
    for (kind, isolation, name) in [
        (EvidenceKind::ReviewTree, Isolation::Worktree, "review-tree"),
        (EvidenceKind::SourceTree, Isolation::Env, "source-tree"),
        (EvidenceKind::DiffOnly, Isolation::Worktree, "diff-only"),
    ] {
        let world = World::new();
        let mut round = world.round();
        round.spec.review.isolation = isolation;
        round.spec.review.remote_diff_only = true;
        round.spec.panel[0].agent.remote = kind == EvidenceKind::DiffOnly;
        round.slots[0].jobs[0].job.evidence = kind;
        world.publish(&round).unwrap();
        let job = round.slots[0].jobs[0].job.id;
        let sidecar = json(&world.reports(&format!("security/report-{job}.identity.json")));
        assert_eq!(sidecar["evidence"], name);
    }
}

#[test]
fn m_087_git_has_nothing_to_say_about_promoted_reports() {
    let world = World::new();
    let mut round = world.round();
    let report =
        b"# Review \t\r\n \tindented\n<<<<<<< HEAD\n=======\n>>>>>>> x\n\ttab\n  two\n\n \n\n";
    swap_report(&world, &mut round, report);
    world.publish(&round).unwrap();
    world.repo.git(&["add", "-A"]);
    let mut command = git_command(world.repo.root());
    let check = command
        .args(["diff", "--cached", "--check"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&check.stdout), "");
    assert!(check.status.success());
    let job = round.slots[0].jobs[0].job.id;
    let promoted = std::fs::read(world.reports(&format!("security/report-{job}.md"))).unwrap();
    let sidecar = json(&world.reports(&format!("security/report-{job}.identity.json")));
    assert_eq!(sidecar["report_sha256"], Digest::of(&promoted).as_str());
    assert_eq!(
        sidecar["report_received_sha256"],
        Digest::of(report).as_str()
    );
}

#[test]
fn done_again_after_a_crash_it_is_the_same_promotion() {
    let world = World::new();
    let round = world.round();
    let first = world.publish(&round).unwrap();
    let job = round.slots[0].jobs[0].job.id;
    std::fs::remove_file(world.reports(&format!("security/report-{job}.md"))).unwrap();
    // The second has another time; the manifest that is there keeps its own.
    assert_eq!(world.publish(&round).unwrap(), first);
    assert_eq!(files(&world.reports("")).len(), 5);
}

#[test]
fn left_overs_of_a_crash_before_the_manifest_are_replaced() {
    let world = World::new();
    let mut round = world.round();
    world.publish(&round).unwrap();
    let run = round.spec.loop_id;
    std::fs::remove_file(world.reports(&format!("approvals/{run}.json"))).unwrap();
    // HEAD moved to the same content meanwhile.
    let moved = Oid::parse(&"1".repeat(40)).unwrap();
    round.before_promotion.pin.identity.head = moved.clone();
    round.before_promotion.pin.tripwire.branch_tip = moved.clone();
    world.publish(&round).unwrap();
    let job = round.slots[0].jobs[0].job.id;
    let bytes = std::fs::read(world.reports(&format!("security/report-{job}.identity.json")));
    let sidecar: Sidecar = canonical::from_bytes(&bytes.unwrap()).unwrap();
    assert_eq!(sidecar.head_at_promotion, moved);
    assert_eq!(sidecar.head, round.pinned.identity.head);
}

/// A crash after the manifest and before its record, and HEAD moved: what nobody recorded is
/// replaced by what is approved now, and what is not this run's own is left alone.
#[test]
fn a_manifest_that_was_not_recorded_is_replaced() {
    let world = World::new();
    let mut round = world.round();
    let first = world.publish(&round).unwrap();
    let moved = Oid::parse(&"1".repeat(40)).unwrap();
    round.before_promotion.pin.identity.head = moved.clone();
    round.before_promotion.pin.tripwire.branch_tip = moved.clone();
    let second = world.publish(&round).unwrap();
    assert_ne!(first.manifest_sha256, second.manifest_sha256);
    let path = world.reports(&format!("approvals/{}.json", round.spec.loop_id));
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(second.manifest_sha256, Digest::of(&bytes));
    // Every file that it names is the one that lies there.
    let job = round.slots[0].jobs[0].job.id;
    let sidecar = std::fs::read(world.reports(&format!("security/report-{job}.identity.json")));
    let sidecar = sidecar.unwrap();
    let digest = Digest::of(&sidecar).to_string();
    assert!(String::from_utf8(bytes.clone()).unwrap().contains(&digest));
    let sidecar: Sidecar = canonical::from_bytes(&sidecar).unwrap();
    assert_eq!(sidecar.head_at_promotion, moved);
    assert_eq!(files(&world.reports("")).len(), 5);

    let other = String::from_utf8(bytes).unwrap();
    let other = other.replace(
        &round.spec.loop_id.to_string(),
        "01890a5d-ac96-774b-bcce-b302099a8057",
    );
    std::fs::write(&path, &other).unwrap();
    assert_eq!(refused(world.publish(&round)), Code::PromotionFailed);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
}

#[test]
fn other_bytes_are_not_overwritten() {
    let world = World::new();
    let round = world.round();
    let job = round.slots[0].jobs[0].job.id;
    let report = world.reports(&format!("security/report-{job}.md"));
    std::fs::create_dir_all(report.parent().unwrap()).unwrap();
    std::fs::write(&report, "somebody else's").unwrap();
    assert_eq!(refused(world.publish(&round)), Code::PromotionFailed);
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "somebody else's");
    let manifest = world.reports(&format!("approvals/{}.json", round.spec.loop_id));
    assert!(!manifest.exists());

    std::fs::remove_file(&report).unwrap();
    std::fs::write(&manifest, "{}").unwrap();
    assert_eq!(refused(world.publish(&round)), Code::PromotionFailed);
    assert_eq!(std::fs::read_to_string(&manifest).unwrap(), "{}");
    assert_eq!(
        files(&world.reports("")).len(),
        1,
        "what was written is taken away again"
    );
}

#[test]
fn links_and_files_on_the_way_are_refused_and_nothing_is_left() {
    for place in [
        ".agents",
        ".agents/reports",
        ".agents/reports/approvals",
        ".agents/reports/checks",
    ] {
        for link in [true, false] {
            let world = World::new();
            let outside = world.repo.beside("outside");
            std::fs::create_dir(&outside).unwrap();
            let path = world.repo.root().join(place);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if link {
                symlink(&outside, &path).unwrap();
            } else {
                std::fs::write(&path, "a file").unwrap();
            }
            assert_eq!(
                refused(world.publish(&world.round())),
                Code::ReportsUnsafe,
                "{place}"
            );
            assert_eq!(files(&outside), Vec::<String>::new());
            let left = files(&world.repo.root().join(".agents"));
            let ours = left
                .iter()
                .filter(|file| file.contains("report-") || file.starts_with("reports/approvals/"));
            assert_eq!(ours.count(), 0, "{place}: {left:?}");
        }
    }
}

#[test]
fn a_reports_folder_outside_the_control_root_is_refused() {
    for reports in ["../reports", "/tmp/reports", "", "a/../../b"] {
        let world = World::new();
        let mut round = world.round();
        round.spec.reports = reports.to_owned();
        assert_eq!(
            refused(world.publish(&round)),
            Code::ReportsUnsafe,
            "{reports:?}"
        );
    }
}

#[test]
fn a_report_that_is_lost_changed_or_too_large_stops_the_promotion() {
    let world = World::new();
    let round = world.round();
    let sha256 = round.slots[1].jobs[0]
        .outcome
        .report
        .clone()
        .unwrap()
        .sha256;
    world
        .artifacts
        .borrow_mut()
        .insert(sha256.clone(), b"changed".to_vec());
    assert_eq!(refused(world.publish(&round)), Code::PromotionFailed);
    world.artifacts.borrow_mut().remove(&sha256);
    assert_eq!(refused(world.publish(&round)), Code::JournalFailed);
    let mut large = world.round();
    let report = vec![b'x'; usize::try_from(layout::MAX_BYTES).unwrap()];
    swap_report(&world, &mut large, &report);
    assert_eq!(refused(world.publish(&large)), Code::PromotionFailed);
    assert_eq!(files(&world.reports("")), Vec::<String>::new());
}

#[test]
fn a_promoted_file_has_one_form() {
    let world = World::new();
    let round = world.round();
    world.publish(&round).unwrap();
    let path = world.reports(&format!("approvals/{}.json", round.spec.loop_id));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(canonical::from_bytes::<Manifest>(text.as_bytes()).is_ok());
    let newer = text.replace("run-loop/manifest/1", "run-loop/manifest/2");
    let unknown = text.replacen('{', "{\n  \"extra\": 1,", 1);
    let twice = text.replacen("  \"round\": 1,\n", "  \"round\": 1,\n  \"round\": 1,\n", 1);
    let spaced = text.replacen("\": ", "\":  ", 1);
    let torn = text[..text.len() / 2].to_owned();
    for other in [newer, unknown, twice, spaced, torn, String::new()] {
        assert_ne!(other, text);
        assert!(
            canonical::from_bytes::<Manifest>(other.as_bytes()).is_err(),
            "{other}"
        );
    }
    assert_eq!(layout::manifest_run("x.json"), None::<LoopId>);
}
