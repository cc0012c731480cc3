//! The JSON Schema of the verdict block, for `run-loop schema verdict`.

use serde_json::{Value, json};

use crate::contract::verdict::{DISPOSITIONS, LIST_CAP, PLAN_STATES, TEXT_CAP, TITLE_CAP};

/// The schema of the JSON in a `run-loop-verdict` block, version 1.
///
/// It says what a block looks like. Whether nonce, tree, receipts and coverage are right, and
/// whether a PASS stands beside a blocking finding, no schema can say: [`super::review::read`] does.
#[must_use]
pub fn verdict() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "run-loop-verdict",
        "description": "The block that ends a review's report, version 1.",
        "type": "object",
        "additionalProperties": false,
        "required": ["version", "nonce", "tree", "verdict", "summary"],
        "properties": {
            "version": {"const": 1},
            "nonce": {"type": "string", "pattern": "^[0-9a-f]+$", "maxLength": TITLE_CAP, "description": "The prompt's nonce."},
            "tree": {"type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$", "description": "The prompt's tree."},
            "verdict": {"enum": ["PASS", "NOT PASS"]},
            "summary": {"type": "string", "maxLength": TEXT_CAP, "description": "One paragraph."},
            "receipts": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "The receipt at the end of each part of the diff, by the part's name. PASS needs all of them."
            },
            "coverage": {
                "type": "array",
                "items": covered(),
                "description": "The changed files. PASS needs each of them as read, up to 200 files."
            },
            "findings": {"type": "array", "maxItems": LIST_CAP, "items": finding()},
            "prior": {"type": "array", "maxItems": LIST_CAP, "items": prior()},
            "plan": {"type": "array", "maxItems": LIST_CAP, "items": plan()}
        }
    })
}

fn covered() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["how"],
        "anyOf": [{"required": ["path"]}, {"required": ["path_b64"]}],
        "properties": {
            "path": {"type": ["string", "null"]},
            "path_b64": path_b64(),
            "how": {"enum": ["read", "not-read"]}
        }
    })
}

fn finding() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["title", "severity", "body"],
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": TITLE_CAP},
            "severity": {
                "enum": ["critical", "high", "medium", "low", "info", "P0", "P1", "P2", "P3"]
            },
            "blocking": {"type": "boolean", "default": false},
            "path": {"type": ["string", "null"], "description": "Null or absent: the change as a whole."},
            "path_b64": path_b64(),
            "line": line(),
            "end_line": line(),
            "body": {"type": "string", "maxLength": TEXT_CAP},
            "pre_existing": {
                "type": "boolean",
                "default": false,
                "description": "Believed only if the cited lines are unchanged since the base."
            }
        }
    })
}

fn prior() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["finding", "disposition"],
        "properties": {
            "finding": {"type": "string", "pattern": "^F-[0-9]+$"},
            "disposition": {"enum": DISPOSITIONS},
            "note": {"type": "string", "maxLength": TEXT_CAP}
        }
    })
}

fn plan() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["item", "state"],
        "properties": {
            "item": {"type": "integer", "minimum": 0},
            "state": {"enum": PLAN_STATES},
            "note": {"type": "string", "maxLength": TEXT_CAP, "description": "Must say why for `deviated`."}
        }
    })
}

fn path_b64() -> Value {
    json!({"type": ["string", "null"], "description": "The path's bytes in base64, where it is no text."})
}

fn line() -> Value {
    json!({"type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX})
}
