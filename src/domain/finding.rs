//! Claims of reviewers, and what became of them.

use serde::{Deserialize, Serialize};

use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::job::Role;
use crate::domain::lowered::Lowered;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::severity::Severity;
use crate::domain::slot::SlotName;

/// One thing a reviewer claims is wrong, as decoded from a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// One line.
    pub title: String,
    /// How bad.
    pub severity: Severity,
    /// Whether the reviewer says that it blocks whatever its severity.
    pub blocking: bool,
    /// The file, as the reviewer wrote it; it need not exist (scenario S26).
    pub path: Option<RepoPath>,
    /// The first line, from 1.
    pub line: Option<u32>,
    /// The last line.
    pub end_line: Option<u32>,
    /// The text.
    pub body: String,
    /// Whether it stood there before the change: claimed by the reviewer *and* believed, since the
    /// cited lines are unchanged since the base (scenario C11).
    pub pre_existing: bool,
    /// What lies at the path, where that is a text file of the snapshot and the cited lines exist.
    /// `None` never lowers anything (scenario S26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Oid>,
}

impl Claim {
    /// Whether the claim blocks: it says so, or it is new and at least as bad as the bar.
    #[must_use]
    pub fn blocks(&self, fail_on: Severity) -> bool {
        self.blocking || (!self.pre_existing && self.severity >= fail_on)
    }
    /// The same with its words as they may be kept; a path of the snapshot is nobody's key.
    #[must_use]
    pub(crate) fn in_words(self, kept: &dyn Fn(&str) -> String) -> Self {
        let written = |path: RepoPath| {
            let text = String::from_utf8_lossy(path.as_bytes());
            let told = kept(&text);
            if self.blob.is_some() || told == text {
                path
            } else {
                RepoPath::from(&*told)
            }
        };
        Self {
            title: kept(&self.title),
            body: kept(&self.body),
            path: self.path.map(written),
            ..self
        }
    }
    /// Whether two titles are the same but for case, punctuation and white space; titles of signs alone,
    /// where they are the same.
    #[must_use]
    pub fn is_called_like(&self, other: &Self) -> bool {
        let no_words = words(&self.title).next().is_none();
        words(&self.title).eq(words(&other.title)) && (!no_words || self.title == other.title)
    }
    /// Whether it is the same claim on the same bytes: its fingerprint, bound to the blob.
    #[must_use]
    pub fn is_again(&self, other: &Self) -> bool {
        self.blob.is_some()
            && self.blob == other.blob
            && self.path == other.path
            && (self.line, self.last_line()) == (other.line, other.last_line())
            && self.is_called_like(other)
    }
    /// The last line, where there is a first one.
    #[must_use]
    pub fn last_line(&self) -> Option<u32> {
        self.end_line.or(self.line)
    }
}

/// The words of a title: what is compared.
fn words(title: &str) -> impl Iterator<Item = String> {
    title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// A claim with its place in the run's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The number in the run.
    pub id: FindingId,
    /// Who raised it.
    pub slot: SlotName,
    /// In which job.
    pub job: JobId,
    /// In which round.
    pub round: RoundNumber,
    /// What was claimed.
    pub claim: Claim,
    /// Whether it blocks under the run's bar.
    pub blocking: bool,
    /// The earlier finding that it repeats: the same words about the same code, wherever that is
    /// now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<FindingId>,
    /// Why it does not block, where its words alone would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered: Option<Lowered>,
    /// What became of it.
    pub disposition: Disposition,
}

/// What somebody said of a finding when something became of it by that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The job in which it was said.
    pub job: JobId,
    /// What that job was asked for: who speaks.
    pub role: Role,
    /// What became of the finding.
    pub disposition: Disposition,
    /// Why, in their words; perhaps blank.
    pub note: String,
}

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// Nobody answered it yet.
    Open,
    /// The creator says that it mended it.
    Fixed,
    /// The creator says that it is wrong.
    Refuted,
    /// Its reviewer took it back.
    Withdrawn,
    /// Its reviewer keeps it.
    Upheld,
    /// The arbiter agrees with the reviewer.
    Sustained,
    /// The arbiter agrees with the creator.
    Overruled,
    /// It is left for later.
    Deferred,
}

impl Disposition {
    /// Reads the lower-case name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let all = [
            Self::Open,
            Self::Fixed,
            Self::Refuted,
            Self::Withdrawn,
            Self::Upheld,
            Self::Sustained,
            Self::Overruled,
            Self::Deferred,
        ];
        all.into_iter().find(|it| it.as_str() == text)
    }
    /// Whether a finding that stands so still has its force: nobody mended it, took it back or overruled
    /// it. A reviewer that says one of these words of an earlier finding says that it still holds.
    #[must_use]
    pub fn holds(self) -> bool {
        match self {
            Self::Open | Self::Refuted | Self::Upheld | Self::Sustained | Self::Deferred => true,
            Self::Fixed | Self::Withdrawn | Self::Overruled => false,
        }
    }
    /// Whether it takes a finding's force by itself, whatever the content is since.
    #[must_use]
    pub fn is_ruling(self) -> bool {
        match self {
            Self::Withdrawn | Self::Overruled => true,
            Self::Open
            | Self::Fixed
            | Self::Refuted
            | Self::Upheld
            | Self::Sustained
            | Self::Deferred => false,
        }
    }
    /// The lower-case name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Fixed => "fixed",
            Self::Refuted => "refuted",
            Self::Withdrawn => "withdrawn",
            Self::Upheld => "upheld",
            Self::Sustained => "sustained",
            Self::Overruled => "overruled",
            Self::Deferred => "deferred",
        }
    }
}
