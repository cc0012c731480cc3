//! The way out of a run whose record is damaged.

use std::fs;

use run_loop::store::Journal;

use crate::dead::Dead;
use crate::fixture::{photo, same};

/// Where the record is damaged, every command names the one that ends that, and it loses nothing.
#[test]
fn a_damaged_record_is_put_away_whole_and_named_no_more() {
    let dead = Dead::killed();
    let id = dead.run.to_string();
    let folder = dead.state().run_path(dead.run);
    fs::remove_file(folder.join("journal.db-wal")).unwrap();
    fs::write(folder.join("journal.db"), "no journal").unwrap();
    let put_away = ["run-loop", "cleanup", "--damaged", &id];
    for command in ["show", "status", "resume", "cancel"] {
        let ran = dead.bench.run(&[command, &id]);
        ran.ends(6).with("RL0501");
        assert_eq!(ran.next(), put_away, "{command}");
    }
    dead.bench.run(&["status"]).ends(6).says(&id);

    let away = dead.state().damaged_path(dead.run);
    let line = |word: &str| format!("{word} damaged record {} ", folder.display());
    let looked = dead.clean(&["--damaged", &id, "--dry-run"]);
    assert!(looked.starts_with(&line("would put away")), "{looked}");
    assert!(
        looked.contains(&format!(" to {}", away.display())),
        "{looked}"
    );
    let jobs = photo(&dead.folder("jobs"));
    let record = fs::read(folder.join("engine.json")).unwrap();
    let moved = dead.clean(&["--damaged", &id[..20]]);
    assert!(moved.starts_with(&line("put away")), "{moved}");
    assert!(!folder.exists());
    assert_eq!(fs::read(away.join("journal.db")).unwrap(), b"no journal");
    assert_eq!(fs::read(away.join("engine.json")).unwrap(), record);

    for command in ["list", "status", "gate"] {
        let ran = dead.bench.run(&[command]);
        let all = ran.stdout.clone() + &ran.stderr;
        assert!(
            !all.contains(&id) && !all.contains("damaged"),
            "{command}: {all}"
        );
    }
    // Who asks for it hears where it is; what it left beside stays with it.
    for args in [&["show", &id][..], &["cleanup", "--damaged", &id]] {
        dead.bench
            .run(args)
            .ends(2)
            .with("RL0018")
            .says(&away.display().to_string());
    }
    let cleaned = dead.clean(&["--gone", "--store-budget", "0"]);
    assert!(
        cleaned.contains("its journal was damaged and put away"),
        "{cleaned}"
    );
    assert!(cleaned.contains("may lie here alone"), "{cleaned}");
    same(&jobs, &photo(&dead.folder("jobs")));
}

/// A record that came back and is damaged again: what was noted of the first is kept, and so are both records.
#[test]
fn what_was_put_away_before_is_not_written_over() {
    let dead = Dead::killed();
    let (id, state) = (dead.run.to_string(), dead.state());
    let folder = state.run_path(dead.run);
    let damage = || {
        drop(fs::remove_file(folder.join("journal.db-wal")));
        fs::write(folder.join("journal.db"), "no journal").unwrap();
    };
    damage();
    dead.clean(&["--damaged", &id]);
    let before = photo(&state.damaged_path(dead.run).join(".."));
    fs::create_dir(&folder).unwrap();
    damage();
    let again = dead.bench.run(&["cleanup", "--damaged", &id]);
    again.ends(3).with("RL0121");
    same(&before, &photo(&state.damaged_path(dead.run).join("..")));
    assert!(folder.join("journal.db").exists());
}

/// Nothing else is put away: what can be read, what somebody is at work on.
#[test]
fn only_a_damaged_record_of_a_dead_run_is_put_away() {
    let dead = Dead::killed();
    let id = dead.run.to_string();
    let refused = |code: &str, exit: i32| {
        let ran = dead.bench.run(&["cleanup", "--damaged", &id]);
        ran.ends(exit).with(code);
        assert_eq!(ran.stdout, "", "{id}");
        assert!(dead.state().run_path(dead.run).exists(), "{code}");
    };
    refused("RL0013", 2);
    let folder = dead.state().run_path(dead.run);
    fs::remove_file(folder.join("journal.db-wal")).unwrap();
    fs::write(folder.join("journal.db"), "no journal").unwrap();
    let held = Journal::hold_off(&dead.state(), dead.run).unwrap();
    refused("RL0118", 3);
    drop(held);
    dead.engine(|record| record["host"] = "another-machine".into());
    refused("RL0118", 3);
}
