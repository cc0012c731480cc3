//! The published schema and the reader agree on every shape.

use run_loop::contract::schema;
use serde_json::{Value, json};

use crate::fixture::{PASSING, REFUSING, read, report, valid};

/// A check by the schema's keywords that are used here; any other keyword fails the test.
fn fits(schema: &Value, value: &Value) -> bool {
    schema
        .as_object()
        .unwrap()
        .iter()
        .all(|(keyword, rule)| match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "type" => {
                let types = rule
                    .as_array()
                    .cloned()
                    .unwrap_or_else(|| vec![rule.clone()]);
                types.iter().any(|name| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "null" => value.is_null(),
                    other => panic!("type {other}"),
                })
            }
            "required" => rule
                .as_array()
                .unwrap()
                .iter()
                .all(|name| value.get(name.as_str().unwrap()).is_some()),
            "anyOf" => rule
                .as_array()
                .unwrap()
                .iter()
                .any(|rule| fits(rule, value)),
            "properties" => value.as_object().is_none_or(|members| {
                members
                    .iter()
                    .all(|(name, value)| rule.get(name).is_none_or(|rule| fits(rule, value)))
            }),
            "additionalProperties" => value.as_object().is_none_or(|members| {
                let known = |name: &str| {
                    schema
                        .get("properties")
                        .is_some_and(|p| p.get(name).is_some())
                };
                let mut others = members.iter().filter(|(name, _)| !known(name));
                if *rule == json!(false) {
                    others.next().is_none()
                } else {
                    others.all(|(_, value)| fits(rule, value))
                }
            }),
            "items" => value
                .as_array()
                .is_none_or(|items| items.iter().all(|item| fits(rule, item))),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
            "minLength" => value
                .as_str()
                .is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().unwrap()),
            "maxLength" => value
                .as_str()
                .is_none_or(|text| text.chars().count() as u64 <= rule.as_u64().unwrap()),
            "minimum" => value
                .as_u64()
                .is_none_or(|number| number >= rule.as_u64().unwrap()),
            "maximum" => value
                .as_u64()
                .is_none_or(|number| number <= rule.as_u64().unwrap()),
            "pattern" => value.as_str().is_none_or(|text| {
                regex::Regex::new(rule.as_str().unwrap())
                    .unwrap()
                    .is_match(text)
            }),
            other => panic!("keyword {other}"),
        })
}

fn parsed(block: &str) -> Value {
    serde_json::from_str(block).unwrap()
}

#[test]
fn valid_blocks_fit_the_schema() {
    let full = PASSING.replace(
        "[]",
        r#"[{"title": "t", "severity": "P3", "blocking": false, "path": null, "line": 1, "end_line": 2, "body": "b", "pre_existing": false}],
        "prior": [{"finding": "F-3", "disposition": "fixed", "note": "n"}], "plan": [{"item": 1, "state": "met", "note": "n"}]"#,
    );
    for block in [PASSING, REFUSING, &full] {
        valid(read(report(block)));
        assert!(fits(&schema::verdict(), &parsed(block)), "{block}");
    }
}

/// Take a member away, add one, or turn one into something else: schema and reader say the same.
#[test]
fn the_schema_and_the_reader_refuse_the_same_shapes() {
    let whole = parsed(REFUSING);
    let mut shapes = Vec::new();
    for name in whole.as_object().unwrap().keys() {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(name);
        shapes.push(less);
        for other in [
            json!(7),
            json!("x"),
            json!(null),
            json!([7]),
            json!({"x": 7}),
        ] {
            let mut changed = whole.clone();
            changed[name.as_str()] = other;
            shapes.push(changed);
        }
    }
    for name in [
        "title",
        "severity",
        "path",
        "line",
        "end_line",
        "body",
        "blocking",
        "pre_existing",
        "more",
    ] {
        for other in [json!(7), json!("x"), json!(null), json!(true), json!("")] {
            let mut changed = whole.clone();
            changed["findings"][0][name] = other;
            shapes.push(changed);
        }
    }
    let schema = schema::verdict();
    let mut refused = 0;
    for shape in shapes {
        let reading = read(report(&shape.to_string()));
        let accepted = matches!(reading, run_loop::domain::job::Reading::Review(_));
        let fits = fits(&schema, &shape);
        // The schema cannot compare: a nonce or tree of the right shape, two lines' order.
        assert!(
            fits || !accepted,
            "the reader takes what the schema refuses: {shape}"
        );
        refused += usize::from(!fits);
    }
    assert!(refused > 50, "{refused}");
}
