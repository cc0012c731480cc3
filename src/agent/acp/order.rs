//! What a client is told: its command line. The prompt comes over its standard input.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use crate::agent::arguments::{EVIDENCE, TREE};
use crate::domain::profile::Acp;

/// The first argument of a client.
pub(crate) const ARGUMENT: &str = "__acp";

const MAY_WRITE: &str = "--may-write";
const MODE: &str = "--mode";
const MODEL: &str = "--model";
const RESUME: &str = "--resume";
const DIRECTORY: &str = "--directory";
const READY_WITHIN: &str = "--ready-within";
const META: &str = "--session-meta";
const PROGRAM: &str = "--";

/// The arguments of a client that starts this program, with the placeholders of a profile in them.
pub(crate) fn arguments(
    acp: &Acp,
    may_write: bool,
    model: bool,
    continues: bool,
    program: &str,
    args: Vec<String>,
) -> Vec<String> {
    let mut all = vec![ARGUMENT.to_owned()];
    let mut say = |words: &[&str]| all.extend(words.iter().map(|word| (*word).to_owned()));
    if may_write {
        say(&[MAY_WRITE]);
    } else {
        say(&[DIRECTORY, TREE, DIRECTORY, EVIDENCE]);
    }
    let mode = if may_write {
        &acp.writer_mode
    } else {
        &acp.reader_mode
    };
    if let Some(mode) = mode {
        say(&[MODE, mode]);
    }
    if let Some(option) = acp.model_option.as_ref().filter(|_| model) {
        say(&[MODEL, option, "{model}"]);
    }
    if continues {
        say(&[RESUME, "{session}"]);
    }
    if let Some(seconds) = acp.ready_within {
        say(&[READY_WITHIN, &seconds.to_string()]);
    }
    if let Some(meta) = &acp.session_meta {
        say(&[META, &meta.to_string()]);
    }
    say(&[PROGRAM, program]);
    all.extend(args);
    all
}

/// What a client is to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    /// Whether the agent may do what it asks for.
    pub(super) may_write: bool,
    /// The mode that its session gets.
    pub(super) mode: Option<String>,
    /// The option that chooses the model, and the model.
    pub(super) model: Option<(String, String)>,
    /// The session that goes on.
    pub(super) resume: Option<String>,
    /// Folders that it reads in besides its own.
    pub(super) directories: Vec<PathBuf>,
    /// Seconds in which it must be ready for its prompt.
    pub(super) ready_within: Option<u64>,
    /// What is said of its session beside the protocol.
    pub(super) meta: Option<Value>,
    /// The agent's program.
    pub(super) program: PathBuf,
    /// Its arguments.
    pub(super) args: Vec<OsString>,
}

impl Order {
    /// Reads a command line, the program's own name and [`ARGUMENT`] left out.
    pub(super) fn parse(argv: &[OsString]) -> Option<Self> {
        let mut order = Self::default();
        let mut words = argv.iter();
        let text = |word: Option<&OsString>| Some(word?.to_str()?.to_owned());
        loop {
            match words.next()?.to_str()? {
                MAY_WRITE => order.may_write = true,
                MODE => order.mode = Some(text(words.next())?),
                MODEL => order.model = Some((text(words.next())?, text(words.next())?)),
                RESUME => order.resume = Some(text(words.next())?),
                DIRECTORY => order.directories.push(words.next()?.into()),
                READY_WITHIN => order.ready_within = Some(text(words.next())?.parse().ok()?),
                META => order.meta = Some(serde_json::from_str(words.next()?.to_str()?).ok()?),
                PROGRAM => break,
                _ => return None,
            }
        }
        order.program = words.next()?.into();
        order.args = words.cloned().collect();
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ordered_is_read() {
        let acp = Acp {
            reader_mode: Some("ask".to_owned()),
            writer_mode: None,
            model_option: Some("model".to_owned()),
            forgets: false,
            gives_up_with: None,
            ready_within: Some(7),
            session_meta: Some(serde_json::json!({"own": {"tells": [true]}})),
        };
        let ordered = |may_write, model, continues| {
            let args = vec!["--acp".to_owned(), "--".to_owned()];
            let words = arguments(&acp, may_write, model, continues, "/bin/agent", args);
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            assert_eq!(words[0], ARGUMENT);
            Order::parse(&words[1..]).unwrap()
        };
        let reader = ordered(false, true, true);
        assert_eq!(
            reader,
            Order {
                may_write: false,
                mode: Some("ask".to_owned()),
                model: Some(("model".to_owned(), "{model}".to_owned())),
                resume: Some("{session}".to_owned()),
                directories: vec![TREE.into(), EVIDENCE.into()],
                ready_within: Some(7),
                meta: Some(serde_json::json!({"own": {"tells": [true]}})),
                program: "/bin/agent".into(),
                args: vec!["--acp".into(), "--".into()],
            }
        );
        let writer = ordered(true, false, false);
        assert!(writer.may_write && writer.directories.is_empty());
        assert_eq!(
            (writer.mode, writer.model, writer.resume),
            (None, None, None)
        );
        for wrong in [
            &["--may-write"][..],
            &["--"],
            &["--mode"],
            &["--ready-within", "soon", "--", "a"],
            &["--session-meta", "{", "--", "a"],
            &["x", "--", "a"],
        ] {
            let words: Vec<OsString> = wrong.iter().map(OsString::from).collect();
            assert_eq!(Order::parse(&words), None, "{wrong:?}");
        }
    }
}
