//! What attempts of a run left whose guards were killed: ended before anything that they could
//! reach is used again.

use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::process::guard::attach;
use crate::process::guard::remains::{self, Left};

/// Waits for the guards of a dead engine, and ends what is left of their jobs and of those whose
/// guards died with it.
///
/// # Errors
/// When somebody lives on who is of a job, or that cannot be told.
pub async fn settled(cache: &Path, run: LoopId) -> Result<(), Failure> {
    for folder in captures(cache, run)? {
        // An outcome that is damaged is told by who takes the job over; its guard is gone.
        drop(attach(&folder).await);
    }
    ended(cache, run).await
}

/// Ends what is left of jobs whose guards are dead; those of guards that live are none of them.
///
/// # Errors
/// As [`settled`].
pub(crate) async fn ended(cache: &Path, run: LoopId) -> Result<(), Failure> {
    for folder in captures(cache, run)? {
        match remains::end(&folder)
            .await
            .map_err(|error| unreadable(&error))?
        {
            Left::Nobody | Left::Guarded => {}
            Left::Unknown(why) => {
                // Nothing says that anybody lives, and what they could write to is made anew.
                tracing::warn!(folder = %folder.display(), why, "who is left of a job is unknown");
            }
            Left::Lives { processes, why } => {
                let pids: Vec<String> = processes.iter().map(|id| id.pid.to_string()).collect();
                return Err(alive(&folder, &pids.join(","), &why));
            }
        }
    }
    Ok(())
}

fn alive(folder: &Path, pids: &str, why: &str) -> Failure {
    let shown = folder.display();
    let who = if pids.is_empty() { "" } else { " " };
    let message = format!("processes{who}{pids} of the dead job of {shown} live on: {why}");
    let failure = Failure::new(Code::ProcessesLeft, message);
    if pids.is_empty() {
        let mark = folder.join("mark").display().to_string();
        failure.next(["lsof", "--", &mark])
    } else {
        failure.next(["ps", "-o", "pid,ppid,user,lstart,args", "-p", pids])
    }
}

fn captures(cache: &Path, run: LoopId) -> Result<Vec<PathBuf>, Failure> {
    let jobs = cache.join("jobs").join(run.to_string());
    remains::captures(&jobs).map_err(|error| unreadable(&error))
}

fn unreadable(error: &std::io::Error) -> Failure {
    let message = format!("what jobs of the run left cannot be read: {error}");
    Failure::new(Code::StateUnwritable, message)
}
