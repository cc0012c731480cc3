//! What this process knows of a slot, from one job in it to the next.

use std::sync::Arc;

use super::content::Content;
use super::own_git::Seal;
use super::root::Places;
use super::stamp::Known;
use super::sum::SumKey;

/// A slot as this process left it.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) places: Places,
    pub(super) seal: Seal,
    /// What it held.
    pub(super) content: Arc<Content>,
    /// What the sums in `known` are made with.
    pub(super) key: SumKey,
    /// What is known of each entry's file.
    pub(super) known: Vec<Known>,
}

/// How far a slot is on its way from one job to the next.
#[derive(Debug)]
pub(super) enum State {
    /// A job got it, and may be at work in it.
    Given(Record),
    /// Its job is over: whoever has time may look at it.
    Back(Record),
    /// It was looked at since.
    Seen(Looked),
}

/// A slot that was looked at since its last job, and what is still there of what it held.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) record: Record,
    /// For each entry, whether it is as it was; the others are not there any more.
    pub(super) kept: Vec<bool>,
    /// Whether all was as it was, and nothing else was there.
    pub(super) is_whole: bool,
    /// How many jobs had begun before: a look proves nothing once another one began.
    pub(super) begun: u64,
}

impl State {
    /// What the slot held, whatever became of it since.
    pub(super) fn into_record(self) -> Record {
        match self {
            Self::Given(record) | Self::Back(record) | Self::Seen(Looked { record, .. }) => record,
        }
    }
}
