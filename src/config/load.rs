//! Merging the layers.

use serde_json::Value as Json;

use crate::config::layer::{Layer, Origin};
use crate::config::settings::Settings;
use crate::config::sources::{Override, Sources};
use crate::config::yaml::{Mark, Node, Value};
use crate::config::{keys, profiles, shape, yaml};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::profile::Profile;

/// The lowest layer.
pub const DEFAULTS: &str = include_str!("defaults.yaml");

/// The name of the repository's file, at its root.
pub const FILE_NAME: &str = "run-loop.yaml";

/// The effective configuration, each value with its origin.
#[derive(Debug, Clone)]
pub struct Config {
    /// The values.
    pub settings: Settings,
    /// Things to tell the user, each said once.
    pub notices: Vec<String>,
    /// The working copy's file, where it counts: its hash, and whether it is trusted.
    pub working_copy: Option<(Digest, bool)>,
    /// The hash of the values.
    pub sha256: Digest,
    /// Profiles of the user's own, which replace the embedded ones of their names.
    pub profiles: Vec<Profile>,
    tree: Node,
    layers: Vec<Source>,
}

#[derive(Debug, Clone)]
struct Source {
    layer: Layer,
    name: Option<String>,
    /// Empty for overrides, which have no lines.
    bytes: Vec<u8>,
}

/// A value with its origin, as `config show` prints it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Row {
    /// The full path: `review.max-rounds`.
    pub key: String,
    /// The value.
    pub value: Json,
    /// Where it comes from.
    pub origin: Origin,
}

/// Merges the layers, strongest last.
///
/// # Errors
/// `ConfigInvalid` with file, line and path for the first thing that is wrong in any layer.
pub fn load(sources: &Sources) -> Result<Config, Failure> {
    let mut loading = Loading::default();
    loading.file(Layer::Default, None, DEFAULTS.as_bytes())?;
    if let Some(file) = &sources.user_file {
        loading.file(Layer::User, Some(&file.name), &file.bytes)?;
    }
    let mut working_copy = None;
    match (&sources.base_file, &sources.working_copy) {
        (Some(file), copy) => {
            loading.file(Layer::Repository, Some(&file.name), &file.bytes)?;
            if copy
                .as_ref()
                .is_some_and(|copy| copy.file.bytes != file.bytes)
            {
                loading.notices.push(format!(
                    "{FILE_NAME} differs from the base's; the one at the base counts"
                ));
            }
        }
        (None, Some(copy)) => {
            loading.file(Layer::WorkingCopy, Some(&copy.file.name), &copy.file.bytes)?;
            working_copy = Some((Digest::of(&copy.file.bytes), copy.trusted));
        }
        (None, None) => {}
    }
    for value in &sources.overrides {
        loading.set(value)?;
    }
    let profiles = sources.profiles.iter().map(profiles::read);
    let profiles = profiles.collect::<Result<_, _>>()?;
    loading.finish(working_copy, profiles)
}

#[derive(Default)]
struct Loading {
    layers: Vec<Source>,
    tree: Option<Node>,
    notices: Vec<String>,
}

impl Loading {
    fn file(&mut self, layer: Layer, name: Option<&str>, bytes: &[u8]) -> Result<(), Failure> {
        let source = self.layers.len();
        self.layers.push(Source {
            layer,
            name: name.map(str::to_owned),
            bytes: bytes.to_vec(),
        });
        let mut node = yaml::read(bytes, source).map_err(|error| {
            let origin = Origin {
                layer,
                file: name.map(str::to_owned),
                line: error.line,
            };
            invalid(&origin, &error.message)
        })?;
        shape::read(&node, keys::ROOT, "").map_err(|fault| self.fault(&fault))?;
        if let Value::Map(sections) = &mut node.value {
            self.restrict(layer, sections)?;
        }
        self.merge(node);
        Ok(())
    }

    /// Takes out what the layer may not hold: an error in the user's own file, where it can never
    /// count; a notice for the working copy's, which the base will hold one day.
    fn restrict(
        &mut self,
        layer: Layer,
        sections: &mut Vec<(String, Node)>,
    ) -> Result<(), Failure> {
        let (kept, refused): (Vec<_>, Vec<_>) = sections
            .drain(..)
            .partition(|(name, _)| layer.may_hold(name));
        *sections = kept;
        let Some((name, node)) = refused.first() else {
            return Ok(());
        };
        if layer == Layer::User {
            let message = format!(
                "`{name}` is not read from the user's file: it belongs into {FILE_NAME} in the \
                 repository, where the base holds it"
            );
            return Err(invalid(&self.origin(node.source, node.mark), &message));
        }
        let names: Vec<String> = refused
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        self.notices.push(format!(
            "{FILE_NAME} is not at the base yet: its {} do not count before it is there",
            names.join(", ")
        ));
        Ok(())
    }

    fn set(&mut self, value: &Override) -> Result<(), Failure> {
        let source = self.layers.len();
        self.layers.push(Source {
            layer: value.layer,
            name: Some(value.name.to_owned()),
            bytes: Vec::new(),
        });
        let node = |value| Node {
            source,
            mark: 0,
            value,
        };
        let leaf = node(from_json(&value.value, source));
        let section = node(Value::Map(vec![(value.key.to_owned(), leaf)]));
        let root = node(Value::Map(vec![
            ("version".to_owned(), node(Value::Whole(1))),
            (value.section.to_owned(), section),
        ]));
        shape::read(&root, keys::ROOT, "").map_err(|fault| {
            Failure::new(Code::BadValue, format!("{}: {}", value.name, fault.message))
                .next(["run-loop", "--help"])
        })?;
        self.merge(root);
        Ok(())
    }

    fn merge(&mut self, node: Node) {
        self.tree = Some(match self.tree.take() {
            None => node,
            Some(below) => merge(below, node, 0),
        });
    }

    fn fault(&self, fault: &shape::Fault) -> Failure {
        invalid(&self.origin(fault.source, fault.mark), &fault.message)
    }

    fn origin(&self, source: usize, mark: Mark) -> Origin {
        origin(&self.layers, source, mark)
    }

    fn finish(
        self,
        working_copy: Option<(Digest, bool)>,
        profiles: Vec<Profile>,
    ) -> Result<Config, Failure> {
        let broken = |text: String| Failure::new(Code::Internal, text);
        let tree = self
            .tree
            .ok_or_else(|| broken("no layer was read".to_owned()))?;
        let json = shape::read(&tree, keys::ROOT, "").map_err(|fault| {
            invalid(
                &origin(&self.layers, fault.source, fault.mark),
                &fault.message,
            )
        })?;
        let settings: Settings = serde_json::from_value(json)
            .map_err(|error| broken(format!("the checked configuration did not read: {error}")))?;
        let canonical = serde_json::to_vec(&settings)
            .map_err(|error| broken(format!("the configuration did not serialise: {error}")))?;
        Ok(Config {
            settings,
            notices: self.notices,
            working_copy,
            sha256: Digest::of(&canonical),
            profiles,
            tree,
            layers: self.layers,
        })
    }
}

impl Config {
    /// Where a value comes from: `origin(&["roles", "reviewers"])`.
    #[must_use]
    pub fn origin(&self, path: &[&str]) -> Option<Origin> {
        let mut node = &self.tree;
        for name in path {
            let Value::Map(entries) = &node.value else {
                return None;
            };
            node = &entries.iter().find(|(key, _)| key == name)?.1;
        }
        Some(origin(&self.layers, node.source, node.mark))
    }
    /// Every value with its origin, in order. An agent is one value.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let Value::Map(sections) = &self.tree.value else {
            return rows;
        };
        for (name, section) in sections {
            match &section.value {
                Value::Map(entries) => {
                    for (key, entry) in entries {
                        rows.push(self.row(shape::join(name, key), entry));
                    }
                }
                Value::Null
                | Value::Flag(_)
                | Value::Whole(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::List(_) => rows.push(self.row(name.clone(), section)),
            }
        }
        rows
    }
    fn row(&self, key: String, node: &Node) -> Row {
        Row {
            key,
            value: to_json(node),
            origin: origin(&self.layers, node.source, node.mark),
        }
    }
    /// A failure about the value at `path`, with its file and line.
    #[must_use]
    pub fn invalid(&self, path: &[&str], message: &str) -> Failure {
        match self.origin(path) {
            Some(origin) => invalid(&origin, message),
            None => Failure::new(Code::ConfigInvalid, message),
        }
    }
}

fn origin(layers: &[Source], source: usize, mark: Mark) -> Origin {
    let Some(from) = layers.get(source) else {
        return Origin {
            layer: Layer::Default,
            file: None,
            line: None,
        };
    };
    let line = from.name.as_ref().filter(|_| !from.bytes.is_empty());
    Origin {
        layer: from.layer,
        file: from.name.clone(),
        line: line.and_then(|_| yaml::line(&from.bytes, mark)),
    }
}

fn invalid(origin: &Origin, message: &str) -> Failure {
    let place = match (&origin.file, origin.line) {
        (Some(file), Some(line)) => format!("{file}, line {line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    };
    Failure::new(Code::ConfigInvalid, format!("{place}{message}"))
        .next(["run-loop", "schema", "config"])
}

/// Sections are merged key by key, everything below is replaced as a whole: an agent is defined
/// in one place.
fn merge(below: Node, above: Node, depth: usize) -> Node {
    match (below.value, above.value) {
        (Value::Map(mut entries), Value::Map(stronger)) if depth < 2 => {
            for (name, node) in stronger {
                match entries.iter_mut().find(|(key, _)| *key == name) {
                    Some((_, slot)) => {
                        let old = std::mem::replace(
                            slot,
                            Node {
                                source: 0,
                                mark: 0,
                                value: Value::Null,
                            },
                        );
                        *slot = merge(old, node, depth + 1);
                    }
                    None => entries.push((name, node)),
                }
            }
            Node {
                source: above.source,
                mark: above.mark,
                value: Value::Map(entries),
            }
        }
        (_, value) => Node {
            source: above.source,
            mark: above.mark,
            value,
        },
    }
}

fn from_json(value: &Json, source: usize) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(number) => number.as_i64().map_or_else(
            || Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Value::Whole,
        ),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    source,
                    mark: 0,
                    value: from_json(item, source),
                })
                .collect(),
        ),
        Json::Object(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, item)| {
                    (
                        key.clone(),
                        Node {
                            source,
                            mark: 0,
                            value: from_json(item, source),
                        },
                    )
                })
                .collect(),
        ),
    }
}

fn to_json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Flag(flag) => Json::Bool(*flag),
        Value::Whole(number) => Json::from(*number),
        Value::Number(number) => Json::from(*number),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => Json::Object(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), to_json(value)))
                .collect(),
        ),
    }
}
