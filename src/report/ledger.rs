//! The ledger of a run: every finding with who raised it, and what everybody said of it since.

use serde::Serialize;

use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::finding::Disposition;
use crate::domain::id::{JobId, LoopId};
use crate::domain::job::{Job, Role};
use crate::domain::slot::SlotName;
use crate::engine::State;
use crate::report::deviation::Deviation;
use crate::report::human::finding_line;
use crate::report::public::{PublicFinding, VERSION};
use crate::report::{ndjson, text};
use crate::store::Entry;

/// The ledger as a document: what `show --findings --format json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// The version of this form.
    pub version: u32,
    /// The run.
    pub run: LoopId,
    /// Every finding, in the order of its number.
    pub findings: Vec<Tracked>,
    /// Acceptance items of the plan that the change deviates from, by the last report of each slot.
    pub deviations: Vec<Deviation>,
}

/// A finding and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tracked {
    /// The slot that raised it.
    pub slot: SlotName,
    /// The agent that did.
    pub agent: Option<String>,
    /// In which round.
    pub round: u32,
    /// The finding, with its disposition as it is now.
    pub finding: PublicFinding,
    /// What was said of it since, oldest first.
    pub said: Vec<Said>,
}

/// One word on a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// What became of it.
    pub disposition: Disposition,
    /// The agent that said so.
    pub agent: Option<String>,
    /// In which role.
    pub role: Option<&'static str>,
    /// Why, in its words.
    pub note: String,
    /// Whether it is void, since something moved in the round in which it was said.
    pub void: bool,
}

impl Ledger {
    /// The ledger of these events.
    #[must_use]
    pub fn of(run: LoopId, entries: &[Entry]) -> Self {
        let state = State::replay(entries.iter().map(|entry| &entry.event));
        let job = |id: &JobId| state.jobs.get(id).map(|record| &record.job);
        let agent = |id: &JobId| Some(state.agent_of(job(id)?)?.name.clone());
        let said = |number| {
            let entries = entries.iter().filter_map(move |entry| {
                let Event::FindingDisposed {
                    finding,
                    disposition,
                    job: by,
                    note,
                } = &entry.event
                else {
                    return None;
                };
                (*finding == number).then_some((*disposition, by, note))
            });
            entries
                .map(|(disposition, by, note)| Said {
                    disposition,
                    agent: agent(by),
                    role: job(by).map(|job| job.role.as_str()),
                    note: note.clone(),
                    void: !disposition.holds() && job(by).is_some_and(|job| is_void(&state, job)),
                })
                .collect()
        };
        let findings = state.findings.iter().map(|finding| Tracked {
            slot: finding.slot.clone(),
            agent: agent(&finding.job),
            round: finding.round.0,
            finding: PublicFinding::from(finding),
            said: said(finding.id),
        });
        Self {
            version: VERSION,
            run,
            findings: findings.collect(),
            deviations: Deviation::of(state.jobs.values().filter_map(|record| {
                let outcome = record.outcome.as_ref()?;
                Some((&record.job, outcome))
            })),
        }
    }
    /// The ledger as one line of JSON.
    ///
    /// # Errors
    /// When it has no JSON form.
    pub fn json(&self) -> Result<String, Failure> {
        ndjson::document(self)
    }
    /// The ledger as text for people.
    #[must_use]
    pub fn human(&self) -> String {
        let mut told = String::new();
        if self.findings.is_empty() {
            told = format!("run {}: no finding was raised\n", self.run);
        }
        for tracked in &self.findings {
            let agent = named(tracked.agent.as_deref());
            let raised = format!(
                "{}\n  raised by {agent} in {} (round {})\n",
                finding_line(&tracked.finding),
                tracked.slot,
                tracked.round
            );
            told.push_str(&raised);
            indent(&mut told, &tracked.finding.body);
            for said in &tracked.said {
                let line = format!(
                    "  {} by {} ({}){}\n",
                    said.disposition.as_str(),
                    named(said.agent.as_deref()),
                    said.role.unwrap_or("unknown job"),
                    if said.void {
                        ", void with its round"
                    } else {
                        ""
                    }
                );
                told.push_str(&line);
                indent(&mut told, &said.note);
            }
        }
        for deviation in &self.deviations {
            told.push_str(&deviation.line());
            told.push('\n');
        }
        told
    }
}

/// Whether a review is of a void round.
fn is_void(state: &State, job: &Job) -> bool {
    let mut rounds = state.rounds.iter();
    job.role == Role::Review && rounds.any(|round| round.number == job.round && round.is_void())
}

fn named(agent: Option<&str>) -> String {
    agent.map_or_else(|| "nobody known".to_owned(), text::line)
}

fn indent(told: &mut String, words: &str) {
    for line in text::block(words).lines() {
        told.push_str("      ");
        told.push_str(line);
        told.push('\n');
    }
}
