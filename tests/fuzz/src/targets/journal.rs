//! Journal records: what is read is written again as it was, and no sequence of records brings
//! the state machine down.

use run_loop::domain::delegation::{JobRequest, Submission};
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::effect::Effect;
use run_loop::domain::id::{EffectId, JobId, MessageId, RoundNumber};
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::engine::{State, advance, fold};

use super::Target;

pub const TARGET: Target = Target {
    name: "journal",
    seeds,
    words: &[
        "\"event\":\"run_resumed\"",
        "\"event\":\"effect_done\"",
        "\"event\":\"round_opened\"",
        "{\"event\":\"round_opened\",\"round\":1}\n",
        "{\"event\":\"review_opened\",\"round\":1}\n",
        "{\"event\":\"wait_ended\",\"effect\":1}\n",
        "null",
        "\"round\":",
    ],
    run,
};

fn seeds() -> Vec<Vec<u8>> {
    let stamp = Stamp {
        at: Timestamp::from_millis(1),
        seed: [3; 32],
    };
    let job = JobId::mint(&stamp, "job");
    let message = MessageId::mint(&stamp, "message");
    let agent: run_loop::domain::agent::Agent = serde_json::from_value(serde_json::json!({
        "name": "a", "kind": {"kind": "human"}, "remote": false, "family": "a", "timeout": null,
        "contract": "json", "definition": "0".repeat(64),
    }))
    .expect("an agent");
    let prompt = run_loop::domain::job::Stored {
        sha256: run_loop::domain::digest::Digest::of(b"x"),
        bytes: 1,
    };
    let submission = Box::new(Submission {
        parent: Some(job),
        agent,
        prompt,
        budget: 1,
        schema: None,
        continues: None,
    });
    let requests = [
        JobRequest::Submit { submission },
        JobRequest::Redispatch { job },
    ];
    let mut events = vec![
        Event::RunResumed {
            stamp,
            allowed: run_loop::domain::limits::Allowed::default(),
            seen: None,
            ran: None,
            found: None,
            gone: None,
        },
        Event::StopRequested {
            stamp,
            cause: StopCause::Cancel,
            message: Some(message),
        },
        Event::RoundOpened {
            round: RoundNumber(1),
        },
        Event::EffectRequested {
            id: EffectId(1),
            effect: Box::new(Effect::Pin {
                round: RoundNumber(1),
                work: None,
            }),
        },
    ];
    events.extend(requests.map(|request| Event::JobRequested {
        stamp,
        message,
        from: None,
        request: Box::new(request),
    }));
    let lines: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_string(event).expect("an event"))
        .collect();
    vec![lines.join("\n").into_bytes()]
}

fn run(input: &[u8]) {
    let mut state = State::default();
    for line in input.split(|byte| *byte == b'\n') {
        let Ok(event) = serde_json::from_slice::<Event>(line) else {
            continue;
        };
        let written = serde_json::to_vec(&event).expect("an event that was read can be written");
        let again: Event = serde_json::from_slice(&written).expect("what was written can be read");
        assert_eq!(event, again, "a record changes when it is written");
        fold(&mut state, &event);
    }
    // Whatever they said, what follows is decided in bounded time.
    for _ in 0..200 {
        let Some(event) = advance(&state) else { return };
        fold(&mut state, &event);
    }
}
