//! The messages of the protocol's version 1 that we send, and what we read in those of the agent.
//!
//! Not the protocol's own crates: they have `serde_json` keep the order of keys, everywhere in the
//! program that they are linked into, and digests of ours are of sorted keys. What is read is little and
//! read leniently; what decides (the end of a turn, the kind of an option) is read strictly.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The version that we speak.
pub(super) const VERSION: u64 = 1;

/// The code of an error: a login is missing.
pub(super) const NO_LOGIN: i64 = -32000;
/// The code of an error: nobody here does that.
const UNKNOWN: i64 = -32601;
/// The code of an error: what came with it does not read.
const UNREADABLE: i64 = -32602;

/// What is asked of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ask<'a> {
    /// What it can, with what we offer: no files and no terminals.
    Initialize,
    /// A new session.
    New(Place<'a>),
    /// An old session, without what was said in it.
    Resume(&'a str, Place<'a>),
    /// An old session, with what was said in it.
    Load(&'a str, Place<'a>),
    /// A mode of the session.
    Mode(&'a str, &'a str),
    /// A value of one of the session's options.
    Option(&'a str, &'a str, &'a str),
    /// An answer to this.
    Prompt(&'a str, &'a str),
}

/// Where a session works, and what is said of it beside the protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// Its folder.
    pub(super) cwd: &'a Path,
    /// Others that it reads in besides.
    pub(super) besides: &'a [PathBuf],
    /// By names of the agent's own.
    pub(super) meta: Option<&'a Value>,
}

impl Ask<'_> {
    /// What is asked, in the protocol's words.
    pub(super) fn method(self) -> &'static str {
        self.said().0
    }

    /// The request, under this id.
    pub(super) fn request(self, id: i64) -> Value {
        let (method, params) = self.said();
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    fn said(self) -> (&'static str, Value) {
        let own = json!({"name": "run-loop", "version": env!("CARGO_PKG_VERSION")});
        match self {
            Self::Initialize => (
                "initialize",
                json!({
                    "protocolVersion": VERSION,
                    "clientCapabilities": {
                        "fs": {"readTextFile": false, "writeTextFile": false},
                        "terminal": false,
                    },
                    "clientInfo": own,
                }),
            ),
            Self::New(place) => ("session/new", place.told()),
            Self::Resume(session, place) => ("session/resume", of(session, place.told())),
            Self::Load(session, place) => ("session/load", of(session, place.told())),
            Self::Mode(session, mode) => ("session/set_mode", of(session, json!({"modeId": mode}))),
            Self::Option(session, option, value) => (
                "session/set_config_option",
                of(session, json!({"configId": option, "value": value})),
            ),
            Self::Prompt(session, text) => (
                "session/prompt",
                of(session, json!({"prompt": [{"type": "text", "text": text}]})),
            ),
        }
    }
}

impl Place<'_> {
    /// Others' servers are none of ours.
    fn told(self) -> Value {
        let mut place = json!({"cwd": self.cwd, "mcpServers": []});
        if !self.besides.is_empty() {
            place["additionalDirectories"] = json!(self.besides);
        }
        if let Some(meta) = self.meta {
            place["_meta"] = meta.clone();
        }
        place
    }
}

/// What is asked of a session.
fn of(session: &str, mut params: Value) -> Value {
    params["sessionId"] = json!(session);
    params
}

/// That the turn of a session is to end.
pub(super) fn cancel(session: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
}

/// The answer to a request of the agent's.
pub(super) fn answer(id: &Value, outcome: &Outcome) -> Value {
    let error = |code, message| json!({"code": code, "message": message});
    let (key, value) = match outcome {
        Outcome::Selected(option) => (
            "result",
            json!({"outcome": {"outcome": "selected", "optionId": option}}),
        ),
        Outcome::Cancelled => ("result", json!({"outcome": {"outcome": "cancelled"}})),
        Outcome::Unreadable => ("error", error(UNREADABLE, "Invalid params")),
        Outcome::Unknown => ("error", error(UNKNOWN, "Method not found")),
    };
    let mut message = json!({"jsonrpc": "2.0", "id": id});
    message[key] = value;
    message
}

/// What is answered to an agent that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The option of this id.
    Selected(String),
    /// None of the options.
    Cancelled,
    /// What it asks does not read.
    Unreadable,
    /// Nobody here does that.
    Unknown,
}

/// The request for a permission.
pub(super) const PERMISSION: &str = "session/request_permission";

/// One thing that may be answered to a request for a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// By this it is answered.
    pub(super) id: String,
    /// What it means.
    pub(super) kind: String,
}

/// The choices of a request for a permission; `None` where they do not read.
pub(super) fn choices(params: &Value) -> Option<Vec<Choice>> {
    let options = params.get("options")?.as_array()?;
    let choice = |option: &Value| {
        Some(Choice {
            id: option.get("optionId")?.as_str()?.to_owned(),
            kind: option.get("kind")?.as_str()?.to_owned(),
        })
    };
    options.iter().map(choice).collect()
}

/// What an agent says that it can.
#[derive(Debug, Clone, Copy)]
pub(super) struct Can {
    /// Continue a session without telling it again.
    pub(super) resumes: bool,
    /// Continue a session that it tells again.
    pub(super) loads: bool,
    /// Read in more than one folder.
    pub(super) reads_besides: bool,
}

impl Can {
    /// As its answer says, if it speaks our version; else the version that it speaks.
    pub(super) fn of(answer: &Value) -> Result<Self, Option<u64>> {
        let version = answer.get("protocolVersion").and_then(Value::as_u64);
        if version != Some(VERSION) {
            return Err(version);
        }
        let told = |name: &str| answer.pointer(&format!("/agentCapabilities/{name}"));
        let session =
            |name: &str| told(&format!("sessionCapabilities/{name}")).is_some_and(Value::is_object);
        Ok(Self {
            resumes: session("resume"),
            loads: told("loadSession") == Some(&Value::Bool(true)),
            reads_besides: session("additionalDirectories"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Word for word as real agents were asked, and answered.
    #[test]
    fn what_is_asked_is_the_protocol() {
        let (besides, meta) = ([PathBuf::from("/evidence")], json!({"own": 1}));
        let place = |besides, meta| Place {
            cwd: Path::new("/repo"),
            besides,
            meta,
        };
        for (ask, method, params) in [
            (
                Ask::New(place(&[], None)),
                "session/new",
                json!({"cwd": "/repo", "mcpServers": []}),
            ),
            (
                Ask::Load("s", place(&besides, Some(&meta))),
                "session/load",
                json!({"sessionId": "s", "cwd": "/repo", "mcpServers": [],
                       "additionalDirectories": ["/evidence"], "_meta": {"own": 1}}),
            ),
            (
                Ask::Mode("s", "read-only"),
                "session/set_mode",
                json!({"sessionId": "s", "modeId": "read-only"}),
            ),
            (
                Ask::Option("s", "model", "m"),
                "session/set_config_option",
                json!({"sessionId": "s", "configId": "model", "value": "m"}),
            ),
            (
                Ask::Prompt("s", "Say hello."),
                "session/prompt",
                json!({"sessionId": "s", "prompt": [{"type": "text", "text": "Say hello."}]}),
            ),
        ] {
            let request = ask.request(3);
            assert_eq!(
                request,
                json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": params})
            );
        }
        assert_eq!(
            answer(&json!("p"), &Outcome::Selected("reject".to_owned())),
            json!({"jsonrpc": "2.0", "id": "p",
                   "result": {"outcome": {"outcome": "selected", "optionId": "reject"}}})
        );
    }

    #[test]
    fn what_an_agent_can_is_what_it_says() {
        let can = |answer: Value| Can::of(&answer);
        let all = can(
            json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true,
            "sessionCapabilities": {"resume": {}, "additionalDirectories": {}}}}),
        );
        let all = all.unwrap();
        assert!(all.resumes && all.loads && all.reads_besides);
        let none = can(
            json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": "yes",
            "sessionCapabilities": {"resume": null}}}),
        );
        let none = none.unwrap();
        assert!(!none.resumes && !none.loads && !none.reads_besides);
        assert!(matches!(can(json!({"protocolVersion": 2})), Err(Some(2))));
        assert!(matches!(can(json!({})), Err(None)));
    }
}
