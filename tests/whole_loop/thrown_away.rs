//! What an implementation threw away is named with what brings it back, whatever the run ends by.

use crate::implement::{COMMIT, LINE, stage};
use crate::stage::{Stage, adds, by_role, implements, looks_for};
use crate::support::agents::{Point, quote};
use crate::support::bench::Ran;
use crate::support::crash::{Engine, until};

/// What the command prints that is told for lost edits of a path.
pub(crate) fn restored(stage: &Stage, ran: &Ran, path: &str) -> String {
    let command = ran
        .stderr
        .lines()
        .find(|line| line.contains(&format!("lost the uncommitted edits of {path}")))
        .unwrap_or_else(|| unreachable!("no restoring command in:\n{}", ran.stderr));
    let command = &command[command.find("git ").unwrap()..];
    let shown = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(stage.bench().repo.root())
        .output()
        .unwrap();
    String::from_utf8(shown.stdout).unwrap()
}

/// Uncommitted work that the job threw away is named with what brings it back.
#[test]
fn lost_edits_are_named_with_the_restoring_command() {
    let stage = stage(&format!(
        "git checkout -q -- src/lib.rs; rm -f notes.txt; {}; echo Done. | deliver",
        adds("// sum")
    ));
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    repo.write("notes.txt", "thoughts\n");
    let ran = stage.run(&LINE);
    ran.ends(0);
    assert_eq!(restored(&stage, &ran, "notes.txt"), "thoughts\n");
    // W07: what exists nowhere else is no room to be made, though the run is over.
    let budget = ["cleanup", "--store-budget", "0"];
    let kept = stage.bench().run(&budget);
    kept.ends(0)
        .says("which this may hold alone: git --git-dir=");
    assert_eq!(restored(&stage, &ran, "notes.txt"), "thoughts\n");
    // Somebody removes it all the same: no command is shown that finds nothing.
    let shows = |stage: &Stage, args: &[&str]| stage.bench().run(args).ends(0).stdout.clone();
    assert!(shows(&stage, &["show"]).contains("they are printed by: git --git-dir="));
    let stores = repo.beside("home/.cache/run-loop/stores");
    for entry in std::fs::read_dir(stores).unwrap() {
        let held = entry.unwrap().path().join("refs/run-loop");
        if held.exists() {
            std::fs::remove_dir_all(held).unwrap();
        }
    }
    let shown = shows(&stage, &["show"]);
    assert!(
        shown.contains("lost the uncommitted edits of notes.txt; nothing holds"),
        "{shown}"
    );
    assert!(!shown.contains("--git-dir="), "{shown}");
    let shown = shows(&stage, &["show", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["left_by_work"][0]["gone"], true);
}

/// Issue 5, item 2: a job that fails may have thrown away more than one that does not.
#[test]
fn a_job_that_breaks_off_is_measured_too() {
    let stage = stage("git checkout -q -- src/lib.rs; rm -f notes.txt; exit 3");
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    repo.write("notes.txt", "thoughts\n");
    let ran = stage.run(&LINE);
    ran.ends(6).says("exited with 3");
    assert_eq!(restored(&stage, &ran, "notes.txt"), "thoughts\n");
    assert_eq!(restored(&stage, &ran, "src/lib.rs"), "// hours of work\n");
    stage.promoted_nothing();
}

/// Also one of a dead engine whose outcome cannot be read: it was started, so it may have written.
#[test]
fn a_job_whose_outcome_is_damaged_is_measured_too() {
    let stage = Stage::new();
    let agents = stage.bench().repo.beside("agents");
    let (started, go) = (Point::new(&agents, "started"), Point::new(&agents, "go"));
    let loses = format!(
        "git checkout -q -- src/lib.rs; echo $$ > {}; read -r _ < {}; exit 3",
        started.path().display(),
        go.path().display()
    );
    let stage = stage
        .agent("ann", &by_role(&[("implement", &loses)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    let line = [
        &["--base", "main", "add a sum"],
        &LINE[..],
        &["--format", "ndjson"],
    ]
    .concat();
    let engine = Engine::start_with(stage.bench(), &line);
    started.reached();
    engine.signal("STOP");
    go.release();
    let outcome = || {
        let mut left = stage.bench().left_in_cache(&["jobs"]).into_iter();
        left.find(|path| path.ends_with("/outcome.json"))
    };
    until("the guard has written the outcome", || outcome().is_some());
    engine.kill();
    let path = repo.beside("home/.cache/run-loop").join(outcome().unwrap());
    std::fs::write(&path, "{").unwrap();
    let ran = stage.bench().run(&["resume"]);
    ran.ends(6).says("outcome.json is damaged");
    assert_eq!(restored(&stage, &ran, "src/lib.rs"), "// hours of work\n");
    stage.promoted_nothing();
}

/// The command of a line that says this.
pub(crate) fn told(ran: &Ran, what: &str) -> String {
    let lines: Vec<&str> = ran.stderr.lines().filter(|it| it.contains(what)).collect();
    let [line] = lines.as_slice() else {
        unreachable!("not one line with {what:?} in:\n{}", ran.stderr)
    };
    line[line.rfind(": git -").unwrap() + 2..].to_owned()
}

/// Issue 5, item 2: what it committed on no branch and took away from the stash is told however the
/// run ends.
#[test]
fn what_a_job_left_elsewhere_is_told_when_it_breaks_off() {
    let commits = format!(
        "git switch -q --detach; {}; {COMMIT}; git switch -q feature; {}",
        adds("// sum"),
        adds("// more")
    );
    let rewires = "git config alias.x '!true'; echo Done. | deliver";
    for (ends, code, says) in [("exit 3", 6, "exited with 3"), (rewires, 5, "RL0305")] {
        let stage = stage(&format!("{commits}; git stash drop -q; {ends}"));
        let repo = &stage.bench().repo;
        repo.write("README.md", "hours of work\n");
        repo.git(&["stash"]);
        let kept = repo.git(&["rev-parse", "refs/stash"]);
        let ran = stage.run(&LINE);
        ran.ends(code).says(says);
        let put_back = told(&ran, "away from the stash");
        assert!(put_back.ends_with(&kept), "{put_back}");
        told(&ran, "on no branch");
        stage.promoted_nothing();
    }
}

/// Issue 5, item 2: what was only staged, and where else things lie, stands with its command in `show`
/// and in the events too.
#[test]
fn what_a_job_threw_away_is_shown_with_its_command() {
    let stage = stage(&format!(
        "rm notes.txt; git stash drop -q; {}; git add -A; echo Done. | deliver",
        adds("// sum")
    ));
    let repo = &stage.bench().repo;
    repo.write("README.md", "before\n");
    repo.git(&["stash"]);
    repo.write("src/lib.rs", "// staged\n");
    repo.git(&["add", "src/lib.rs"]);
    repo.write("src/lib.rs", "// worked\n");
    repo.write("notes.txt", "thoughts\n");
    let ran = stage.run(&LINE);
    ran.ends(0);
    let words = [
        "notes.txt; they are printed",
        "only staged of src/lib.rs",
        "away from the stash",
    ];
    for said in words {
        let command = told(&ran, said);
        let run = std::process::Command::new("sh")
            .args(["-c", &command])
            .output()
            .unwrap();
        let prints = String::from_utf8(run.stdout).unwrap();
        let expected =
            ["thoughts\n", "// staged\n", ""][words.iter().position(|it| *it == said).unwrap()];
        assert_eq!(
            (run.status.success(), &*prints),
            (true, expected),
            "{command}"
        );
        let shown = stage.bench().run(&["show"]);
        assert!(shown.ends(0).stdout.contains(&command), "{}", shown.stdout);
    }
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&stage.bench().run(args).ends(0).stdout).unwrap()
    };
    let shown = json(&["show", "--format", "json"]);
    let left = shown["left_by_work"].as_array().unwrap();
    let kinds: Vec<_> = left.iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["lost_edits", "lost_staged", "dropped"]);
    assert_eq!(
        (&left[1]["path"], &left[1]["role"]),
        (&"src/lib.rs".into(), &"implement".into())
    );
    assert_eq!(left[0]["command"][0], "git");
    let events = stage.bench().run(&["events"]);
    let events: Vec<serde_json::Value> = events
        .ends(0)
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |key: &str| {
        let mut events = events.iter().map(|event| &event["event"]);
        events.find(|event| event.get(key).is_some()).unwrap()[key].clone()
    };
    assert_eq!(of("restoring").as_array().unwrap().len(), 3);
    assert_eq!(of("elsewhere")[0]["what"], "dropped");
}

/// Where nothing is left to compare with, it is not known whether anything was thrown away, which is told
/// and shown with what lists it: never as if nothing had been.
#[test]
fn what_cannot_be_compared_is_told_as_not_known() {
    let bench = Stage::new();
    let cache = bench.bench().repo.beside("home/.cache/run-loop/evidence");
    let wipes = format!(
        "find {} -name '1-implement.*' -delete; {}",
        quote(cache.to_str().unwrap()),
        implements("// sum")
    );
    let stage = bench
        .agent("ann", &by_role(&[("implement", &wipes)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let ran = stage.run(&LINE);
    ran.ends(0);
    for may in [
        "may have committed to other branches",
        "may have committed on no branch",
        "may have put something into the stash",
        "may have thrown away what was in the index alone",
    ] {
        let command = told(&ran, may);
        let run = std::process::Command::new("sh")
            .args(["-c", &command])
            .output()
            .unwrap();
        assert!(run.status.success(), "{command}: {run:?}");
    }
    let shown = stage.bench().run(&["show", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.ends(0).stdout).unwrap();
    let left = shown["left_by_work"].as_array().unwrap();
    let unknown = left.iter().filter(|it| it["what"] == "unknown").count();
    assert_eq!(unknown, 4, "{left:?}");
}

/// What the run ends by is not told beside it again.
#[test]
fn what_the_failure_names_is_told_once() {
    let stage = stage(&format!(
        "{}; git -c user.name=a -c user.email=a@b stash -q; echo Done. | deliver",
        adds("// sum")
    ));
    let ran = stage.run(&LINE);
    ran.ends(6).with("RL0508").says("into the stash");
    assert_eq!(
        ran.stderr.matches("into the stash").count(),
        1,
        "{}",
        ran.stderr
    );
}

/// Issue 5, item 2: edits that went with a switch of branches are told beside the switch.
#[test]
fn edits_that_a_switch_threw_away_are_named() {
    let stage = stage(&format!(
        "git switch -q -f -c elsewhere HEAD~0; git checkout -q -- .; {}",
        implements("// sum")
    ));
    stage.bench().repo.write("README.md", "hours of work\n");
    let ran = stage.run(&LINE);
    ran.ends(6).with("RL0508");
    assert!(ran.stderr.contains("to elsewhere"), "{}", ran.stderr);
    assert_eq!(restored(&stage, &ran, "README.md"), "hours of work\n");
    stage.promoted_nothing();
}

/// Where the source cannot be measured, all that can be known all the same is told with its command.
#[test]
fn what_was_thrown_away_is_told_beside_an_open_operation() {
    let stage = stage(&format!(
        "git checkout -q -- src/lib.rs; git stash drop -q; git switch -q -c other main; \
         echo '// theirs' > src/other.rs; git add src; {COMMIT}; git switch -q feature; \
         git -c user.name=a -c user.email=a@b merge -q --no-commit --no-ff other; echo Done. | deliver"
    ));
    let repo = &stage.bench().repo;
    repo.write("README.md", "before\n");
    repo.git(&["stash"]);
    let kept = repo.git(&["rev-parse", "refs/stash"]);
    repo.write("src/lib.rs", "// hours of work\n");
    let ran = stage.run(&LINE);
    ran.ends(6).with("RL0509");
    assert_eq!(ran.next()[3..], ["merge", "--quit"]);
    let put_back = told(&ran, "away from the stash");
    assert!(put_back.ends_with(&kept), "{put_back}");
    told(&ran, "committed to other");
    // Path by path, as beside no operation.
    let lost = told(&ran, "lost the uncommitted edits of src/lib.rs");
    assert!(lost.ends_with(":src/lib.rs"), "{lost}");
    let prints = told(&ran, "all that was uncommitted");
    let run = std::process::Command::new("sh")
        .args(["-c", &prints])
        .output()
        .unwrap();
    let patch = String::from_utf8(run.stdout).unwrap();
    assert!(patch.contains("\n+// hours of work\n"), "{prints}: {patch}");
    stage.promoted_nothing();
}

/// Nobody has to take up a run that was put aside: what its job threw away is told before, and the same
/// job is asked again when it is taken up.
#[test]
fn what_a_job_threw_away_is_told_when_the_run_is_put_aside() {
    let stage = Stage::new();
    let met = stage.bench().repo.beside("met");
    let met = quote(met.to_str().unwrap());
    let implement = format!(
        "if [ ! -e {met} ]; then : > {met}; git checkout -q -- src/lib.rs; \
         echo 'retry after 7200 s' >&2; exit 75; fi; {}",
        implements("// sum")
    );
    let stage = stage
        .agent("ann", &by_role(&[("implement", &implement)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    stage.bench().repo.write("src/lib.rs", "// hours of work\n");
    let lost = "lost the uncommitted edits of src/lib.rs";
    stage.run(&LINE).ends(75).says(lost);
    stage.bench().run(&["show"]).says(lost);
    stage.bench().run(&["resume"]).ends(0);
    assert_eq!(
        stage.asked(),
        ["implement ann", "implement ann", "review bob"]
    );
}
