//! The gate on what the journals say: order, revocation, doubt.

use run_loop::domain::code::Code;
use run_loop::domain::end::End;
use run_loop::domain::event::RoundResult;
use run_loop::domain::failure::Failure;
use run_loop::domain::policy::Attest;
use run_loop::promote::ApprovedRound;
use run_loop::store::Journal;
use run_loop::store::put_away::put_away;

use crate::sample::rules;
use crate::world::{World, refused};

fn database(world: &World, round: &ApprovedRound) -> std::path::PathBuf {
    world.state.run_path(round.spec.loop_id).join("journal.db")
}

fn damage(world: &World, round: &ApprovedRound) {
    std::fs::write(database(world, round), "no database").unwrap();
}

#[test]
fn a_later_not_pass_on_the_same_content_revokes_and_a_still_later_pass_counts_again() {
    let world = World::new();
    world.approve();
    let against = world.reject();
    let failure = world.gate().unwrap_err();
    assert_eq!(failure.code, Code::GateRevoked);
    let id = against.spec.loop_id.to_string();
    assert_eq!(failure.next.0, ["run-loop", "show", &id]);
    let mut by_files = rules();
    by_files.policy.attest = Attest::Files;
    assert_eq!(refused(world.gate_by(&by_files)), Code::GateRevoked);
    let newest = world.approve();
    assert_eq!(world.gate().unwrap().loop_id, newest.spec.loop_id);
}

#[test]
fn a_not_pass_on_other_content_revokes_nothing() {
    let world = World::new();
    world.approve();
    world
        .repo
        .write("src/lib.rs", "pub fn one() -> u32 {\n    4\n}\n");
    world.repo.git(&["commit", "-q", "-am", "more"]);
    world.reject();
    assert_eq!(refused(world.gate()), Code::GateNotPass);
    world.repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.gate().unwrap();
}

#[test]
fn s24_the_newest_by_the_journals_is_taken_whatever_the_files_times_are() {
    let world = World::new();
    let old = world.approve();
    let new = world.approve();
    let path = world.reports(&format!("approvals/{}.json", old.spec.loop_id));
    let file = std::fs::File::options().append(true).open(path).unwrap();
    let later = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(4_000_000_000);
    file.set_modified(later).unwrap();
    assert_eq!(world.gate().unwrap().loop_id, new.spec.loop_id);
}

/// Nor do its files, where files are believed: its own journal is here, and says otherwise.
#[test]
fn a_run_that_did_not_end_approved_vouches_for_nothing() {
    let mut by_files = rules();
    by_files.policy.attest = Attest::Files;
    for end in [
        End::Failed {
            failure: Failure::new(Code::Cancelled, "cancelled"),
        },
        End::Failed {
            failure: Failure::new(Code::NoVerdict, "no verdict"),
        },
        End::Failed {
            failure: Failure::new(Code::Interrupted, "interrupted"),
        },
        End::Failed {
            failure: Failure::new(Code::PromotionFailed, "no space"),
        },
    ] {
        let world = World::new();
        let round = world.round();
        let promotion = world.publish(&round).unwrap();
        assert!(
            world.gate_by(&by_files).is_ok(),
            "nobody says otherwise yet"
        );
        world.journal(&round, RoundResult::Passed, end, Some(promotion));
        assert_eq!(refused(world.gate()), Code::GateUnattested);
        assert_eq!(refused(world.gate_by(&by_files)), Code::GateUnattested);
    }
}

#[test]
fn a_journal_without_a_manifest_vouches_for_none() {
    let world = World::new();
    let round = world.round();
    world.publish(&round).unwrap();
    world.journal(
        &round,
        RoundResult::Passed,
        End::Approved { readers: 1 },
        None,
    );
    assert_eq!(refused(world.gate()), Code::GateUnattested);
}

#[test]
fn a_stale_round_vouches_for_nothing() {
    let world = World::new();
    let round = world.round();
    let promotion = world.publish(&round).unwrap();
    let stale = RoundResult::Stale {
        moved: Vec::new(),
        base_moved: true,
        tripped: Vec::new(),
    };
    world.journal(&round, stale, End::Approved { readers: 1 }, Some(promotion));
    assert_eq!(refused(world.gate()), Code::GateUnattested);
}

#[test]
fn g02_a_damaged_older_run_spoils_nothing_and_is_told() {
    let world = World::new();
    let older = world.reject();
    world.list();
    world.approve();
    damage(&world, &older);
    let approval = world.gate().unwrap();
    assert!(approval.notices[0].contains(&older.spec.loop_id.to_string()));
    let junk = world.repository.common_dir.join("run-loop/runs/junk");
    std::fs::create_dir(&junk).unwrap();
    std::fs::write(junk.join("journal.db"), "junk").unwrap();
    world.gate().unwrap();
}

#[test]
fn v08_a_damaged_newer_run_may_be_the_one_that_revoked() {
    let world = World::new();
    world.approve();
    let newer = world.reject();
    world.list();
    damage(&world, &newer);
    assert_eq!(refused(world.gate()), Code::GateUnattested);
    // A new review is newer than the doubt.
    world.approve();
    world.gate().unwrap();
}

/// A damaged record that its user puts away is told of no more; what it may have said is doubted as before, also
/// when the index has forgotten it.
#[test]
fn v08_what_is_put_away_is_doubted_as_before() {
    let world = World::new();
    let put = |round: &ApprovedRound| {
        let run = round.spec.loop_id;
        damage(&world, round);
        let failure = Journal::damage(&world.state, run).unwrap().unwrap();
        put_away(&world.state, run, failure).unwrap();
        world.list();
    };
    let older = world.reject();
    world.list();
    world.approve();
    put(&older);
    assert_eq!(world.gate().unwrap().notices, [] as [&str; 0]);
    let newer = world.reject();
    world.list();
    put(&newer);
    assert_eq!(refused(world.gate()), Code::GateUnattested);
    world.approve();
    assert_eq!(world.gate().unwrap().notices, [] as [&str; 0]);
    // Whoever takes the note away makes nothing certain.
    let note = world.state.damaged_path(older.spec.loop_id);
    std::fs::remove_file(note.with_extension("json")).unwrap();
    assert_eq!(refused(world.gate()), Code::GateUnattested);
}

/// Runs of two working trees overlap: one that began before may have ended after the approval. Without
/// the index only the time of its files proves that it did not.
#[test]
fn v08_an_older_run_that_nothing_is_known_of_may_have_ended_later() {
    let world = World::new();
    let older = world.reject();
    let newer = world.approve();
    damage(&world, &older);
    let written = |millis: Option<i64>| {
        world.gate_on(|state| {
            let runs = state.runs.iter();
            let mut began = runs.filter(|run| run.run == newer.spec.loop_id);
            let began = began.next().unwrap().started_at.unwrap();
            state.damaged[0].written_at = millis.map(|millis| began.plus_millis(millis));
        })
    };
    assert_eq!(refused(written(None)), Code::GateUnattested);
    assert_eq!(refused(written(Some(60_000))), Code::GateUnattested);
    // A file's time may lag behind the clock.
    assert_eq!(refused(written(Some(-100))), Code::GateUnattested);
    written(Some(-60_000)).unwrap();
}

/// What the index remembers of a run that went on is not all that it judged.
#[test]
fn v08_a_run_without_an_end_may_have_judged_this_content_too() {
    let world = World::new();
    let newer = world.approve();
    let other = world.reject();
    damage(&world, &other);
    let known = |ended: Option<i64>| {
        world.gate_on(|state| {
            let damaged = &mut state.damaged[0];
            damaged.content_trees = Some(vec![world.rev("main^{tree}")]);
            damaged.ended_at = ended.map(|millis| newer.started_at.plus_millis(millis));
            damaged.written_at = None;
        })
    };
    assert_eq!(refused(known(None)), Code::GateUnattested);
    known(Some(60_000)).unwrap();
}

#[test]
fn the_approving_journal_damaged_vouches_for_nothing() {
    let world = World::new();
    let round = world.approve();
    damage(&world, &round);
    assert_eq!(refused(world.gate()), Code::GateUnattested);
}
