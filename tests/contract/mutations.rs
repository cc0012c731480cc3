//! P07: no mutation of a refusal or of the prompt, and no random text, ever parses to PASS.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use run_loop::domain::agent::Contract;

use crate::fixture::{NONCE, PASSING, REFUSING, World, evidence, is_pass, read_as, report};

/// One thing that happens to a text on its way, or in a careless agent.
#[derive(Debug, Clone)]
pub(crate) enum Mutation {
    FlipByte(prop::sample::Index, u8),
    DeleteLine(prop::sample::Index),
    RepeatLine(prop::sample::Index),
    SwapLines(prop::sample::Index, prop::sample::Index),
    CutEnd(prop::sample::Index),
    CutStart(prop::sample::Index),
    /// Lines of another text (the prompt, or the same report) at some place.
    Splice {
        at: prop::sample::Index,
        from: prop::sample::Index,
        count: usize,
    },
    Insert(prop::sample::Index, String),
}

pub(crate) fn mutation() -> impl Strategy<Value = Mutation> {
    let index = any::<prop::sample::Index>;
    let words = prop::sample::select(vec![
        "\n",
        "> ",
        "    ",
        "```",
        "```\n",
        "```run-loop-verdict\n",
        "~~~",
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        "NOT ",
        "\"PASS\"",
        "\u{feff}",
        "\r",
        "\0",
        "<!--",
        "VERDICT: ",
    ]);
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Mutation::FlipByte(at, byte)),
        index().prop_map(Mutation::DeleteLine),
        index().prop_map(Mutation::RepeatLine),
        (index(), index()).prop_map(|(a, b)| Mutation::SwapLines(a, b)),
        index().prop_map(Mutation::CutEnd),
        index().prop_map(Mutation::CutStart),
        (index(), index(), 1..30_usize).prop_map(|(at, from, count)| Mutation::Splice {
            at,
            from,
            count
        }),
        (index(), words).prop_map(|(at, word)| Mutation::Insert(at, word.to_owned())),
    ]
}

pub(crate) fn mutate(text: &[u8], other: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for mutation in mutations {
        if bytes.is_empty() {
            break;
        }
        let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        match mutation {
            Mutation::FlipByte(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
                continue;
            }
            Mutation::CutEnd(at) => {
                bytes.truncate(at.index(bytes.len()));
                continue;
            }
            Mutation::CutStart(at) => {
                bytes.drain(..at.index(bytes.len()));
                continue;
            }
            Mutation::Insert(at, word) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, word.bytes());
                continue;
            }
            Mutation::DeleteLine(at) => drop(lines.remove(at.index(lines.len()))),
            Mutation::RepeatLine(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
            }
            Mutation::SwapLines(a, b) => {
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                lines.swap(a, b);
            }
            Mutation::Splice { at, from, count } => {
                let at = at.index(lines.len());
                let others: Vec<Vec<u8>> =
                    other.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                let from = from.index(others.len());
                lines.splice(at..at, others.into_iter().skip(from).take(*count));
            }
        }
        bytes = lines.join(&b'\n');
    }
    bytes
}

fn passes(report: &[u8]) -> bool {
    [Contract::Json, Contract::Line]
        .into_iter()
        .any(|contract| is_pass(&read_as(contract, report, &evidence())))
}

static PROMPTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    World::variants()
        .iter()
        .map(|(_, world)| world.render())
        .collect()
});

/// A refusal for every way to refuse.
fn refusals() -> Vec<String> {
    let without_findings = PASSING.replace("\"PASS\"", "\"NOT PASS\"");
    vec![
        report(REFUSING),
        report(&REFUSING.replace('\n', "")),
        report(&without_findings),
        format!("It crashes.\n\nVERDICT: NOT PASS\n\nNonce: {NONCE}\n"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_mutation_of_a_refusal_passes(
        which in 0..4_usize,
        other in 0..5_usize,
        mutations in vec(mutation(), 1..6),
    ) {
        let (text, other) = (&refusals()[which], &PROMPTS[other]);
        let mutated = mutate(text.as_bytes(), other.as_bytes(), &mutations);
        prop_assert!(!passes(&mutated), "{}", String::from_utf8_lossy(&mutated));
    }

    #[test]
    fn no_mutation_of_the_prompt_passes(
        which in 0..5_usize,
        refusal in 0..4_usize,
        mutations in vec(mutation(), 0..6),
    ) {
        let (text, other) = (&PROMPTS[which], &refusals()[refusal]);
        let mutated = mutate(text.as_bytes(), other.as_bytes(), &mutations);
        prop_assert!(!passes(&mutated), "{}", String::from_utf8_lossy(&mutated));
    }

    #[test]
    fn no_random_text_passes(bytes in vec(any::<u8>(), 0..400), text in ".{0,200}") {
        prop_assert!(!passes(&bytes));
        prop_assert!(!passes(text.as_bytes()));
        prop_assert!(!passes(report(&text).as_bytes()));
    }

    #[test]
    fn no_salad_of_the_right_words_passes(
        words in vec(prop::sample::select(vec![
            "```run-loop-verdict", "```", "~~~", "VERDICT: PASS", "VERDICT: NOT PASS", "PASS",
            "\"verdict\": \"PASS\",", "{\"version\": 1,", "}", "Nonce:", "\n", "\n\n", "> ", "approved",
        ]), 0..30),
    ) {
        prop_assert!(!passes(words.concat().as_bytes()));
        prop_assert!(!passes(words.join("\n").as_bytes()));
    }
}

/// Every single cut of a passing report is no PASS until its last fence is there.
#[test]
fn no_torn_report_passes() {
    let whole = report(PASSING);
    for end in 0..whole.trim_end().len() {
        assert!(!passes(&whole.as_bytes()[..end]), "{}", &whole[..end]);
    }
    assert!(passes(whole.trim_end().as_bytes()));
}
