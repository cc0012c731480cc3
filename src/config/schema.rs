//! The JSON schema of `run-loop.yaml`: the shapes of its keys, and what keys ask of each other.
//!
//! What only a look at the repository or at other files can tell is left to the program: whether a name is
//! an agent's or a profile's, and whether a glob is one.

use serde_json::{Value, json};

use crate::config::agents::CHECKS;
use crate::config::keys;

/// A plain path below the repository's root: relative, without `.`, `..` and `.git`.
const PLAIN: &str =
    r"^(?!(.*/)?(\.|\.\.|\.[gG][iI][tT])(/|$))(?!/)(?!.*//)(?!.*/$)[^\\\u0000-\u001f\u007f]+$";

/// The schema.
#[must_use]
pub fn config() -> Value {
    let mut schema = keys::ROOT.schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("run-loop.yaml");
    let sections = &mut schema["properties"];
    sections["agents"]["propertyNames"]["not"] = json!({"const": CHECKS});
    sections["agents"]["additionalProperties"]["allOf"] = agent();
    sections["reports"]["pattern"] = json!(PLAIN);
    sections["cache"]["items"]["pattern"] = json!(PLAIN);
    // Known words of a later version are told apart from unknown ones, and are refused all the same.
    sections["policy"]["properties"]["attest"]["enum"] = json!(["journal", "files"]);
    sections["policy"]["properties"]["carry"]["enum"] = json!(["identity", "none"]);
    schema
}

/// What one key of an agent asks of the others.
fn agent() -> Value {
    let kind = |kind: &str| json!({"properties": {"kind": {"const": kind}}, "required": ["kind"]});
    let without = |keys: &[&str]| {
        let absent = keys.iter().map(|key| json!({"not": {"required": [key]}}));
        json!({"allOf": absent.collect::<Vec<_>>()})
    };
    let local = json!({"properties": {"remote": {"const": false}}});
    json!([
        {"oneOf": [{"required": ["kind"]}, {"required": ["profile"]}]},
        {"properties": {"command": {"minItems": 1}}},
        {"if": kind("command"), "then": {"required": ["command"]}},
        {"if": kind("human"), "then": {"allOf": [without(&["command"]), local,
            {"properties": {"contract": {"const": "line"}}}]}},
        {"if": {"anyOf": [{"required": ["profile"]}, kind("acp")]},
            "then": {"allOf": [without(&["prompt", "output", "report"]), local]},
            "else": without(&["model", "effort"])},
    ])
}
