//! What agent programs print: done is who said so and never gave up, no answer of theirs vanishes, and
//! what they tell of a limit is believed within bounds.

use std::path::Path;

use run_loop::agent::activity;
use run_loop::agent::adapter::account::Account;
use run_loop::agent::adapter::{self, Event, outcome, reset};
use run_loop::agent::redact::Secrets;
use run_loop::config::profiles;
use run_loop::domain::job::Ended;
use run_loop::domain::limits::lifted_after;
use run_loop::domain::profile::{Profile, Stream};
use run_loop::domain::time::Timestamp;

use super::Target;

/// The first line of an input names the program; the rest is what it printed.
pub const TARGET: Target = Target {
    name: "streams",
    seeds,
    words: &[
        "codex\n",
        "claude\n",
        "gemini\n",
        "opencode\n",
        "copilot\n",
        "aider\n",
        "acp\n",
        "generic\n",
        "{\"type\":\"turn.completed\"}\n",
        "{\"type\":\"turn.failed\",\"error\":{\"message\":\"m\"}}\n",
        "{\"type\":\"result\",\"is_error\":false,\"subtype\":\"success\",\"result\":\"r\"}\n",
        "{\"type\":\"result\",\"status\":\"success\",\"stats\":{\"input_tokens\":1}}\n",
        "{\"type\":\"error\",\"message\":\"429: retry after 99999999 s\"}\n",
        "{\"agent\":{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}}\n",
        "{\"agent\":{\"id\":3,\"error\":{\"code\":429,\"message\":\"m\"}}}\n",
        "{\"failed\":{\"trouble\":\"session\",\"message\":\"m\"}}\n",
        "\"threadStatus\":{\"type\":\"systemError\"}",
        "\"is_error\":true",
        "usage limit reached|1799999999",
        "resets 3pm (Europe/Berlin)",
        "try again in 1h 2m 3s",
        "null",
        "-1",
        "1e308",
        "\u{1b}[31m",
    ],
    run,
};

/// What was recorded of the real programs.
fn seeds() -> Vec<Vec<u8>> {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/transcripts");
    let mut seeds = Vec::new();
    for name in profiles::names() {
        let Ok(entries) = std::fs::read_dir(recorded.join(name)) else {
            continue;
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|it| it == "stdout")) {
            let printed = std::fs::read(path).expect("a transcript");
            seeds.push([name.as_bytes(), b"\n", &printed].concat());
        }
    }
    assert!(seeds.len() > 100, "the transcripts are gone: {}", seeds.len());
    seeds.push(b"generic\nDone.\n".to_vec());
    seeds
}

fn run(input: &[u8]) {
    let first = input.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let name = String::from_utf8_lossy(&input[..first]);
    let printed = &input[first..];
    match profiles::embedded(&name).expect("an embedded profile is right") {
        Some(profile) => read(&profile, printed),
        None => {
            let mut names = profiles::names();
            let any = names.next().expect("a profile");
            read(&profiles::embedded(any).expect("right").expect("there"), input);
        }
    }
}

fn read(profile: &Profile, printed: &[u8]) {
    let stream = profile.stream;
    let account = Account::of(stream, printed);
    let text = String::from_utf8_lossy(printed);
    let events: Vec<Event> = adapter::events(stream, printed).collect();
    let mut again = Account::new(stream);
    events.iter().for_each(|event| again.fold(event.clone()));
    let all = |of: &Account| (of.is_done(), of.final_message(), of.spent(), of.error().cloned());
    assert_eq!(all(&account), all(&again), "two readings differ");

    if account.is_done() {
        let says_so = |event: &Event| matches!(event, Event::Result { success: true, .. });
        assert!(stream == Stream::Text || events.iter().any(says_so), "done, and it never said so");
        let gave_up = |event: &Event| matches!(event, Event::Error { fatal: true, .. } | Event::Torn);
        assert!(!events.iter().any(gave_up), "done, and it gave up");
    }
    let message = account.final_message().unwrap_or_default();
    for event in &events {
        if let Event::Result { text: Some(text), .. } = event {
            assert!(text.trim().is_empty() || message.contains(text.as_str()), "an answer vanished");
        }
    }
    let spent = account.spent();
    assert!(spent.usage.is_none_or(|usage| !usage.is_unknown()), "no count is a count");
    assert!(spent.cost_micro_usd != Some(0) || spent.usage.is_some(), "a cost of nothing for nothing");

    ends(profile, &account, &text);
    let told = activity::last(stream, printed, false, |text, _| text.to_owned()).unwrap_or_default();
    assert!(told.chars().count() <= 160, "too much is told of what it does");
}

/// How a job ends that printed this.
fn ends(profile: &Profile, account: &Account, text: &str) {
    let none = Secrets::default();
    let exited = |code| outcome::ended(profile, Ended::Exited { code }, account, text, &none);
    let well = exited(0) == (Ended::Exited { code: 0 });
    assert!(!well || account.is_done(), "success without its word");
    // Where a program says with its last words that it gave up, its word is none.
    let gives_up = profile.acp.gives_up_with.is_some();
    assert!(well || gives_up || !account.is_done(), "no success in spite of its word");
    let now = Timestamp::from_millis(1_800_000_000_000);
    for code in [0, 1] {
        let ended = exited(code);
        let Ended::Failed { message, .. } = &ended else {
            assert_eq!(ended, Ended::Exited { code: 0 }, "code {code} is no success");
            continue;
        };
        assert!(message.chars().count() <= 301 && !message.chars().any(char::is_control));
        let told = reset::of(&ended, account.spent().reset, now);
        let until = lifted_after(told, now, 0);
        let bounds = now.plus_seconds(60)..=now.plus_seconds(604_800);
        assert!(bounds.contains(&until), "parked until {until}");
    }
    let killed = Ended::Signalled { signal: 9 };
    assert_eq!(outcome::ended(profile, killed.clone(), account, text, &none), killed);
}
