//! Whether a schema has an end, and how much of it is held against a value: an agent may have written it, and
//! it is used within the engine.
//!
//! One that holds itself has no end of its own. Where each way back leads into a part of the value it ends with
//! that, and what is held against a value is as much of it as the value is deep.

use serde_json::Value;

/// How deep a schema may be, references followed.
const DEPTH: u32 = 64;
/// How many values of a schema are looked at, references followed.
const LOOKED_AT: u32 = 20_000;

/// What a schema is like that has an end.
#[derive(Debug)]
pub(super) struct Looked {
    /// How many values it has, references followed; of one that holds itself, once.
    pub(super) values: u32,
    /// Whether it holds itself.
    pub(super) holds_itself: bool,
}

/// Looks at a schema.
///
/// # Errors
/// Why it has no end, or none that can be seen.
pub(super) fn look(schema: &Value) -> Result<Looked, String> {
    let mut bounds = Bounds::new(schema, None);
    bounds.hold(schema, Part::Schema, At::default())?;
    let holds_itself = bounds.holds_itself;
    if holds_itself && let Some(name) = bounds.looks_back {
        return Err(format!(
            "`{name}` in a schema that holds itself is not supported"
        ));
    }
    Ok(Looked {
        values: LOOKED_AT - bounds.left,
        holds_itself,
    })
}

/// How many values of a schema are held against a value that is so deep.
///
/// # Errors
/// When these are too many.
pub(super) fn unrolled(schema: &Value, deepest: u32) -> Result<u32, String> {
    let mut bounds = Bounds::new(schema, Some(deepest));
    bounds.hold(schema, Part::Schema, At::default())?;
    Ok(LOOKED_AT - bounds.left)
}

/// How deep a value is: one that holds nothing is not.
pub(super) fn depth_of(value: &Value) -> u32 {
    let deepest = match value {
        Value::Object(members) => members.values().map(depth_of).max(),
        Value::Array(items) => items.iter().map(depth_of).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    deepest.map_or(0, |deepest| deepest + 1)
}

struct Bounds<'s> {
    root: &'s Value,
    /// The references that are being followed, each with how deep in the value it stands.
    within: Vec<(&'s str, u32)>,
    /// How many values may still be looked at.
    left: u32,
    /// How deep the value is, where it is known.
    deepest: Option<u32>,
    holds_itself: bool,
    /// A keyword for which what stands beside it is held once more.
    looks_back: Option<&'s str>,
}

/// Where in a schema.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    /// How deep, references followed.
    depth: u32,
    /// How deep in the value that is held against this part.
    level: u32,
}

impl At {
    fn below(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

/// What a part of a schema is.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// A schema: its members are keywords, known ones or not.
    Schema,
    /// Schemas by names, which are no keywords.
    Named,
    /// A value: nothing in it is a keyword.
    Value,
}

impl Part {
    /// What the member of this name is.
    fn member(self, name: &str, member: &Value) -> Self {
        match (self, name) {
            (Self::Value, _) | (Self::Schema, "enum" | "const" | "default" | "examples") => {
                Self::Value
            }
            (
                Self::Schema,
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependencies"
                | "dependentSchemas",
            ) if member.is_object() => Self::Named,
            (Self::Schema | Self::Named, _) => Self::Schema,
        }
    }
    /// Whether what stands in the member of this name is held against a part of the value alone. Of a keyword
    /// that is not known nobody knows.
    fn descends(self, name: &str) -> bool {
        let into = [
            "properties",
            "patternProperties",
            "additionalProperties",
            "items",
            "prefixItems",
            "additionalItems",
            "contains",
        ];
        matches!(self, Self::Schema) && into.contains(&name)
    }
}

impl<'s> Bounds<'s> {
    fn new(root: &'s Value, deepest: Option<u32>) -> Self {
        Self {
            root,
            within: Vec::new(),
            left: LOOKED_AT,
            deepest,
            holds_itself: false,
            looks_back: None,
        }
    }

    fn hold(&mut self, value: &'s Value, part: Part, at: At) -> Result<(), String> {
        if self.deepest.is_some_and(|deepest| at.level > deepest) {
            // Nothing of the value is there.
            return Ok(());
        }
        self.left = self
            .left
            .checked_sub(1)
            .filter(|_| at.depth < DEPTH)
            .ok_or_else(|| "it is too large or too deep, references followed".to_owned())?;
        match value {
            Value::Object(members) => {
                for (name, inner) in members {
                    if let (Value::String(to), Part::Schema | Part::Named) = (inner, part) {
                        self.refer(name, to, at)?;
                    }
                    if let (Part::Schema, "unevaluatedItems" | "unevaluatedProperties") =
                        (part, name.as_str())
                    {
                        self.looks_back = Some(name);
                    }
                    let mut below = at.below();
                    below.level += u32::from(part.descends(name));
                    self.hold(inner, part.member(name, inner), below)?;
                }
                Ok(())
            }
            Value::Array(items) => {
                let mut items = items.iter();
                items.try_for_each(|item| self.hold(item, part, at.below()))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn refer(&mut self, name: &str, to: &'s str, at: At) -> Result<(), String> {
        match name {
            // The validator decodes it before it follows it: then it leads elsewhere than here.
            "$ref" if to.contains('%') => Err(format!("`$ref: {to}`: `%` in it is not supported")),
            "$ref" => {
                let part = to
                    .strip_prefix('#')
                    .and_then(|path| self.root.pointer(path));
                let part = part.ok_or_else(|| format!("`$ref: {to}` leads nowhere in it"))?;
                if self.within.contains(&(to, at.level)) {
                    return Err(format!(
                        "`$ref: {to}` leads back to itself without going into a part of the value"
                    ));
                }
                let is_within = self.within.iter().any(|(of, _)| *of == to);
                self.holds_itself |= is_within;
                if is_within && self.deepest.is_none() {
                    // What follows is what was looked at already.
                    return Ok(());
                }
                self.within.push((to, at.level));
                self.hold(part, Part::Schema, at.below())?;
                self.within.pop();
                Ok(())
            }
            // Where these lead is not seen from here.
            "$dynamicRef" | "$recursiveRef" => Err(format!("`{name}` is not supported")),
            "$id" | "id" if at.depth > 0 => Err(format!("`{name}` inside of it is not supported")),
            _ => Ok(()),
        }
    }
}
