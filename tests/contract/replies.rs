//! What counts as the answer of a job that is no review.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use run_loop::contract::reply::{self, ExpectReply};
use run_loop::domain::id::FindingId;
use run_loop::domain::job::{Answer, AnswerAction, Reading, Reply, Role, Ruling, RulingKind};

use crate::fixture::{NONCE, each_line, invalid};
use crate::mutations::{mutate, mutation};
use crate::work::Work;

const ASKED: [FindingId; 2] = [FindingId(3), FindingId(4)];

fn read(role: Role, report: impl AsRef<[u8]>) -> Reading {
    read_unruled(role, report, &BTreeSet::new())
}

/// The same of a job on some of whose findings nobody rules.
fn read_unruled(role: Role, report: impl AsRef<[u8]>, unruled: &BTreeSet<FindingId>) -> Reading {
    let expect = ExpectReply {
        role,
        nonce: NONCE,
        findings: &ASKED,
        unruled,
    };
    reply::read(report.as_ref(), &expect)
}

fn replied(reading: Reading) -> Reply {
    match reading {
        Reading::Reply { reply } => reply,
        other @ (Reading::Invalid { .. } | Reading::Review(_) | Reading::Silent) => {
            panic!("no reply: {other:?}")
        }
    }
}

fn problems(reading: Reading) -> String {
    let (problems, claimed, claims) = invalid(reading);
    assert_eq!((claimed, claims.as_slice()), (None, &[][..]));
    problems.join("; ")
}

/// A report that ends with a block of this kind holding this list.
fn report(kind: &str, list: &str) -> String {
    let name = kind.strip_prefix("run-loop-").unwrap();
    let name = if name == "challenge" {
        "objections"
    } else {
        name
    };
    format!(
        "I looked.\n\n```{kind}\n{{\"version\": 1, \"nonce\": \"{NONCE}\",\n\"{name}\": [\n{list}\n]}}\n```\n"
    )
}

fn answers(list: &str) -> String {
    report("run-loop-answers", list)
}

fn rulings(list: &str) -> String {
    report("run-loop-rulings", list)
}

/// M-042: non-blank text is a plan, and blank text nothing at all.
#[test]
fn a_text_is_taken_as_it_is() {
    for role in [Role::Plan, Role::Refine, Role::Implement] {
        assert_eq!(replied(read(role, "1. Do it.\n")), Reply::Text);
        for blank in ["", " \n\t\r\n", "\u{feff}", "\u{200b}\n\u{2060}"] {
            assert_eq!(read(role, blank), Reading::Silent, "{blank:?}");
        }
        assert!(problems(read(role, b"\xffplan")).contains("UTF-8"));
        let long = "x".repeat(reply_cap() + 1);
        assert!(problems(read(role, long)).contains("bytes"));
    }
}

fn reply_cap() -> usize {
    run_loop::contract::review::REPORT_CAP
}

#[test]
fn a_challenge_may_object_to_nothing() {
    let objections =
        |list: &str| match replied(read(Role::Challenge, report("run-loop-challenge", list))) {
            Reply::Challenge { objections } => objections,
            other @ (Reply::Text | Reply::Answers { .. } | Reply::Rulings { .. }) => {
                panic!("{other:?}")
            }
        };
    assert_eq!(objections(""), Vec::<String>::new());
    assert_eq!(
        objections(r#""Too slow.", "No test.""#),
        ["Too slow.", "No test."]
    );
    let bad = |list: &str| problems(read(Role::Challenge, report("run-loop-challenge", list)));
    assert!(bad(r#"" ""#).contains("blank"));
    assert!(bad("{}").contains("must be text"));
    assert!(bad(&vec!["\"x\""; 501].join(",")).contains("at most 500"));
}

#[test]
fn answers_are_read_one_for_each_finding() {
    let list = r#"{"finding": "F-3", "action": "refuted", "note": "The caller checks it."},
{"finding": "F-4", "action": "fixed"}"#;
    for role in [Role::Correct, Role::Comply] {
        let expected = Reply::Answers {
            answers: vec![
                Answer {
                    finding: FindingId(3),
                    action: AnswerAction::Refuted,
                    note: "The caller checks it.".to_owned(),
                },
                Answer {
                    finding: FindingId(4),
                    action: AnswerAction::Fixed,
                    note: String::new(),
                },
            ],
        };
        assert_eq!(replied(read(role, answers(list))), expected);
        let none = Reply::Answers {
            answers: Vec::new(),
        };
        assert_eq!(replied(read(role, answers(""))), none);
    }
}

#[test]
fn rulings_are_of_their_own_kind() {
    let ruling = |role: Role, word: &str, note: &str| {
        let list = format!(r#"{{"finding": "F-4", "ruling": "{word}", "note": "{note}"}}"#);
        read(role, rulings(&list))
    };
    let of = |kind: RulingKind, note: &str| Reply::Rulings {
        rulings: vec![Ruling {
            finding: FindingId(4),
            ruling: kind,
            note: note.to_owned(),
        }],
    };
    let valid = [
        (Role::Readjudicate, "withdrawn", RulingKind::Withdrawn),
        (Role::Readjudicate, "upheld", RulingKind::Upheld),
        (Role::Arbitrate, "sustained", RulingKind::Sustained),
        (Role::Arbitrate, "overruled", RulingKind::Overruled),
    ];
    for (role, word, kind) in valid {
        assert_eq!(
            replied(ruling(role, word, "Because.")),
            of(kind, "Because.")
        );
        let other = if role == Role::Arbitrate {
            Role::Readjudicate
        } else {
            Role::Arbitrate
        };
        assert!(problems(ruling(other, word, "Because.")).contains("must be one of"));
        let lifts = matches!(kind, RulingKind::Withdrawn | RulingKind::Overruled);
        for blank in ["", " ", "\\u200b"] {
            let reading = ruling(role, word, blank);
            if lifts {
                assert!(problems(reading).contains("why the finding does not stand"));
            } else {
                assert!(matches!(reading, Reading::Reply { .. }), "{reading:?}");
            }
        }
    }
}

#[test]
fn what_is_wrong_with_an_answer_is_said() {
    let entry = |entry: &str| problems(read(Role::Correct, answers(entry)));
    let cases = [
        (
            r#"{"finding": "F-5", "action": "fixed"}"#,
            "you were not asked about",
        ),
        (
            r#"{"finding": "F-03", "action": "fixed"}"#,
            "you were not asked about",
        ),
        (
            r#"{"finding": "F-+3", "action": "fixed"}"#,
            "you were not asked about",
        ),
        (
            r#"{"finding": "f-3", "action": "fixed"}"#,
            "you were not asked about",
        ),
        (
            r#"{"finding": 3, "action": "fixed"}"#,
            "must be a finding's id",
        ),
        (r#"{"action": "fixed"}"#, "must be a finding's id"),
        (
            r#"{"finding": "F-3"}"#,
            "must be one of: fixed, refuted, deferred",
        ),
        (r#"{"finding": "F-3", "action": "Fixed"}"#, "must be one of"),
        (
            r#"{"finding": "F-3", "action": "withdrawn"}"#,
            "must be one of",
        ),
        (
            r#"{"finding": "F-3", "action": "refuted"}"#,
            "why the finding is wrong",
        ),
        (
            r#"{"finding": "F-3", "action": "refuted", "note": " "}"#,
            "why the finding is wrong",
        ),
        (
            r#"{"finding": "F-3", "action": "fixed", "note": null}"#,
            "must be text, not null",
        ),
        (
            r#"{"finding": "F-3", "action": "fixed", "why": ""}"#,
            "unknown field",
        ),
        (
            r#"{"finding": "F-3", "action": "refuted", "action": "fixed", "note": "x"}"#,
            "twice",
        ),
        (
            r#"{"finding": "F-3", "finding": "F-4", "action": "fixed"}"#,
            "twice",
        ),
        (
            r#"{"finding": "F-3", "action": "fixed"}, {"finding": "F-3", "action": "deferred"}"#,
            "F-3 is answered twice",
        ),
        (r#""F-3""#, "must be an object"),
    ];
    for (list, problem) in cases {
        let told = entry(list);
        assert!(told.contains(problem), "{list}: {told}");
    }
}

/// The block is as strict as the one of a review.
#[test]
fn the_block_counts_only_where_it_stands_alone() {
    let good = answers(r#"{"finding": "F-3", "action": "fixed"}"#);
    replied(read(Role::Correct, &good));
    replied(read(
        Role::Correct,
        format!("\u{feff}{}", good.replace('\n', "\r\n")),
    ));
    let quoted = each_line(&good, "> ");
    let cases = [
        (good.replace("answers\n{", "answer\n{"), "no fenced block"),
        (
            good.replace("run-loop-answers", "run-loop-rulings"),
            "no fenced block",
        ),
        (
            good.replace("run-loop-answers", "run-loop-answers x"),
            "nothing else",
        ),
        (format!("{good}\n{good}"), "exactly one"),
        (format!("{good}\nThat is all.\n"), "must end with it"),
        (good.trim_end().trim_end_matches('`').to_owned(), "torn"),
        (quoted, "quote"),
        (
            good.replace("\"version\": 1", "\"version\": 2"),
            "`version`",
        ),
        (good.replace("\"version\": 1,", ""), "`version`"),
        (good.replace(NONCE, "00"), "`nonce` is not"),
        (
            good.replace("\"answers\"", "\"rulings\""),
            "must be there, as a list",
        ),
        (
            good.replace("\"version\"", "\"tree\": \"\", \"version\""),
            "unknown field",
        ),
        (
            good.replace("\"version\"", "\"answers\": [], \"version\""),
            "twice",
        ),
        (good.replace("]}", "]} {}"), "one JSON value"),
        (
            "```run-loop-answers\n[]\n```\n".to_owned(),
            "must be an object",
        ),
        ("I mended all of them.".to_owned(), "no fenced block"),
    ];
    for (report, problem) in cases {
        let told = problems(read(Role::Correct, &report));
        assert!(told.contains(problem), "{problem}: {told} in {report}");
    }
}

/// What nobody rules on is mended or left for later; the one re-ask says so.
#[test]
fn what_nobody_rules_on_is_not_refuted() {
    let unruled = BTreeSet::from([FindingId(4)]);
    let said = |finding: &str, action: &str| {
        let list = format!(r#"{{"finding": "{finding}", "action": "{action}", "note": "So."}}"#);
        read_unruled(Role::Correct, answers(&list), &unruled)
    };
    let told = problems(said("F-4", "refuted"));
    assert!(
        told.contains("refutes F-4, on which nobody rules"),
        "{told}"
    );
    for (finding, action) in [("F-3", "refuted"), ("F-4", "fixed"), ("F-4", "deferred")] {
        replied(said(finding, action));
    }
}

/// A job without nonce has no answer, and a review is read elsewhere.
#[test]
fn what_cannot_be_answered_is_not() {
    let forged = answers("").replace(NONCE, "");
    let expect = ExpectReply {
        role: Role::Correct,
        nonce: "",
        findings: &ASKED,
        unruled: &BTreeSet::new(),
    };
    assert!(problems(reply::read(forged.as_bytes(), &expect)).contains("no nonce"));
    assert!(problems(read(Role::Review, answers(""))).contains("verdict"));
}

/// What a mutated report of a role says of the findings, if it says anything.
fn says(role: Role, report: &[u8]) -> Vec<String> {
    match read(role, report) {
        Reading::Reply { reply } => match reply {
            Reply::Answers { answers } => answers
                .iter()
                .map(|answer| format!("{} {:?}", answer.finding, answer.action))
                .collect(),
            Reply::Rulings { rulings } => rulings
                .iter()
                .map(|ruling| format!("{} {:?}", ruling.finding, ruling.ruling))
                .collect(),
            Reply::Text | Reply::Challenge { .. } => vec!["something else".to_owned()],
        },
        Reading::Invalid { .. } | Reading::Silent => Vec::new(),
        Reading::Review(review) => panic!("{review:?}"),
    }
}

/// Reports that lift nothing, and the only thing that they say.
fn standing() -> [(Role, String, &'static str); 4] {
    let answer = r#"{"finding": "F-3", "action": "refuted", "note": "fixed withdrawn"}"#;
    let ruling = |word: &str| {
        rulings(&format!(
            r#"{{"finding": "F-3", "ruling": "{word}", "note": "It is not overruled."}}"#
        ))
    };
    [
        (Role::Correct, answers(answer), "Refuted"),
        (Role::Comply, answers(answer), "Refuted"),
        (Role::Readjudicate, ruling("upheld"), "Upheld"),
        (Role::Arbitrate, ruling("sustained"), "Sustained"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// P07 for the other blocks: a finding that stands is not lifted by accident, nor spoken of
    /// twice. (One flipped digit may name the other finding asked about.)
    #[test]
    fn no_mutation_says_more(which in 0..4_usize, mutations in vec(mutation(), 1..6)) {
        let (role, text, word) = &standing()[which];
        let prompt = Work::full(*role).render();
        let mutated = mutate(text.as_bytes(), prompt.as_bytes(), &mutations);
        let said = says(*role, &mutated);
        let allowed = [format!("F-3 {word}"), format!("F-4 {word}")];
        prop_assert!(
            said.iter().all(|line| allowed.contains(line)) && said.len() <= 2,
            "{said:?}: {}", String::from_utf8_lossy(&mutated)
        );
    }

    #[test]
    fn no_mutation_of_a_prompt_replies(which in 0..4_usize, mutations in vec(mutation(), 0..6)) {
        let (role, text, word) = &standing()[which];
        let prompt = Work::full(*role).render();
        let mutated = mutate(prompt.as_bytes(), text.as_bytes(), &mutations);
        let said = says(*role, &mutated);
        let allowed = [format!("F-3 {word}"), format!("F-4 {word}")];
        prop_assert!(
            said.iter().all(|line| allowed.contains(line)),
            "{said:?}: {}", String::from_utf8_lossy(&mutated)
        );
    }

    #[test]
    fn no_random_text_answers(text in ".{0,200}") {
        for role in [Role::Challenge, Role::Correct, Role::Readjudicate, Role::Arbitrate] {
            prop_assert!(says(role, text.as_bytes()).is_empty());
            prop_assert!(says(role, answers(&text).as_bytes()).is_empty() || text.trim().is_empty());
        }
    }
}

/// Every single cut of a report is no reply until its last fence is there.
#[test]
fn no_torn_report_replies() {
    for (role, text, word) in standing() {
        let whole = text.trim_end();
        for end in 0..whole.len() {
            assert_eq!(says(role, &whole.as_bytes()[..end]), Vec::<String>::new());
        }
        assert_eq!(says(role, whole.as_bytes()), [format!("F-3 {word}")]);
    }
}
