//! What others want of a guard, and when the engine is gone.

use std::convert::Infallible;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::process::guard::order::Request;
use crate::process::guard::outcome::StopReason;

/// What is wanted by now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// End the job; the first reason stays.
    pub(crate) stop: Option<StopReason>,
    /// Without waiting for the grace.
    pub(crate) now: bool,
}

/// Hears wishes until the job is over.
#[derive(Debug)]
pub(crate) struct Wishes {
    told: [Signal; 3],
    wish: watch::Sender<Wish>,
}

impl Wishes {
    /// Begins to listen to signals. Must come before the program is started.
    pub(crate) fn listen() -> std::io::Result<(Self, watch::Receiver<Wish>)> {
        let (wish, heard) = watch::channel(Wish::default());
        let told = [
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
        ];
        Ok((Self { told, wish }, heard))
    }

    /// Hears requests and signals; never ends.
    pub(crate) async fn hear(mut self, mut engine: impl AsyncRead + Unpin) -> Infallible {
        let mut byte = [0];
        let mut engine_lives = true;
        let [terminate, interrupt, hang_up] = &mut self.told;
        loop {
            let wish = tokio::select! {
                read = engine.read(&mut byte), if engine_lives => {
                    engine_lives = matches!(read, Ok(1..));
                    asked(engine_lives.then(|| Request::from_byte(byte[0])).flatten())
                }
                Some(()) = terminate.recv() => stop(StopReason::GuardTold),
                Some(()) = interrupt.recv() => stop(StopReason::GuardTold),
                Some(()) = hang_up.recv() => stop(StopReason::GuardTold),
            };
            self.wish.send_modify(|so_far| {
                so_far.stop = so_far.stop.or(wish.stop);
                so_far.now |= wish.now;
            });
        }
    }
}

/// What a request means. None: the engine is gone, or is none that we understand.
fn asked(request: Option<Request>) -> Wish {
    match request {
        Some(Request::Stop) => stop(StopReason::Asked),
        Some(Request::Budget) => stop(StopReason::Budget),
        Some(Request::Kill) => Wish {
            now: true,
            ..stop(StopReason::Asked)
        },
        None => stop(StopReason::EngineGone),
    }
}

fn stop(reason: StopReason) -> Wish {
    Wish {
        stop: Some(reason),
        now: false,
    }
}
