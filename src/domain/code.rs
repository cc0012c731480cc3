//! Reason codes: one for each failure that a user can act on, each with a page.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::exit::Exit;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $exit:ident;)*) => {
        /// A reason code. `run-loop explain RL0007` prints its page (`docs/errors/RL0007.md`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as printed: `RL` and four digits.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
            /// Its page, `docs/errors/RLxxxx.md`: a code without one does not compile.
            #[must_use]
            pub fn page(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!(
                        env!("CARGO_MANIFEST_DIR"), "/docs/errors/", $text, ".md"
                    )),)*
                }
            }
            /// The exit code that a command with this reason ends with.
            #[must_use]
            pub fn exit(self) -> Exit {
                match self { $(Self::$name => Exit::$exit,)* }
            }
        }
    };
}

codes! {
    /// The command line does not parse.
    BadArguments = "RL0001", Usage;
    /// A single word is neither a sub-command nor a task.
    NotATask = "RL0002", Usage;
    /// `--review-only` needs `--base`.
    ReviewOnlyNeedsBase = "RL0003", Usage;
    /// Two options do not fit together.
    OptionsConflict = "RL0004", Usage;
    /// An agent is named that nothing defines.
    UnknownAgent = "RL0005", Usage;
    /// An agent's program is missing or cannot be executed.
    AgentNotRunnable = "RL0006", Usage;
    /// The panel has no reviewer.
    EmptyPanel = "RL0007", Usage;
    /// The panel cannot reach what the policy asks.
    PanelBelowPolicy = "RL0008", Usage;
    /// The configuration is wrong.
    ConfigInvalid = "RL0009", Usage;
    /// A working copy's commands are not trusted by this user.
    ConfigUntrusted = "RL0010", Usage;
    /// A loop was started inside a job.
    InsideJob = "RL0011", Usage;
    /// This version cannot do that yet.
    NotBuilt = "RL0012", Usage;
    /// An option has a value it cannot take.
    BadValue = "RL0013", Usage;
    /// A full object id was asked for.
    AbbreviatedOid = "RL0014", Usage;
    /// A remote reviewer needs `--remote-review diff-only`.
    RemoteNeedsOption = "RL0015", Usage;
    /// A slot name is not valid or not unique.
    BadSlotName = "RL0016", Usage;
    /// No such code.
    UnknownCode = "RL0017", Usage;
    /// No run, or more than one, has that id.
    UnknownRun = "RL0018", Usage;
    /// Nobody is named who writes.
    CreatorMissing = "RL0019", Usage;
    /// Nobody is named who plans.
    PlannerMissing = "RL0020", Usage;
    /// An agent cannot do what it is named for.
    AgentUnfit = "RL0021", Usage;
    /// No job, or more than one, has that id.
    UnknownJob = "RL0022", Usage;
    /// An agent did not answer a test question.
    CanaryFailed = "RL0023", Usage;
    /// The folder is in no git repository.
    NotARepository = "RL0101", Refused;
    /// The repository has no working tree here.
    NoWorkingTree = "RL0102", Refused;
    /// `--worktree` names no folder.
    WorktreeNotFound = "RL0103", Refused;
    /// `--worktree` is a folder inside a working tree.
    WorktreeNotRoot = "RL0104", Refused;
    /// `--worktree` belongs to another repository.
    WorktreeForeign = "RL0105", Refused;
    /// The branch has no commit yet.
    UnbornBranch = "RL0106", Refused;
    /// A merge, rebase, cherry-pick, revert or bisect is not finished.
    OperationInProgress = "RL0107", Refused;
    /// An untracked nested repository cannot be pinned.
    NestedRepository = "RL0108", Refused;
    /// A submodule has content that the snapshot cannot hold.
    DirtySubmodule = "RL0109", Refused;
    /// A file cannot be read.
    UnreadableFile = "RL0110", Refused;
    /// A content filter is selected that is not allowed to run.
    FilterNotAllowed = "RL0111", Refused;
    /// The source changes while it is captured.
    SourceNotQuiet = "RL0112", Refused;
    /// The base names no commit here.
    BaseUnknown = "RL0113", Refused;
    /// The base names more than one of branch, remote-tracking branch and tag.
    BaseAmbiguous = "RL0114", Refused;
    /// Base and HEAD have no common history.
    NoCommonHistory = "RL0115", Refused;
    /// The base is not an ancestor of HEAD and the rules ask for it.
    BaseNotAncestor = "RL0116", Refused;
    /// There is nothing to review.
    EmptyChangeSet = "RL0117", Refused;
    /// Another loop runs on this source.
    LoopRunning = "RL0118", Refused;
    /// Git is missing or older than 2.34.
    GitTooOld = "RL0119", Refused;
    /// A review tree could not be opened.
    ReviewTreeFailed = "RL0120", Refused;
    /// The state or cache folder cannot be used.
    StateUnwritable = "RL0121", Refused;
    /// The diff is too large for a reviewer that sees nothing else.
    RemoteDiffCut = "RL0122", Refused;
    /// The reports folder is not a plain folder of ours.
    ReportsUnsafe = "RL0123", Refused;
    /// Git cannot take a snapshot of the source.
    SnapshotRefused = "RL0124", Refused;
    /// The revision that is to be judged names no commit here.
    HeadUnknown = "RL0125", Refused;
    /// The revision that is to be judged names more than one of branch, remote-tracking branch
    /// and tag.
    HeadAmbiguous = "RL0126", Refused;
    /// A new working tree would lie inside a repository.
    WorktreeInside = "RL0127", Refused;
    /// The place or the branch of a new working tree is taken.
    WorktreeTaken = "RL0128", Refused;
    /// Removing the working tree would lose something.
    WorktreeAtRisk = "RL0129", Refused;
    /// The folder is no working tree that can be removed.
    WorktreeNotRemovable = "RL0130", Refused;
    /// A skill cannot be installed.
    SkillBlocked = "RL0131", Refused;
    /// `run-loop.yaml` was not written.
    InitRefused = "RL0132", Refused;
    /// The working tree is on another branch than the run.
    OtherBranch = "RL0133", Refused;
    /// Our own output goes into the source.
    OutputInSource = "RL0134", Refused;
    /// The run is over.
    RunIsOver = "RL0140", Refused;
    /// What was asked about a job was not granted.
    JobRefused = "RL0141", Refused;
    /// Processes of a dead job live on.
    ProcessesLeft = "RL0142", Refused;
    /// A message arrived damaged.
    MessageDamaged = "RL0143", Refused;
    /// The content moved during the last round.
    SourceMoved = "RL0201", Stale;
    /// The merge base changed or the base was rewound.
    BaseMoved = "RL0202", Stale;
    /// Nothing is left to review.
    ChangeSetBecameEmpty = "RL0203", Stale;
    /// The source no longer holds still.
    SourceUnquietLater = "RL0204", Stale;
    /// The base's configuration or policy is not the one that the run is bound to.
    BaseRulesMoved = "RL0205", Stale;
    /// A reviewer gave no verdict.
    NoVerdict = "RL0301", Inconclusive;
    /// The source could not be measured.
    MeasureFailed = "RL0302", Inconclusive;
    /// The evidence could not be made.
    EvidenceFailed = "RL0303", Inconclusive;
    /// Changed files cannot be shown to reviewers.
    Unreviewed = "RL0304", Inconclusive;
    /// Something that no job may touch moved while jobs ran.
    TripwireMoved = "RL0305", Inconclusive;
    /// Blocking findings stand.
    FindingsStand = "RL0401", NotPass;
    /// A reviewer said NOT PASS without a finding.
    NotPassUnexplained = "RL0402", NotPass;
    /// The journal could not be written or read.
    JournalFailed = "RL0501", ToolFailed;
    /// Git failed.
    GitFailed = "RL0502", ToolFailed;
    /// The evidence could not be written.
    PromotionFailed = "RL0503", ToolFailed;
    /// Run-loop met a case it does not know.
    Internal = "RL0504", ToolFailed;
    /// A working tree could not be prepared, or not be removed.
    WorktreeFailed = "RL0505", ToolFailed;
    /// Something that a dead run left could not be removed.
    CleanupIncomplete = "RL0506", ToolFailed;
    /// A job failed.
    JobFailed = "RL0507", ToolFailed;
    /// A job worked on another branch.
    WorkElsewhere = "RL0508", ToolFailed;
    /// A job left the source in a state that cannot be reviewed.
    SourceLeftUnfit = "RL0509", ToolFailed;
    /// The creator changed nothing.
    NothingImplemented = "RL0510", ToolFailed;
    /// The creator, the planner or the arbiter failed.
    DelegationFailed = "RL0511", ToolFailed;
    /// Standard output could not be written.
    OutputLost = "RL0512", ToolFailed;
    /// A run is put aside, since something that it needs could not be written or opened.
    HeldUp = "RL0513", ToolFailed;
    /// A job could not be started, or its prompt not be written.
    JobNotStarted = "RL0601", NotStarted;
    /// A job's budget was spent.
    JobTimedOut = "RL0701", Limit;
    /// A job was waited for in vain.
    WaitTimedOut = "RL0702", Limit;
    /// A whole turn of work changed nothing.
    NoProgress = "RL0703", Limit;
    /// A run took the time that it may take.
    TimeSpent = "RL0704", Limit;
    /// A run cost what it may cost.
    MoneySpent = "RL0705", Limit;
    /// A dispute has nobody who may rule on it.
    ArbiterMissing = "RL0710", NeedsHuman;
    /// A provider's limit lets nothing be done for now.
    Parked = "RL0720", Parked;
    /// Interrupted.
    Interrupted = "RL0801", Interrupted;
    /// Terminated.
    Terminated = "RL0802", Terminated;
    /// Cancelled.
    Cancelled = "RL0803", Terminated;
    /// No approval names this content.
    GateNoEvidence = "RL0901", Inconclusive;
    /// The content is not the approved one.
    GateContentDiffers = "RL0902", Stale;
    /// The base is not an ancestor of what merges.
    GateBaseMovedOn = "RL0903", Stale;
    /// Less was reviewed than what merges.
    GateRangeNarrower = "RL0904", Stale;
    /// This repository's own state does not attest the approval.
    GateUnattested = "RL0905", Inconclusive;
    /// Nobody read the change.
    GateChecksOnly = "RL0906", Inconclusive;
    /// A later run on the same content did not pass.
    GateRevoked = "RL0907", NotPass;
    /// A file of the approval is missing, edited or damaged.
    GateDamaged = "RL0908", Inconclusive;
    /// The approval does not meet the base's policy.
    GatePolicyUnmet = "RL0909", Inconclusive;
    /// The newest verdict on this content is NOT PASS.
    GateNotPass = "RL0910", NotPass;
    /// Head is not the expected commit.
    GateHeadUnexpected = "RL0911", Stale;
    /// Two approvals claim this content and neither is newer.
    GateAmbiguous = "RL0912", Inconclusive;
}

impl Code {
    /// Reads a code as printed, ignoring case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a reason code"))
    }
}
