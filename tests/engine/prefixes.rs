//! Crash safety of the shape: every prefix of every journal resumes to the same end.

use proptest::prelude::*;
use run_loop::domain::event::Event;
use run_loop::engine::InputKind;

use crate::orders::{Driver, picks};
use crate::world::worlds;

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    /// Design, section 9: the journal is cut after every event, and the run taken up again.
    #[test]
    fn every_prefix_resumes_to_the_same_end(world in worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        // What the source holds is the world's, not the journal's: it is kept per event.
        let mut contents = vec![driver.content; driver.journal.len()];
        let mut pick = picks(seed);
        loop {
            if !driver.perform(pick()) {
                break;
            }
            contents.push(driver.content);
            contents.resize(driver.journal.len(), driver.content);
        }
        let exit = driver.state.end().unwrap().exit();
        for cut in 1..driver.journal.len() {
            let mut again = Driver::resumed(&world, &driver.journal[..cut], contents[cut - 1]);
            let end = again.run(picks(seed ^ cut as u64));
            prop_assert_eq!(end, exit.code(), "cut after event {}", cut);
        }
    }

    /// A journal read back from its JSON folds to the same run.
    #[test]
    fn a_journal_survives_its_json_form(world in worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        for event in &driver.journal {
            let text = serde_json::to_string(event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event);
        }
        // Resuming what is over does nothing.
        let mut again = Driver::resumed(&world, &driver.journal, driver.content);
        prop_assert_eq!(again.journal.len(), driver.journal.len());
        again.input(InputKind::Resume);
        prop_assert_eq!(again.journal.len(), driver.journal.len());
    }
}
