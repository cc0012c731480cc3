//! The guard: one process per attempt that holds everything the attempt starts.
//!
//! The engine starts it (`run-loop __guard`) and hands it the job over its standard input, which
//! stays open: its end means that the engine died or wants nothing more of the job. The guard is
//! the leader of a session of its own and a subreaper, and starts the program as its child, in a
//! group of its own. Whatever that program starts stays a descendant of the guard, through double
//! forks, `setsid` and `env -i`, since the kernel hands every orphan below it to it. So lineage
//! alone says what belongs to the job; names and environments say nothing.
//!
//! The guard drains the output into the capture folder, holds the deadline, ends what is left and
//! writes `outcome.json` before it exits. All of that goes on when the engine is stopped, and ends
//! the same way when the engine dies.
//!
//! # What is promised, and what is not
//!
//! - `gone` is the kernel's word: a subreaper without children has no descendants.
//! - A signal reaches a child of the guard, which keeps its number until the guard reaps it, or a
//!   process that is pinned by a descriptor and whose lineage was read after it was pinned. A
//!   number that was given to somebody else cannot be hit.
//! - A suspended engine (SIGTSTP) costs the job nothing: program and guard are in another session,
//!   go on, and the guard holds the deadline. They are not suspended with it. While the machine
//!   sleeps the clock of the budget stands still; time in which the guard itself was stopped or
//!   frozen is not charged either, as far as it can be told (`budget`).
//! - A guard that is killed (SIGKILL) cannot write an outcome: the job is [`Probe::Lost`]. The
//!   kernel then kills the program itself; an engine that lives ends what is left in the guard's
//!   session. Who left that session and lost its parent is known by the `record` of who was seen
//!   below the guard and by the `mark` that the job passes on, and is ended by that engine or by
//!   the next one (`remains`). What closed the mark before the guard saw it is nobody's proven
//!   descendant and stays. The job counts as not gone, so no tree of its is used again.
//! - A tree that respawns is caught by who is faster. Members that live for some milliseconds are
//!   caught at once; dozens of families that do nothing but fork can keep a busy machine from
//!   giving the guard the time it needs. It tries for half a minute, and says that they are not
//!   gone; only a control group could do more.
//! - What another service starts on request (cron, systemd, a container daemon, ssh) is no
//!   descendant. What runs as another user (sudo) may refuse the signal; then the job is not gone.
//! - Other processes of the same user can write to the capture folder. While the engine lives it
//!   believes the guard's pipe and checks the files by digest; after its death the files are all
//!   there is.

mod budget;
mod client;
pub(crate) mod files;
mod hold;
mod lineage;
mod mark;
mod order;
mod orphans;
pub mod outcome;
pub mod probe;
pub mod program;
mod record;
pub mod remains;
mod tree;
mod wishes;
mod witness;

pub(crate) use client::{Guarded, Told};
pub use hold::main;
pub use lineage::ProcessId;
pub use outcome::Outcome;
pub use probe::{Probe, attach, probe};
pub use program::GuardProgram;
