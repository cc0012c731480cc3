//! The permission questions of one dispatch.

/// How many questions of one dispatch are relayed: what an agent asks is written to the journal.
pub(super) const RELAYED: u32 = 50;

/// What a dispatch waits for, where it said that it needs a permission.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocked {
    open: Option<String>,
    relayed: u32,
}

impl Blocked {
    /// The question that it waits on.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        self.open.as_deref()
    }
    /// Which of its questions that is.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.open.as_ref().map(|_| self.relayed)
    }
    /// Whether it asked as often as is relayed.
    pub(super) fn is_full(&self) -> bool {
        self.relayed >= RELAYED
    }
    /// It asks.
    pub(super) fn ask(&mut self, question: String) {
        self.open = Some(question);
        self.relayed = self.relayed.saturating_add(1);
    }
    /// It goes on: somebody answered, or it did something else.
    pub(super) fn go_on(&mut self) {
        self.open = None;
    }
}
