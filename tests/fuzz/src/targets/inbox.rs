//! Messages: a file is a message of this run under its own name, or it is damaged; as it is, and with a
//! digest that fits whatever it says.

use std::sync::OnceLock;

use run_loop::domain::digest::Digest;
use run_loop::domain::id::{LoopId, MessageId};
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::inbox::{Inbox, Message, Received, Request};
use run_loop::store::Folder;

use super::Target;

pub const TARGET: Target = Target {
    name: "inbox",
    seeds,
    words: &[
        "\"request\":\"cancel\"",
        "\"request\":{\"job\":{\"from\":null,\"ask\":{\"ask\":\"redispatch\",\"job\":",
        "\"version\":2",
        "\"from\":null",
        "null",
    ],
    run,
};

fn stamp() -> Stamp {
    Stamp {
        at: Timestamp::from_millis(1),
        seed: [5; 32],
    }
}

fn message() -> (MessageId, LoopId) {
    (MessageId::mint(&stamp(), "message"), LoopId::mint(&stamp(), "loop"))
}

fn seeds() -> Vec<Vec<u8>> {
    let (id, run) = message();
    let cancel = Message::new(id, run, Request::Cancel);
    let text = serde_json::to_string(&cancel).expect("a message");
    let job = text.replace(
        "\"cancel\"",
        "{\"job\":{\"from\":null,\"ask\":{\"ask\":\"cancel\",\"job\":\"01a22843-e909-795c-8ea1-4981f1b1f774\",\"reason\":\"r\"}}}",
    );
    vec![text.into_bytes(), job.into_bytes()]
}

fn run(input: &[u8]) {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder"));
    let (id, run) = message();
    let digest = Digest::of(input);
    let fitting = [&b"{\"content\":"[..], input, b",\"sha256\":\"", digest.as_str().as_bytes(), b"\"}"].concat();
    for (file, fits) in [(input, false), (&fitting[..], true)] {
        std::fs::write(folder.path().join(format!("{id}.json")), file).expect("a file");
        let inbox = Inbox::in_folder(Folder::open(folder.path()).expect("a folder"), run);
        let received = inbox.read().expect("an inbox");
        assert_eq!(received.len(), 1);
        if let Received::Message(message) = &received[0] {
            assert_eq!((message.id, message.run), (id, run));
            let written = serde_json::to_vec(message).expect("a message");
            let digest = Digest::of(&written).to_string();
            let told = file.windows(digest.len()).any(|it| it == digest.as_bytes());
            assert!(told, "another content than its digest is of");
            assert!(!fits || written == input, "another message than the digest is of");
        }
    }
}
