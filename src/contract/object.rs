//! A JSON object whose members are taken by name and kind, with every fault told to the agent.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::contract::json::Json;
use crate::contract::text::excerpt;
use crate::contract::verdict::{Place, TEXT_CAP};
use crate::domain::path::RepoPath;

/// A JSON object whose members are checked as they are taken.
pub(super) struct Object<'j> {
    pub(super) at: &'j str,
    pub(super) json: &'j Json,
}

impl<'j> Object<'j> {
    /// Says what is wrong with the names: unknown ones, repeated ones.
    pub(super) fn open(
        json: &'j Json,
        at: &'j str,
        known: &[&str],
        problems: &mut Vec<String>,
    ) -> Option<Self> {
        let Json::Object(members) = json else {
            problems.push(format!("`{at}` must be an object, not {}", json.kind()));
            return None;
        };
        let mut seen = HashSet::new();
        for (name, _) in members {
            if !known.contains(&name.as_str()) {
                problems.push(format!("`{at}` has an unknown field {}", excerpt(name)));
            } else if !seen.insert(name) {
                problems.push(format!("`{at}` has the field {} twice", excerpt(name)));
            }
        }
        Some(Self { at, json })
    }
    pub(super) fn get(&self, name: &'j str) -> Option<&'j Json> {
        self.json.all(name).next()
    }
    /// Text that must be there.
    pub(super) fn text(&self, name: &'j str, cap: usize, problems: &mut Vec<String>) -> String {
        let Some(text) = self.get(name).and_then(Json::as_text) else {
            problems.push(format!("{} must be there, as text", self.field(name)));
            return String::new();
        };
        self.check_length(name, text, cap, problems);
        text.to_owned()
    }
    /// Text that may be absent; then it is empty.
    pub(super) fn optional_text(&self, name: &'j str, problems: &mut Vec<String>) -> &'j str {
        match self.get(name) {
            None => "",
            Some(Json::Text(text)) => {
                self.check_length(name, text, TEXT_CAP, problems);
                text
            }
            Some(other) => {
                problems.push(format!(
                    "{} must be text, not {}",
                    self.field(name),
                    other.kind()
                ));
                ""
            }
        }
    }
    fn check_length(&self, name: &str, text: &str, cap: usize, problems: &mut Vec<String>) {
        if text.chars().count() > cap {
            problems.push(format!(
                "{} is longer than {cap} characters",
                self.field(name)
            ));
        }
    }
    pub(super) fn word(&self, name: &'j str, words: &[&str], problems: &mut Vec<String>) {
        let word = self.get(name).and_then(Json::as_text);
        if !word.is_some_and(|word| words.contains(&word)) {
            problems.push(format!(
                "{} must be one of: {}",
                self.field(name),
                words.join(", ")
            ));
        }
    }
    pub(super) fn flag(&self, name: &'j str, problems: &mut Vec<String>) -> bool {
        match self.get(name) {
            None => false,
            Some(Json::Bool(flag)) => *flag,
            Some(other) => {
                problems.push(format!(
                    "{} must be true or false, not {}",
                    self.field(name),
                    other.kind()
                ));
                false
            }
        }
    }
    pub(super) fn line(&self, name: &'j str, problems: &mut Vec<String>) -> Option<u32> {
        match self.get(name) {
            None | Some(Json::Null) => None,
            Some(Json::Natural(line @ 1..)) if u32::try_from(*line).is_ok() => {
                u32::try_from(*line).ok()
            }
            Some(_) => {
                problems.push(format!(
                    "{} must be a line's number from 1, or null",
                    self.field(name)
                ));
                None
            }
        }
    }
    /// A file: `path_b64` decides where it is given. Null, absent and empty mean no file.
    pub(super) fn place(&self, problems: &mut Vec<String>) -> Option<Place> {
        let exact = match self.get("path_b64") {
            None | Some(Json::Null) => None,
            Some(json) => {
                let bytes = json.as_text().and_then(|text| STANDARD.decode(text).ok());
                if bytes.is_none() {
                    problems.push(format!("{} must be base64", self.field("path_b64")));
                }
                bytes.map(|bytes| Place::Exact(RepoPath::new(bytes)))
            }
        };
        let text = match self.get("path") {
            None | Some(Json::Null) => None,
            Some(Json::Text(path)) if path.is_empty() => None,
            Some(Json::Text(path)) => Some(Place::Text(path.clone())),
            Some(other) => {
                problems.push(format!(
                    "{} must be text or null, not {}",
                    self.field("path"),
                    other.kind()
                ));
                None
            }
        };
        exact.or(text)
    }
    /// The elements of a list that may be absent, each with its place in words.
    pub(super) fn list(
        &self,
        name: &'j str,
        cap: usize,
        problems: &mut Vec<String>,
    ) -> Vec<(String, &'j Json)> {
        let Some(json) = self.get(name) else {
            return Vec::new();
        };
        if !matches!(json, Json::List(_)) {
            problems.push(format!(
                "{} must be a list, not {}",
                self.field(name),
                json.kind()
            ));
        }
        let elements = json.elements();
        if elements.len() > cap {
            problems.push(format!(
                "{} has {} entries; at most {cap} are read",
                self.field(name),
                elements.len()
            ));
        }
        let named = elements.iter().enumerate();
        named
            .map(|(nth, element)| (format!("{name}[{nth}]"), element))
            .collect()
    }
    fn field(&self, name: &str) -> String {
        if self.at == "the block" {
            format!("`{name}`")
        } else {
            format!("`{}.{name}`", self.at)
        }
    }
}
