//! Another `run-loop.yaml` at the base's tip than at the commit whose file counts: a branch that began
//! before it is reviewed by what was there then.

use crate::cli::sources;
use crate::config::load::FILE_NAME;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::run_spec::BaseSpec;
use crate::git::{Git, Repository};

/// What a run that begins now leaves out of account.
#[derive(Debug, Clone)]
pub(crate) struct NewerRules {
    base: String,
    tip: Oid,
    counts: Oid,
    source: String,
}

/// What another file may mend.
const OF_RULES: [Code; 7] = [
    Code::UnknownAgent,
    Code::EmptyPanel,
    Code::PanelBelowPolicy,
    Code::BadSlotName,
    Code::CreatorMissing,
    Code::PlannerMissing,
    Code::AgentUnfit,
];

impl NewerRules {
    /// Compares the two files. What cannot be read is told where it counts, not here.
    pub(crate) fn find(
        git: &Git,
        repository: &Repository,
        base: &BaseSpec,
        counts: &Oid,
    ) -> Option<Self> {
        let BaseSpec::MergeBase { given, tip, .. } = base else {
            return None;
        };
        if tip == counts {
            return None;
        }
        let file = |commit| sources::at_base(git, &repository.git_dir, commit, FILE_NAME).ok();
        (file(tip)? != file(counts)?).then(|| Self {
            base: given.clone(),
            tip: tip.clone(),
            counts: counts.clone(),
            source: repository.source_root.display().to_string(),
        })
    }

    /// What is to be known before the run starts.
    pub(crate) fn notice(&self) -> String {
        format!("{}: {}", self.said(), self.next().join(" "))
    }

    /// The failure, with this where it may be the reason.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        if !OF_RULES.contains(&failure.code) {
            return failure;
        }
        let message = format!("{}; {}", failure.message, self.said());
        Failure { message, ..failure }.next(self.next())
    }

    /// What differs, in words.
    pub(crate) fn said(&self) -> String {
        format!(
            "{FILE_NAME} of {} ({}) is another one than the one that counts, at the merge base ({}): \
             the branch has to contain it",
            self.base,
            self.tip.short(),
            self.counts.short()
        )
    }

    /// The command that brings it.
    pub(crate) fn next(&self) -> [String; 5] {
        ["git", "-C", &self.source, "merge", &self.base].map(str::to_owned)
    }
}
