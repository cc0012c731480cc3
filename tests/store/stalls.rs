//! What is told of jobs that stall: as lines, and in the stream of events.

use run_loop::domain::delegation::{Fence, JobRequest, Signal};
use run_loop::domain::event::Event;
use run_loop::domain::id::{JobId, MessageId};
use run_loop::report::follow::Follower;
use run_loop::report::human;

use crate::sample::{run_id, stamp};

/// Issue 4.6, M-016: `stalled:idle`, `stalled:blocked` and what ends them, each with its job; what an
/// agent asks acts on no terminal.
#[test]
fn a_stall_is_told_by_its_name() {
    let job = JobId::mint(&stamp(2), "job");
    let of = Fence {
        job,
        attempt: 1,
        token: "0".repeat(32),
    };
    let signal = |signal, detail: &str| Event::JobRequested {
        stamp: stamp(3),
        message: MessageId::mint(&stamp(3), "message"),
        from: Some(of.clone()),
        request: Box::new(JobRequest::Signal {
            of: of.clone(),
            signal,
            detail: detail.to_owned(),
        }),
    };
    let silent = Event::JobSilent {
        stamp: stamp(4),
        job,
        attempt: 1,
    };
    let heard = Event::JobHeard {
        stamp: stamp(5),
        job,
        attempt: 1,
        answered: false,
    };
    let question = signal(Signal::PermissionRequired, "rm \u{1b}[2J?");
    let mut follower = Follower::new(run_id(1));
    for (event, kind, line) in [
        (
            silent,
            "job_stalled",
            "stalled:idle: it printed nothing for 600 s; its budget alone ends it",
        ),
        (
            question,
            "job_signalled",
            "stalled:blocked: it waits for a permission: rm ",
        ),
        (heard, "job_resumed", "resumed: it goes on"),
        (
            signal(Signal::Error, "no"),
            "job_signalled",
            "says error: no",
        ),
    ] {
        let told = follower.next(stamp(9).at, &event);
        let said = human::lines(&told).unwrap();
        assert!(said.starts_with(&format!("job {job} {line}")), "{said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
        let json = serde_json::to_value(&told).unwrap();
        assert_eq!(json["event"]["kind"], kind);
        assert_eq!(json["event"]["job"], job.to_string());
        assert_eq!(json["event"]["attempt"], 1);
    }
}
