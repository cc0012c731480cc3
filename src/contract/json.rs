//! JSON as it was written: every member of an object in order, repeated names included.
//!
//! Maps would silently keep the last of two values, and derived types would stop at the first
//! fault; an agent gets one chance to mend its report, so it is told all of them.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// A whole number from 0 that fits.
    Natural(u64),
    /// Any other number.
    Number,
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Reads a text that holds one value and nothing else.
    pub(super) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
    /// Reads a text that was cut off somewhere: what is open is closed, the last piece that makes
    /// no sense is dropped.
    pub(super) fn parse_torn(text: &str) -> Option<Self> {
        let torn = Torn::scan(text);
        let mut whole = text.to_owned();
        if torn.in_text {
            whole.push('"');
        }
        whole.extend(torn.open.iter().rev());
        Self::parse(&whole).ok().or_else(|| {
            let (end, open) = torn.last_comma?;
            let mut cut = text.get(..end)?.to_owned();
            cut.extend(open.iter().rev());
            Self::parse(&cut).ok()
        })
    }
    /// What kind of value it is, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Natural(_) | Self::Number => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }
    /// The members, if it is an object.
    pub(super) fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self {
            members
        } else {
            &[]
        }
    }
    /// The elements, if it is a list.
    pub(super) fn elements(&self) -> &[Self] {
        if let Self::List(elements) = self {
            elements
        } else {
            &[]
        }
    }
    /// The name of two members of one object, where there is one.
    pub(super) fn repeated(&self) -> Option<&str> {
        let mut names = std::collections::BTreeSet::new();
        let own = self.members().iter().find(|(name, _)| !names.insert(name));
        let inside = || {
            let members = self.members().iter().map(|(_, value)| value);
            members.chain(self.elements()).find_map(Self::repeated)
        };
        own.map(|(name, _)| name.as_str()).or_else(inside)
    }
    /// Every value under this name, in order: a repeated name has several.
    pub(super) fn all<'j>(&'j self, name: &'j str) -> impl Iterator<Item = &'j Self> {
        self.members()
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value)
    }
}

/// What is open at the end of a text, and where the last comma outside texts stood.
struct Torn {
    open: Vec<char>,
    in_text: bool,
    last_comma: Option<(usize, Vec<char>)>,
}

impl Torn {
    fn scan(text: &str) -> Self {
        let mut torn = Self {
            open: Vec::new(),
            in_text: false,
            last_comma: None,
        };
        let mut comma = None;
        let mut escaped = false;
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if torn.in_text => escaped = true,
                b'"' => torn.in_text = !torn.in_text,
                _ if torn.in_text => {}
                b'{' => torn.open.push('}'),
                b'[' => torn.open.push(']'),
                b'}' | b']' => {
                    torn.open.pop();
                }
                b',' => comma = Some((at, torn.open.len())),
                _ => {}
            }
        }
        // What was open at the comma and was closed since cannot be told from `open` alone, but
        // then the cut is not what is wrong with the text.
        torn.last_comma =
            comma.and_then(|(at, depth)| Some((at, torn.open.get(..depth)?.to_vec())));
        torn
    }
}

/// How deep an object may be nested to be looked for; the parser's own limit is a little higher.
const DEPTH_CAP: usize = 100;

/// Where objects may stand in a text that is not JSON as a whole, by their first byte.
///
/// One pass finds the braces that match, so that a text full of opening ones costs no more than
/// another. No JSON text runs over a line's end; so prose with a stray quote hides nothing below it.
pub(super) fn objects(text: &str) -> Vec<Range<usize>> {
    let mut open: Vec<(usize, u8, usize)> = Vec::new();
    let mut found = Vec::new();
    let (mut in_text, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => (in_text, escaped) = (false, false),
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => open.push((at, byte, 1)),
            b'}' | b']' => {
                if let Some((start, opening, height)) = open.pop() {
                    if (opening, byte) == (b'{', b'}') && height <= DEPTH_CAP {
                        found.push(start..at + 1);
                    }
                    if let Some((_, _, outer)) = open.last_mut() {
                        *outer = (*outer).max(height + 1);
                    }
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Natural(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        Ok(u64::try_from(value).map_or(Json::Number, Json::Natural))
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Number)
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }
    fn visit_string<E: de::Error>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Json::List(elements))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}
