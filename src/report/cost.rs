//! What a run used, by job, round and agent. What is not known is never zero.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::agent::Agent;
use crate::domain::delegation::DispatchOutcome;
use crate::domain::id::{JobId, LoopId};
use crate::domain::job::Ended;
use crate::domain::price::{Cost, Price, cost_of};
use crate::domain::spent::{Spent, Usage};
use crate::domain::summary::{JobRecord, Summary};
use crate::engine::DelegationRecord;
use crate::report::public::VERSION;
use crate::report::table::table;
use crate::report::text;

/// What a delegated job is for, as it is told of itself.
const DELEGATE: &str = "delegate";

/// What a run used.
#[derive(Debug, Clone, Serialize)]
pub struct CostReport {
    /// The version of this form.
    pub version: u32,
    /// The run.
    pub run: LoopId,
    /// All of it.
    pub total: Sum,
    /// By round; what is done before a round counts to it, and what was delegated to none.
    pub rounds: BTreeMap<u32, Sum>,
    /// By what the jobs were for.
    pub phases: BTreeMap<&'static str, Sum>,
    /// By agent.
    pub agents: BTreeMap<String, Sum>,
    /// By job, in the order of their dispatch; those that were delegated follow, each dispatch of its own.
    pub jobs: Vec<JobCost>,
}

/// What one job used.
#[derive(Debug, Clone, Serialize)]
pub struct JobCost {
    /// The job.
    pub job: String,
    /// What it was for.
    pub role: &'static str,
    /// Its round; a delegated job is in none.
    pub round: Option<u32>,
    /// Who was asked for it, as a position; a delegated job has none.
    pub slot: Option<String>,
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

/// A job that ended, whoever asked for it.
struct Ran<'a> {
    job: JobId,
    role: &'static str,
    round: Option<u32>,
    slot: Option<String>,
    agent: Option<&'a Agent>,
    ended: &'a Ended,
    spent: &'a Spent,
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

/// What a job cost that ended, as the run's own bound counts it.
fn cost(prices: &[Price], agent: Option<&Agent>, ended: &Ended, spent: &Spent) -> Option<Cost> {
    let is_free = !ended.was_asked() || agent.is_some_and(|agent| !agent.costs());
    let free = is_free.then_some(Cost {
        micro_usd: 0,
        computed: false,
    });
    cost_of(prices, agent, spent).or(free)
}

/// What these jobs, and those that were delegated, cost so far.
pub(super) fn so_far<'a>(
    summary: &Summary,
    jobs: impl Iterator<Item = &'a JobRecord>,
    delegated: &[(Option<JobId>, Box<DispatchOutcome>)],
) -> Sum {
    let spec = summary.spec.as_ref();
    let prices = spec.map_or(&[][..], |spec| &spec.limits.prices);
    let mut sum = Sum::default();
    for record in jobs {
        if let Some(outcome) = &record.outcome {
            let agent = spec.and_then(|spec| spec.agent_of(&record.job));
            let cost = cost(prices, agent, &outcome.ended, &outcome.spent);
            sum.add(&outcome.spent, cost);
        }
    }
    for (job, outcome) in delegated {
        let agent = job.and_then(|job| summary.delegates.get(&job));
        let cost = cost(prices, agent, &outcome.ended, &outcome.spent);
        sum.add(&outcome.spent, cost);
    }
    sum
}

impl CostReport {
    /// What the run used so far.
    #[must_use]
    pub fn of<'a>(
        run: LoopId,
        summary: &Summary,
        delegated: impl IntoIterator<Item = &'a DelegationRecord>,
    ) -> Self {
        let mut report = Self {
            version: VERSION,
            run,
            total: Sum::default(),
            rounds: BTreeMap::new(),
            phases: BTreeMap::new(),
            agents: BTreeMap::new(),
            jobs: Vec::new(),
        };
        let mut records: Vec<&JobRecord> = summary.jobs().collect();
        records.sort_by_key(|record| (record.requested_at, record.job.id));
        let spec = summary.spec.as_ref();
        let prices = spec.map_or(&[][..], |spec| &spec.limits.prices);
        for JobRecord { job, outcome, .. } in records {
            // What runs has not told yet.
            let Some(outcome) = outcome else {
                continue;
            };
            let ran = Ran {
                job: job.id,
                role: job.role.as_str(),
                round: Some(job.round.0),
                slot: Some(job.slot.to_string()),
                agent: spec.and_then(|spec| spec.agent_of(job)),
                ended: &outcome.ended,
                spent: &outcome.spent,
            };
            report.add(prices, ran);
        }
        for record in delegated {
            let ended = record.dispatches.iter();
            for (dispatch, outcome) in ended.filter_map(|(one, end)| Some((one, end.as_ref()?))) {
                let ran = Ran {
                    job: dispatch.job,
                    role: DELEGATE,
                    round: None,
                    slot: None,
                    agent: Some(&record.submission.agent),
                    ended: &outcome.ended,
                    spent: &outcome.spent,
                };
                report.add(prices, ran);
            }
        }
        report
    }

    fn add(&mut self, prices: &[Price], ran: Ran<'_>) {
        let Ran {
            job,
            role,
            round,
            slot,
            agent,
            ended,
            spent,
        } = ran;
        let cost = cost(prices, agent, ended, spent);
        let name = agent.map(|agent| agent.name.clone());
        let name = name.or_else(|| slot.clone()).unwrap_or_default();
        self.total.add(spent, cost);
        if let Some(round) = round {
            self.rounds.entry(round).or_default().add(spent, cost);
        }
        self.phases.entry(role).or_default().add(spent, cost);
        self.agents
            .entry(name.clone())
            .or_default()
            .add(spent, cost);
        self.jobs.push(JobCost {
            job: job.to_string(),
            role,
            round,
            slot,
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
                count(job.round.map(u64::from)),
                job.role.to_owned(),
                job.slot.clone().unwrap_or_else(|| "-".to_owned()),
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
