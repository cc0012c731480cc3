//! The scripted model server, `model.py`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::skipped;

/// A model server that answers by a script; it ends with this value.
pub(crate) struct Model {
    server: Child,
    folder: PathBuf,
    pub(crate) port: u16,
}

impl Model {
    /// Starts the server and waits until it listens.
    pub(crate) fn start(folder: &Path, script: &Value) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_agents/model.py");
        let mut server = Command::new("python3")
            .arg(program)
            .arg("--script")
            .arg(&path)
            .arg("--log")
            .arg(folder.join("log"))
            .arg("--bodies")
            .arg(folder.join("bodies"))
            // A test that is killed ends it, too.
            .arg("--while-open")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut printed = BufReader::new(server.stdout.take().unwrap());
        printed.read_line(&mut line).unwrap();
        Self {
            server,
            folder: folder.to_owned(),
            port: line.trim().parse().unwrap(),
        }
    }
    /// The lines of its log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
    /// How many requests hold this text.
    pub(crate) fn requests_with(&self, text: &str) -> usize {
        let bodies = std::fs::read_dir(self.folder.join("bodies")).unwrap();
        bodies
            .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
            .filter(|body| body.contains(text))
            .count()
    }
    /// Every text of every request.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(self.folder.join("bodies")).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            if let Ok(body) = serde_json::from_slice(&bytes) {
                collect(&body, &mut texts);
            }
        }
        texts
    }
    /// The same without the prompts of ours.
    pub(crate) fn texts_beside_prompts(&self) -> Vec<String> {
        let mut texts = self.texts();
        texts.retain(|text| !text.contains("\nNonce: "));
        texts
    }
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(entries) => entries.values().for_each(|item| collect(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Who is killed ends nothing: the end of its pipe does.
#[test]
fn a_model_ends_with_whoever_asked_for_it() {
    let here = Command::new("python3").arg("--version").output();
    if here.is_err() {
        return skipped("python3");
    }
    let folder = tempfile::tempdir().unwrap();
    let replies = serde_json::json!({"replies": [{"text": "Hello."}]});
    let mut model = Model::start(folder.path(), &replies);
    drop(model.server.stdin.take());
    assert_eq!(model.server.wait().unwrap().code(), Some(0));
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}
