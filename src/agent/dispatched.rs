//! What came back from one dispatch: bytes, and how the agent ended. Nothing is judged here.

use crate::agent::adapter::reset;
use crate::agent::handed_over::HandedOver;
use crate::agent::redact::Secrets;
use crate::domain::confinement::Confinement;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::domain::spent::Spent;
use crate::domain::time::Timestamp;
use crate::process::captured::CapturedFile;
use crate::process::supervise::Lasted;

/// What came back from an agent.
#[derive(Debug)]
pub struct Dispatched {
    /// How it ended.
    pub ended: Ended,
    /// Whether every process of it is proven gone.
    pub gone: bool,
    /// The report, from the agent's one channel. Also kept of a job that failed: what it claims must not
    /// vanish.
    pub report: Option<HandedOver>,
    /// Why what lies there is no report, where something does.
    pub unusable: Option<String>,
    /// What it used, as far as it told.
    pub spent: Spent,
    /// When it was there, where a guard saw that.
    pub lasted: Option<Lasted>,
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
            lasted: None,
            confinement: Confinement::None,
            stdout: None,
            stderr: None,
            stderr_tail: String::new(),
        }
    }
    /// The same, with when a limit is lifted that ended it: as its program's events told, else as its
    /// words do, read at the moment at which it ended, however much later somebody reads them.
    #[must_use]
    pub(crate) fn with_reset(self) -> Self {
        let told = self.spent.reset;
        let reset = self
            .lasted
            .as_ref()
            .and_then(|lasted| reset::of(&self.ended, told, lasted.ended_at));
        let spent = Spent {
            reset,
            ..self.spent
        };
        Self { spent, ..self }
    }
    /// When it was there; where no guard saw it, from `began` to now.
    #[must_use]
    pub fn lasted(lasted: Option<Lasted>, began: Timestamp, now: Timestamp) -> Lasted {
        let lasted = lasted.unwrap_or(Lasted {
            started_at: began,
            ended_at: now,
            outlived: Vec::new(),
        });
        let started_at = began.min(lasted.started_at);
        Lasted {
            started_at,
            ended_at: lasted.ended_at.max(started_at),
            ..lasted
        }
    }
    /// What a job that failed said on standard error, without what is secret.
    pub(crate) fn said(&self, secrets: &Secrets) -> Option<Vec<u8>> {
        if self.ended.is_success() || !self.gone {
            return None;
        }
        let file = self.stderr.as_ref().filter(|file| file.broken.is_none())?;
        if !fs_err::symlink_metadata(&file.path).ok()?.is_file() {
            return None;
        }
        let bytes = fs_err::read(&file.path).ok()?;
        (!bytes.is_empty()).then(|| secrets.taken_out(bytes))
    }
    /// A job that could not be started.
    #[must_use]
    pub(crate) fn not_started(failure: Failure) -> Self {
        Self::empty(Ended::NotStarted { failure })
    }
}

/// The same without secrets in the names, which programs choose and the kernel cuts.
pub(crate) fn without_secrets(lasted: Option<Lasted>, secrets: &Secrets) -> Option<Lasted> {
    let shown = |name: String| shown(&secrets.taken_out_of_part(name.into_bytes(), false, true));
    lasted.map(|lasted| Lasted {
        outlived: lasted.outlived.into_iter().map(shown).collect(),
        ..lasted
    })
}

/// Text from a program as it may be shown: terminal escapes would act on the reader's terminal.
pub(crate) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect()
}
