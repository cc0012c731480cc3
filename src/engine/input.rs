//! What reaches the engine from outside.

use crate::domain::delegation::{Fence, JobRequest};
use crate::domain::effect::Outcome;
use crate::domain::event::StopCause;
use crate::domain::failure::Failure;
use crate::domain::id::{EffectId, JobId, MessageId};
use crate::domain::identity::Remeasured;
use crate::domain::limits::Allowed;
use crate::domain::run_spec::RunSpec;
use crate::domain::time::Stamp;

/// One input, with its time and randomness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// When it was taken, and fresh randomness.
    pub stamp: Stamp,
    /// What it is.
    pub kind: InputKind,
}

/// The kinds of input; each is recorded by its own file under `on/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// Start the run.
    Start(Box<RunSpec>),
    /// An engine takes the run up again.
    Resume {
        /// What it is allowed from here on.
        allowed: Allowed,
        /// How many milliseconds the engine before it drove the run, where that is known.
        ran: Option<u64>,
        /// What it found before anybody was asked, where it looked.
        found: Option<Box<Remeasured>>,
        /// Why nobody can be shown any more what the round under way is about, where that is so.
        gone: Option<Failure>,
    },
    /// Somebody asks the run to stop.
    Stop {
        /// By what.
        cause: StopCause,
        /// The message that asks for it, where one does.
        message: Option<MessageId>,
    },
    /// A dispatch printed nothing for long.
    Silent {
        /// Its job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
    },
    /// A dispatch printed something, or said that it makes progress.
    Heard {
        /// Its job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
        /// The number of the question that it went on after.
        question: Option<u32>,
    },
    /// Somebody asks for something about delegated jobs.
    Job {
        /// The message that asks.
        message: MessageId,
        /// The dispatch that asks; `None` for a person.
        from: Option<Fence>,
        /// What is asked.
        request: Box<JobRequest>,
    },
    /// An effect was performed.
    Done {
        /// Which one.
        effect: EffectId,
        /// What came of it.
        outcome: Box<Outcome>,
    },
}
