//! What is said of a request that nobody answers.

use super::*;
use crate::domain::time::{Stamp, Timestamp};
use crate::store::Folder;

/// A mailbox with a run that nobody drives.
struct Unanswered {
    _place: tempfile::TempDir,
    folder: PathBuf,
    inbox: Inbox,
    outbox: Outbox,
    run: LoopId,
    id: MessageId,
    job: JobId,
}

impl Unanswered {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let (at, seed) = (Timestamp::from_millis(1), [7; 32]);
        let stamp = Stamp { at, seed };
        let run = LoopId::mint(&stamp, "run");
        let folder = place.path().join("inbox");
        let outbox = place.path().join("outbox");
        for folder in [&folder, &outbox] {
            fs_err::create_dir(folder).unwrap();
        }
        Self {
            inbox: Inbox::in_folder(Folder::open(&folder).unwrap(), run),
            outbox: Outbox::in_folder(Folder::open(&outbox).unwrap()),
            _place: place,
            folder,
            run,
            id: MessageId::mint(&stamp, "message"),
            job: JobId::mint(&stamp, "job"),
        }
    }
    /// Asks; `lives` is what the other side does whenever it is looked at, and whether it lives.
    fn asks(&self, lives: impl Fn() -> bool) -> Result<JobId, Failure> {
        let sent = Sent {
            inbox: &self.inbox,
            outbox: &self.outbox,
            run: self.run,
            patience: 1,
        };
        let ask = Ask::Redispatch { job: self.job };
        let prompt = Some(&b"Do it."[..]);
        let beside = Beside {
            prompt,
            schema: None,
        };
        let ended = || over(self.run);
        sent.to_the_answer(self.id, None, ask, beside, || Ok(lives()), ended)
    }
    fn left(&self) -> usize {
        fs_err::read_dir(&self.folder).unwrap().count()
    }
}

/// A request that nobody took is withdrawn: an engine that goes on later does not carry it out, and
/// whoever asks again does not get it twice.
#[test]
fn what_nobody_took_is_withdrawn() {
    for (lives, code) in [
        (true, Code::JobNotStarted),
        // Its engine is gone: why is what is told.
        (false, Code::RunIsOver),
    ] {
        let of = Unanswered::new();
        let failure = of.asks(|| lives).unwrap_err();
        assert_eq!(failure.code, code);
        assert_eq!(of.left(), 0, "{failure}");
        assert!(!of.inbox.take(of.id).unwrap());
    }
}

/// What an engine took may be carried out: that is said, and nothing of it goes.
#[test]
fn what_somebody_took_is_said_to_be_taken() {
    for lives in [true, false] {
        let of = Unanswered::new();
        let takes = || {
            assert!(of.inbox.take(of.id).unwrap());
            lives
        };
        let failure = of.asks(takes).unwrap_err();
        assert_eq!(failure.code, Code::WaitTimedOut);
        assert!(failure.message.contains("may still be carried out"));
        assert_eq!(of.left(), 2, "the message and its prompt");
        // An engine that comes after it takes it up.
        assert!(of.inbox.take(of.id).unwrap());
    }
}

/// An answer that comes at the last moment is one.
#[test]
fn an_answer_at_the_last_moment_counts() {
    let of = Unanswered::new();
    let answers = || {
        assert!(of.inbox.take(of.id).unwrap());
        let answer = Answer::new(of.id, Ok(of.job));
        of.outbox.answer(&answer).unwrap();
        true
    };
    assert_eq!(of.asks(answers).unwrap(), of.job);
    assert_eq!(of.left(), 0);
}
