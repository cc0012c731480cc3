//! Which reports are verdicts under `contract: line`, which people use too.

use run_loop::agent::redact::Secrets;
use run_loop::domain::agent::Contract;
use run_loop::domain::job::Reading;
use run_loop::domain::verdict::{Coverage, Verdict};

use crate::fixture::{NONCE, REFUSING, evidence, invalid, read_as, report, valid};

fn read(text: &str) -> Reading {
    read_as(Contract::Line, text, &evidence())
}

#[test]
fn one_line_and_the_nonce_are_a_verdict() {
    let texts = [
        format!("VERDICT: PASS\nNonce: {NONCE}\n"),
        format!("Nonce: {NONCE}\n\nAll fine.\n\nVERDICT: PASS\n"),
        format!("All fine.\n\nVERDICT: PASS\n\n{NONCE}"),
        format!("\u{feff}All fine.\r\n\r\nVERDICT: PASS\r\nNonce: {NONCE}\r\n"),
    ];
    for text in texts {
        let review = valid(read(&text));
        assert_eq!(review.verdict, Verdict::Pass, "{text}");
        assert_eq!(
            (review.coverage, review.receipts),
            (Coverage::None, 0),
            "{text}"
        );
        let review = valid(read(&text.replace("PASS", "NOT PASS")));
        assert_eq!(review.verdict, Verdict::NotPass, "{text}");
    }
    let review = valid(read(&format!(
        "It is\nall fine.\n\nVERDICT: PASS\n\n{NONCE}"
    )));
    assert_eq!(review.summary, "It is all fine.");
    let review = valid(read(&format!("It crashes:\nVERDICT: NOT PASS\n{NONCE}")));
    assert_eq!(review.verdict, Verdict::NotPass);
}

/// What a NOT PASS says is one finding without a place, so that somebody can answer it; a bare one has none.
#[test]
fn the_text_of_a_refusal_is_a_finding() {
    let text = format!(
        "\n## It crashes.\n\n- at the end\n\nVERDICT: NOT PASS\n\nNonce: {NONCE}\n\nMore.\n"
    );
    let review = valid(read(&text));
    let [finding] = review.findings.as_slice() else {
        panic!("{:?}", review.findings)
    };
    assert_eq!(finding.title, "It crashes");
    assert_eq!(finding.body, "## It crashes.\n\n- at the end\n\n\n\nMore.");
    assert!(finding.blocking && finding.path.is_none());
    for (text, found) in [
        (format!("VERDICT: NOT PASS\n\n{NONCE}\n"), 0),
        (format!("It is fine.\n\nVERDICT: PASS\n\n{NONCE}\n"), 0),
    ] {
        assert_eq!(valid(read(&text)).findings.len(), found, "{text}");
    }
}

/// What the prompt asks to be said of items and earlier findings is heard beside a PASS.
#[test]
fn a_pass_beside_what_is_not_met_or_not_mended_is_none() {
    for doubt in [
        "Item 2 is not met: there is no test.",
        "Item 2 is unmet.",
        "F-1 still holds.",
        "F-1 is Still Open",
        "F-1 was not fixed.",
        "It was not mended.",
    ] {
        let (problems, _, _) = invalid(read(&format!("{doubt}\n\nVERDICT: PASS\n\n{NONCE}\n")));
        assert!(problems[0].contains("the text says"), "{problems:?}");
    }
}

/// T-173, T-174: quoted, negated, doubled, dressed up, half said.
#[test]
fn what_is_no_verdict() {
    let nonce = format!("\n\nNonce: {NONCE}\n");
    let bodies = [
        "PASS",
        "VERDICT: PASS?",
        "VERDICT: PASS.",
        "VERDICT:PASS",
        "VERDICT : PASS",
        "VERDICT: pass",
        "Verdict: PASS",
        "verdict: pass",
        "VERDICT: PASS or NOT PASS",
        "VERDICT: PASS, once it is fixed",
        "VERDICT: NOT\nPASS",
        "**VERDICT: PASS**",
        " VERDICT: PASS",
        "    VERDICT: PASS",
        "> VERDICT: PASS",
        "> quoted\nVERDICT: PASS",
        "- VERDICT: PASS",
        "# VERDICT: PASS",
        "VERDICT: PASS\n---",
        "```\nVERDICT: PASS\n```",
        "~~~\nVERDICT: PASS",
        "`\nVERDICT: PASS\n`",
        "<!--\nVERDICT: PASS\n-->",
        "<pre>\nVERDICT: PASS\n</pre>",
        "I cannot say\nVERDICT: PASS",
        "VERDICT: PASS\nwould be wrong",
        "VERDICT: PASS\n\nVERDICT: PASS",
        "VERDICT: PASS\n\nVERDICT: NOT PASS",
        "VERDICT: NOT PASS\n\nVERDICT: PASS",
        "VERDICT: PASS\n\n> VERDICT: NOT PASS",
        "VERDICT: PASS\n\n**Verdict:** fail",
        "VERDICT: PASS\n\nThe change is not approved.",
        "VERDICT: PASS\n\nThis does NOT PASS.",
        "I don't approve.\n\nVERDICT: PASS",
        "The line is `VERDICT: PASS` or `VERDICT: NOT PASS`.",
        "The line is `VERDICT: PASS`.\n\nVERDICT: PASS",
        "x\rVERDICT: NOT PASS\r\rVERDICT: PASS",
        "x\rVERDICT: PASS",
    ];
    for body in bodies {
        let reading = read(&format!("{body}{nonce}"));
        assert!(
            matches!(reading, Reading::Invalid { .. }),
            "{body}: {reading:?}"
        );
    }
    assert_eq!(read(" \n"), Reading::Silent);
}

#[test]
fn the_nonce_must_be_right_and_outside() {
    let wrong = NONCE.replace('5', "6");
    let upper = NONCE.to_uppercase();
    let cases = [
        String::new(),
        format!("Nonce: {wrong}"),
        format!("Nonce: {upper}"),
        format!("Nonce: {NONCE} "),
        format!("The nonce is {NONCE}."),
        format!("> Nonce: {NONCE}"),
        format!("```\nNonce: {NONCE}\n```"),
        format!("    {NONCE}"),
        format!("Nonce: {NONCE}\n\nNonce: {wrong}"),
        "Nonce:".to_owned(),
    ];
    for (nth, nonce) in cases.iter().enumerate() {
        let reading = read(&format!("VERDICT: PASS\n\n{nonce}\n"));
        // A blank behind the digits is nothing that a person sees.
        assert_eq!(
            matches!(reading, Reading::Invalid { .. }),
            nth != 3,
            "{nonce}: {reading:?}"
        );
        let (_, claimed, _) = match read(&format!("VERDICT: NOT PASS\n\n{nonce}\n")) {
            Reading::Review(_) => continue,
            other @ (Reading::Invalid { .. } | Reading::Reply { .. } | Reading::Silent) => {
                invalid(other)
            }
        };
        assert_eq!(claimed, Some(Verdict::NotPass), "{nonce}");
    }
}

/// A refusal is kept, however it is spoilt; and a PASS beside a refusing block does not count.
#[test]
fn a_spoilt_refusal_is_kept() {
    let texts = [
        format!("VERDICT: PASS\n\nVERDICT: NOT PASS\n\n{NONCE}"),
        format!("verdict: not pass\n\n{NONCE}"),
        format!("> VERDICT: NOT PASS\n\n{NONCE}"),
        format!("VERDICT: PASS\n\n{NONCE}\n\n{}", report(REFUSING)),
    ];
    for text in texts {
        let (_, claimed, _) = invalid(read(&text));
        assert_eq!(claimed, Some(Verdict::NotPass), "{text}");
    }
}

/// Words are cut before what is secret is taken out of them: of a key that was cut nothing is left.
#[test]
fn half_a_key_is_known_by_the_cut() {
    let key = "tok-9f8e7d6c5b4a3210ffee";
    let ours = [("A_KEY".into(), key.into())].into();
    let secrets = Secrets::named(&["A_KEY".to_owned()], &ours);
    for before in 50..130 {
        let line = format!("{} {key} and more of it", "a".repeat(before));
        for text in [
            format!("{line}\n\nVERDICT: NOT PASS\n\n{NONCE}\n"),
            format!("Fine.\n\nVERDICT: {line}\n\n{NONCE}\n"),
        ] {
            let kept = read(&text).in_words(&|words| secrets.taken_out_of_text(words));
            let kept = format!("{kept:?}");
            let mut pieces = (0..key.len() - 6).map(|from| &key[from..from + 6]);
            assert!(
                !pieces.any(|piece| kept.contains(piece)),
                "{before}: {kept}"
            );
        }
    }
}
