//! Messages of JSON-RPC, one a line, to and from the agent's program.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::agent::adapter::outcome::shortened;

/// The longest message that is read: tools put out whole files.
const LONGEST: u64 = 32 << 20;
/// How many messages of ours may wait until the agent reads them: answers to what it asked.
const WAITING: usize = 256;

/// A message of the agent's.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// It asks something, and waits for the answer to this id.
    Request {
        /// The id, a number or a text.
        id: Value,
        /// What it asks for.
        method: String,
        /// With what.
        params: Value,
    },
    /// It tells something.
    Notification(Value),
    /// It answers a request of ours.
    Response {
        /// The id of our request.
        id: Value,
        /// Result or error.
        answer: Result<Value, Value>,
    },
}

impl Message {
    /// What a line says; `None` where it is no message.
    fn of(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let id = object.get("id").filter(|id| !id.is_null()).cloned();
        let method = object.get("method").map(|method| method.as_str());
        let error = object.get("error").filter(|error| !error.is_null());
        match (method, id) {
            (Some(method), Some(id)) => Some(Self::Request {
                id,
                method: method?.to_owned(),
                params: object.get("params").cloned().unwrap_or_default(),
            }),
            (Some(method), None) => method.map(|_| Self::Notification(value.clone())),
            (None, Some(id)) => Some(Self::Response {
                id,
                answer: match error {
                    Some(error) => Err(error.clone()),
                    None => Ok(object.get("result")?.clone()),
                },
            }),
            (None, None) => None,
        }
    }
}

/// Hears the agent, also what is no message.
pub(super) fn hear(from: ChildStdout) -> Receiver<Result<Message, String>> {
    let (sender, receiver) = channel(64);
    tokio::spawn(listen(from, sender));
    receiver
}

async fn listen(from: ChildStdout, heard: Sender<Result<Message, String>>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut from).take(LONGEST).read_until(b'\n', &mut line).await;
        let message = match read {
            Ok(0) | Err(_) => return,
            Ok(_) if is_cut(&line) => {
                Err(format!("it printed a line of more than {LONGEST} bytes"))
            }
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {
                let value = serde_json::from_slice(&line).ok();
                value.and_then(|value| Message::of(&value)).ok_or_else(|| {
                    let text = shortened(&String::from_utf8_lossy(&line));
                    format!("it printed a line that is no message of the protocol: {text}")
                })
            }
        };
        if heard.send(message).await.is_err() {
            return;
        }
    }
}

/// Whether the rest of a line was not read: what stands there so far may be a message by itself.
fn is_cut(line: &[u8]) -> bool {
    line.len() as u64 == LONGEST && line.last() != Some(&b'\n')
}

/// Speaks to the agent without ever waiting for it: it may not read before it was read. Its standard
/// input is closed when nobody can say anything more.
pub(super) fn speak(to: ChildStdin) -> Sender<Value> {
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(say(to, receiver));
    sender
}

async fn say(mut to: ChildStdin, mut messages: Receiver<Value>) {
    while let Some(message) = messages.recv().await {
        let line = format!("{message}\n");
        // One that does not listen any more is ending; what it says tells how.
        if to.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let request = json!({"id": "a", "method": "m", "params": [1]});
        assert_eq!(
            Message::of(&request),
            Some(Message::Request {
                id: json!("a"),
                method: "m".to_owned(),
                params: json!([1]),
            })
        );
        let told = json!({"method": "m"});
        assert_eq!(Message::of(&told), Some(Message::Notification(told)));
        let answer = |value| match Message::of(&value) {
            Some(Message::Response { answer, .. }) => Some(answer),
            _ => None,
        };
        assert_eq!(
            answer(json!({"id": 1, "result": null})),
            Some(Ok(json!(null)))
        );
        assert_eq!(
            answer(json!({"id": 1, "result": {}, "error": {"code": 1}})),
            Some(Err(json!({"code": 1})))
        );
        for none in [
            json!([]),
            json!({}),
            json!({"id": 1}),
            json!({"id": null, "result": {}}),
            json!({"id": 1, "method": 2}),
            json!("text"),
        ] {
            assert_eq!(Message::of(&none), None, "{none}");
        }
    }
}
