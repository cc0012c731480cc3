//! What engine and guard say to each other.
//!
//! To the guard: the length of an order (4 bytes, big end first), the order as JSON, the bytes of
//! the program's standard input, then one byte for each request, until the end. From the guard:
//! one line of JSON for each report.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::command::Command;
use crate::process::confine::Confine;
use crate::process::guard::lineage::ProcessId;
use crate::process::guard::outcome::Outcome;
use crate::process::supervise::Supervision;

/// The largest order; an environment and arguments are smaller by the kernel's own limits.
pub(crate) const ORDER_CAP: u32 = 64 << 20;

/// A job for a guard. Paths are strings of bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    directory: OsString,
    /// How many bytes of standard input follow; without them it is the null device.
    pub(crate) stdin: Option<u64>,
    /// The capture folder.
    pub(crate) folder: OsString,
    /// The time it may take.
    pub(crate) budget: Duration,
    /// The time between TERM and KILL.
    pub(crate) grace: Duration,
    /// Bytes that each captured file may hold.
    pub(crate) cap: usize,
    /// What the program may not reach.
    confine: Option<Confine>,
}

impl Order {
    pub(crate) fn new(command: &Command, limits: &Supervision) -> Self {
        let bytes = |path: &Path| path.as_os_str().to_owned();
        Self {
            program: bytes(&command.program),
            args: command.args.clone(),
            env: command.env.clone().into_iter().collect(),
            directory: bytes(&command.directory),
            stdin: command.stdin.as_ref().map(|bytes| bytes.len() as u64),
            folder: bytes(&limits.folder),
            budget: limits.budget,
            grace: limits.grace,
            cap: limits.cap,
            confine: command.confine.clone(),
        }
    }
    /// Length and JSON, as sent.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        let length = u32::try_from(json.len())
            .ok()
            .filter(|length| *length <= ORDER_CAP)
            .ok_or_else(|| io::Error::other("arguments and environment are too large"))?;
        Ok([&length.to_be_bytes(), &*json].concat())
    }
    /// The program to run.
    pub(crate) fn command(self, stdin: Option<Vec<u8>>) -> Command {
        Command {
            program: self.program.into(),
            args: self.args,
            env: self.env.into_iter().collect::<BTreeMap<_, _>>(),
            directory: self.directory.into(),
            stdin,
            confine: self.confine,
        }
    }
}

/// What the engine may ask while the job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// TERM, grace, KILL.
    Stop,
    /// The same, because a budget that the engine holds is used up.
    Budget,
    /// KILL at once.
    Kill,
}

impl Request {
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Stop => b'S',
            Self::Budget => b'B',
            Self::Kill => b'K',
        }
    }
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Stop, Self::Budget, Self::Kill]
            .into_iter()
            .find(|request| request.byte() == byte)
    }
}

/// What the guard tells.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Report {
    /// The program runs.
    Started {
        /// Which process it is.
        agent: ProcessId,
    },
    /// Nothing was started: the guard could not do its part.
    Refused {
        /// Why.
        message: String,
    },
    /// The job is over.
    Ended {
        /// All about it; also in `outcome.json`.
        outcome: Box<Outcome>,
    },
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;
    use crate::process::guard::program::GuardProgram;

    /// Arguments, values and paths are bytes; none is lost on the way.
    #[test]
    fn an_order_keeps_bytes_that_are_no_text() {
        let odd = OsString::from_vec(b"a\xff\n\"b".to_vec());
        let command = Command::new(&odd, &odd)
            .arg(&odd)
            .env(&odd, &odd)
            .stdin("x");
        let limits = Supervision::new(&GuardProgram::own(), Duration::MAX, Path::new("/capture"));
        let sent = Order::new(&command, &limits).encode().unwrap();
        assert_eq!(
            sent[..4],
            u32::try_from(sent.len() - 4).unwrap().to_be_bytes()
        );
        let order: Order = serde_json::from_slice(&sent[4..]).unwrap();
        assert_eq!((order.stdin, order.budget), (Some(1), Duration::MAX));
        let read = order.command(Some(b"x".to_vec()));
        assert_eq!(format!("{read:?}"), format!("{command:?}"));
    }
}
