//! What a message is worth, and whether it shows that its dispatch makes progress.

use super::{ACTIVITY, Messages, Taken, mark_of};
use crate::domain::delegation::{JobRequest, Signal};
use crate::domain::id::JobId;
use crate::engine::{InputKind, State, Weight, weigh};
use crate::store::{Access, Folder};

/// What a message about jobs is worth, seen before it is taken.
pub(in crate::runtime) struct Weighed(pub(super) Option<Worth>);

pub(super) struct Worth {
    pub(super) weight: Weight,
    pub(super) about: Option<JobId>,
    /// What it says; the same said again is no progress.
    said: u64,
    /// Whether whoever says it waits.
    waits: bool,
}

impl Messages {
    /// What the message is worth before it is taken.
    pub(in crate::runtime) fn weigh(state: &State, taken: &Taken) -> Weighed {
        let InputKind::Job {
            message,
            from,
            request,
        } = &taken.input
        else {
            return Weighed(None);
        };
        let about = match &**request {
            JobRequest::Submit { .. } => state.messages.get(message).copied(),
            JobRequest::Signal { of, .. } => Some(of.job),
            JobRequest::Cancel { job, .. } | JobRequest::Redispatch { job } => Some(*job),
        };
        let waits = matches!(
            &**request,
            JobRequest::Signal {
                signal: Signal::PermissionRequired,
                ..
            }
        );
        let is_progress = matches!(
            &**request,
            JobRequest::Signal {
                signal: Signal::Progress,
                ..
            }
        );
        Weighed(Some(Worth {
            weight: weigh(state, *message, from.as_ref(), request),
            about,
            said: if is_progress {
                // Whoever says it makes progress, in whatever words.
                mark_of(format!("{message} {request:?}").as_bytes())
            } else {
                mark_of(format!("{request:?}").as_bytes())
            },
            waits,
        }))
    }

    /// Whether a message says that its dispatch makes progress. What was said before shows that it is
    /// alive, a question that it waits.
    pub(super) fn goes_on(&mut self, folder: JobId, worth: &Worth) -> bool {
        let granted = match worth.weight {
            Weight::New | Weight::Activity => true,
            Weight::Repeat | Weight::Refused(_) => false,
        };
        let known = self.said.get(&folder) == Some(&worth.said);
        if granted {
            self.said.insert(folder, worth.said);
        }
        granted && !known && !worth.waits
    }

    /// Notes that a dispatch makes progress: chatter is no fact of the run.
    pub(super) fn active(&self, state: &State, folder: JobId) {
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return;
        };
        let capture = self.rim.capture_folder(run, folder);
        // Without it the job only looks less busy than it is.
        drop(Folder::open(&capture).and_then(|it| it.write(ACTIVITY, b"", Access::Private)));
    }
}
