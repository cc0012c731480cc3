//! What a run used, by job, round and agent. What is not known is never zero.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::agent::Agent;
use crate::domain::id::LoopId;
use crate::domain::price::{Cost, cost_of};
use crate::domain::spent::{Spent, Usage};
use crate::domain::summary::{JobRecord, Summary};
use crate::report::table::table;
use crate::report::text;

/// What a run used.
#[derive(Debug, Clone, Serialize)]
pub struct CostReport {
    /// The run.
    pub run: LoopId,
    /// All of it.
    pub total: Sum,
    /// By round; what is done before a round counts to it.
    pub rounds: BTreeMap<u32, Sum>,
    /// By what the jobs were for.
    pub phases: BTreeMap<&'static str, Sum>,
    /// By agent.
    pub agents: BTreeMap<String, Sum>,
    /// By job, in the order of their dispatch.
    pub jobs: Vec<JobCost>,
}

/// What one job used.
#[derive(Debug, Clone, Serialize)]
pub struct JobCost {
    /// The job.
    pub job: String,
    /// What it was for.
    pub role: &'static str,
    /// Its round.
    pub round: u32,
    /// Who was asked for it, as a position.
    pub slot: String,
    /// The agent.
    pub agent: String,
    /// The model that answered.
    pub model: Option<String>,
    /// The program's own session.
    pub session: Option<String>,
    /// Tokens; `null` where they are not told.
    pub usage: Option<Usage>,
    /// Cost in US dollars; `null` where it is not known.
    pub cost_usd: Option<f64>,
    /// Whether the cost was worked out from tokens and `prices:`.
    pub computed: bool,
    /// Tool calls that were denied.
    pub denied: u32,
}

/// What several jobs used together.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Sum {
    /// How many jobs.
    pub jobs: u32,
    /// Of how many of them the cost is not known.
    pub without_cost: u32,
    /// Of how many of them the cost was worked out from tokens and `prices:`.
    pub computed: u32,
    /// Cost in US dollars; `null` where that of a job is not known, or there was no job.
    pub cost_usd: Option<f64>,
    /// The costs that are known, in US dollars.
    pub told_usd: f64,
    /// The tokens that were told.
    pub told: Usage,
}

impl Sum {
    fn add(&mut self, spent: &Spent, cost: Option<Cost>) {
        self.jobs += 1;
        match cost {
            Some(cost) => {
                self.told_usd += usd(cost.micro_usd);
                self.computed += u32::from(cost.computed);
            }
            None => self.without_cost += 1,
        }
        self.told = self.told.plus(spent.usage.unwrap_or_default());
        self.cost_usd = (self.without_cost == 0).then_some(self.told_usd);
    }
    fn cost(&self) -> String {
        match (self.cost_usd, self.jobs) {
            (Some(cost), _) if self.computed > 0 => {
                format!("${cost:.4}, {} computed", self.computed)
            }
            (Some(cost), _) => format!("${cost:.4}"),
            (None, 0) => "-".to_owned(),
            (None, _) if self.told_usd > 0.0 => {
                format!(
                    "at least ${:.4}, {} untold",
                    self.told_usd, self.without_cost
                )
            }
            (None, _) => "unknown".to_owned(),
        }
    }
}

/// Millionths in dollars; far below what a double holds exactly.
#[expect(
    clippy::cast_precision_loss,
    reason = "2^53 millionths are nine thousand million dollars"
)]
fn usd(micro: u64) -> f64 {
    micro as f64 / 1e6
}

impl CostReport {
    /// What the run used so far.
    #[must_use]
    pub fn of(run: LoopId, summary: &Summary) -> Self {
        let mut report = Self {
            run,
            total: Sum::default(),
            rounds: BTreeMap::new(),
            phases: BTreeMap::new(),
            agents: BTreeMap::new(),
            jobs: Vec::new(),
        };
        let mut records: Vec<&JobRecord> = summary.jobs().collect();
        records.sort_by_key(|record| (record.requested_at, record.job.id));
        for record in records {
            report.add(summary, record);
        }
        report
    }

    fn add(&mut self, summary: &Summary, record: &JobRecord) {
        // What runs has not told yet.
        let Some(outcome) = &record.outcome else {
            return;
        };
        let (job, spent) = (&record.job, &outcome.spent);
        let agent = summary.spec.as_ref().and_then(|spec| spec.agent_of(job));
        let free = agent.is_some_and(Agent::is_checks).then_some(Cost {
            micro_usd: 0,
            computed: false,
        });
        let prices = summary
            .spec
            .as_ref()
            .map_or(&[][..], |spec| &spec.limits.prices);
        let cost = cost_of(prices, agent, spent).or(free);
        let name = agent.map_or_else(|| job.slot.to_string(), |agent| agent.name.clone());
        let round = job.round.0;
        self.total.add(spent, cost);
        self.rounds.entry(round).or_default().add(spent, cost);
        let phase = self.phases.entry(job.role.as_str()).or_default();
        phase.add(spent, cost);
        self.agents
            .entry(name.clone())
            .or_default()
            .add(spent, cost);
        self.jobs.push(JobCost {
            job: job.id.to_string(),
            role: job.role.as_str(),
            round,
            slot: job.slot.to_string(),
            agent: name,
            model: spent.model.clone(),
            session: spent.session.clone(),
            usage: spent.usage,
            cost_usd: cost.map(|cost| usd(cost.micro_usd)),
            computed: cost.is_some_and(|cost| cost.computed),
            denied: spent.denied,
        });
    }

    /// As text for people.
    #[must_use]
    pub fn human(&self) -> String {
        let count = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let words = |row: [&str; 8]| row.map(str::to_owned).to_vec();
        let mut rows = vec![words([
            "round", "role", "slot", "agent", "model", "in", "out", "cost",
        ])];
        for job in &self.jobs {
            let usage = job.usage.unwrap_or_default();
            let cost = match job.cost_usd {
                Some(cost) if job.computed => format!("${cost:.4} computed"),
                Some(cost) => format!("${cost:.4}"),
                None => "unknown".to_owned(),
            };
            rows.push(vec![
                job.round.to_string(),
                job.role.to_owned(),
                job.slot.clone(),
                text::line(&job.agent),
                text::line(job.model.as_deref().unwrap_or("-")),
                count(usage.input),
                count(usage.output),
                cost,
            ]);
        }
        let told = |name: String, sum: &Sum| {
            vec![
                text::line(&name),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
                count(sum.told.input),
                count(sum.told.output),
                sum.cost(),
            ]
        };
        for (round, sum) in &self.rounds {
            rows.push(told(format!("round {round}"), sum));
        }
        for (phase, sum) in &self.phases {
            rows.push(told((*phase).to_owned(), sum));
        }
        for (agent, sum) in &self.agents {
            rows.push(told(agent.clone(), sum));
        }
        rows.push(told("run".to_owned(), &self.total));
        format!("run {}\n{}", self.run, table(&rows))
    }
}
