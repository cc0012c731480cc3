//! Whether somebody spoke against the content of a round that no result tells of.

use crate::domain::finding::Finding;
use crate::domain::id::JobId;
use crate::domain::job::Reading;
use crate::domain::ruled::{Asked, Ledger};
use crate::domain::severity::Severity;
use crate::domain::summary::{Round, Summary};
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;

impl Summary {
    /// When a report came that is against a round's content, valid or not; the first of them. Findings at least
    /// as bad as `fail_on` are, and so is the word that an earlier one still holds, which blocks and which no
    /// ruling settled on this content.
    #[must_use]
    pub fn refused_at(&self, round: &Round, fail_on: Severity) -> Option<Timestamp> {
        let content = &round.pin.as_ref()?.identity.content_tree;
        let ended = round.jobs.iter().filter_map(|record| {
            let outcome = record.outcome.as_ref()?;
            Some((&record.job, outcome))
        });
        let against = ended.filter(|(job, outcome)| {
            let reading = &outcome.reading;
            let says_so = match reading {
                Reading::Review(said) => said.verdict == Verdict::NotPass,
                Reading::Invalid { .. } | Reading::Reply { .. } | Reading::Silent => false,
            };
            says_so
                || reading.claims_not_pass(fail_on)
                || !self.kept_open(job, reading, content).is_empty()
        });
        against.map(|(_, outcome)| outcome.ended_at).min()
    }
    fn by(&self, job: JobId) -> Asked<'_> {
        let content = self.contents.get(&job);
        Asked { job, content }
    }
}

impl Ledger for Summary {
    fn ledger(&self) -> &[Finding] {
        &self.findings
    }
    fn ruling(&self, finding: &Finding) -> Option<Asked<'_>> {
        let mut rulings = self.rulings.iter().rev();
        let (_, job) = rulings.find(|(ruled, _)| *ruled == finding.id)?;
        finding.disposition.is_ruling().then(|| self.by(*job))
    }
    fn raising(&self, finding: &Finding) -> Option<Asked<'_>> {
        Some(self.by(finding.job))
    }
}
