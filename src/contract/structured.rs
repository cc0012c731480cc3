//! Answers in a form that whoever asked has chosen: one JSON value that fits a JSON Schema.
//!
//! Programs that can be told the schema are; that an answer fits is believed of nobody (rows A-034
//! and A-057, T-183, T-184).

mod bounds;

use serde_json::Value;

use crate::contract::json::Json;
use crate::contract::structured::bounds::{Looked, depth_of, look, unrolled};

/// How large a schema may be: it is an argument of some programs.
pub const SCHEMA_CAP: u64 = 64 << 10;
/// How much work it may be to hold an answer against a schema: the values of the one, each against
/// those of the other.
const WORK: u64 = 20_000_000;
/// Up to how much work it is told what is wrong: a validator keeps every fault that it finds in the
/// branches of an `anyOf`.
const TOLD_WORK: u64 = 200_000;
/// How much of what is wrong is told, in characters.
const TOLD: usize = 800;

/// Whether this is a schema that can be used.
///
/// # Errors
/// What is wrong with it.
pub fn check(schema: &[u8]) -> Result<(), String> {
    Checked::new(schema).map(drop)
}

/// A schema that has an end.
struct Checked {
    validator: jsonschema::Validator,
    schema: Value,
    looked: Looked,
}

impl Checked {
    fn new(schema: &[u8]) -> Result<Self, String> {
        if schema.len() as u64 > SCHEMA_CAP {
            return Err(format!("it has more than {SCHEMA_CAP} bytes"));
        }
        let schema: Value = serde_json::from_slice(schema).map_err(|error| error.to_string())?;
        let Value::Object(keys) = &schema else {
            return Err("a schema is an object".to_owned());
        };
        if keys.is_empty() {
            return Err("it is empty, so that everything would fit".to_owned());
        }
        let looked = look(&schema)?;
        // Without this newer drafts take a format for a remark.
        let options = jsonschema::options().should_validate_formats(true);
        let validator = options
            .build(&schema)
            .map_err(|error| cut(&error.to_string()))?;
        Ok(Self {
            validator,
            schema,
            looked,
        })
    }

    /// How many values of it are held against this one, at most.
    fn values_for(&self, value: &Value) -> Result<u32, String> {
        if !self.looked.holds_itself {
            return Ok(self.looked.values);
        }
        unrolled(&self.schema, depth_of(value)).map_err(|_| {
            "it is nested too deep to hold it against a schema that holds itself".to_owned()
        })
    }

    /// Why a value does not fit, if it does not.
    fn fault(&self, value: &Value) -> Option<String> {
        let values = match self.values_for(value) {
            Ok(values) => values,
            Err(fault) => return Some(fault),
        };
        let work = u64::from(values).saturating_mul(values_of(value));
        if work > WORK {
            return Some("it has too many values to hold it against the schema".to_owned());
        }
        if self.validator.is_valid(value) {
            return None;
        }
        let fault = (work <= TOLD_WORK)
            .then(|| self.validator.validate(value).err())
            .flatten();
        Some(match fault {
            Some(fault) => cut(&format!("at {}/: {fault}", fault.instance_path())),
            None => "it does not fit the schema, and is too large to say where".to_owned(),
        })
    }
}

/// How many values a value has, itself among them.
fn values_of(value: &Value) -> u64 {
    1 + match value {
        Value::Object(members) => members.values().map(values_of).sum(),
        Value::Array(items) => items.iter().map(values_of).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The JSON text of an answer that fits the schema: the whole answer, or the one fenced block that
/// it is.
///
/// # Errors
/// Why it does not fit, for whoever may answer once more.
pub fn fitting(schema: &[u8], answer: &[u8]) -> Result<String, String> {
    let checked = Checked::new(schema)?;
    let text = std::str::from_utf8(answer).map_err(|_| "it is not UTF-8".to_owned())?;
    let text = unfenced(text.trim());
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    // Of two members of one name somebody else may take the other one.
    let written = Json::parse(text).map_err(|error| format!("it is no JSON: {error}"))?;
    if let Some(name) = written.repeated() {
        return Err(format!("an object in it has two members {name:?}"));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    match checked.fault(&value) {
        None => Ok(format!("{text}\n")),
        Some(fault) => Err(fault),
    }
}

/// The inside of a fenced block, where the text is one and nothing else.
fn unfenced(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| {
        let (tag, rest) = rest.split_once('\n')?;
        let inside = rest.strip_suffix("```")?;
        let tagged = tag.trim().is_empty() || tag.trim().eq_ignore_ascii_case("json");
        (tagged && !inside.contains("```")).then_some(inside)
    });
    inside.unwrap_or(text).trim()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether every object of the schema names all its members as required and allows no others:
/// providers that enforce a schema take no other ones.
#[must_use]
pub fn is_strict(schema: &[u8]) -> bool {
    fn strict(value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                let typed = match members.get("type") {
                    Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
                    kind => kind.is_some_and(|kind| kind == "object"),
                };
                let is_object = typed || members.contains_key("properties");
                let names = |key: &str| -> Vec<&str> {
                    let mut names: Vec<&str> = match members.get(key) {
                        Some(Value::Object(named)) => named.keys().map(String::as_str).collect(),
                        Some(Value::Array(named)) => {
                            named.iter().filter_map(Value::as_str).collect()
                        }
                        Some(_) | None => Vec::new(),
                    };
                    names.sort_unstable();
                    names
                };
                let closed = members.get("additionalProperties") == Some(&Value::Bool(false))
                    && names("properties") == names("required");
                (!is_object || closed) && members.values().all(strict)
            }
            Value::Array(items) => items.iter().all(strict),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }
    serde_json::from_slice(schema).is_ok_and(|schema: Value| {
        schema.get("type").is_some_and(|kind| kind == "object") && strict(&schema)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &[u8] =
        br#"{"type": "object", "properties": {"count": {"type": "integer", "minimum": 0}},
        "required": ["count"], "additionalProperties": false}"#;

    /// T-184: what does not fit is told, and never handed on.
    #[test]
    fn an_answer_fits_or_it_is_said_why_not() {
        for answer in [
            r#"{"count": 3}"#,
            " \n{\"count\": 3}\n",
            "```json\n{\"count\": 3}\n```",
            "```\n{\"count\": 3}\n```\n",
        ] {
            assert_eq!(
                fitting(SCHEMA, answer.as_bytes()).as_deref(),
                Ok("{\"count\": 3}\n"),
                "{answer}"
            );
        }
        for (answer, says) in [
            ("", "empty"),
            ("Done.", "no JSON"),
            ("{\"count\": 3} Done.", "no JSON"),
            ("It is:\n```json\n{\"count\": 3}\n```", "no JSON"),
            (
                "```json\n{\"count\": 3}\n```\n```json\n{\"count\": 4}\n```",
                "no JSON",
            ),
            ("```yaml\n{\"count\": 3}\n```", "no JSON"),
            ("{\"count\": 3, \"count\": -1}", "two members"),
            ("{\"count\": -1}", "at /count"),
            ("{\"count\": 1.5}", "at /count"),
            ("{}", "count"),
            ("{\"count\": 1, \"more\": 1}", "more"),
            ("[]", "object"),
            ("null", "object"),
        ] {
            let fault = fitting(SCHEMA, answer.as_bytes()).unwrap_err();
            assert!(fault.contains(says), "{answer}: {fault}");
        }
        assert!(fitting(SCHEMA, b"\xff").is_err());
        let long = format!("{{\"count\": \"{}\"}}", "x".repeat(100_000));
        let fault = fitting(SCHEMA, long.as_bytes()).unwrap_err();
        assert!(fault.chars().count() <= TOLD + 1);
        let deep = "[".repeat(100_000);
        assert!(fitting(SCHEMA, deep.as_bytes()).is_err());
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        assert_eq!(check(SCHEMA), Ok(()));
        for (schema, says) in [
            ("", "EOF"),
            ("{}", "everything"),
            ("true", "object"),
            ("[]", "object"),
            (r#"{"type": "objekt"}"#, "objekt"),
            (r#"{"pattern": "("}"#, "("),
            (r##"{"allOf": [{"$ref": "#"}]}"##, "back to itself"),
            // The name of a member is no part of it that ends; and nobody knows where an unknown word leads.
            (r##"{"propertyNames": {"$ref": "#"}}"##, "back to itself"),
            (
                r##"{"$ref": "#/what", "what": {"x": {"$ref": "#/what"}}}"##,
                "back to itself",
            ),
            // Seen from a part of it, too.
            (
                r##"{"items": {"$ref": "#/a"}, "a": {"not": {"$ref": "#/b"}}, "b": {"if": {"$ref": "#/a"}}}"##,
                "back to itself",
            ),
            (
                r##"{"properties": {"a": {"$ref": "#"}}, "unevaluatedProperties": false}"##,
                "`unevaluatedProperties` in a schema that holds itself",
            ),
            (
                r##"{"$ref": "#/a", "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}"##,
                "back to itself",
            ),
            (r#"{"$ref": "https://example.com/schema"}"#, "nowhere"),
            (r#"{"$ref": "other.json"}"#, "nowhere"),
            (r##"{"$dynamicRef": "#a"}"##, "$dynamicRef"),
            // Read to the letter it leads to a member of this name, decoded to another one.
            (
                r##"{"$ref": "#/%61", "%61": {"type": "null"}, "a": {"$ref": "#/%61"}}"##,
                "`%`",
            ),
            (r#"{"not": {"$id": "x", "not": {}}}"#, "$id"),
            // A property of such a name is a schema, and so is a value that a reference names.
            (r#"{"properties": {"default": {"$ref": "x"}}}"#, "nowhere"),
            (
                r##"{"$ref": "#/default", "default": {"allOf": [{"$ref": "#/default"}]}}"##,
                "back to itself",
            ),
        ] {
            let fault = check(schema.as_bytes()).unwrap_err();
            assert!(fault.contains(says), "{schema}: {fault}");
        }
        // Each doubles what comes before it.
        let doubled: Vec<String> = (1..40)
            .map(|n| {
                format!(
                    r##""d{n}": {{"anyOf": [{{"$ref": "#/d{0}"}}, {{"$ref": "#/d{0}"}}]}}"##,
                    n - 1
                )
            })
            .collect();
        let doubled = format!(
            r##"{{"$ref": "#/d39", "d0": {{"type": "null"}}, {}}}"##,
            doubled.join(", ")
        );
        assert!(check(doubled.as_bytes()).unwrap_err().contains("too"));
        let decoys: Vec<String> = (0..40)
            .map(|n| format!(r#""%64{n}": {{"type": "null"}}"#))
            .collect();
        let hidden = doubled.replace("#/d", "#/%64");
        let hidden = hidden.replacen('{', &format!("{{{}, ", decoys.join(", ")), 1);
        assert!(check(hidden.as_bytes()).unwrap_err().contains("`%`"));
        let shared = br##"{"$defs": {"a": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/a"}}"##;
        assert_eq!(check(shared), Ok(()));
        assert!(fitting(shared, b"[1, 2]").is_ok() && fitting(shared, b"[1.5]").is_err());
        let large = format!("{{\"description\": \"{}\"}}", "x".repeat(70_000));
        assert!(check(large.as_bytes()).is_err());
    }

    /// A schema that holds itself is held against as much of a value as there is, and no more than that.
    #[test]
    fn a_schema_may_hold_itself() {
        let tree = br##"{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object",
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["name"], "additionalProperties": false}}}"##;
        assert_eq!(check(tree), Ok(()));
        let nested = |deep: usize, inmost: &str| {
            let (before, after) = (
                r#"{"name": "a", "children": ["#.repeat(deep),
                "]}".repeat(deep),
            );
            fitting(tree, format!("{before}{inmost}{after}").as_bytes())
        };
        for deep in [0, 1, 10] {
            assert!(nested(deep, r#"{"name": "b"}"#).is_ok(), "{deep}");
            let fault = nested(deep, r#"{"name": 1}"#).unwrap_err();
            assert!(fault.contains("is not of type \"string\""), "{fault}");
        }
        let fault = nested(40, r#"{"name": "b"}"#).unwrap_err();
        assert!(fault.contains("nested too deep"), "{fault}");
        // By its root, by one beside it, and twice in each node.
        let either = br##"{"anyOf": [{"type": "null"}, {"type": "object", "required": ["left", "right"],
            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#/anyOf/1/properties/left"}}}]}"##;
        let leaf = r#"{"left": null, "right": null}"#;
        let two = format!(r#"{{"left": {leaf}, "right": {leaf}}}"#);
        assert!(fitting(either, two.as_bytes()).is_ok());
        assert!(fitting(either, two.replacen("null", "1", 1).as_bytes()).is_err());
        // Each level may double what is held: that is bounded by the value's depth and by a number.
        let doubled = |deep: usize| {
            let (before, after) = (r#"{"left": null, "right": "#.repeat(deep), "}".repeat(deep));
            fitting(either, format!("{before}null{after}").as_bytes())
        };
        assert!(doubled(6).is_ok());
        assert!(doubled(60).unwrap_err().contains("nested too deep"));
    }

    /// The longest way through a schema and a value fits the stack of a thread of the engine's.
    #[test]
    fn the_deepest_that_is_held_fits_a_stack() {
        let chain = |inner: &str, words: usize| {
            format!(
                "{}{inner}{}",
                r#"{"allOf":["#.repeat(words),
                "]}".repeat(words)
            )
        };
        let schema = chain(r##"{"items": {"$ref": "#"}}"##, 6);
        for deep in 1..20 {
            let answer = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
            let held = fitting(schema.as_bytes(), answer.as_bytes());
            assert!(held.is_ok() || held.unwrap_err().contains("nested too deep"));
        }
    }

    /// In values nothing is a keyword: an example of an object with an id is one.
    #[test]
    fn values_in_a_schema_are_values() {
        for value in [
            r#""examples": [{"id": "a", "$ref": "b"}]"#,
            r#""default": {"id": "a"}"#,
            r#""const": {"$id": "a", "$dynamicRef": "b"}"#,
            r#""enum": [{"$ref": "a"}, {"enum": [{"id": "b"}]}]"#,
        ] {
            let schema = format!(r#"{{"type": "object", {value}}}"#);
            assert_eq!(check(schema.as_bytes()), Ok(()), "{schema}");
        }
    }

    /// A format is a part of the form.
    #[test]
    fn a_format_is_held() {
        for (format, fits, not) in [
            ("email", "a@example.org", "a"),
            ("date-time", "2026-11-30T12:00:00Z", "today"),
            ("uri", "https://example.org", "not one"),
        ] {
            let schema = format!(r#"{{"type": "string", "format": "{format}"}}"#);
            let answer = |text: &str| fitting(schema.as_bytes(), format!("\"{text}\"").as_bytes());
            assert!(answer(fits).is_ok(), "{format}");
            assert!(answer(not).unwrap_err().contains(format), "{format}");
        }
    }

    /// An answer of many faults is no reason to keep them all.
    #[test]
    fn one_fault_is_told_and_none_of_what_is_too_large() {
        let answer = |count: usize| format!("[{}]", vec!["\"x\""; count].join(","));
        let schema = br#"{"type": "array", "items": {"type": "integer"}}"#;
        let fault = fitting(schema, answer(1_000).as_bytes()).unwrap_err();
        assert_eq!(fault, "at /0/: \"x\" is not of type \"integer\"");
        let fault = fitting(schema, answer(100_000).as_bytes()).unwrap_err();
        assert!(fault.contains("too large to say where"), "{fault}");
        // It would fit: each of 30,000 values is held against a thousand.
        let names: Vec<String> = (0..1_000).map(|n| format!("\"{n}\"")).collect();
        let schema = format!(
            r#"{{"type": "array", "items": {{"enum": ["x", {}]}}}}"#,
            names.join(",")
        );
        assert!(fitting(schema.as_bytes(), answer(1_000).as_bytes()).is_ok());
        let fault = fitting(schema.as_bytes(), answer(30_000).as_bytes()).unwrap_err();
        assert!(fault.contains("too many values"), "{fault}");
    }

    /// A pattern that takes for ever elsewhere.
    #[test]
    fn a_pattern_does_not_hold_the_engine() {
        let schema = br#"{"type": "string", "pattern": "^(a+)+$"}"#;
        let answer = format!("\"{}!\"", "a".repeat(5_000));
        assert!(fitting(schema, answer.as_bytes()).is_err());
    }

    #[test]
    fn only_closed_objects_are_strict() {
        assert!(is_strict(SCHEMA));
        let nested = br#"{"type": "object", "properties": {"a": {"type": ["object", "null"],
            "properties": {}, "required": [], "additionalProperties": false}},
            "required": ["a"], "additionalProperties": false}"#;
        assert!(is_strict(nested));
        for schema in [
            r#"{"type": "array"}"#,
            r#"{"type": "object", "properties": {"a": {}}, "required": ["a"]}"#,
            r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}},
                "required": ["a"], "additionalProperties": false}"#,
            r#"{"type": "object"}"#,
            r#"{"type": "object", "additionalProperties": {"type": "string"}}"#,
            r#"{"type": "object", "properties": {"a": {"type": ["object", "null"]}},
                "required": ["a"], "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"properties": {"b": {}}}},
                "required": ["a"], "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"type": ["object", "null"],
                "properties": {"b": {}}}}, "required": ["a"], "additionalProperties": false}"#,
        ] {
            assert!(!is_strict(schema.as_bytes()), "{schema}");
        }
    }
}
