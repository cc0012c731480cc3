//! An engine that died after it had published its approval, and before it recorded that.

use std::path::PathBuf;

use run_loop::domain::effect::Effect;
use run_loop::domain::event::Event;
use run_loop::domain::id::LoopId;
use run_loop::domain::identity::{Pin, Trip};
use run_loop::store::index::Index;
use run_loop::store::{Journal, StateFolder};

use crate::resume::run_id;
use crate::support::agents::{ScriptedAgent, finding};
use crate::support::bench::Bench;
use crate::support::source::Source;

/// A bench with these lines at `main`, and two reviewers that pass.
fn passing(config: &str) -> Bench {
    let agent = ScriptedAgent::passing();
    let bench = Bench::new().reviewer("ann", &agent);
    bench.reviewer("bob", &agent).config(config)
}

/// A run whose journal ends where its promotion was requested: all that it wrote is there.
fn killed_after_its_manifest(bench: Bench) -> (Bench, LoopId) {
    let bench = bench.ready();
    bench.review().ends(0);
    let run = run_id(&bench);
    cut(&bench, run, true);
    assert_eq!(bench.promoted().len(), 5, "{:?}", bench.promoted());
    bench
        .run(&["status"])
        .ends(0)
        .says("interrupted")
        .says("run-loop resume");
    (bench, run)
}

/// Cuts a run's journal where its promotion was requested: after that event, or before it.
fn cut(bench: &Bench, run: LoopId, after: bool) {
    let git_dir = bench.repo.root().join(".git");
    let state = StateFolder::open(&git_dir).unwrap();
    let mut events = Vec::new();
    for entry in Journal::load(&state, run).unwrap() {
        let promotes = matches!(&entry.event, Event::EffectRequested { effect, .. } if matches!(**effect, Effect::Promote { .. }));
        if after || !promotes {
            events.push(entry.event);
        }
        if promotes {
            break;
        }
    }
    // The same journal, cut there.
    let elsewhere = tempfile::tempdir_in(bench.repo.beside("")).unwrap();
    let cut = StateFolder::open(elsewhere.path()).unwrap();
    Journal::create(&cut, run).unwrap().append(&events).unwrap();
    let (theirs, ours) = (cut.run_path(run), state.run_path(run));
    let journal = |name: &str| name.starts_with("journal.db") || name == "tail.json";
    for file in std::fs::read_dir(&ours).unwrap() {
        let file = file.unwrap();
        if journal(file.file_name().to_str().unwrap()) {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    for file in std::fs::read_dir(&theirs).unwrap() {
        let file = file.unwrap();
        if journal(file.file_name().to_str().unwrap()) {
            std::fs::copy(file.path(), ours.join(file.file_name())).unwrap();
        }
    }
}

fn manifest(bench: &Bench, run: LoopId) -> PathBuf {
    let folder = bench.repo.root().join(".agents/reports/approvals");
    folder.join(format!("{run}.json"))
}

const BY_FILES: &str = "policy: {attest: files}";

/// Such a run approves nothing, whoever is believed, and the one next command publishes for free.
#[test]
fn it_approves_nothing_and_is_taken_up() {
    for config in ["", BY_FILES] {
        let (bench, run) = killed_after_its_manifest(passing(config));
        let gate = bench.gate();
        gate.ends(5).with("RL0905");
        assert_eq!(gate.next(), ["run-loop", "resume", &run.to_string()]);
        bench.run(&["resume"]).ends(0);
        assert_eq!(bench.promoted().len(), 5, "{:?}", bench.promoted());
        bench.gate().ends(0);
    }
}

/// Issue 4.8: what a cancelled run published is no approval anywhere, this repository's journal or not: it is
/// taken away, and told.
#[test]
fn cancelled_it_leaves_no_approval() {
    for config in ["", BY_FILES] {
        let (bench, run) = killed_after_its_manifest(passing(config));
        let cancelled = bench.run(&["cancel"]);
        cancelled.ends(0).says("taken away, since no journal");
        cancelled.says(&format!("approvals/{run}.json"));
        assert_eq!(bench.promoted(), Vec::<String>::new());
        bench.gate().ends(5).with("RL0901");
    }
}

/// What somebody changed there is theirs, and is named.
#[test]
fn what_was_changed_since_stays() {
    let (bench, _) = killed_after_its_manifest(passing(""));
    let report = bench
        .promoted()
        .into_iter()
        .find(|it| it.starts_with("ann/") && !it.contains(".identity."));
    let report = report.unwrap();
    let path = bench.repo.root().join(".agents/reports").join(&report);
    std::fs::write(&path, "a note of mine").unwrap();
    let cancelled = bench.run(&["cancel"]);
    cancelled
        .ends(0)
        .says(&report)
        .says("changed since")
        .says("git -C");
    assert_eq!(bench.promoted(), [report]);

    // Where the manifest is another one, nothing that it names is touched.
    let (bench, run) = killed_after_its_manifest(passing(BY_FILES));
    let path = manifest(&bench, run);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"readers\": 2", "\"readers\": 3")).unwrap();
    bench.run(&["cancel"]).ends(0).says("changed since");
    assert_eq!(bench.promoted().len(), 5);
    bench.gate().ends(5).with("RL0905");
}

/// A bench with two reviewers, of whom the first passes once.
fn passing_once() -> Bench {
    let bench = Bench::new();
    let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 1));
    let turns = [ScriptedAgent::passing(), ScriptedAgent::not_passing(&high)];
    let ann = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer("ann", &ann);
    let bench = bench.reviewer("bob", &ScriptedAgent::passing());
    bench.config(BY_FILES)
}

/// A run that is taken up on other content, and does not pass there, leaves none either.
#[test]
fn taken_up_without_passing_it_leaves_none() {
    let (bench, _) = killed_after_its_manifest(passing_once());
    bench
        .repo
        .write("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n");
    bench.repo.git(&["commit", "-q", "-am", "other"]);
    let resumed = bench.run(&["resume"]);
    resumed.ends(1).says("taken away, since no journal");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// Nor does it matter that it was committed meanwhile: of the content nothing moved.
#[test]
fn what_was_committed_of_it_is_published_again() {
    let (bench, _) = killed_after_its_manifest(passing(""));
    bench.repo.git(&["add", "-f", ".agents"]);
    bench.repo.git(&["commit", "-q", "-m", "evidence"]);
    bench.gate().ends(5).with("RL0905");
    bench.run(&["resume"]).ends(0);
    assert_eq!(bench.promoted().len(), 5, "{:?}", bench.promoted());
    bench.gate().ends(0);
}

/// What git tracks of it somebody added: it is left in place, and named, whether the run is taken up or given
/// up; and it approves nothing.
#[test]
fn what_git_tracks_of_it_is_left_and_named() {
    let (bench, run) = killed_after_its_manifest(passing_once());
    bench.repo.git(&["add", "-f", ".agents"]);
    let changed = "pub fn one() -> u32 {\n    2\n}\n";
    bench.repo.write("src/lib.rs", changed);
    bench
        .repo
        .git(&["commit", "-q", "-am", "other, and evidence"]);
    let tracked = format!("approvals/{run}.json");
    let resumed = bench.run(&["resume"]);
    resumed.ends(1).says("git tracks them").says(&tracked);
    assert_eq!(bench.repo.git(&["status", "--porcelain"]), "");
    assert_eq!(bench.promoted().len(), 5);
    bench.gate().ends(1);

    let (bench, run) = killed_after_its_manifest(passing(BY_FILES));
    let path = manifest(&bench, run);
    bench.repo.git(&["add", "-f", path.to_str().unwrap()]);
    let cancelled = bench.run(&["cancel"]);
    cancelled.ends(0).says("git tracks them");
    assert_eq!(bench.promoted().len(), 5);
    bench.gate().ends(5).with("RL0905");
}

/// Another run that reviews meanwhile does not count what nobody recorded, whatever becomes of it: that it is
/// taken away is nobody's tampering, nor that it is published again, or that one more run publishes beside it.
#[test]
fn to_a_run_beside_it_it_is_nothing() {
    let trips = |source: &Source, pin: &Pin| source.measure(pin).drift_from(pin).trips;
    for (command, ends) in [("cancel", 0), ("resume", 0)] {
        let (bench, run) = killed_after_its_manifest(passing(""));
        let source = Source::of(&bench.repo, "main");
        let pin = source.pin();
        bench.run(&[command, &run.to_string()]).ends(ends);
        assert_eq!(trips(&source, &pin), [], "{command}");
    }
    let bench = passing("").ready();
    bench.review().ends(0);
    let (run, other) = (run_id(&bench), bench.promoted());
    bench.repo.write("src/more.rs", "// more\n");
    bench.review().ends(0);
    let published = |it: &String| it.starts_with("approvals/") && !other.contains(it);
    let newer = bench.promoted().into_iter().find(published).unwrap();
    let newer = bench.repo.root().join(".agents/reports").join(newer);
    cut(&bench, run, true);
    let bytes = std::fs::read(&newer).unwrap();
    std::fs::remove_file(&newer).unwrap();
    let source = Source::of(&bench.repo, "main");
    let pin = source.pin();
    std::fs::write(&newer, bytes).unwrap();
    let older = manifest(&bench, run);
    let now = std::fs::read(&older).unwrap();
    std::fs::write(&older, now).unwrap();
    assert_eq!(trips(&source, &pin), []);
}

/// Under the name of a run that was not to publish yet a manifest counts, as does what is no file.
#[test]
fn what_no_promotion_wrote_counts() {
    let (bench, run) = killed_after_its_manifest(passing(""));
    let path = manifest(&bench, run);
    let bytes = std::fs::read(&path).unwrap();
    let source = Source::of(&bench.repo, "main");
    let planted = |plant: &dyn Fn()| {
        std::fs::remove_file(&path).unwrap();
        let pin = source.pin();
        plant();
        source.measure(&pin).drift_from(&pin).trips
    };
    let write = || std::fs::write(&path, &bytes).unwrap();
    assert_eq!(planted(&write), []);
    let link = || std::os::unix::fs::symlink("/nonexistent", &path).unwrap();
    assert_eq!(planted(&link), [Trip::Manifests]);
    cut(&bench, run, false);
    assert_eq!(planted(&write), [Trip::Manifests]);
}

/// A measurement reads no journal of a run that is known to be approved: by its index, as long as that is of
/// the journal as it is.
#[test]
fn the_journal_of_an_approved_run_is_not_read_again() {
    let bench = passing("").ready();
    bench.review().ends(0);
    let run = run_id(&bench);
    let state = StateFolder::open(&bench.repo.root().join(".git")).unwrap();
    let read = || Index::not_known_as_approved(&state, vec![run]);
    assert_eq!(read(), []);
    cut(&bench, run, true);
    assert_eq!(read(), [run]);
}
