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
        let mut words = self.words.iter().rev();
        let (_, job, of_review) = words.find(|(spoken_of, ..)| *spoken_of == finding.id)?;
        // As the engine does: what a review says of other content than the finding was raised on is none.
        let on_the_same = self.contents.get(job) == self.contents.get(&finding.job);
        let rules = finding.disposition.is_ruling() && (!of_review || on_the_same);
        rules.then(|| self.by(*job))
    }
    fn raising(&self, finding: &Finding) -> Option<Asked<'_>> {
        Some(self.by(finding.job))
    }
}
