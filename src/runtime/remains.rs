//! What attempts of a run left whose guards were killed: ended before anything that they could
//! reach is used again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::process::guard::remains::{self, Left, PATIENCE};
use crate::runtime::rim::folders_in;

/// How long a guard is waited for that was told to kill everything at once.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(2);

/// Waits for the guards of a dead engine, and ends what is left of their jobs and of those whose
/// guards died with it.
///
/// # Errors
/// When somebody lives on who is of a job, or that cannot be told.
pub async fn settled(cache: &Path, run: LoopId) -> Result<(), Failure> {
    over(&captures(cache, run)?).await?;
    ended(cache, run).await
}

/// Makes sure that nobody of a run lives of which nothing is under way: a guard that does not end soon is
/// ended, and what it held.
///
/// # Errors
/// As [`settled`].
pub(crate) async fn given_up(cache: &Path, run: LoopId) -> Result<(), Failure> {
    over_within(&captures(cache, run)?, AT_ONCE).await?;
    ended(cache, run).await
}

/// Waits until no guard of a dead engine holds these attempts; an outcome that is damaged is told by who
/// takes the job over.
///
/// # Errors
/// As [`settled`].
pub(crate) async fn over(folders: &[PathBuf]) -> Result<(), Failure> {
    over_within(folders, PATIENCE).await
}

async fn over_within(folders: &[PathBuf], patience: Duration) -> Result<(), Failure> {
    let alive = remains::settle(folders, patience).await;
    for (folder, left) in alive.map_err(|error| unreadable(&error))? {
        refused(&folder, left)?;
    }
    Ok(())
}

/// Ends what is left of jobs whose guards are dead; those of guards that live are none of them.
///
/// # Errors
/// As [`settled`].
pub(crate) async fn ended(cache: &Path, run: LoopId) -> Result<(), Failure> {
    for folder in captures(cache, run)? {
        let left = remains::end(&folder).await;
        refused(&folder, left.map_err(|error| unreadable(&error))?)?;
    }
    Ok(())
}

/// Refuses to go on while somebody lives.
fn refused(folder: &Path, left: Left) -> Result<(), Failure> {
    match left {
        Left::Nobody | Left::Guarded => Ok(()),
        Left::Unknown(why) => {
            // Nothing says that anybody lives, and what they could write to is made anew.
            tracing::warn!(folder = %folder.display(), why, "who is left of a job is unknown");
            Ok(())
        }
        Left::Lives { processes, why } => {
            let pids: Vec<String> = processes.iter().map(|id| id.pid.to_string()).collect();
            Err(alive(folder, &pids.join(","), &why))
        }
    }
}

/// The capture folder of a job or a dispatch, and those of its commands.
///
/// # Errors
/// When it is there and cannot be read.
pub(crate) fn of_job(cache: &Path, run: LoopId, job: JobId) -> io::Result<Vec<PathBuf>> {
    let capture = cache.join(format!("jobs/{run}/{job}.capture"));
    let mut all = folders_in(&capture)?;
    all.push(capture);
    Ok(all)
}

/// Whether every process of a job or a dispatch is proven gone; what cannot be read proves nothing.
pub(crate) fn is_gone(cache: &Path, run: LoopId, job: JobId) -> bool {
    let is_gone = |folder: &PathBuf| remains::is_gone(folder).unwrap_or(false);
    of_job(cache, run, job).is_ok_and(|all| all.iter().all(is_gone))
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

fn unreadable(error: &io::Error) -> Failure {
    let message = format!("what jobs of the run left cannot be read: {error}");
    Failure::new(Code::StateUnwritable, message)
}
