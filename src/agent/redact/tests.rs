use super::*;
use crate::domain::profile::Stream;
use crate::process::capture::Capture;

const VALUE: &str = "sk-0123456789";

/// What stands at these places of a text.
pub(super) fn at(text: &str, places: Vec<Range<usize>>) -> Vec<&str> {
    places.into_iter().map(|place| &text[place]).collect()
}

fn secrets() -> Secrets {
    let ours: Variables = [("A_KEY".into(), VALUE.into())].into();
    Secrets::named(&["A_KEY".to_owned()], &ours)
}

/// Takes secrets out of the file of an output that nothing is told beside.
fn clean(stream: Stream, mut file: CapturedFile) -> CapturedFile {
    let beside = file.path.with_extension("beside");
    let mut beside = CapturedFile::nothing(&beside);
    let shows = secrets().taken_out_of_output(stream, &mut file, &mut beside);
    assert_eq!(shows, Ok(()));
    file
}

/// An empty file as a guard opens it.
fn file(path: &std::path::Path) -> fs_err::File {
    let mut options = fs_err::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    options.open(path).unwrap()
}

/// Of a value that was cut nothing is left that tells something of it, wherever it was cut.
#[test]
fn half_a_value_goes_too() {
    let secrets = secrets();
    for at in 0..=VALUE.len() {
        let (head, tail) = VALUE.split_at(at);
        for clean in [
            secrets.taken_out_of_part(format!("key {head}").into(), false, true),
            secrets.taken_out(format!("key {head}… and more").into()),
            secrets.taken_out_of_part(format!("{tail} key").into(), true, false),
        ] {
            let clean = String::from_utf8(clean).unwrap();
            for piece in (0..VALUE.len() - PIECE).map(|from| &VALUE[from..from + PIECE]) {
                assert!(!clean.contains(piece), "{at}: {clean}");
            }
            assert!(clean.contains("key"), "{at}: {clean}");
        }
    }
    // What is whole is not cut.
    for text in ["ends with sk-01", "6789 begins it", "sk-0", ""] {
        assert_eq!(secrets.taken_out(text.into()), text.as_bytes());
    }
}

/// The file of an output that was too long has half of a value on each side of the mark, at most.
#[tokio::test]
async fn no_half_of_a_value_is_left_beside_the_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for before in 0..=60 {
        let mut capture = Capture::new(file(&path), 40);
        let text = format!("{}{VALUE}{}", "x".repeat(before), "y".repeat(60 - before));
        capture.drain(text.as_bytes()).await;
        let captured = capture.finish();
        assert!(captured.bytes_cut > 0);
        let open = || fs_err::File::open(&path).map(Some);
        let file = CapturedFile::read(&path, &captured, open, 0);
        clean(Stream::Text, file);
        let left = fs_err::read_to_string(&path).unwrap();
        assert!(left.contains("bytes cut]"), "{left}");
        for piece in (0..VALUE.len() - PIECE).map(|from| &VALUE[from..from + PIECE]) {
            assert!(!left.contains(piece), "{before}: {left}");
        }
    }
}

/// The end that is kept for messages begins in the middle of whatever was printed.
#[tokio::test]
async fn the_end_of_an_output_begins_with_no_half_of_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for after in 4096 - VALUE.len()..=4096 {
        let mut capture = Capture::new(file(&path), 1 << 20);
        let text = format!("{}{VALUE}{}", "x".repeat(100), "y".repeat(after));
        capture.drain(text.as_bytes()).await;
        let captured = capture.finish();
        let open = || fs_err::File::open(&path).map(Some);
        let file = CapturedFile::read(&path, &captured, open, 0);
        assert_eq!(file.last.len(), 4096);
        let shown = secrets().shown_end(&file);
        for piece in (0..VALUE.len() - PIECE).map(|from| &VALUE[from..from + PIECE]) {
            assert!(!shown.contains(piece), "{after}: {}", &shown[..40]);
        }
    }
}

#[test]
fn every_value_goes_and_nothing_else() {
    let ours: Variables = [
        ("A_KEY", "sk-0123456789"),
        ("LONGER", "sk-0123456789-and-more"),
        ("SHORT", "abc"),
        ("OTHER", "not-named-at-all"),
    ]
    .into_iter()
    .map(|(name, value)| (name.into(), value.into()))
    .collect();
    let names = ["A_KEY", "LONGER", "SHORT", "UNSET"].map(str::to_owned);
    let secrets = Secrets::named(&names, &ours);
    assert_eq!(
        secrets.taken_out_of_text(
            "abc sk-0123456789-and-more, sk-0123456789sk-0123456789 not-named-at-all"
        ),
        "abc [redacted], [redacted][redacted] not-named-at-all"
    );
    assert_eq!(secrets.taken_out(b"nothing".to_vec()), b"nothing");
}

/// What gemini prints when it says this in pieces of so many bytes.
fn in_pieces(text: &str, length: usize) -> String {
    let pieces = text.as_bytes().chunks(length).map(String::from_utf8_lossy);
    let line = |piece| {
        let line = serde_json::json!({"type": "message", "role": "assistant", "content": piece});
        format!("{line}\n")
    };
    pieces.map(line).collect()
}

/// What is left of it: as it stands there, and what its whole lines say one after the other.
fn said(left: &str) -> [String; 2] {
    let texts = left.lines().map(|line| {
        let line = serde_json::from_str::<serde_json::Value>(line);
        let text = line.map(|line| line["content"].as_str().unwrap_or_default().to_owned());
        text.unwrap_or_else(|_| "|".to_owned())
    });
    [left.to_owned(), texts.collect()]
}

/// Wherever an output is cut that says a value in pieces, none is left that tells something of it, and all
/// that the value is not.
#[tokio::test]
async fn no_half_of_a_value_in_pieces_is_left_beside_the_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for length in [1, 3, 5, 9, 40] {
        let printed = in_pieces(&format!("It is {VALUE}, {VALUE}. It was {VALUE}."), length);
        let step = 1 + printed.len() / 150;
        for cap in (150..printed.len() - 60).step_by(step) {
            let mut capture = Capture::new(file(&path), cap);
            capture.drain(printed.as_bytes()).await;
            let captured = capture.finish();
            let open = || fs_err::File::open(&path).map(Some);
            clean(
                Stream::Gemini,
                CapturedFile::read(&path, &captured, open, 0),
            );
            let left = fs_err::read_to_string(&path).unwrap();
            let lines = left.split_inclusive('\n');
            let (mark, left): (String, String) = lines.partition(|line| line.starts_with("[run-"));
            assert!(mark.ends_with("bytes cut]\n"), "{left}");
            for left in said(&left) {
                for piece in (0..VALUE.len() - PIECE).map(|from| &VALUE[from..from + PIECE]) {
                    assert!(!left.contains(piece), "{length} {cap}: {left}");
                }
            }
        }
    }
}

/// An output that is whole, in a form that others write.
fn left_of(stream: Stream, printed: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs_err::write(&path, printed).unwrap();
    clean(stream, CapturedFile::nothing(&path));
    String::from_utf8_lossy(&fs_err::read(&path).unwrap()).into_owned()
}

/// A piece with half a pair of surrogates, or with what is no UTF-8, is read, and so it is looked at.
#[test]
fn a_value_in_pieces_goes_also_where_a_part_cannot_be_read() {
    let printed = in_pieces(VALUE, 5);
    for damage in [&b"\\ud83d"[..], b"\xff"] {
        // Behind the first quote of the last text.
        let at = position(printed.as_bytes(), b"\"789\"").unwrap() + 4;
        let mut damaged = printed.clone().into_bytes();
        drop(damaged.splice(at..at, damage.iter().copied()));
        let [left, said] = said(&left_of(Stream::Gemini, &damaged));
        assert!(!left.contains("sk-0") && !said.contains("0123"), "{left}");
    }
}

/// copilot says its messages in pieces, and what it calls tools with.
#[test]
fn a_value_in_the_pieces_of_copilot_goes() {
    for (kind, of, place) in [
        ("message_delta", "messageId", "deltaContent"),
        ("tool_call_delta", "toolCallId", "inputDelta"),
    ] {
        let line = |text: &str| {
            format!(
                "{{\"type\":\"assistant.{kind}\",\"data\":{{\"{of}\":\"a\",\"{place}\":\"{text}\"}}}}\n"
            )
        };
        let (first, rest) = VALUE.split_at(5);
        let left = left_of(Stream::Copilot, (line(first) + &line(rest)).as_bytes());
        assert!(!left.contains(first) && !left.contains(rest), "{left}");
    }
}

/// The value as others write it down, and what only an address says.
#[test]
fn a_value_goes_in_whatever_form() {
    let value = "a\"key/of mine";
    let ours: Variables = [("A_KEY".into(), value.into())].into();
    let secrets = Secrets::named(&["A_KEY".to_owned()], &ours);
    for text in [
        value,
        r#"a\"key/of mine"#,
        r#"a\"key\/of mine"#,
        r#"a\\\"key/of mine"#,
        "a%22key%2Fof%20mine",
        "a%22key%2fof+mine",
    ] {
        let clean = secrets.taken_out_of_text(&format!("<{text}>"));
        assert_eq!(clean, "<[redacted]>", "{text}");
    }
    let clean = secrets.taken_out_of_text("git push https://bot:tok-1234@host/x.git");
    assert_eq!(clean, "git push https://[redacted]@host/x.git");
    let half = secrets.taken_out_of_part(b"at https://bot:tok-12".to_vec(), false, true);
    assert_eq!(half, b"at https://[redacted]");
    // Of two values that overlap nothing is left.
    let names = ["ONE_KEY", "TWO_KEY"].map(str::to_owned);
    let ours: Variables = [("ONE_KEY", "abcd1234"), ("TWO_KEY", "1234efgh")]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let secrets = Secrets::named(&names, &ours);
    assert_eq!(secrets.taken_out_of_text("<abcd1234efgh>"), "<[redacted]>");
}

/// A file that cannot be read might show a value: it goes, and what stands there tells so. One that cannot
/// be removed is told of.
#[test]
fn a_file_that_cannot_be_read_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("out"), folder.path().join("err"));
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let file = clean(Stream::Text, CapturedFile::nothing(&path));
    let told = fs_err::read_to_string(&path).unwrap();
    assert!(told.contains("it was removed"), "{told}");
    assert!(file.broken.unwrap().contains("it was removed"));
    // What it leads to is somebody else's.
    fs_err::write(&beside, VALUE).unwrap();
    fs_err::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&beside, &path).unwrap();
    clean(Stream::Text, CapturedFile::nothing(&path));
    assert_eq!(fs_err::read_to_string(&beside).unwrap(), VALUE);
    fs_err::remove_file(&path).unwrap();
    fs_err::create_dir(&path).unwrap();
    let mut out = CapturedFile::nothing(&path);
    let mut err = CapturedFile::nothing(&beside);
    let shows = secrets().taken_out_of_output(Stream::Text, &mut out, &mut err);
    assert!(shows.unwrap_err().contains("may show keys"));
    // The other one is cleaned all the same.
    assert_eq!(fs_err::read(&beside).unwrap(), MARK);
}

/// A token that nobody named goes from what is shown, and what looks a little like one stays.
#[test]
fn a_token_of_nobody_goes_by_its_shape() {
    let token = format!("{}{}", "ghp_", "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R");
    let secrets = Secrets::default();
    let clean = secrets.taken_out_of_text(&format!("found {token} in src/a.rs, and task-1"));
    assert_eq!(clean, "found [redacted] in src/a.rs, and task-1");
    let cut = secrets.taken_out_of_text(&format!("found {}…", &token[..20]));
    assert_eq!(cut, "found [redacted]…");
    let left = left_of(Stream::Text, format!("a\n{token}\nb\n").as_bytes());
    assert_eq!(left, "a\n[redacted]\nb\n");
}

/// A key of several lines goes however others write its lines.
#[test]
fn the_lines_of_a_value_go_one_by_one() {
    let value =
        "-----BEGIN KEY-----\n0a1b2c3d4e5f6g7h8i9j\nz9y8x7w6v5u4t3s2r1q0\n-----END KEY-----";
    let ours: Variables = [("A_KEY".into(), value.into())].into();
    let secrets = Secrets::named(&["A_KEY".to_owned()], &ours);
    assert_eq!(secrets.taken_out_of_text(value), "[redacted]");
    let quoted = value.replace('\n', "\r\n  > ");
    let clean = secrets.taken_out_of_text(&quoted);
    assert!(
        !clean.contains("0a1b2c") && !clean.contains("z9y8x7"),
        "{clean}"
    );
}
