//! Messages of JSON-RPC, one a line, to and from the agent's program.

use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::ChildStdin;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;

use crate::agent::adapter::is_piece;
use crate::agent::adapter::words::shortened;

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

/// What the agent printed that is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// Whether it is a part of a message: what the message said is lost. Else it is words for people.
    pub(super) is_torn: bool,
    /// In words.
    pub(super) message: String,
}

impl Unreadable {
    fn torn(message: String) -> Self {
        Self {
            is_torn: true,
            message,
        }
    }
    /// A line that is no message.
    fn line(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line);
        let shown = shortened(&text);
        Self {
            is_torn: is_piece(&text),
            message: format!("it printed a line that is no message of the protocol: {shown}"),
        }
    }
}

/// What is heard of the agent, also what is no message.
#[derive(Debug)]
pub(super) struct Heard {
    /// One after the other; none when it says nothing more.
    pub(super) next: Receiver<Result<Message, Unreadable>>,
    /// Ends the hearing: what is half said then is told as torn.
    pub(super) enough: CancellationToken,
}

/// Hears the agent.
pub(super) fn hear(from: impl AsyncRead + Send + Unpin + 'static) -> Heard {
    let (sender, next) = channel(64);
    let enough = CancellationToken::new();
    tokio::spawn(listen(from, sender, enough.clone()));
    Heard { next, enough }
}

async fn listen(
    from: impl AsyncRead + Unpin,
    heard: Sender<Result<Message, Unreadable>>,
    enough: CancellationToken,
) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        // What was read of a line stands there also where its end is waited for no longer.
        let mut whole = (&mut from).take(LONGEST);
        let read = tokio::select! {
            biased;
            () = enough.cancelled() => None,
            read = whole.read_until(b'\n', &mut line) => Some(read),
        };
        let (message, goes_on) = match read {
            None if line.trim_ascii().is_empty() => return,
            None => (Err(half("it was still printing a line")), false),
            Some(Ok(0)) => return,
            Some(Err(error)) => (
                Err(half(&format!("its output cannot be read: {error}"))),
                false,
            ),
            Some(Ok(_)) if is_cut(&line) => {
                let message = format!("it printed a line of more than {LONGEST} bytes");
                (Err(Unreadable::torn(message)), true)
            }
            Some(Ok(_)) if line.trim_ascii().is_empty() => continue,
            Some(Ok(_)) => {
                let value = serde_json::from_slice(&line).ok();
                let message = value.and_then(|value| Message::of(&value));
                (message.ok_or_else(|| Unreadable::line(&line)), true)
            }
        };
        if heard.send(message).await.is_err() || !goes_on {
            return;
        }
    }
}

/// What was said in part, and how that is known.
fn half(why: &str) -> Unreadable {
    Unreadable::torn(format!("not all that it said was heard: {why}"))
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

    /// Whether each line that is no message is a part of one, until the agent is heard no longer.
    async fn unreadable(printed: &str, is_over: bool) -> Vec<bool> {
        let (mut agent, ours) = tokio::io::duplex(1024);
        let mut heard = hear(ours);
        // Once it was heard, so was what stands before it, and what stands behind it lies there.
        let said = format!("{{\"method\":\"m\"}}\n{printed}");
        agent.write_all(said.as_bytes()).await.unwrap();
        assert!(heard.next.recv().await.unwrap().is_ok());
        if is_over {
            drop(agent);
        } else {
            tokio::task::yield_now().await;
            heard.enough.cancel();
        }
        let mut torn = Vec::new();
        while let Some(message) = heard.next.recv().await {
            torn.extend(message.err().map(|unreadable| unreadable.is_torn));
        }
        torn
    }

    #[tokio::test]
    async fn a_part_of_a_message_is_told_from_words_for_people() {
        for (printed, torn) in [
            ("Bye.\n", &[false][..]),
            ("{\"method\":\"m\"}\n", &[]),
            ("{\"method\":\"m\"}", &[]),
            ("{\"meth", &[true]),
            ("od\":\"m\"}\n\nBye.", &[true, false]),
            ("Bye.{\"method\":\"m\"}Bye.\n", &[true]),
            ("{\"id\":1}\n", &[true]),
        ] {
            assert_eq!(unreadable(printed, true).await, torn, "{printed:?}");
        }
        // One that stays there: half a line is a part of whatever it was about to say.
        assert_eq!(unreadable("{\"meth", false).await, [true]);
        assert_eq!(unreadable("", false).await, [false; 0]);
    }
}
