//! Unit and property tests of the line rules.

use proptest::prelude::*;

use super::*;
use crate::domain::severity::Severity;

/// Findings of a file in one piece: rule, first line.
fn found(path: &str, text: &[u8], changed: Changed) -> Vec<(String, u32)> {
    in_pieces(path, &[text], changed)
}

fn in_pieces(path: &str, pieces: &[&[u8]], changed: Changed) -> Vec<(String, u32)> {
    let mut findings = Findings::new(&[]);
    let mut file = FileScan::new(RepoPath::from(path), changed);
    for (index, piece) in pieces.iter().enumerate() {
        file.piece(piece, index + 1 == pieces.len(), &mut findings);
    }
    let claims = findings.claims().into_iter();
    claims
        .map(|claim| {
            let rule = claim.title.split(':').next().unwrap().to_owned();
            (rule, claim.line.unwrap_or(0))
        })
        .collect()
}

fn rules(text: &str) -> Vec<String> {
    let found = found("a.rs", text.as_bytes(), Changed::All);
    found.into_iter().map(|(rule, _)| rule).collect()
}

fn conflict(separator: &str) -> String {
    let (open, close) = ("<".repeat(7), ">".repeat(7));
    format!("a\n{open} HEAD\nours\n{separator}\ntheirs\n{close} feature\nb\n")
}

#[test]
fn a_conflict_needs_both_markers() {
    for separator in [
        "=======",
        "||||||| base\nold\n=======",
        "%%%%%%% diff\n+++++++ x",
    ] {
        let text = conflict(separator);
        assert_eq!(rules(&text), ["conflict-marker"], "{separator}");
        assert_eq!(rules(&text.replace('\n', "\r\n")), ["conflict-marker"]);
    }
    let heading = "Title\n=======\n\ntext\n>>>>>>>>>>\n";
    assert_eq!(found("a.rst", heading.as_bytes(), Changed::All), []);
    assert_eq!(rules(">>> doctest\n>>>>>>>quoted mail\n"), [] as [&str; 0]);
}

#[test]
fn a_conflict_counts_anywhere_in_a_changed_file() {
    let untouched = Changed::Ranges(vec![(1, 1)]);
    let text = conflict("=======");
    let expected = [("conflict-marker".to_owned(), 2)];
    assert_eq!(found("a.md", text.as_bytes(), untouched), expected);
}

#[test]
fn half_a_conflict_counts_in_a_changed_line_with_a_label() {
    let text = format!("{} HEAD\nours\n", "<".repeat(7));
    assert_eq!(rules(&text), ["half-conflict-marker"]);
    assert_eq!(
        rules(&format!("{} feature\n", ">".repeat(7))),
        ["half-conflict-marker"]
    );
    assert_eq!(rules(&format!("{}\n", ">".repeat(7))), [] as [&str; 0]);
    let untouched = Changed::Ranges(vec![(2, 2)]);
    assert_eq!(found("a", text.as_bytes(), untouched), []);
}

#[test]
fn bidi_and_hidden_text_block() {
    assert_eq!(rules("let a = \"\u{202e}b\";\n"), ["bidi-control"]);
    assert_eq!(rules("x\u{2066}y\u{2069}\n"), ["bidi-control"]);
    assert_eq!(rules("ok\u{e0048}\u{e0049}\n"), ["hidden-text"]);
    assert_eq!(
        rules("\u{1f600}\u{fe01}\u{fe02}\u{fe03}\n"),
        ["hidden-text"]
    );
    assert_eq!(rules("a\u{e0101}\n"), ["hidden-text"]);
    for rule in [rule::BIDI, rule::HIDDEN_TEXT] {
        assert!(rule.blocking && rule.severity == Severity::High);
    }
}

#[test]
fn invisible_characters_count_where_no_script_needs_them() {
    assert_eq!(rules("ad\u{200b}min\n"), ["invisible-character"]);
    assert_eq!(rules("a\u{feff}b\n"), ["invisible-character"]);
    assert_eq!(rules("if\u{3164}(x)\n"), ["invisible-character"]);
    assert_eq!(rules("\u{feff}text\n"), ["byte-order-mark"]);
    for fine in [
        "family \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\n",
        "می\u{200c}خواهم\n",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England\n",
        "1\u{fe0f}\u{20e3} keycap \u{2764}\u{fe0f}\n",
        "Grüße, 你好, שלום\n",
    ] {
        assert_eq!(rules(fine), [] as [&str; 0], "{fine}");
    }
}

#[test]
fn control_characters_and_nul_are_named() {
    assert_eq!(rules("\u{1b}[2Jgone\n"), ["control-character"]);
    assert_eq!(rules("shown\rhidden\n"), ["control-character"]);
    assert_eq!(rules("page\n\u{c}\nnext\n"), [] as [&str; 0]);
    assert_eq!(rules("a\0b\n"), ["nul-in-text"]);
    assert_eq!(found("a.png", b"\x89PNG\0\0", Changed::All), []);
    let utf16 = found("a.txt", b"\xff\xfea\0", Changed::All);
    assert_eq!(utf16, [("byte-order-mark".to_owned(), 0)]);
    let mut late = "x\n".repeat(5000).into_bytes();
    late.extend_from_slice(b"a\0b\n");
    assert_eq!(
        found("blob", &late, Changed::All),
        [("nul-in-text".to_owned(), 5001)]
    );
}

/// Scenario C11: what stood there before is not this change's.
#[test]
fn lines_that_did_not_change_are_left_alone() {
    let text = "a \nb\u{202e}\nc\u{200b}\n".as_bytes();
    assert_eq!(found("a", text, Changed::Ranges(vec![])), []);
    let second = found("a", text, Changed::Ranges(vec![(2, 2)]));
    assert_eq!(second, [("bidi-control".to_owned(), 2)]);
}

#[test]
fn a_line_in_pieces_keeps_its_number() {
    let pieces: [&[u8]; 3] = [b"one\ntw", "o\u{202e}".as_bytes(), b"\nthree \n"];
    let expected = [("bidi-control".to_owned(), 2), ("whitespace".to_owned(), 3)];
    assert_eq!(in_pieces("a", &pieces, Changed::All), expected);
}

proptest! {
    #[test]
    fn nothing_panics_on_any_bytes(
        text in prop::collection::vec(any::<u8>(), 0..2000),
        first in 0..20_u32,
    ) {
        found("a.rs", &text, Changed::All);
        found("a", &text, Changed::Ranges(vec![(first, first + 3)]));
    }

    #[test]
    fn a_bidi_control_in_a_changed_line_is_found(
        before in "[ -~]{0,40}", after in "[ -~é]{0,40}", lines in 0..30_u32,
    ) {
        let mut text = "x\n".repeat(lines as usize);
        text = format!("{text}{before}\u{202e}{after}\n");
        let found = found("a", text.as_bytes(), Changed::Ranges(vec![(lines + 1, lines + 1)]));
        prop_assert!(found.contains(&("bidi-control".to_owned(), lines + 1)));
    }

    #[test]
    fn a_conflict_is_found_wherever_it_begins(lines in 0..50_usize, crlf in any::<bool>()) {
        let mut text = "x\n".repeat(lines) + &conflict("=======");
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let line = u32::try_from(lines + 2).unwrap();
        let found = found("a", text.as_bytes(), Changed::Ranges(vec![]));
        prop_assert_eq!(found, [("conflict-marker".to_owned(), line)]);
    }
}
