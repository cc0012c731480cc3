//! What came back from one dispatch: bytes, and how the agent ended. Nothing is judged here.

use crate::domain::confinement::Confinement;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::domain::spent::Spent;
use crate::process::captured::CapturedFile;

/// What came back from an agent.
#[derive(Debug)]
pub struct Dispatched {
    /// How it ended.
    pub ended: Ended,
    /// Whether every process of it is proven gone.
    pub gone: bool,
    /// The report's bytes, from the agent's one channel. Also kept of a job that failed: what it
    /// claims must not vanish.
    pub report: Option<Vec<u8>>,
    /// Why what lies there is no report, where something does.
    pub unusable: Option<String>,
    /// What it used, as far as it told.
    pub spent: Spent,
    /// What confined it.
    pub confinement: Confinement,
    /// Its standard output, where it has one.
    pub stdout: Option<CapturedFile>,
    /// Its standard error, where it has one.
    pub stderr: Option<CapturedFile>,
    /// The end of its standard error, for messages: no control characters but line ends.
    pub stderr_tail: String,
}

impl Dispatched {
    /// An end without anything handed over.
    #[must_use]
    pub(crate) fn empty(ended: Ended) -> Self {
        Self {
            ended,
            gone: true,
            report: None,
            unusable: None,
            spent: Spent::default(),
            confinement: Confinement::None,
            stdout: None,
            stderr: None,
            stderr_tail: String::new(),
        }
    }
    /// A job that could not be started.
    #[must_use]
    pub(crate) fn not_started(failure: Failure) -> Self {
        Self::empty(Ended::NotStarted { failure })
    }
}

/// Text from a program as it may be shown: terminal escapes would act on the reader's terminal.
pub(crate) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect()
}
