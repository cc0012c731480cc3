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
    let ahead = AHEAD.min(left / 2);
    tokio::time::sleep(left.saturating_sub(ahead)).await;
    let note = format!(
        "{} s are left: wrap up, and hand over what you have.\n",
        ahead.as_secs()
    );
    if let Err(error) = folder.note_wrap_up(note.as_bytes()) {
        tracing::debug!(%error, "the note that a job's time is nearly over");
    }
    std::future::pending().await
}
