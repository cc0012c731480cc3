//! The live view: a few lines below the log of a run, at a terminal.

use std::io::IsTerminal as _;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::activity::Activities;
use crate::cli::environment::{Environment, LOG};
use crate::domain::summary::Summary;
use crate::report::live::rows;
use crate::runtime::clock;

/// How often the lines are made anew.
const PAUSE: Duration = Duration::from_millis(500);
/// The width where the terminal does not tell.
const WIDTH: usize = 80;

/// Lines that stand below everything else that is written to the terminal.
#[derive(Debug)]
pub(super) struct Live {
    bar: ProgressBar,
    shown: Arc<Mutex<Summary>>,
    /// Its end is the thread's.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Whether a person looks at a terminal that can redraw.
pub(super) fn is_wanted(environment: &Environment) -> bool {
    let dumb = environment.get("TERM").is_none_or(|term| term == "dumb");
    let read_by_a_machine = environment.get("CI").is_some() || environment.get(LOG.name).is_some();
    std::io::stderr().is_terminal() && !dumb && !read_by_a_machine
}

impl Live {
    /// Begins to show a run.
    pub(super) fn start(activities: Activities) -> Self {
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        let shown = Arc::new(Mutex::new(Summary::default()));
        let (alive, ended) = mpsc::channel::<()>();
        let thread = {
            let (bar, shown) = (bar.clone(), Arc::clone(&shown));
            std::thread::spawn(move || {
                while ended.recv_timeout(PAUSE) != Err(RecvTimeoutError::Disconnected) {
                    let summary = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    if summary.spec.is_some() {
                        let done = activities.look(&summary);
                        let lines = rows(&summary, &done, clock::now(), width());
                        bar.set_message(lines.join("\n"));
                        bar.tick();
                    }
                }
            })
        };
        Self {
            bar,
            shown,
            alive: Some(alive),
            thread: Some(thread),
        }
    }
    /// What is known now.
    pub(super) fn update(&self, summary: &Summary) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.clone_from(summary);
        drop(shown);
        // The lines follow at once, and not with the next turn.
        if let Some(alive) = &self.alive {
            alive.send(()).ok();
        }
    }
    /// Writes something above the lines.
    pub(super) fn above(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
        self.bar.finish_and_clear();
    }
}

fn width() -> usize {
    match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        Ok(_) | Err(_) => WIDTH,
    }
}
