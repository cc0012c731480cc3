//! Delegated jobs that go on in the session of an earlier one (rows ).

use run_loop::domain::delegation::{Continues, Submission};
use run_loop::domain::effect::Outcome;
use run_loop::domain::id::JobId;
use run_loop::domain::job::{Ended, SessionUse};
use run_loop::domain::trouble::Trouble;
use run_loop::engine::NoSession;

use super::{Run, submission};
use crate::sessions::program;
use crate::world::{delegated, stamp, stored};

/// An outcome in the session `s` of the run's own folder.
fn in_session(run: &Run, ended: Ended, cost: Option<u64>) -> Outcome {
    let mut outcome = delegated(ended, true);
    if let Outcome::Delegated { outcome } = &mut outcome {
        outcome.spent.session = Some("s".to_owned());
        outcome.spent.directory = run.state.run.as_ref().map(|run| run.source_root.clone());
        outcome.spent.cost_micro_usd = cost;
    }
    outcome
}

/// A run of one job that goes on in the session `s`, which cost half a dollar so far.
fn following() -> (Run, JobId, JobId) {
    let earlier = JobId::mint(&stamp(9_999), "a job of an earlier run");
    let run = Run::start(|spec| {
        spec.panel.clear();
        let mut submission = submission(None);
        program(&mut submission.agent);
        submission.continues = Some(Continues {
            job: earlier,
            session: "s".to_owned(),
            directory: spec.source_root.clone(),
            used: run_loop::domain::spent::Spent {
                cost_micro_usd: Some(500_000),
                ..Default::default()
            },
            report: stored("report"),
        });
        spec.single = Some(submission);
    });
    let job = *run.state.delegations.keys().next().unwrap();
    (run, earlier, job)
}

fn session(run: &Run, job: JobId) -> SessionUse {
    let (newest, _) = run.state.delegations[&job].dispatches.last().unwrap();
    newest.session.clone()
}

/// What was used in a session is handed on from job to job; what one of them did not tell is not known.
#[test]
fn what_was_used_in_a_session_is_handed_on() {
    for (cost, used) in [(Some(250_000), Some(750_000)), (None, None)] {
        let (mut run, earlier, job) = following();
        assert_eq!(
            session(&run, job),
            SessionUse::Continues {
                id: "s".to_owned(),
                from: earlier
            }
        );
        let record = &run.state.delegations[&job];
        let before = record.used_before(record.newest().unwrap()).unwrap();
        assert_eq!(before.cost_micro_usd, Some(500_000));
        let outcome = in_session(&run, Ended::Exited { code: 0 }, cost);
        run.ends(job, outcome);
        let Submission { agent, .. } = run.state.delegations[&job].submission.clone();
        let works = run.state.run.as_ref().unwrap().source_root.clone();
        let next = run.state.session_after(job, &agent, &works).unwrap();
        assert_eq!((next.job, next.used.cost_micro_usd), (job, used));
        let elsewhere = run.state.session_after(job, &agent, "/other");
        assert!(matches!(elsewhere, Err(NoSession::Elsewhere { .. })));
        assert_eq!(run.into_end().unwrap().exit().code(), 0);
    }
}

/// One that is gone is given up for good: neither the new attempt nor a later one goes on in it, and a
/// failure of another kind is none of the session's.
#[test]
fn a_session_that_is_gone_is_given_up() {
    let failed = |trouble| Ended::Failed {
        code: 1,
        trouble,
        message: String::new(),
    };
    let (mut run, earlier, job) = following();
    let gone = in_session(&run, failed(Trouble::Session), None);
    run.ends(job, gone.clone());
    assert_eq!(run.closed(job), None);
    assert_eq!(session(&run, job), SessionUse::Replaces { from: earlier });
    // The new one is not gone: that is the job's failure.
    run.ends(job, gone);
    assert!(run.closed(job).is_some());
    let (mut run, _, job) = following();
    let denied = in_session(&run, failed(Trouble::Auth), None);
    run.ends(job, denied);
    assert_eq!(run.into_end().unwrap().exit().code(), 6);
    let (mut run, earlier, job) = following();
    run.ends(job, delegated(Ended::Stopped, false));
    assert_eq!(session(&run, job), SessionUse::Replaces { from: earlier });
}
