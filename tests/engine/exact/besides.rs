//! What a NOT PASS says became of what its slot found before.

use run_loop::domain::event::Event;
use run_loop::domain::finding::Disposition::{self, Deferred, Fixed, Open, Withdrawn};
use run_loop::domain::id::FindingId;
use run_loop::domain::job::{AnswerAction, JobOutcome, Role, RulingKind};
use run_loop::domain::ruled::Ledger as _;
use run_loop::domain::verdict::Verdict;

use crate::delegations::Run;
use crate::exact::{
    answers, asked, crashes, end, high, implemented, passes, refuses, review, rules, told, world,
};

/// Round 1: the first of two slots finds F-1 and F-2, of which one is left for later and the other is refuted,
/// on content that is another one since. Whoever has to rule says nothing. What is said in round 2 and later is
/// `says`, and what the creator answers then is that everything is fixed.
fn before(says: impl Fn(usize, u32, &mut u8) -> JobOutcome) -> Run {
    let mut world = world(2);
    world.quorum = Some(1);
    told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, Some(0), _, 1) => {
                review(Verdict::NotPass, vec![high("a leak"), high("a race")], &[])
            }
            (Role::Review, Some(1), _, 1) => passes(),
            (Role::Correct, .., 2) => {
                *content = 2;
                answers(&[(1, AnswerAction::Deferred), (2, AnswerAction::Refuted)])
            }
            (Role::Readjudicate, .., 2) => crashes(),
            (Role::Review, Some(slot), _, round) => says(slot, round, content),
            (Role::Correct, .., round) => {
                *content = u8::try_from(round).unwrap();
                let all = [1, 2, 3].map(|id| (id, AnswerAction::Fixed));
                answers(&all)
            }
            (Role::Readjudicate, ..) => rules(&[(2, RulingKind::Upheld)]),
            (Role::Arbitrate, ..) => rules(&[(2, RulingKind::Sustained)]),
            (Role::Comply, ..) => answers(&[(2, AnswerAction::Fixed)]),
            (role, ..) => panic!("{role:?} of {} is asked for round {}", job.slot, job.round),
        },
    )
}

const BOTH: [(u32, Disposition); 2] = [(1, Fixed), (2, Withdrawn)];

/// What became of the findings when the round closed.
fn after(run: &Run, round: u32) -> Vec<Disposition> {
    let closed =
        |event: &Event| matches!(event, Event::RoundClosed { round: it, .. } if it.0 == round);
    let at = run.journal.iter().position(closed).unwrap();
    let state = run_loop::engine::State::replay(&run.journal[..=at]);
    let findings = state.findings.iter();
    findings.map(|finding| finding.disposition).collect()
}

fn asked_about(run: &Run, round: u32, role: Role) -> Vec<u32> {
    let jobs = run.state.jobs.values().map(|record| &record.job);
    let of = |job: &&run_loop::domain::job::Job| (job.role, job.round.0) == (role, round);
    let jobs: Vec<_> = jobs.filter(of).map(|job| job.id).collect();
    let words = run.state.notes.iter();
    let words = words.flat_map(|(id, words)| words.iter().map(move |word| (id.0, word.job)));
    let words = words.filter(|(_, job)| jobs.contains(job));
    words.map(|(id, _)| id).collect()
}

/// It goes into the ledger with the word that was said: the creator is asked about neither again, and nobody is
/// paid to rule on what was taken back. A quorum forgives who is gone then.
#[test]
fn it_goes_into_the_ledger() {
    let run = before(|slot, round, _| match (slot, round) {
        (0, 2) => refuses("a gap", &BOTH),
        (0, 3) => review(Verdict::Pass, vec![], &[(3, Fixed)]),
        _ => passes(),
    });
    assert_eq!(after(&run, 2), [Fixed, Withdrawn, Open]);
    assert_eq!(asked_about(&run, 3, Role::Correct), [3]);
    assert_eq!(end(&run), (0, String::new()));
    let jobs = run.state.jobs.values();
    let ruled = jobs.filter(|record| record.job.role == Role::Readjudicate);
    // The first crashed and was asked once more.
    assert_eq!(ruled.count(), 2);
    let said = &run.state.notes[&FindingId(2)];
    assert_eq!(said.last().unwrap().role, Role::Review);
}

/// In a void round it is taken back, and what is not whole says nothing.
#[test]
fn in_a_void_round_it_is_taken_back() {
    let run = before(|slot, round, content| match (slot, round) {
        (0, 2) => {
            *content = 9;
            refuses("a gap", &BOTH)
        }
        (0, 3) => review(Verdict::Pass, vec![], &[(1, Fixed), (2, Fixed), (3, Fixed)]),
        _ => passes(),
    });
    assert_eq!(after(&run, 2)[..2], [Deferred, Disposition::Refuted]);
}

/// A quorum does not forgive by words of a void round who then falls silent.
#[test]
fn in_a_void_round_it_forgives_nobody() {
    let run = before(|slot, round, content| match (slot, round) {
        (0, 2) => {
            *content = 9;
            review(Verdict::NotPass, vec![], &BOTH)
        }
        (0, _) => crashes(),
        _ => passes(),
    });
    assert_ne!(end(&run).0, 0, "{:?}", end(&run));
}

/// Who found it in the same round is believed, whoever spoke first.
#[test]
fn who_found_it_in_the_same_round_is_believed() {
    let run = before(|slot, round, _| match (slot, round) {
        (0, 2) => refuses("a gap", &BOTH),
        (1, 2) => review(Verdict::NotPass, vec![], &[(1, Open), (2, Open)]),
        (0, 3) => review(Verdict::Pass, vec![], &[(1, Fixed), (2, Fixed), (3, Fixed)]),
        _ => passes(),
    });
    assert_eq!(after(&run, 2)[..2], [Open, Open]);
}

/// It is no ruling: what another one called open on this content bars it as before.
#[test]
fn it_lifts_no_bar() {
    let mut world = world(2);
    world.max_rounds = 5;
    let run = told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, Some(0), _, 1) => refuses("a leak", &[]),
            (Role::Correct, .., 2) => {
                *content = 2;
                answers(&[(1, AnswerAction::Fixed)])
            }
            // One says on this content that it is there, and the other one then takes it back beside a NOT PASS.
            (Role::Review, Some(0), _, 2) => crashes(),
            (Role::Review, Some(1), _, 2) => review(Verdict::NotPass, vec![], &[(1, Open)]),
            (Role::Correct, .., 3) => answers(&[(1, AnswerAction::Deferred)]),
            (Role::Review, Some(0), _, 3) => refuses("a gap", &[(1, Withdrawn)]),
            (Role::Correct, .., 4) => answers(&[(2, AnswerAction::Refuted)]),
            (Role::Readjudicate, .., 4) => rules(&[(2, RulingKind::Withdrawn)]),
            (Role::Review, ..) => passes(),
            (role, ..) => panic!("{role:?} of {} is asked for round {}", job.slot, job.round),
        },
    );
    let finding = &run.state.findings[0];
    assert_eq!(finding.disposition, Withdrawn);
    assert_eq!(run.state.ruling(finding).map(|by| by.job), None);
    assert_ne!(end(&run).0, 0, "{:?}", end(&run));
}

/// A report of a round in which somebody else found it again is not the last word on it, and passes no slot
/// later: its reviewer is asked again.
#[test]
fn an_earlier_report_is_not_the_last_word() {
    let mut world = world(2);
    world.max_rounds = 3;
    let run = told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, Some(0), _, 1) => refuses("a leak", &[]),
            (Role::Correct, .., 2) => {
                *content = 2;
                answers(&[(1, AnswerAction::Fixed)])
            }
            (Role::Review, Some(0), _, 2) => refuses("a race", &[(1, Fixed)]),
            (Role::Review, Some(1), _, 2) => review(Verdict::NotPass, vec![], &[(1, Open)]),
            (Role::Correct, .., 3) => {
                answers(&[(1, AnswerAction::Fixed), (2, AnswerAction::Refuted)])
            }
            (Role::Readjudicate, .., 3) => rules(&[(2, RulingKind::Withdrawn)]),
            (Role::Review, ..) => passes(),
            (role, ..) => panic!("{role:?} of {} is asked for round {}", job.slot, job.round),
        },
    );
    let again = |job: &run_loop::domain::job::Job| asked(job) == (Role::Review, Some(0), 0, 3);
    assert!(run.state.jobs.values().any(|record| again(&record.job)));
    assert_ne!(end(&run).0, 0, "{:?}", end(&run));
}
