//! What a job is told of what was said of its findings: each word under the name of who said it, and
//! where their lines are now.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use run_loop::contract::reply::{self, ExpectReply};
use run_loop::domain::finding::{Disposition, Word};
use run_loop::domain::id::{FindingId, JobId};
use run_loop::domain::job::{Reading, Reply, Role, RulingKind};
use run_loop::domain::lines::Place;

use crate::fixture::{NONCE, oid};
use crate::work::Work;

/// What somebody said of a finding.
pub(crate) fn word(role: Role, disposition: Disposition, note: &str) -> Word {
    Word {
        job: JobId::parse("01940000-0000-7000-8000-000000000001").unwrap(),
        role,
        disposition,
        note: note.to_owned(),
    }
}

/// Everything that somebody may say of a finding, and under which words it is shown.
const SAID: [(Role, Disposition, &str); 12] = [
    (
        Role::Correct,
        Disposition::Fixed,
        "The creator calls it fixed",
    ),
    (
        Role::Correct,
        Disposition::Refuted,
        "The creator refutes it",
    ),
    (
        Role::Correct,
        Disposition::Deferred,
        "The creator leaves it for later",
    ),
    (
        Role::Readjudicate,
        Disposition::Withdrawn,
        "Its reviewer withdraws it",
    ),
    (
        Role::Readjudicate,
        Disposition::Upheld,
        "Its reviewer upholds it",
    ),
    (
        Role::Arbitrate,
        Disposition::Sustained,
        "The arbiter sustains it",
    ),
    (
        Role::Arbitrate,
        Disposition::Overruled,
        "The arbiter overrules it",
    ),
    (
        Role::Comply,
        Disposition::Fixed,
        "The creator calls it fixed",
    ),
    (
        Role::Comply,
        Disposition::Sustained,
        "The creator does not mend it",
    ),
    (
        Role::Review,
        Disposition::Open,
        "Its reviewer calls it open",
    ),
    (
        Role::Review,
        Disposition::Fixed,
        "Its reviewer calls it fixed",
    ),
    (
        Role::Review,
        Disposition::Withdrawn,
        "Its reviewer withdraws it",
    ),
];

/// The dispute that leads to a job of this role: who was asked before it, and said what.
fn dispute(role: Role) -> &'static [usize] {
    match role {
        Role::Readjudicate => &[1],
        Role::Arbitrate => &[1, 4],
        Role::Comply => &[1, 4, 5],
        Role::Plan
        | Role::Challenge
        | Role::Refine
        | Role::Implement
        | Role::Review
        | Role::Correct => &[],
    }
}

/// The section of `F-3` behind its own text, as it should be.
fn shown(prompt: &str, words: &[(usize, String)]) -> String {
    let mark = &prompt.split("[begin … ").nth(1).unwrap()[..16];
    let mut section = format!("[end F-3 {mark}]\n");
    for (said, note) in words.iter().filter(|(_, note)| !note.trim().is_empty()) {
        let (role, _, label) = SAID[*said];
        let name = if matches!(role, Role::Correct | Role::Comply) {
            "creator"
        } else if role == Role::Arbitrate {
            "arbiter"
        } else {
            "reviewer"
        };
        let told = [
            label,
            ":\n\n[begin F-3 ",
            name,
            " ",
            mark,
            "]\n| ",
            note,
            "\n[end F-3 ",
        ];
        section.push('\n');
        section.extend(told);
        section.extend([name, " ", mark, "]\n"]);
    }
    section
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was said of a finding in earlier rounds, a job is told all of it in its order, each word
    /// as what it was; what somebody kept without a word hinders nobody from being asked.
    #[test]
    fn each_word_is_told_as_what_it_was(
        role in select(vec![Role::Correct, Role::Readjudicate, Role::Arbitrate, Role::Comply]),
        before in vec((0..SAID.len(), any::<bool>()), 0..8),
        silent in any::<[bool; 3]>(),
    ) {
        let mut said: Vec<(usize, bool)> = before;
        // Reasons of a refutation are asked for; those of others may be missing.
        let dispute = dispute(role).iter().zip(silent);
        said.extend(dispute.map(|(said, silent)| (*said, silent && *said != 1)));
        let words: Vec<(usize, String)> = said
            .into_iter()
            .enumerate()
            .map(|(nth, (said, silent))| {
                let note = if silent { " ".to_owned() } else { format!("Word {nth}.") };
                (said, note)
            })
            .collect();
        let mut work = Work::new(role);
        let notes = words.iter().map(|(said, note)| {
            let (role, disposition, _) = SAID[*said];
            word(role, disposition, note)
        });
        work.notes = BTreeMap::from([(FindingId(3), notes.collect())]);
        let prompt = work.render();
        let section = shown(&prompt, &words);
        prop_assert!(prompt.contains(&section), "{section}\nin\n{prompt}");
        // Nothing else is said of it.
        let behind = &prompt[prompt.find(&section).unwrap() + section.len()..];
        prop_assert!(behind.starts_with("\n## "), "{behind}");
    }
}

/// Whatever a reviewer may answer, the arbiter can be asked about what it upholds.
#[test]
fn who_upholds_without_a_word_does_not_stop_the_arbitration() {
    for note in [
        "",
        ", \"note\": \"\"",
        ", \"note\": \" \"",
        ", \"note\": \"No.\"",
    ] {
        let report = format!(
            "I looked.\n\n```run-loop-rulings\n{{\"version\": 1, \"nonce\": \"{NONCE}\", \"rulings\": \
             [{{\"finding\": \"F-3\", \"ruling\": \"upheld\"{note}}}]}}\n```\n"
        );
        let expect = ExpectReply {
            role: Role::Readjudicate,
            nonce: NONCE,
            findings: &[FindingId(3)],
            unruled: &BTreeSet::new(),
        };
        let reading = reply::read(report.as_bytes(), &expect);
        let Reading::Reply {
            reply: Reply::Rulings { rulings },
        } = reading
        else {
            panic!("{note}: {reading:?}");
        };
        assert_eq!(rulings[0].ruling, RulingKind::Upheld);
        let mut work = Work::new(Role::Arbitrate);
        let upheld = word(Role::Readjudicate, Disposition::Upheld, &rulings[0].note);
        work.notes.get_mut(&FindingId(3)).unwrap()[1] = upheld;
        let prompt = work.render();
        assert!(prompt.contains("| The caller checks it."), "{prompt}");
        assert_eq!(
            prompt.contains("Its reviewer upholds it:"),
            note.contains("No.")
        );
    }
}

/// Lines move while a change is worked on: who is asked about a finding finds them.
#[test]
fn where_the_lines_of_a_finding_are_now_is_told() {
    for role in [
        Role::Refine,
        Role::Correct,
        Role::Readjudicate,
        Role::Arbitrate,
        Role::Comply,
    ] {
        let mut work = Work::full(role);
        for finding in &mut work.findings {
            finding.claim.blob = Some(oid('b'));
        }
        let gone = work.render();
        assert!(
            gone.contains("| a.rs:7-9, changed since: Index 3 out of bounds"),
            "{gone}"
        );
        let place = |first, last| Place {
            path: "moved.rs".into(),
            first,
            last,
        };
        work.places = BTreeMap::from([(FindingId(3), place(10, 12)), (FindingId(4), place(8, 8))]);
        let moved = work.render();
        for text in [
            "| a.rs:7-9, now moved.rs:10-12: Index 3 out of bounds",
            "| a.rs:7, now moved.rs:8: Index 4 out of bounds",
        ] {
            assert!(moved.contains(text), "{text} in {moved}");
        }
    }
}

/// What nobody rules on is not offered to be refuted.
#[test]
fn what_nobody_rules_on_cannot_be_refuted() {
    let mut work = Work::full(Role::Correct);
    let all = work.render();
    assert!(all.contains("\"fixed\", \"refuted\" or \"deferred\""));
    assert!(!all.contains("obody rules"), "{all}");

    work.unruled = BTreeSet::from([FindingId(4)]);
    let one = work.render();
    for text in [
        "### F-3: high, blocking, raised by `reader`\n",
        "### F-4: high, raised by `reader`, nobody rules on it\n",
        "Its reviewer rules on them.\n- Nobody rules on F-4, so",
        "\"fixed\", \"refuted\" or \"deferred\"",
    ] {
        assert!(one.contains(text), "{text} in {one}");
    }

    work.unruled.insert(FindingId(3));
    let none = work.render();
    assert!(none.contains("Nobody rules on F-3, F-4, so"), "{none}");
    assert!(
        none.contains("\"action\": <\"fixed\" or \"deferred\">"),
        "{none}"
    );
    assert!(!none.contains("`refuted`"), "{none}");
}
