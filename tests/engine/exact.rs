//! Runs in which everybody says exactly what the test says.

#[path = "exact/answered.rs"]
mod answered;
#[path = "exact/aside.rs"]
mod aside;
#[path = "exact/besides.rs"]
mod besides;
#[path = "exact/crashed.rs"]
mod crashed;
#[path = "exact/held_up.rs"]
mod held_up;
#[path = "exact/last_word.rs"]
mod last_word;
#[path = "exact/late.rs"]
mod late;
#[path = "exact/older.rs"]
mod older;
#[path = "exact/own_work.rs"]
mod own_work;
#[path = "exact/progress.rs"]
mod progress;
#[path = "exact/refused.rs"]
mod refused;
#[path = "exact/switched.rs"]
mod switched;
#[path = "exact/taken_up.rs"]
mod taken_up;

use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::finding::{Claim, Disposition};
use run_loop::domain::id::FindingId;
use run_loop::domain::job::{
    Answer as Answered, AnswerAction, Ended, Job, JobOutcome, Prior, Reading, Reply, Role, Ruling,
    RulingKind,
};
use run_loop::domain::run_spec::RunSpec;
use run_loop::domain::severity::Severity;
use run_loop::domain::verdict::{Coverage, Verdict};
use run_loop::engine::State;

use crate::delegations::Run;
use crate::trees::crew;
use crate::world::{Answer, SlotScript, World, claim, ended_with, reviewed, slot_index};

/// A run that writes the first content when it implements, with so many reviewers.
pub fn world(slots: usize) -> World {
    let mut world = crew(0);
    let slot = SlotScript {
        checks: false,
        fallbacks: 0,
        answers: vec![Answer::Pass],
        tree_fails_in: None,
    };
    world.slots = vec![slot; slots];
    world
}

/// Drives a run to its end. Each job is answered by `say`, which may write the source.
pub fn told(
    world: World,
    change: impl FnOnce(&mut RunSpec),
    mut say: impl FnMut(&Job, &mut u8) -> JobOutcome,
) -> Run {
    told_by(world, change, |_, job, content| say(job, content))
}

/// The same, by what the engine knows.
pub fn told_by(
    world: World,
    change: impl FnOnce(&mut RunSpec),
    mut say: impl FnMut(&State, &Job, &mut u8) -> JobOutcome,
) -> Run {
    let mut run = Run::start_in(world, change);
    loop {
        let asked = run.effect(|effect| matches!(effect, Effect::RunJob { .. }));
        if let Some((id, Effect::RunJob { job })) = asked {
            let outcome = say(&run.state, &job, &mut run.content);
            run.done(id, Outcome::JobEnded { outcome });
        } else if !run.perform(|_| true) {
            return run;
        }
    }
}

/// Who is asked: the role, which slot of the panel, which agent of it, and for which round.
pub fn asked(job: &Job) -> (Role, Option<usize>, usize, u32) {
    (job.role, slot_index(&job.slot), job.rank, job.round.0)
}

fn said(reading: Reading) -> JobOutcome {
    ended_with(Ended::Exited { code: 0 }, reading)
}

pub fn review(verdict: Verdict, findings: Vec<Claim>, prior: &[(u32, Disposition)]) -> JobOutcome {
    let prior = prior.iter().map(|(id, disposition)| Prior {
        finding: FindingId(*id),
        disposition: *disposition,
        note: String::new(),
        blob: None,
    });
    said(reviewed(verdict, Coverage::Full, findings, prior.collect()))
}

/// NOT PASS with one finding that blocks, of this name.
pub fn refuses(title: &str, prior: &[(u32, Disposition)]) -> JobOutcome {
    review(Verdict::NotPass, vec![high(title)], prior)
}

pub fn passes() -> JobOutcome {
    review(Verdict::Pass, Vec::new(), &[])
}

pub fn high(title: &str) -> Claim {
    claim(Severity::High, title)
}

pub fn crashes() -> JobOutcome {
    ended_with(Ended::Exited { code: 1 }, Reading::Silent)
}

pub fn implemented() -> JobOutcome {
    said(Reading::Reply { reply: Reply::Text })
}

pub fn answers(answers: &[(u32, AnswerAction)]) -> JobOutcome {
    let answers = answers.iter().map(|(id, action)| Answered {
        finding: FindingId(*id),
        action: *action,
        note: "because".to_owned(),
    });
    let answers = answers.collect();
    said(Reading::Reply {
        reply: Reply::Answers { answers },
    })
}

pub fn rules(rulings: &[(u32, RulingKind)]) -> JobOutcome {
    let rulings = rulings.iter().map(|(id, ruling)| Ruling {
        finding: FindingId(*id),
        ruling: *ruling,
        note: "because".to_owned(),
    });
    let rulings = rulings.collect();
    said(Reading::Reply {
        reply: Reply::Rulings { rulings },
    })
}

/// How the run ended: its exit code, and what it says.
pub fn end(run: &Run) -> (u8, String) {
    let end = run.state.end().unwrap();
    let said = match end {
        End::Failed { failure } => failure.message.clone(),
        End::Approved { .. } | End::Completed { .. } => String::new(),
    };
    (end.exit().code(), said)
}
