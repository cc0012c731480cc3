//! What jobs delegate, drawn before it begins, and what becomes of it.

use run_loop::domain::code::Code;
use run_loop::domain::effect::Outcome;
use run_loop::domain::failure::Failure;
use run_loop::domain::job::{Ended, Role};
use run_loop::domain::trouble::Trouble;

use crate::world::{World, delegated};

/// How one dispatch of a delegated job comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It ends well, with a report.
    Reports,
    /// It says that it is done, and its process fails.
    SaysDone,
    /// It says that it failed, and its process ends well.
    SaysFailed,
    /// It asks for a permission, goes on, and reports.
    Asks,
    Exits,
    /// It ends well and leaves nothing.
    ReportsNothing,
    TimesOut,
    CannotStart,
    /// Nobody saw its end.
    Unseen,
    Limited,
    /// Its answer does not fit its schema.
    Misfits,
    /// It ends when it is stopped, and never by itself.
    Endless,
    /// It ends after everybody who waited for it gave up.
    Late,
}

impl Fate {
    /// Whether its agent does anything before it ends by itself.
    fn works(self) -> bool {
        !matches!(self, Self::CannotStart | Self::Endless | Self::Late)
    }
    /// What comes back.
    pub fn outcome(self) -> Outcome {
        let exited = |code| Ended::Exited { code };
        let (ended, report) = match self {
            Self::Reports | Self::SaysFailed | Self::Asks | Self::Misfits | Self::Late => {
                (exited(0), true)
            }
            Self::ReportsNothing => (exited(0), false),
            Self::SaysDone | Self::Exits => (exited(1), false),
            Self::TimesOut => (Ended::TimedOut, true),
            Self::CannotStart => {
                let failure = Failure::new(Code::AgentNotRunnable, "as scripted");
                (Ended::NotStarted { failure }, false)
            }
            Self::Unseen => (Ended::Lost, false),
            Self::Limited => {
                let (trouble, message) = (Trouble::RateLimit, "busy".to_owned());
                let ended = Ended::Failed {
                    code: 1,
                    trouble,
                    message,
                };
                (ended, false)
            }
            Self::Endless => (Ended::Interrupted, false),
        };
        let mut outcome = delegated(ended, report);
        if let Outcome::Delegated { outcome } = &mut outcome {
            outcome.gone = self != Self::Unseen;
            outcome.misfit = (self == Self::Misfits).then(|| "as scripted".to_owned());
        }
        outcome
    }
}

/// What somebody asks of a delegated job later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Nothing,
    /// Whoever delegated it cancels it at once.
    Cancelled,
    /// The same, and has it dispatched once more.
    CancelledAndAgain,
    /// Whoever delegated it has it dispatched once more when it is over.
    Again,
    /// A person does.
    AgainByPerson,
}

impl Then {
    pub fn cancels(self) -> bool {
        matches!(self, Self::Cancelled | Self::CancelledAndAgain)
    }
    /// Whether it is dispatched once more by whoever delegated it.
    pub fn repeats(self) -> bool {
        matches!(self, Self::Again | Self::CancelledAndAgain)
    }
}

/// A job that is delegated.
#[derive(Debug, Clone)]
pub struct Helper {
    /// By dispatch; the last of them stays.
    pub fates: Vec<Fate>,
    /// Whether whoever delegated it ends after it.
    pub awaited: bool,
    pub then: Then,
    /// What it delegates itself.
    pub helpers: Vec<Self>,
}

impl Helper {
    /// How its `nth` dispatch ends, from 0.
    pub fn fate(&self, nth: usize) -> Fate {
        self.fates[nth.min(self.fates.len() - 1)]
    }
    /// Whether it, or what it delegates, does what it was delegated for.
    fn does_it(&self) -> bool {
        let begins = self.fates[0] != Fate::CannotStart;
        self.fates[0].works() || (begins && self.helpers.iter().any(Self::does_it))
    }
}

/// What is delegated in a run.
#[derive(Debug, Clone, Default)]
pub struct Delegating {
    /// What a job of the loop delegates before it ends; cycled through over rounds, roles and attempts.
    pub plans: Vec<Vec<Helper>>,
    /// What people delegate, inside no job.
    pub strangers: Vec<Helper>,
    pub wait_open_jobs: bool,
}

impl World {
    /// What a job delegates that is asked the `nth` time for this.
    pub fn helpers(&self, role: Role, round: u32, nth: u32) -> &[Helper] {
        let plans = &self.delegating.plans;
        let at = (round * 5 + role as u32 * 3 + nth) as usize;
        plans
            .get(at % plans.len().max(1))
            .map_or(&[], Vec::as_slice)
    }
    /// Whether a job leaves what it is to write to those whom it delegates to.
    pub fn leaves_it(&self, role: Role, round: u32, nth: u32) -> bool {
        self.helpers(role, round, nth).iter().any(Helper::does_it)
    }
}
