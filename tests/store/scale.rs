//! Long runs: how fast a journal is read back and folded.

use std::time::{Duration, Instant};

use run_loop::domain::confinement::Confinement;
use run_loop::domain::delegation::{
    Closed, Dispatch, DispatchOutcome, JobRequest, Submission, job_of,
};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::finding::{Claim, Disposition, Finding};
use run_loop::domain::id::{EffectId, FindingId, JobId, MessageId, RoundNumber};
use run_loop::domain::isolation::EvidenceKind;
use run_loop::domain::job::{
    AttemptReason, Ended, Job, JobOutcome, Reading, Role, SessionUse, Stored,
};
use run_loop::domain::path::RepoPath;
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::SlotName;
use run_loop::domain::spent::Spent;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::engine::State;
use run_loop::store::Journal;

use crate::sample::{Place, measured, run_id, spec, stamp};

/// How many events are to be folded in a second.
const EVENTS: usize = 100_000;
/// Without optimisation, on a machine that does other things besides.
const UNOPTIMISED: Duration = Duration::from_secs(10);

fn started() -> Event {
    Event::RunStarted {
        stamp: stamp(1),
        spec: Box::new(spec(1, std::path::Path::new("/src"))),
    }
}

/// A run's first event, and then one effect after the other, each with its outcome.
fn long(count: usize) -> Vec<Event> {
    let pairs = (1..).map(EffectId).flat_map(measured);
    std::iter::once(started())
        .chain(pairs)
        .take(count)
        .collect()
}

/// Issue 4: 100,000 events are verified and folded in at most a second. Without optimisation a
/// tenth of them is, within ten.
#[test]
fn a_long_journal_is_folded_quickly() {
    let (count, limit) = if cfg!(debug_assertions) {
        (EVENTS / 10, UNOPTIMISED)
    } else {
        (EVENTS, Duration::from_secs(1))
    };
    let (place, run) = (Place::new(), run_id(1));
    let events = long(count);
    let mut journal = Journal::create(&place.state, run).unwrap();
    for chunk in events.chunks(500) {
        journal.append(chunk).unwrap();
    }
    drop(journal);
    let start = Instant::now();
    let entries = Journal::load(&place.state, run).unwrap();
    let read = start.elapsed();
    let state = State::replay(entries.iter().map(|entry| &entry.event));
    let took = start.elapsed();
    assert_eq!(entries.len(), events.len());
    assert_eq!(
        usize::try_from(state.requested).unwrap(),
        (events.len() - 1).div_ceil(2)
    );
    assert_eq!(state.fault, None);
    println!(
        "{} events: read in {read:?}, folded after {took:?}",
        entries.len()
    );
    assert!(took < limit, "{took:?} for {} events", entries.len());
}

fn at(number: u64) -> Stamp {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_be_bytes());
    Stamp {
        at: Timestamp::from_millis(1_796_000_000_000 + i64::try_from(number).unwrap()),
        seed,
    }
}

fn stored() -> Stored {
    Stored::of(b"a text")
}

/// A delegated job from its message to its end, in six events.
fn delegated(number: u64, effect: EffectId) -> [Event; 6] {
    let (stamp, message) = (at(number), MessageId::mint(&at(number), "message"));
    let (job, attempt) = (job_of(&stamp, Some(message)), 1);
    let submission = Submission {
        parent: None,
        agent: spec(1, std::path::Path::new("/src")).panel[0].agent.clone(),
        prompt: stored(),
        budget: 100,
        schema: None,
        continues: None,
    };
    let dispatch = Dispatch {
        job,
        attempt,
        folder: JobId::mint(&stamp, "folder"),
        token: "0".repeat(32),
        directory: "/src".to_owned(),
        deadline: stamp.at,
        again: None,
        judged: true,
        claims: true,
        session: SessionUse::New,
    };
    let outcome = DispatchOutcome {
        ended: Ended::Exited { code: 0 },
        gone: true,
        report: Some(stored()),
        spent: Spent::default(),
        unusable: None,
        misfit: None,
        lost: None,
        doubt: None,
        outlived: Vec::new(),
        started_at: stamp.at,
        ended_at: stamp.at,
    };
    let submission = Box::new(submission);
    let detail = String::new();
    [
        Event::JobRequested {
            stamp,
            message,
            from: None,
            request: Box::new(JobRequest::Submit { submission }),
        },
        Event::EffectRequested {
            id: effect,
            effect: Box::new(Effect::Delegate { dispatch }),
        },
        Event::JobSilent {
            stamp,
            job,
            attempt,
        },
        Event::JobHeard {
            stamp,
            job,
            attempt,
            answered: false,
        },
        Event::EffectDone {
            stamp,
            effect,
            outcome: Box::new(Outcome::Delegated { outcome }),
        },
        Event::JobClosed {
            job,
            closed: Closed::Completed { detail },
        },
    ]
}

fn silent(stamp: Stamp) -> JobOutcome {
    JobOutcome {
        ended: Ended::Exited { code: 0 },
        report: Some(stored()),
        prompt: Some(stored()),
        stderr: None,
        reading: Reading::Silent,
        spent: Spent::default(),
        confinement: Confinement::None,
        outlived: Vec::new(),
        started_at: stamp.at,
        ended_at: stamp.at,
    }
}

/// A job of the loop, what it finds, and what becomes of that, in four events.
fn found(number: u32, id: EffectId) -> [Event; 4] {
    let stamp = at(number.into());
    let job = Job {
        id: JobId::mint(&stamp, "job"),
        role: Role::Review,
        round: RoundNumber(1),
        slot: SlotName::checks(),
        rank: 0,
        reason: AttemptReason::First,
        attempt: 1,
        nonce: "0".repeat(32),
        evidence: EvidenceKind::ReviewTree,
        deadline: stamp.at,
        budget: 100,
        session: SessionUse::New,
    };
    let finding = Finding {
        id: FindingId(number),
        slot: SlotName::checks(),
        job: job.id,
        round: RoundNumber(1),
        claim: Claim {
            title: "it is wrong".to_owned(),
            severity: Severity::High,
            blocking: false,
            path: Some(RepoPath::from("src/lib.rs")),
            line: Some(7),
            end_line: None,
            body: "An empty list crashes.".to_owned(),
            pre_existing: false,
            blob: None,
        },
        blocking: true,
        again: None,
        lowered: None,
        disposition: Disposition::Open,
    };
    let said = job.id;
    [
        Event::EffectRequested {
            id,
            effect: Box::new(Effect::RunJob { job }),
        },
        Event::FindingRaised {
            finding: Box::new(finding),
        },
        Event::FindingDisposed {
            finding: FindingId(number),
            disposition: Disposition::Fixed,
            job: said,
            note: "It is.".to_owned(),
        },
        Event::EffectDone {
            stamp,
            effect: id,
            outcome: Box::new(Outcome::JobEnded {
                outcome: silent(stamp),
            }),
        },
    ]
}

/// A run's first event, and then these blocks again and again, as they are made of their number and the number
/// of their first effect.
fn repeated<Block: IntoIterator<Item = Event>>(block: impl Fn(u32, u64) -> Block) -> Vec<Event> {
    let blocks = (1..).flat_map(|number| block(number, u64::from(number) * 3));
    std::iter::once(started())
        .chain(blocks)
        .take(EVENTS)
        .collect()
}

/// Long runs of each of what a run has more and more of, and of all of it.
fn journals() -> [(&'static str, Vec<Event>); 3] {
    let jobs = |number: u32, first: u64| delegated(number.into(), EffectId(first));
    let findings = |number: u32, first: u64| found(number, EffectId(first));
    let all = |number: u32, first: u64| {
        let measured = measured(EffectId(first)).into_iter();
        let jobs = jobs(number, first + 1).into_iter();
        measured.chain(jobs).chain(findings(number, first + 2))
    };
    [
        ("delegated jobs", repeated(jobs)),
        ("findings", repeated(findings)),
        ("all of it", repeated(all)),
    ]
}

/// How long the first and the last quarter of a journal take to be folded, and all of it.
fn folded(events: &[Event]) -> (Duration, Duration, Duration) {
    let mut state = State::default();
    let start = Instant::now();
    let quarters: Vec<Duration> = events
        .chunks(events.len() / 4)
        .map(|quarter| {
            let start = Instant::now();
            for event in quarter {
                run_loop::engine::fold(&mut state, event);
            }
            start.elapsed()
        })
        .collect();
    assert_eq!(state.fault, None);
    (quarters[0], quarters[3], start.elapsed())
}

/// Issue 4: what a run has had makes no later event dearer, whatever it is about: of 100,000 events the last
/// ones are folded as quickly as the first. Some disturbance of the machine's is not counted: each is the
/// best of three.
#[test]
fn no_event_is_dearer_than_those_before_it() {
    for (what, events) in journals() {
        let runs = [folded(&events), folded(&events), folded(&events)];
        let first = runs.iter().map(|run| run.0).min().unwrap();
        let last = runs.iter().map(|run| run.1).min().unwrap();
        let whole = runs.iter().map(|run| run.2).min().unwrap();
        println!(
            "{what}: {first:?} for the first quarter, {last:?} for the last, {whole:?} for all"
        );
        assert!(last < first * 4, "{what}: {last:?} after {first:?}");
        let limit = if cfg!(debug_assertions) {
            UNOPTIMISED
        } else {
            Duration::from_secs(1)
        };
        assert!(whole < limit, "{what}: {whole:?}");
    }
}
