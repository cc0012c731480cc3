//! One note to a program that its time is nearly over, while it runs: a file that appears.
//!
//! A program of the user's can look for it. The known agent programs cannot be told anything once
//! they run headlessly: their standard input is the prompt, and is closed. Neither is a job told that
//! another engine takes over: its guard ends it already when the first one is gone, and the signal is all
//! the notice that there is time for.

use std::convert::Infallible;
use std::time::Duration;

use crate::agent::job_folder::JobFolder;

/// The variable that names the file.
pub(crate) const VARIABLE: &str = "RUN_LOOP_JOB_WRAP_UP";
/// How long before the end the note comes; half of a budget that is shorter than twice that.
const AHEAD: Duration = Duration::from_mins(5);

/// Waits until the time is nearly over and writes the note; never comes back.
pub(crate) async fn tell(folder: &JobFolder, left: Duration) -> Infallible {
    let ahead = ahead_of(left);
    let time = tokio::time::sleep(left.saturating_sub(ahead));
    tell_after(folder, ahead, time).await
}

/// The same, with the time that is waited for.
async fn tell_after(
    folder: &JobFolder,
    ahead: Duration,
    time: impl Future<Output = ()>,
) -> Infallible {
    time.await;
    let note = format!(
        "{} s are left: wrap up, and hand over what you have.\n",
        ahead.as_secs()
    );
    if let Err(error) = folder.note_wrap_up(note.as_bytes()) {
        tracing::debug!(%error, "the note that a job's time is nearly over");
    }
    std::future::pending().await
}

/// How long before the end of this time the note comes.
fn ahead_of(left: Duration) -> Duration {
    AHEAD.min(left / 2)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::domain::id::{JobId, LoopId};

    /// Not before its time, and once: whoever takes the note away is not told again.
    #[test]
    fn one_note_comes_when_its_time_is_there() {
        let cache = tempfile::tempdir().unwrap();
        let run = LoopId::parse("01890a5d-ac96-774b-bcce-b302099a8057").unwrap();
        let job = JobId::parse("01890a5d-ac97-774b-bcce-b302099a8057").unwrap();
        let folder = JobFolder::create(cache.path(), run, job, b"Do it.", None).unwrap();
        let (note, mut polls) = (folder.wrap_up(), 0);
        let time = std::future::poll_fn(|_| {
            polls += 1;
            if polls > 1 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let mut told = pin!(tell_after(&folder, Duration::from_secs(50), time));
        let mut poll = || {
            let mut context = Context::from_waker(Waker::noop());
            assert!(told.as_mut().poll(&mut context).is_pending());
        };
        poll();
        assert!(!note.exists());
        poll();
        let text = fs_err::read_to_string(&note).unwrap();
        assert!(text.starts_with("50 s are left"), "{text}");
        fs_err::remove_file(&note).unwrap();
        poll();
        assert!(!note.exists());
    }

    /// Issue 5, item 6.
    #[test]
    fn the_note_comes_five_minutes_before_the_end_or_in_the_middle() {
        for (left, ahead) in [(3_600, 300), (601, 300), (600, 300), (100, 50), (0, 0)] {
            let told = ahead_of(Duration::from_secs(left));
            assert_eq!(told, Duration::from_secs(ahead), "of {left} s");
        }
    }
}
