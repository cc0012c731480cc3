//! The order of jobs, whatever the clock does.

use run_loop::domain::effect::Effect;
use run_loop::domain::event::Event;
use run_loop::domain::id::JobId;
use run_loop::domain::job::Job;

use crate::delegations::Run;
use crate::trees::crew;

/// The jobs of the loop in the order in which they were asked for.
pub fn jobs(journal: &[Event]) -> impl Iterator<Item = &Job> {
    journal.iter().filter_map(|event| match event {
        Event::EffectRequested { effect, .. } => match &**effect {
            Effect::RunJob { job } => Some(job),
            _ => None,
        },
        _ => None,
    })
}

/// Which ruling is the last one, and whether a word came after another, is told by the order of jobs: a
/// clock that is set back during a run does not turn it.
#[test]
fn jobs_keep_their_order_when_the_clock_is_set_back() {
    let mut most = 0;
    for mood in 0..20 {
        let mut world = crew(mood);
        // Another content each time.
        world.crew.as_mut().unwrap().writes = (1..=10).map(Some).collect();
        let mut run = Run::start_in(world, |_| ());
        for nth in 1.. {
            run.clock = 1_000_000 - 10 * nth;
            if !run.perform(|_| true) {
                break;
            }
        }
        let asked: Vec<JobId> = jobs(&run.journal).map(|job| job.id).collect();
        let kept: Vec<JobId> = run.state.jobs.keys().copied().collect();
        assert_eq!(kept, asked, "mood {mood}");
        most = most.max(asked.len());
    }
    assert!(most >= 4, "no run had several jobs: {most}");
}
