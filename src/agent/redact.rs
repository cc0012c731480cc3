//! Taking secrets out of what agents hand over and tell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::agent::dispatched::shown;
use crate::agent::environment::Variables;
use crate::domain::agent::{Agent, AgentKind};
use crate::process::captured::CapturedFile;

mod pieces;

/// What stands where a secret stood.
const MARK: &[u8] = b"[redacted]";

/// Values shorter than this are no keys, and would take ordinary words out of texts.
const SHORTEST: usize = 8;

/// Pieces of a value shorter than this tell nothing of it.
const PIECE: usize = 4;

/// What stands where a text was cut.
const CUT: &[u8] = "…".as_bytes();

/// The values that may not be shown.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// The values that these agents are given, and nobody else.
    #[must_use]
    pub fn of<'a>(agents: impl IntoIterator<Item = &'a Agent>, ours: &Variables) -> Self {
        Self::named(agents.into_iter().flat_map(given), ours)
    }

    /// The values of these variables, where they are set.
    #[must_use]
    pub fn named<'a>(names: impl IntoIterator<Item = &'a String>, ours: &Variables) -> Self {
        let mut values: Vec<Vec<u8>> = names
            .into_iter()
            .filter_map(|name| ours.get(OsStr::new(name)))
            .map(|value| value.as_bytes().trim_ascii().to_vec())
            .filter(|value| value.len() >= SHORTEST)
            .collect();
        // The longest first: one may hold another.
        values.sort_by(|one, two| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
        values.dedup();
        Self { values }
    }

    /// The bytes without the values, and without what is left of one where somebody cut a text within it
    /// and put `…` there.
    #[must_use]
    pub fn taken_out(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = bytes;
        for value in &self.values {
            let finder = |rest: &[u8]| position(rest, value);
            let Some(first) = finder(&bytes) else {
                continue;
            };
            let mut clean = bytes[..first].to_vec();
            let mut rest = &bytes[first..];
            while let Some(at) = finder(rest) {
                clean.extend_from_slice(&rest[..at]);
                clean.extend_from_slice(MARK);
                rest = &rest[at + value.len()..];
            }
            clean.extend_from_slice(rest);
            bytes = clean;
        }
        if self.values.is_empty() || position(&bytes, CUT).is_none() {
            return bytes;
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut rest = &bytes[..];
        while let Some(at) = position(rest, CUT) {
            clean.extend_from_slice(&rest[..at]);
            self.take_begun(&mut clean);
            clean.extend_from_slice(CUT);
            rest = &rest[at + CUT.len()..];
        }
        clean.extend_from_slice(rest);
        clean
    }

    /// The same of a part of what somebody printed: where it begins or ends it may do so within a value.
    pub(crate) fn taken_out_of_part(&self, bytes: Vec<u8>, begins: bool, ends: bool) -> Vec<u8> {
        let mut bytes = self.taken_out(bytes);
        if begins {
            let left = |value: &Vec<u8>| {
                let mut pieces = (1..=value.len() - PIECE).map(|from| &value[from..]);
                pieces
                    .find(|piece| bytes.starts_with(piece))
                    .map(<[u8]>::len)
            };
            if let Some(left) = self.values.iter().filter_map(left).max() {
                drop(bytes.splice(..left, MARK.iter().copied()));
            }
        }
        if ends {
            self.take_begun(&mut bytes);
        }
        bytes
    }

    /// Takes what a value begins with from the end of a text.
    fn take_begun(&self, text: &mut Vec<u8>) {
        let begun = |value: &Vec<u8>| {
            let mut pieces = (PIECE..value.len()).rev().map(|to| &value[..to]);
            pieces.find(|piece| text.ends_with(piece)).map(<[u8]>::len)
        };
        if let Some(begun) = self.values.iter().filter_map(begun).max() {
            text.truncate(text.len() - begun);
            text.extend_from_slice(MARK);
        }
    }

    /// Takes the values out of what a job printed. A file that holds none stays as it is, since its guard
    /// vouches for its bytes.
    pub(crate) fn taken_out_of_files(&self, files: &[&CapturedFile]) {
        if self.values.is_empty() {
            return;
        }
        for file in files {
            let path = &file.path;
            let Ok(bytes) = fs_err::read(path) else {
                continue;
            };
            let part = |part: &[u8], begins, ends| {
                let ends = ends || file.broken.is_some();
                self.taken_out_of_part(part.to_vec(), begins, ends)
            };
            let clean = match file.mark(bytes.len()) {
                Some(mark) => [
                    part(&bytes[..mark.start], false, true),
                    bytes[mark.clone()].to_vec(),
                    part(&bytes[mark.end..], true, false),
                ]
                .concat(),
                None => part(&bytes, false, false),
            };
            if clean != bytes && fs_err::write(path, clean).is_err() {
                // Better no file than one that shows a key.
                drop(fs_err::remove_file(path));
            }
        }
    }

    /// The last of what a job printed, as it may be shown.
    pub(crate) fn shown_end(&self, file: &CapturedFile) -> String {
        let is_cut = file.bytes_total > file.last.len() as u64;
        let end = self.taken_out_of_part(file.last.clone(), is_cut, false);
        // Again: a control character within a value hides it no more.
        self.taken_out_of_text(&shown(&end))
    }

    /// The text without the values.
    #[must_use]
    pub fn taken_out_of_text(&self, text: &str) -> String {
        let bytes = self.taken_out(text.as_bytes().to_vec());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The variables whose values an agent is given and nobody else.
fn given(agent: &Agent) -> impl Iterator<Item = &String> {
    let (keys, named) = match &agent.kind {
        AgentKind::Command(program) => (&[][..], &program.env[..]),
        AgentKind::Profile(program) => (&program.profile.keys[..], &program.env[..]),
        AgentKind::Checks | AgentKind::Human => (&[][..], &[][..]),
    };
    keys.iter().chain(named)
}

fn position(bytes: &[u8], of: &[u8]) -> Option<usize> {
    let first = of.first()?;
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| byte == first)?;
        if bytes[at..].starts_with(of) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::capture::Capture;

    const VALUE: &str = "sk-0123456789";

    fn secrets() -> Secrets {
        let ours: Variables = [("A_KEY".into(), VALUE.into())].into();
        Secrets::named(&["A_KEY".to_owned()], &ours)
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
            secrets().taken_out_of_files(&[&file]);
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
}
