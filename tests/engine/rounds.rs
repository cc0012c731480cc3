//! How many rounds a change gets where nobody said (C04): few where it is small, and more as it grows.

use run_loop::domain::code::Code;
use run_loop::domain::effect::{Done, Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::evidence::{ChangedFile, FileStatus};
use run_loop::domain::failure::Failure;
use run_loop::domain::job::Ended;

use crate::delegations::Run;
use crate::trees::crew;
use crate::world::delegated;

fn file(added: Option<u64>) -> ChangedFile {
    ChangedFile {
        path: "src".into(),
        status: FileStatus::Modified,
        old_path: None,
        old_mode: "100644".to_owned(),
        new_mode: "100644".to_owned(),
        size: Some(1),
        added,
        removed: added.map(|_| 0),
        unreviewed: None,
        changed_lines: Vec::new(),
    }
}

/// Drives a run whose reviewer is never content, of which each round shows so many lines. Gives how many
/// rounds it had, and how it failed.
fn rounds(most: u32, scales: bool, lines: &[Option<u64>]) -> (usize, Failure) {
    let mut world = crew(0);
    world.max_rounds = most;
    let crew = world.crew.as_mut().unwrap();
    crew.writes = (1..=20).map(Some).collect();
    let mut run = Run::start_in(world, |spec| spec.review.rounds_scale = scales);
    let mut shown = lines.iter().chain(std::iter::repeat(lines.last().unwrap()));
    loop {
        let shows = run.effect(|effect| matches!(effect, Effect::MakeEvidence { .. }));
        if let Some((id, effect)) = shows {
            let findings = run.state.findings.clone();
            let mut outcome = run.world.perform(&effect, &mut run.content, &findings);
            if let Outcome::EvidenceMade {
                result: Done::Ok(evidence),
            } = &mut outcome
            {
                evidence.files = vec![file(*shown.next().unwrap())];
            }
            run.done(id, outcome);
        } else if !run.perform(|_| true) {
            break;
        }
    }
    match run.state.end() {
        Some(End::Failed { failure }) => (run.state.rounds.len(), failure.clone()),
        end => panic!("{end:?}"),
    }
}

#[test]
fn c04_a_small_change_gets_few_rounds_and_one_that_grows_gets_more() {
    for (lines, expected) in [
        (&[Some(3)][..], 3),
        (&[Some(20)], 3),
        (&[Some(21)], 4),
        (&[Some(200)], 4),
        (&[Some(201)], 5),
        // What has no lines may be anything.
        (&[None], 5),
        (&[Some(3), Some(30)], 4),
        (&[Some(3), Some(3), Some(500)], 5),
        // What was large once is not cut short.
        (&[Some(500), Some(3)], 5),
    ] {
        let (had, failure) = rounds(5, true, lines);
        assert_eq!(
            (had, failure.code),
            (expected, Code::FindingsStand),
            "{lines:?}"
        );
        let says = failure.message.contains("--max-rounds");
        assert_eq!(says, expected < 5, "{}", failure.message);
    }
}

#[test]
fn c04_who_says_how_many_rounds_gets_them() {
    for most in [1, 2, 5] {
        let (had, failure) = rounds(most, false, &[Some(3)]);
        assert_eq!(had, most as usize);
        assert!(
            !failure.message.contains("--max-rounds"),
            "{}",
            failure.message
        );
    }
}

/// M-014: what the implementation delegated stays in what reviewers are shown when corrections follow, and
/// is not waited for again with the tree of a newer job.
#[test]
fn what_an_earlier_writer_delegated_stays_in_sight() {
    let (mut run, creator) = Run::start_in(crew(0), |_| ()).until_asked();
    let failed = run.submit(Some(creator), Some(creator)).unwrap();
    let writes = |effect: &Effect| matches!(effect, Effect::RunJob { job } if job.role.writes());
    assert!(run.perform(writes));
    run.ends(failed, delegated(Ended::Exited { code: 3 }, true));
    run.content += 1;
    while run.effect(writes).is_none() {
        assert!(run.perform(|_| true), "no correction was asked for");
    }
    assert!(run.perform(writes));
    let waits = |effect: &Effect| matches!(effect, Effect::AwaitJobs { .. });
    assert!(
        run.effect(waits).is_none(),
        "an older tree is waited for again"
    );
    let rows = run.state.sub_jobs().rows;
    assert!(rows.iter().any(|row| row.job == failed), "{rows:?}");
}
