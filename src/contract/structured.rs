//! Answers in a form that whoever asked has chosen: one JSON value that fits a JSON Schema.
//!
//! Programs that can be told the schema are; that an answer fits is believed of nobody (rows A-034
//! and A-057, T-183, T-184).

use serde_json::Value;

use crate::contract::json::Json;

/// How large a schema may be: it is an argument of some programs.
pub const SCHEMA_CAP: u64 = 64 << 10;
/// How deep a schema may be, references followed.
const DEPTH: u32 = 64;
/// How many values of a schema are looked at, references followed.
const LOOKED_AT: u32 = 20_000;
/// How many faults are told.
const FAULTS_TOLD: usize = 5;
/// How much of what is wrong is told, in characters.
const TOLD: usize = 800;

/// Whether this is a schema that can be used.
///
/// # Errors
/// What is wrong with it.
pub fn check(schema: &[u8]) -> Result<(), String> {
    validator(schema).map(drop)
}

fn validator(schema: &[u8]) -> Result<jsonschema::Validator, String> {
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
    Bounds {
        root: &schema,
        within: Vec::new(),
        left: LOOKED_AT,
    }
    .hold(&schema, 0)?;
    jsonschema::validator_for(&schema).map_err(|error| cut(&error.to_string()))
}

/// Whether a schema has an end: an agent may have written it, and it is used within the engine.
struct Bounds<'s> {
    root: &'s Value,
    /// The references that are being followed.
    within: Vec<&'s str>,
    /// How many values may still be looked at.
    left: u32,
}

impl<'s> Bounds<'s> {
    fn hold(&mut self, value: &'s Value, depth: u32) -> Result<(), String> {
        self.left = self
            .left
            .checked_sub(1)
            .filter(|_| depth < DEPTH)
            .ok_or_else(|| "it is too large or too deep, references followed".to_owned())?;
        match value {
            Value::Object(members) => {
                for (name, inner) in members {
                    if let Value::String(to) = inner {
                        self.refer(name, to, depth)?;
                    }
                    self.hold(inner, depth + 1)?;
                }
                Ok(())
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.hold(item, depth + 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn refer(&mut self, name: &str, to: &'s str, depth: u32) -> Result<(), String> {
        match name {
            "$ref" => {
                let part = to
                    .strip_prefix('#')
                    .and_then(|path| self.root.pointer(path));
                let part = part.ok_or_else(|| format!("`$ref: {to}` leads nowhere in it"))?;
                if self.within.contains(&to) {
                    return Err(format!("`$ref: {to}` leads back to itself"));
                }
                self.within.push(to);
                self.hold(part, depth + 1)?;
                self.within.pop();
                Ok(())
            }
            // Where these lead is not seen from here.
            "$dynamicRef" | "$recursiveRef" => Err(format!("`{name}` is not supported")),
            "$id" | "id" if depth > 0 => Err(format!("`{name}` inside of it is not supported")),
            _ => Ok(()),
        }
    }
}

/// The JSON text of an answer that fits the schema: the whole answer, or the one fenced block that
/// it is.
///
/// # Errors
/// Why it does not fit, for whoever may answer once more.
pub fn fitting(schema: &[u8], answer: &[u8]) -> Result<String, String> {
    let validator = validator(schema)?;
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
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .take(FAULTS_TOLD)
        .map(|fault| format!("at {}/: {fault}", fault.instance_path()))
        .collect();
    if faults.is_empty() {
        return Ok(format!("{text}\n"));
    }
    Err(cut(&faults.join("; ")))
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

/// What a prompt says of the schema; `again` is why the answer before this one did not do.
#[must_use]
pub fn sentence(schema: &str, again: Option<&str>) -> String {
    let mut text = String::from(
        "\n\nYour final answer must be one JSON value that fits this JSON Schema, and nothing \
         beside it: no other text, no comment.\n\n```json\n",
    );
    text.push_str(schema.trim());
    text.push_str("\n```\n");
    if let Some(reason) = again {
        text.push_str("\nYou were asked this before, and your answer did not fit. Answer again.\n");
        // An agent wrote parts of it: quoted, so that it is no instruction.
        for line in reason.lines() {
            text.push_str("> ");
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Whether every object of the schema names all its members as required and allows no others:
/// providers that enforce a schema take no other ones.
#[must_use]
pub fn is_strict(schema: &[u8]) -> bool {
    fn strict(value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                let is_object = members.get("type").is_none_or(|kind| kind == "object")
                    && members.contains_key("properties");
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
            (
                r##"{"$ref": "#/a", "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}"##,
                "back to itself",
            ),
            (r#"{"$ref": "https://example.com/schema"}"#, "nowhere"),
            (r#"{"$ref": "other.json"}"#, "nowhere"),
            (r##"{"$dynamicRef": "#a"}"##, "$dynamicRef"),
            (r#"{"not": {"$id": "x", "not": {}}}"#, "$id"),
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
        let shared = br##"{"$defs": {"a": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/a"}}"##;
        assert_eq!(check(shared), Ok(()));
        assert!(fitting(shared, b"[1, 2]").is_ok() && fitting(shared, b"[1.5]").is_err());
        let large = format!("{{\"description\": \"{}\"}}", "x".repeat(70_000));
        assert!(check(large.as_bytes()).is_err());
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
        for schema in [
            r#"{"type": "array"}"#,
            r#"{"type": "object", "properties": {"a": {}}, "required": ["a"]}"#,
            r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}},
                "required": ["a"], "additionalProperties": false}"#,
        ] {
            assert!(!is_strict(schema.as_bytes()), "{schema}");
        }
    }
}
