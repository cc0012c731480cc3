//! YAML as a tree that remembers where each node stands. The only file that knows the YAML crate.
//!
//! # Invariants
//! A mapping has no key twice; keys are text; there are no tags; one document per file.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

/// Files larger than this are refused unread.
pub const SIZE_CAP: usize = 256 * 1024;

/// A node's number in the order of reading; its line is looked up only when it is asked for.
pub type Mark = u32;

/// A node of a configuration file.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Which source it came from.
    pub source: usize,
    /// Where in the source.
    pub mark: Mark,
    /// What it is.
    pub value: Value,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, or nothing.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number with a fraction.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in its order. The node of an entry stands where its key stands.
    Map(Vec<(String, Node)>),
}

impl Value {
    /// What was found, for messages.
    #[must_use]
    pub fn found(&self) -> String {
        match self {
            Self::Null => "empty".to_owned(),
            Self::Flag(value) => value.to_string(),
            Self::Whole(value) => format!("the number {value}"),
            // With its fraction, also where that is nothing.
            Self::Number(value) => format!("the number {value:?}"),
            Self::Text(value) if value.trim().is_empty() => "blank".to_owned(),
            Self::Text(value) => format!("the text {value:?}"),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// Why a file is no configuration: a message and the line, where it is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    pub line: Option<usize>,
}

/// Reads one document.
///
/// # Errors
/// When the bytes are too many, no UTF-8, no YAML, or break an invariant of this module.
pub fn read(bytes: &[u8], source: usize) -> Result<Node, Error> {
    if bytes.len() > SIZE_CAP {
        return Err(Error {
            message: format!("the file has {} bytes; {SIZE_CAP} are allowed", bytes.len()),
            line: None,
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| Error {
        message: "the file is not UTF-8".to_owned(),
        line: Some(bytes[..error.valid_up_to()].split(|b| *b == b'\n').count()),
    })?;
    walk(text, source, None).map_err(|error| {
        let line = error.location().map(|location| location.line());
        let text = error.to_string();
        // The place is said once, by whoever knows the file's name.
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Error { message, line }
    })
}

/// The line of a node, from 1: reads the file again up to it, since the crate tells positions
/// only of errors.
#[must_use]
pub fn line(bytes: &[u8], mark: Mark) -> Option<usize> {
    let text = std::str::from_utf8(bytes).ok()?;
    let error = walk(text, 0, Some(mark)).err()?;
    error.location().map(|location| location.line())
}

fn walk(text: &str, source: usize, stop: Option<Mark>) -> Result<Node, serde_yaml::Error> {
    let next = Cell::new(0);
    let walker = Walker {
        source,
        stop,
        next: &next,
    };
    let mut documents = serde_yaml::Deserializer::from_str(text);
    let Some(first) = documents.next() else {
        return Ok(Node {
            source,
            mark: 0,
            value: Value::Null,
        });
    };
    let node = walker.deserialize(first)?;
    if documents.next().is_some() {
        return Err(de::Error::custom("the file has more than one document"));
    }
    Ok(node)
}

#[derive(Clone, Copy)]
struct Walker<'a> {
    source: usize,
    stop: Option<Mark>,
    next: &'a Cell<Mark>,
}

impl Walker<'_> {
    fn mark<E: de::Error>(&self) -> Result<Mark, E> {
        let mark = self.next.get();
        self.next.set(mark + 1);
        if self.stop == Some(mark) {
            return Err(E::custom("here"));
        }
        Ok(mark)
    }
    fn node<E: de::Error>(&self, value: Value) -> Result<Node, E> {
        Ok(Node {
            source: self.source,
            mark: self.mark()?,
            value,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Walker<'_> {
    type Value = Node;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walker<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("plain data without tags")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        self.node(Value::Null)
    }
    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        self.visit_unit()
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Node, E> {
        self.node(Value::Flag(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
        self.node(Value::Whole(value))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node, E> {
        let value = i64::try_from(value).map_err(|_| E::custom("the number is too large"))?;
        self.node(Value::Whole(value))
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        self.node(Value::Number(value))
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
        self.node(Value::Text(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mark = self.mark()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Node {
            source: self.source,
            mark,
            value: Value::List(list),
        })
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mark = self.mark()?;
        let mut map: Vec<(String, Node)> = Vec::new();
        while let Some((key, at)) = entries.next_key_seed(Key {
            walker: self,
            earlier: &map,
        })? {
            let mut value = entries.next_value_seed(self)?;
            value.mark = at;
            map.push((key, value));
        }
        Ok(Node {
            source: self.source,
            mark,
            value: Value::Map(map),
        })
    }
}

struct Key<'a> {
    walker: Walker<'a>,
    earlier: &'a [(String, Node)],
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = (String, Mark);

    fn deserialize<D: de::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = (String, Mark);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is text")
    }
    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        if self.earlier.iter().any(|(earlier, _)| earlier == key) {
            return Err(E::custom(format_args!(
                "the key `{key}` stands here a second time"
            )));
        }
        Ok((key.to_owned(), self.walker.mark()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_knows_its_line() {
        let text = b"# a comment\nversion: 1\nroles:\n  creator: ann\n  reviewers:\n    - checks\n";
        let node = read(text, 0).unwrap();
        let Value::Map(top) = &node.value else {
            panic!("a mapping")
        };
        let Value::Map(roles) = &top[1].1.value else {
            panic!("a mapping")
        };
        let Value::List(reviewers) = &roles[1].1.value else {
            panic!("a list")
        };
        let lines = [
            top[0].1.mark,
            top[1].1.mark,
            roles[0].1.mark,
            reviewers[0].mark,
        ]
        .map(|mark| line(text, mark));
        assert_eq!(lines, [Some(2), Some(3), Some(4), Some(6)]);
    }

    #[test]
    fn what_is_not_plain_data_is_refused_with_its_line() {
        for (text, message, line) in [
            (
                "a: 1\nb: 2\na: 3\n",
                "the key `a` stands here a second time",
                Some(3),
            ),
            (
                "a: {b: 1, b: 2}\n",
                "the key `b` stands here a second time",
                Some(1),
            ),
            (
                "a: 1\n---\na: 2\n",
                "the file has more than one document",
                None,
            ),
        ] {
            let error = read(text.as_bytes(), 0).unwrap_err();
            assert!(error.message.contains(message), "{text:?}: {error:?}");
            assert_eq!(error.line, line, "{text:?}: {error:?}");
        }
        for text in [
            "a: !tag b",
            "1: a",
            "[a]: b",
            "a: [",
            "\u{0}",
            "a: 99999999999999999999999",
        ] {
            assert!(
                read(text.as_bytes(), 0).is_err() || text.starts_with("a: 9"),
                "{text:?}"
            );
        }
        assert!(read(b"a: \xff", 0).is_err());
        assert!(read(&vec![b' '; SIZE_CAP + 1], 0).is_err());
    }
}
