//! What a client takes down on its standard output: one line of JSON for each thing.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::agent::adapter::words::shortened;
use crate::domain::trouble::Trouble;

/// The record of one talk.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Whether something could not be written: then nobody may take the rest for the whole.
    pub(super) is_broken: bool,
}

impl Record {
    /// A message of the agent's, without what its tools put out and what it could be asked for.
    pub(super) fn agent(&mut self, mut message: Value) {
        if let Some(Value::Object(update)) = message.pointer_mut("/params/update") {
            let of_tool = update
                .get("sessionUpdate")
                .and_then(Value::as_str)
                .is_some_and(|kind| kind.starts_with("tool_call"));
            if of_tool {
                update.remove("content");
                update.remove("rawOutput");
            }
            update.remove("availableCommands");
        }
        self.line(&json!({ "agent": message }));
    }

    /// The session that is asked.
    pub(super) fn session(&mut self, id: &str) {
        self.line(&json!({"session": {"id": id}}));
    }

    /// How a permission was answered.
    pub(super) fn permission(&mut self, title: &str, answer: &str) {
        self.line(&json!({"permission": {"title": shortened(title), "answer": answer}}));
    }

    /// A request that the client does not know.
    pub(super) fn unknown(&mut self, method: &str) {
        self.line(&json!({"unknown": shortened(method)}));
    }

    /// Why there is no answer.
    pub(super) fn failed(&mut self, trouble: Option<Trouble>, message: &str) {
        self.line(&json!({"failed": {"trouble": trouble, "message": shortened(message)}}));
    }

    /// How the agent's program ended; `None`: it is left to the guard.
    pub(super) fn ended(&mut self, status: Option<std::process::ExitStatus>) {
        let how = status.map_or_else(|| "still there".to_owned(), |status| status.to_string());
        self.line(&json!({ "ended": how }));
    }

    fn line(&mut self, value: &Value) {
        let mut out = std::io::stdout().lock();
        let written = writeln!(out, "{value}").and_then(|()| out.flush());
        self.is_broken |= written.is_err();
    }
}
