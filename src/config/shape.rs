//! What a configuration file may hold, as data: one description serves checking, suggestions, the
//! JSON schema and the reference.

use serde_json::{Map, Value as Json, json};

use crate::config::nearest::nearest;
use crate::config::yaml::{Mark, Node, Value};
use crate::domain::price::parse_usd;
use crate::domain::severity::Severity;

/// What stands at a place.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Text that is not blank.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number within bounds.
    Whole(i64, i64),
    /// A number above zero.
    Amount,
    /// USD as decimal text, `"1.25"`: a number of YAML may not be what was written.
    Price,
    /// Bytes: `200KB`, `1MB`, or a number.
    Size,
    /// A severity.
    Severity,
    /// `all`, or how many.
    Quorum,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A shape or `null`.
    Nullable(&'static Self),
    /// A list.
    List(&'static Self),
    /// A mapping with these keys.
    Map(&'static [Key]),
    /// A mapping from names to a shape.
    Named(&'static Self),
    /// A mapping with these keys, or the text of the first of them.
    Short(&'static [Key]),
}

/// A key of a mapping.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What stands there.
    pub shape: Shape,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// Whether it must be there.
    pub required: bool,
}

/// A place in a file that does not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which source.
    pub source: usize,
    /// Where in it.
    pub mark: Mark,
    /// What is wrong, with the full path.
    pub message: String,
}

impl Fault {
    fn at(node: &Node, message: String) -> Self {
        Self {
            source: node.source,
            mark: node.mark,
            message,
        }
    }
}

/// Checks a node against a shape and returns it as JSON in the one form the types read.
///
/// # Errors
/// The first place that does not fit.
pub fn read(node: &Node, shape: Shape, path: &str) -> Result<Json, Fault> {
    let wrong = || {
        let place = if path.is_empty() {
            "the file".to_owned()
        } else {
            format!("`{path}`")
        };
        let (found, wanted) = (node.value.found(), shape.wanted());
        Fault::at(node, format!("{place} is {found}, not {wanted}"))
    };
    match (shape, &node.value) {
        (Shape::Nullable(_), Value::Null) => Ok(Json::Null),
        (Shape::Nullable(inner), _) => read(node, *inner, path),
        (Shape::Text, Value::Text(text)) if !text.trim().is_empty() => Ok(json!(text)),
        (Shape::Flag, Value::Flag(flag)) => Ok(json!(flag)),
        (Shape::Whole(min, max), Value::Whole(n)) if (min..=max).contains(n) => Ok(json!(n)),
        (Shape::Amount, Value::Number(n)) if n.is_finite() && *n > 0.0 => Ok(json!(n)),
        (Shape::Amount | Shape::Size, Value::Whole(n)) if *n > 0 => Ok(json!(n)),
        (Shape::Size, Value::Text(text)) => size(text).map(|n| json!(n)).ok_or_else(wrong),
        (Shape::Price, Value::Text(text)) if parse_usd(text).is_some() => Ok(json!(text)),
        (Shape::Price, Value::Whole(n)) if parse_usd(&n.to_string()).is_some() => {
            Ok(json!(n.to_string()))
        }
        (Shape::Severity, Value::Text(text)) => Severity::parse(text)
            .map(|severity| json!(severity))
            .ok_or_else(wrong),
        (Shape::Quorum, Value::Text(text)) if text == "all" => Ok(json!("all")),
        (Shape::Quorum, Value::Whole(n)) if (1..=64).contains(n) => Ok(json!({"at_least": n})),
        (Shape::Choice(words), Value::Text(text)) => choice(node, words, text, path),
        (Shape::List(inner), Value::List(items)) => items
            .iter()
            .enumerate()
            .map(|(i, item)| read(item, *inner, &format!("{path}[{i}]")))
            .collect(),
        (Shape::Short(keys), Value::Text(text)) if !text.trim().is_empty() => {
            Ok(json!({keys[0].name: text}))
        }
        (Shape::Map(keys) | Shape::Short(keys), Value::Map(entries)) => {
            map(node, keys, entries, path)
        }
        (Shape::Named(inner), Value::Map(entries)) => named(entries, *inner, path),
        (
            Shape::Text
            | Shape::Flag
            | Shape::Whole(..)
            | Shape::Amount
            | Shape::Price
            | Shape::Size
            | Shape::Severity
            | Shape::Quorum
            | Shape::Choice(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Named(_)
            | Shape::Short(_),
            Value::Null
            | Value::Flag(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_),
        ) => Err(wrong()),
    }
}

fn named(entries: &[(String, Node)], inner: Shape, path: &str) -> Result<Json, Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut object = Map::new();
    for (name, entry) in entries {
        let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !starts || name.len() > 64 || !name.chars().all(plain) {
            let message = format!(
                "`{path}` has the name {name:?}; names are up to 64 letters, digits, `.`, `_` and `-`"
            );
            return Err(Fault::at(entry, message));
        }
        object.insert(name.clone(), read(entry, inner, &join(path, name))?);
    }
    Ok(Json::Object(object))
}

fn choice(node: &Node, words: &[&str], text: &str, path: &str) -> Result<Json, Fault> {
    if words.contains(&text) {
        return Ok(json!(text));
    }
    let hint = nearest(text, words.iter().copied())
        .map_or_else(String::new, |word| format!("; did you mean `{word}`?"));
    Err(Fault::at(
        node,
        format!("`{path}` is {text:?}, not {}{hint}", Shape::list_of(words)),
    ))
}

fn map(node: &Node, keys: &[Key], entries: &[(String, Node)], path: &str) -> Result<Json, Fault> {
    let mut object = Map::new();
    for (name, entry) in entries {
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            return Err(unknown(entry, name, keys, path));
        };
        object.insert(name.clone(), read(entry, key.shape, &join(path, name))?);
    }
    match keys
        .iter()
        .find(|key| key.required && !object.contains_key(key.name))
    {
        Some(key) => Err(Fault::at(
            node,
            format!("the key `{}` is missing", join(path, key.name)),
        )),
        None => Ok(Json::Object(object)),
    }
}

fn unknown(entry: &Node, name: &str, keys: &[Key], path: &str) -> Fault {
    let here = nearest(name, keys.iter().map(|key| key.name)).map(|near| join(path, near));
    let guess = here.or_else(|| crate::config::keys::path_of(name));
    let hint = match guess {
        Some(guess) => format!("; did you mean `{guess}`?"),
        None => format!(
            "; known here: {}",
            keys.iter()
                .map(|key| key.name)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    Fault::at(entry, format!("unknown key `{}`{hint}", join(path, name)))
}

/// The path of a key below `path`.
#[must_use]
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = match text[digits.len()..].trim() {
        "" | "B" => 1,
        "KB" => 1000,
        "KiB" => 1024,
        "MB" => 1_000_000,
        "MiB" => 1024 * 1024,
        _ => return None,
    };
    digits
        .parse::<u64>()
        .ok()?
        .checked_mul(unit)
        .filter(|bytes| *bytes > 0)
}

impl Shape {
    /// What is wanted, for messages and the reference.
    #[must_use]
    pub fn wanted(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Whole(min, max) if min == max => format!("the number {min}"),
            Self::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Self::Amount => "a number above 0".to_owned(),
            Self::Price => "USD as text, like \"1.25\", with up to six decimals".to_owned(),
            Self::Size => "a size like 200KB".to_owned(),
            Self::Severity => "critical, high, medium, low or info".to_owned(),
            Self::Quorum => "`all` or a number from 1 to 64".to_owned(),
            Self::Choice(words) => Self::list_of(words),
            Self::Nullable(inner) => format!("{}, or null", inner.wanted()),
            Self::List(inner) => format!("a list of: {}", inner.wanted()),
            Self::Map(_) => "a mapping".to_owned(),
            Self::Named(_) => "a mapping from names".to_owned(),
            Self::Short(keys) => format!("the text of `{}`, or a mapping", keys[0].name),
        }
    }
    fn list_of(words: &[&str]) -> String {
        match words {
            [] => "nothing".to_owned(),
            [word] => format!("`{word}`"),
            [first @ .., last] => format!("`{}` or `{last}`", first.join("`, `")),
        }
    }
    /// The shape as a JSON schema.
    #[must_use]
    pub fn schema(self) -> Json {
        match self {
            Self::Text => json!({"type": "string", "pattern": "\\S"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Whole(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
            Self::Amount => json!({"type": "number", "exclusiveMinimum": 0}),
            Self::Price => json!({"anyOf": [{"type": "integer", "minimum": 0},
                {"type": "string", "pattern": "^[0-9]{1,9}([.][0-9]{1,6})?$"}]}),
            Self::Size => json!({"anyOf": [{"type": "integer", "minimum": 1},
                {"type": "string", "pattern": "^[0-9]+ *(B|KB|KiB|MB|MiB)?$"}]}),
            Self::Severity => json!({"type": "string",
                "pattern": "^([Cc]ritical|[Hh]igh|[Mm]edium|[Ll]ow|[Ii]nfo|[Pp][0-3])$"}),
            Self::Quorum => {
                json!({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1, "maximum": 64}]})
            }
            Self::Choice(words) => json!({"enum": words}),
            Self::Nullable(inner) => json!({"anyOf": [inner.schema(), {"type": "null"}]}),
            Self::List(inner) => json!({"type": "array", "items": inner.schema()}),
            Self::Named(inner) => json!({"type": "object",
                "propertyNames": {"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
                "additionalProperties": inner.schema()}),
            Self::Short(keys) => {
                json!({"anyOf": [Self::Text.schema(), Self::Map(keys).schema()]})
            }
            Self::Map(keys) => {
                let properties: Map<String, Json> = keys
                    .iter()
                    .map(|key| {
                        let mut schema = key.shape.schema();
                        schema["description"] = json!(key.meaning);
                        (key.name.to_owned(), schema)
                    })
                    .collect();
                let required: Vec<&str> = keys
                    .iter()
                    .filter(|key| key.required)
                    .map(|key| key.name)
                    .collect();
                json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
            }
        }
    }
}
