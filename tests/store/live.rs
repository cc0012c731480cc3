//! The lines of the live view: they fit, and nothing in them can act on a terminal.

use std::collections::BTreeMap;
use std::path::Path;

use run_loop::domain::delegation::DispatchOutcome;
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::id::{EffectId, JobId};
use run_loop::domain::job::Ended;
use run_loop::domain::spent::Spent;
use run_loop::domain::summary::Summary;
use run_loop::domain::time::Timestamp;
use run_loop::report::live::{Activity, rows};

use crate::reviewed::{HOSTILE, reviewed};
use crate::sample::stamp;

fn summary(events: &[Event]) -> Summary {
    Summary::of(events.iter().map(|event| (stamp(1).at, event)))
}

fn activities(summary: &Summary) -> BTreeMap<JobId, Activity> {
    let jobs = summary.open.values().filter_map(|effect| {
        if let Effect::RunJob { job } = effect {
            Some(job.id)
        } else {
            None
        }
    });
    let what = Some(format!("\u{6f22}\u{5b57} {HOSTILE}\r\n\u{9b}2J"));
    let at = stamp(2).at;
    jobs.map(|job| {
        (
            job,
            Activity {
                at,
                what: what.clone(),
            },
        )
    })
    .collect()
}

/// Columns by hand: what these tests show is ASCII, the ellipsis, or two columns wide.
fn columns(line: &str) -> usize {
    line.chars()
        .map(|c| {
            if ('\u{2e80}'..='\u{9fff}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}

#[test]
fn every_line_fits_every_width_and_acts_on_no_terminal() {
    let events = reviewed(1, Path::new("/src"));
    let now = Timestamp::from_millis(stamp(90).at.as_millis());
    for cut in 1..=events.len() {
        let summary = summary(&events[..cut]);
        let activities = activities(&summary);
        for width in [0, 1, 2, 10, 20, 40, 59, 60, 80, 120, 500] {
            let lines = rows(&summary, &activities, now, width);
            assert!(lines.len() <= 1 + 12 + 1, "{lines:?}");
            for line in &lines {
                assert!(columns(line) < width.max(1), "{width}: {line:?}");
                let acts = |c: char| c.is_control() || c == '\u{202e}';
                assert!(!line.contains(acts), "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn a_slot_that_is_asked_shows_how_long_and_what_it_does() {
    let events = reviewed(1, Path::new("/src"));
    let asked = events
        .iter()
        .position(|event| matches!(event, Event::EffectRequested { effect, .. } if matches!(**effect, Effect::RunJob { .. })))
        .unwrap();
    let summary = summary(&events[..=asked]);
    let lines = rows(&summary, &activities(&summary), stamp(63).at, 100);
    assert_eq!(lines[0], "round 1, review, 1m02s");
    assert!(
        lines[1].starts_with("  security  ")
            && lines[1].contains("1m02s, last 1m01s ago: \u{6f22}"),
        "{lines:?}"
    );
    assert!(
        lines[2].starts_with("  checks") && lines[2].ends_with("waiting"),
        "{lines:?}"
    );
}

/// What was delegated is paid for, too; where one told nothing it is at least as much.
#[test]
fn the_cost_of_delegated_jobs_is_in_the_header() {
    let mut events = reviewed(1, Path::new("/src"));
    events.truncate(1);
    for (nth, told) in [(1, None), (2, Some(500_000)), (3, Some(250_000))] {
        let outcome = Outcome::Delegated {
            outcome: DispatchOutcome {
                ended: Ended::Exited { code: 0 },
                gone: true,
                report: None,
                unusable: None,
                misfit: None,
                lost: None,
                doubt: None,
                spent: Spent {
                    cost_micro_usd: told,
                    ..Spent::default()
                },
                started_at: stamp(1).at,
                ended_at: stamp(2).at,
                outlived: Vec::new(),
            },
        };
        events.push(Event::EffectDone {
            stamp: stamp(2),
            effect: EffectId(nth),
            outcome: Box::new(outcome),
        });
    }
    let header =
        |events: &[Event]| rows(&summary(events), &BTreeMap::new(), stamp(2).at, 80)[0].clone();
    assert_eq!(header(&events), "deciding, 1.0s, at least $0.75");
    assert_eq!(header(&events[..2]), "deciding, 1.0s");
    events.remove(1);
    assert_eq!(header(&events), "deciding, 1.0s, $0.75");
}
