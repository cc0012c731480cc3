//! The looks at the source around the jobs that may write, as the journal tells them.
//!
//! What lay there unedited when such a job began and is as it was left, nobody edited but the run: a later job
//! that rewrites it takes nothing away from anybody. Which paths these are, `git::own` tells by the trees.
//! Wherever somebody else may have written, that is what a look says. Tests: `tests/engine/looks.rs`.

use crate::domain::effect::{Effect, Timer};
use crate::domain::identity::{About, Pin, Remeasured, Site};
use crate::domain::look::{Look, Since};
use crate::engine::state::State;

/// The looks of a run.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    /// All of them, in order.
    all: Vec<Look>,
    /// How many there were with the newest pin before a step that may write.
    pinned: usize,
    /// Whether since the last one the run waited with nobody at work, or was taken up without a look.
    unwatched: bool,
}

impl State {
    /// The looks up to the pin of the newest step that may write.
    #[must_use]
    pub fn looks_up_to_pin(&self) -> &[Look] {
        self.looks.all.get(..self.looks.pinned).unwrap_or_default()
    }
    /// All looks.
    #[must_use]
    pub fn looks(&self) -> &[Look] {
        &self.looks.all
    }
}

impl Looks {
    /// The source is pinned for a step that may write.
    pub(in crate::engine) fn pinned(&mut self, pin: &Pin) {
        self.push(pin, Since::Anybody);
        self.pinned = self.all.len();
    }
    /// It is measured after the step's jobs.
    pub(in crate::engine) fn measured(&mut self, measured: &Remeasured) {
        // What a rewound head or a stash gives to the working tree was somebody's before.
        let took_back = !measured.head_descends
            || measured.elsewhere.iter().any(|it| it.site == Site::Dropped)
            || measured.unknown.iter().any(|it| it.about == About::Stash);
        let since = if took_back || self.unwatched {
            Since::Anybody
        } else {
            Since::Jobs
        };
        self.push(&measured.pin, since);
    }
    /// An engine takes the run up.
    pub(in crate::engine) fn taken_up(&mut self, found: Option<&Remeasured>) {
        match found {
            Some(found) => self.push(&found.pin, Since::Anybody),
            None => self.unwatched = true,
        }
    }
    /// An effect is requested: people edit while the run waits for a limit to be lifted.
    pub(in crate::engine) fn requested(&mut self, effect: &Effect) {
        let waits = matches!(
            effect,
            Effect::Timer {
                of: Timer::Limit,
                ..
            }
        );
        self.unwatched |= waits;
    }
    fn push(&mut self, pin: &Pin, since: Since) {
        self.all.push(Look::of(pin, since));
        self.unwatched = false;
    }
}
