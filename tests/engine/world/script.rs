//! What a world does, drawn before it begins.

/// What an agent does when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Pass,
    PassUncovered,
    PassWithBlocker,
    NotPass,
    NotPassUnexplained,
    /// NOT PASS, of which all that it says is that what its slot found before is still there.
    NotPassStillOpen,
    NotPassLow,
    /// NOT PASS with one medium finding on line 1, never raised before, and the word that everything
    /// of before is done.
    NotPassNew,
    /// The same with the word that everything of before was wrong.
    NotPassNewWithdrawing,
    /// The same without a word about what was before.
    NotPassNewAlone,
    /// The same with the word that everything of before is still there.
    NotPassNewButOpen,
    /// NOT PASS with the one finding that its slot always has, on line 1.
    NotPassAgain,
    /// PASS, and the word that everything of before was wrong.
    PassTakingBack,
    /// PASS, and the word that everything of before is still there.
    PassButOpen,
    /// PASS, and the word that everything is still there that other slots found in earlier rounds.
    PassButTheirsOpen,
    /// NOT PASS, of which that is all that it says.
    NotPassTheirsOpen,
    Invalid,
    /// No verdict, and the word that everything of before is still there.
    InvalidButOpen,
    InvalidNotPass,
    Silent,
    ExitsWithPerfectPass,
    KilledWithNotPass,
    /// It is killed after it said that everything of before is still there.
    KilledStillOpen,
    TimesOutWithPass,
    TimesOutWithNotPass,
    CannotStart,
    /// A limit of its provider, beside a perfect PASS.
    Limited,
}

/// What a later measurement finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    Still,
    /// The content became this one; 0 is the base's own content.
    Content(u8),
    Base,
    /// The base's ref was moved, and the base with it.
    Rebased,
    /// A hook was added.
    Tripped,
    /// The last commit was made again: the same content, and another history.
    Amended,
    /// HEAD is on another branch.
    Switched,
    /// Another branch holds new commits.
    Elsewhere,
    /// The source holds something that no snapshot can hold.
    Unholdable,
    GitFails,
}

#[derive(Debug, Clone)]
pub struct SlotScript {
    pub checks: bool,
    pub fallbacks: usize,
    /// Cycled through, over rounds and attempts.
    pub answers: Vec<Answer>,
    /// In which round its review tree cannot be opened.
    pub tree_fails_in: Option<u32>,
}

/// What an agent does that plans, writes or rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It ends well and answers what it likes; see [`World::says`].
    Answers,
    Invalid,
    Silent,
    Exits,
    TimesOut,
    CannotStart,
    Limited,
}

/// Where the plan comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planned {
    Nobody,
    Planner,
    File,
}

/// Who may arbitrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arbiter {
    Nobody,
    Impartial,
    /// The agent that creates.
    Creator,
    /// The agent that every slot asks first.
    Reviewer,
}

/// Everybody who works besides the panel.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each of them is drawn by itself"
)]
pub struct Crew {
    /// Whether the creator reviews its own work, joined by `checks`: there is no other reviewer.
    pub own_work: bool,
    pub review_only: bool,
    pub planner: bool,
    pub planned: Planned,
    pub objects: bool,
    pub arbiter: Arbiter,
    /// Cycled through, over rounds, roles and attempts.
    pub deeds: Vec<Deed>,
    /// What a writing job leaves as content; cycled through over rounds and roles.
    pub writes: Vec<Option<u8>>,
    /// What is found after a job; per round that the work comes before.
    pub motions: Vec<Motion>,
    /// Whether uncommitted edits are gone after a job; per round that the work comes before.
    pub loses: Vec<bool>,
    /// Decides what is said of each finding.
    pub mood: u64,
}
