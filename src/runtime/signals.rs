//! SIGINT and SIGTERM: the first stops politely, a second kills now.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::domain::event::StopCause;

/// Both signals, as they arrive.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Starts listening; from here on neither ends the process by itself.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }
    /// The next signal.
    pub async fn next(&mut self) -> StopCause {
        tokio::select! {
            _ = self.interrupt.recv() => StopCause::Interrupt,
            _ = self.terminate.recv() => StopCause::Terminate,
        }
    }
}
