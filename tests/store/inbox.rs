//! Messages in their files.

use run_loop::domain::delegation::{Fence, Signal};
use run_loop::domain::id::{JobId, LoopId, MessageId};
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::inbox::{Ask, Message, Received, Request};
use run_loop::store::{Folder, Inbox};

/// Issue 4: whatever bit flips in a message's file, wherever it is torn: it is the message that was sent,
/// or it is damaged, and never another one. That it is damaged is known to be of that message.
#[test]
fn a_flipped_or_torn_message_is_never_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let stamp = Stamp {
        at: Timestamp::from_millis(1),
        seed: [7; 32],
    };
    let (run, id) = (
        LoopId::mint(&stamp, "run"),
        MessageId::mint(&stamp, "message"),
    );
    let of = Fence {
        job: JobId::mint(&stamp, "job"),
        attempt: 1,
        token: "d0d0".to_owned(),
    };
    let ask = Ask::Signal {
        of: of.clone(),
        signal: Signal::Completed,
        detail: "all of it is done".to_owned(),
    };
    let sent = Message::new(
        id,
        run,
        Request::Job {
            from: Some(of),
            ask,
        },
    );
    let inbox = Inbox::in_folder(Folder::open(folder.path()).unwrap(), run);
    inbox.send(&sent).unwrap();
    let path = folder.path().join(format!("{id}.json"));
    let whole = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        inbox.read().unwrap().remove(0)
    };
    assert_eq!(read(&whole), Received::Message(sent.clone()));
    let mut damaged = 0;
    let flipped = (0..whole.len() * 8).map(|bit| {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    });
    let torn = (0..whole.len()).map(|length| whole[..length].to_vec());
    for bytes in flipped.chain(torn) {
        match read(&bytes) {
            Received::Message(message) => assert_eq!(message, sent),
            Received::Damaged { message, .. } => {
                assert_eq!(message, Some(id));
                damaged += 1;
            }
        }
    }
    assert!(damaged > whole.len() * 8, "{damaged} of {}", whole.len());
}

/// A message is an engine's or goes back to whoever sent it: one of the two has it, whoever is first.
#[test]
fn a_message_is_taken_or_withdrawn() {
    let folder = tempfile::tempdir().unwrap();
    let stamp = Stamp {
        at: Timestamp::from_millis(1),
        seed: [7; 32],
    };
    let run = LoopId::mint(&stamp, "run");
    let inbox = Inbox::in_folder(Folder::open(folder.path()).unwrap(), run);
    let id = MessageId::mint(&stamp, "message");
    let message = Message::new(id, run, Request::Cancel);
    inbox.send(&message).unwrap();
    assert!(inbox.withdraw(id).unwrap());
    assert!(!inbox.take(id).unwrap());
    assert_eq!(inbox.read().unwrap(), []);
    inbox.send(&message).unwrap();
    assert!(inbox.take(id).unwrap());
    assert!(!inbox.withdraw(id).unwrap());
    // An engine that comes after it finds it, and takes it as well.
    assert_eq!(inbox.read().unwrap(), [Received::Message(message)]);
    assert!(inbox.take(id).unwrap());
    inbox.done(id);
    assert_eq!(inbox.read().unwrap(), []);
}
