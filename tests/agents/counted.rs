//! What programs count, and what it costs by that.

use run_loop::agent::adapter::account::Account;
use run_loop::domain::agent::{Agent, AgentKind, Contract, ProfileAgent};
use run_loop::domain::digest::Digest;
use run_loop::domain::price::{Price, cost_of};
use run_loop::domain::profile::Stream;

use crate::recorded::profile;

fn agent(program: &str) -> Agent {
    Agent {
        name: program.to_owned(),
        kind: AgentKind::Profile(Box::new(ProfileAgent {
            profile: profile(program),
            program: format!("/bin/{program}"),
            args: Vec::new(),
            model: Some("m".to_owned()),
            effort: None,
            env: Vec::new(),
            confine: false,
        })),
        remote: false,
        family: program.to_owned(),
        timeout: None,
        contract: Contract::Json,
        definition: Digest::of(b"agent"),
    }
}

/// qwen prints what claude prints, and counts what it read of a cache within what it read: that is paid for
/// once.
#[test]
fn what_is_read_of_a_cache_is_paid_for_once() {
    let prices = [Price {
        model: "m".to_owned(),
        input: 1_000_000,
        output: 0,
        cached: Some(100_000),
        cache_write: None,
    }];
    let line = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done.",
        "usage":{"input_tokens":1000,"output_tokens":20,"cache_read_input_tokens":900}}"#;
    let spent = Account::of(Stream::Claude, line.replace('\n', "").as_bytes()).spent();
    for (program, micro_usd) in [("qwen", 100 + 90), ("claude", 1_000 + 90)] {
        let cost = cost_of(&prices, Some(&agent(program)), &spent).unwrap();
        assert_eq!(cost.micro_usd, micro_usd, "{program}");
    }
}

/// Both models of a turn that was sent to another one answered: no price of one of them is that of both.
#[test]
fn a_turn_that_went_to_another_model_names_both() {
    let said = |message: &str| {
        let item = format!(r#"{{"id":"i","type":"error","message":"{message}"}}"#);
        let line = format!(r#"{{"type":"item.completed","item":{item}}}"#);
        Account::of(Stream::Codex, line.as_bytes()).spent().model
    };
    let rerouted = said("model rerouted: gpt-a -> gpt-b (high demand)");
    assert_eq!(rerouted.as_deref(), Some("gpt-a, gpt-b"));
    assert_eq!(said("Model metadata not found"), None);
}
