//! Commands about a run that are started where another control root is (row M-193).

use std::path::{Path, PathBuf};

use crate::resume::hanging_once;
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::Engine;
use crate::support::repo::{Repo, git, git_command};

/// Issue 4.8: `status`, `resume` and `cancel` go by what the run has stored, and name what differs. A
/// bare repository has no main working tree, so each of its working trees is a control root.
#[test]
fn a_run_keeps_its_roots_wherever_a_command_is_started() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer("ann", &agent).ready();
    let worktree = |branch: &str| -> PathBuf {
        let path = bench.repo.beside(&format!("of-{branch}"));
        let shown = path.to_str().unwrap();
        bench.repo.git(&["worktree", "add", "-q", shown, branch]);
        std::fs::canonicalize(path).unwrap()
    };
    bench.repo.git(&["config", "core.bare", "true"]);
    let (here, elsewhere) = (worktree("feature"), worktree("main"));
    let run = |folder: &Path, args: &[&str]| {
        let output = bench.command(args).current_dir(folder).output();
        Ran::of(&output.unwrap())
    };
    let mut engine = bench.command(&["--base", "main", "--review-only"]);
    let mut engine = engine.current_dir(&here).spawn().unwrap();
    point.reached();
    engine.kill().unwrap();
    engine.wait().unwrap();
    let shown = run(&here, &["status", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.ends(0).stdout).unwrap();
    let id = shown["run"].as_str().unwrap().to_owned();
    let names = |ran: &Ran| {
        let root = format!("control root {}; that", here.display());
        let source = format!("is about {}, not", here.display());
        let told = [root, source].map(|text| ran.stderr.contains(&text));
        assert_eq!(told[0], told[1], "{}", ran.stderr);
        told[0]
    };
    let status = |folder: &Path| run(folder, &["status", &id, "--format", "json"]);
    assert!(!names(&status(&here)));
    let told = status(&elsewhere);
    assert!(names(&told));
    // Data are data.
    serde_json::from_str::<serde_json::Value>(&told.ends(0).stdout).unwrap();
    assert!(names(run(&elsewhere, &["resume", &id]).ends(0)));
    assert!(here.join(".agents/reports/approvals").exists());
    assert!(!elsewhere.join(".agents").exists());
    assert!(names(run(&elsewhere, &["cancel", &id]).ends(3)));
    // Whichever of them is asked, what was published is found where the run published it.
    for folder in [&here, &elsewhere] {
        run(folder, &["gate", "--base", "main", "--head", "feature"]).ends(0);
    }
}

/// Issue 4: a run's id is enough, in whatever folder a command is started: outside of any repository, and
/// in another one.
#[test]
fn a_run_goes_on_and_ends_from_any_directory() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let hangs = ScriptedAgent::hangs_at(&point);
    let turns = [hangs.clone(), ScriptedAgent::passing(), hangs];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer("ann", &agent).ready();
    let killed = || {
        let engine = Engine::start(&bench);
        point.reached();
        engine.kill();
        let shown = bench.run(&["status", "--format", "json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
        shown["run"].as_str().unwrap().to_owned()
    };
    let nowhere = bench.repo.beside("home");
    let other = Repo::new();
    let run = |folder: &Path, args: &[&str]| {
        Ran::of(&bench.command(args).current_dir(folder).output().unwrap())
    };
    let id = killed();
    for folder in [&nowhere, other.root()] {
        let unknown = run(folder, &["resume", "ffffffff"]);
        unknown.ends(2).with("RL0018");
    }
    let known = run(&nowhere, &["resume"]);
    known.ends(3).with("RL0101");
    let root = std::fs::canonicalize(bench.repo.root()).unwrap();
    let root = root.to_str().unwrap();
    assert_eq!(known.next(), ["run-loop", "status", "--worktree", root]);
    run(other.root(), &["resume", &id]).ends(0);
    // And what the commands about it name can be run where they were named.
    for command in ["show", "status", "log", "events"] {
        for folder in [&nowhere, other.root()] {
            run(folder, &[command, &id]).ends(0).says(&id);
        }
        let unknown = run(&nowhere, &[command, "ffffffff"]);
        unknown.ends(2).with("RL0018");
    }
    bench.gate().ends(0);
    let id = killed();
    run(&nowhere, &["cancel", &id]).ends(0).says("is cancelled");
    run(&nowhere, &["cancel", &id]).ends(0);
    // Such a run again is one of the same working tree.
    let again = format!("run-loop --worktree {root} --base main --review-only");
    run(&nowhere, &["status", &id]).ends(0).says(&again);
}

/// K16: a working tree that was moved or removed is brought back by the command that `resume` names, and then it
/// goes on.
#[test]
fn a_working_tree_that_is_gone_is_brought_back() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let hangs = ScriptedAgent::hangs_at(&point);
    let turns = [
        hangs.clone(),
        ScriptedAgent::passing(),
        hangs,
        ScriptedAgent::passing(),
    ];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer("ann", &agent).ready();
    let tree = bench.repo.linked("tree", "topic", "feature");
    let (shown, moved) = (tree.to_str().unwrap(), bench.repo.beside("moved"));
    let gone: [&[&str]; 2] = [
        &["worktree", "move", shown, moved.to_str().unwrap()],
        &["worktree", "remove", "--force", shown],
    ];
    for takes_away in gone {
        let line = [
            "--worktree",
            shown,
            "--base",
            "main",
            "--review-only",
            "--format",
            "ndjson",
        ];
        let engine = Engine::start_with(&bench, &line);
        point.reached();
        engine.kill();
        bench.repo.git(takes_away);
        let told = bench.run(&["list", "--format", "json"]);
        let told: serde_json::Value = serde_json::from_str(&told.ends(0).stdout).unwrap();
        let id = told["runs"][0]["run"].as_str().unwrap();
        if moved.exists() {
            // What only it can go on with is at risk there, too.
            let kept = bench.run(&["worktree", "remove", moved.to_str().unwrap()]);
            kept.ends(3).with("RL0129").says(id);
        }
        let refused = bench.run(&["resume", id]);
        refused.ends(3).with("RL0103");
        let next = refused.next();
        assert_eq!(next[0], "git");
        let mut back = git_command(Path::new("/"));
        assert!(
            back.args(&next[1..]).output().unwrap().status.success(),
            "{next:?}"
        );
        bench.run(&["resume", id]).ends(0);
    }
}

/// A run in a linked working tree whose engine is killed while its reviewer works; its id.
fn killed_in(bench: &Bench, point: &Point, tree: &Path) -> String {
    let shown = tree.to_str().unwrap();
    let line = ["--worktree", shown, "--base", "main", "--review-only"];
    let engine = Engine::start_with(bench, &[&line[..], &["--format", "ndjson"]].concat());
    point.reached();
    engine.kill();
    let told = bench.run(&["list", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told.ends(0).stdout).unwrap();
    told["runs"][0]["run"].as_str().unwrap().to_owned()
}

/// K16: what may be another tree on the same branch is not moved to where the lost one was, and no branch is
/// taken from where it is checked out: the next command shows where.
#[test]
fn nobody_elses_tree_or_branch_brings_one_back() {
    let (bench, point) = hanging_once();
    let tree = bench.repo.linked("tree", "topic", "feature");
    let old = bench.repo.linked("old", "spare", "feature");
    let id = killed_in(&bench, &point, &tree);
    let (tree, old) = (tree.to_str().unwrap(), old.to_str().unwrap());
    bench.repo.git(&["worktree", "remove", "--force", tree]);
    let later = |folder: &Path, args: &[&str]| {
        let mut command = git_command(folder);
        command.env("GIT_COMMITTER_DATE", "2090-01-02T03:04:05Z");
        assert!(command.args(args).status().unwrap().success(), "{args:?}");
    };
    let root = bench.repo.root();
    let shown = |place: &str| {
        let refused = bench.run(&["resume", &id]);
        refused
            .ends(3)
            .with("RL0103")
            .says(&format!("topic is checked out in {place}"));
        let next = refused.next();
        assert_eq!(next.last().unwrap(), "list", "{next:?}");
        let mut command = git_command(Path::new("/"));
        assert!(
            command.args(&next[1..]).status().unwrap().success(),
            "{next:?}"
        );
    };
    later(root, &["switch", "-q", "topic"]);
    shown(root.to_str().unwrap());
    later(root, &["switch", "-q", "feature"]);
    // One that was there before, on another branch.
    later(Path::new(old), &["switch", "-q", "topic"]);
    shown(old);
    later(Path::new(old), &["switch", "-q", "spare"]);
    // One that was made since.
    let new = bench.repo.beside("new");
    later(
        root,
        &["worktree", "add", "-q", new.to_str().unwrap(), "topic"],
    );
    shown(new.to_str().unwrap());
    later(root, &["worktree", "remove", new.to_str().unwrap()]);
    let next = bench.run(&["resume", &id]).ends(3).next();
    later(
        Path::new("/"),
        &next[1..].iter().map(String::as_str).collect::<Vec<_>>(),
    );
    bench.run(&["resume", &id]).ends(0);
}

/// W07: a tree with a detached HEAD that was moved is not removed either while a run of it lies aside; one whose
/// HEAD never was where the run stood is none of its.
#[test]
fn a_moved_tree_without_a_branch_is_kept() {
    let (bench, point) = hanging_once();
    let tree = bench.repo.linked("tree", "topic", "feature");
    git(&tree, &["switch", "-q", "--detach"]);
    let id = killed_in(&bench, &point, &tree);
    let moved = bench.repo.beside("moved");
    std::fs::rename(&tree, &moved).unwrap();
    // As `git worktree repair` does.
    let record = bench.repo.root().join(".git/worktrees/tree/gitdir");
    std::fs::write(record, format!("{}/.git\n", moved.display())).unwrap();
    let other = bench.repo.linked("other", "other", "main");
    bench
        .run(&["worktree", "remove", other.to_str().unwrap()])
        .ends(0);
    let remove = ["worktree", "remove", moved.to_str().unwrap()];
    bench.run(&remove).ends(3).with("RL0129").says(&id);
    // Nor where it was switched since.
    git(&moved, &["switch", "-q", "-c", "fresh", "main"]);
    bench.run(&remove).ends(3).with("RL0129").says(&id);
    bench.run(&["cancel", &id]).ends(0);
    bench.run(&remove).ends(0);
}

/// Of two copies of a repository that is gone nobody can tell which is meant: each is named, and so is the
/// command that asks in one of them.
#[test]
fn an_id_that_two_repositories_have_names_both() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    bench.review().ends(0);
    let told = bench.run(&["status", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told.ends(0).stdout).unwrap();
    let id = told["run"].as_str().unwrap();
    let run = |folder: &Path, args: &[&str]| {
        Ran::of(&bench.command(args).current_dir(folder).output().unwrap())
    };
    let copies = ["one", "two"].map(|name| {
        let copy = bench.repo.beside(name);
        let mut command = std::process::Command::new("cp");
        command.arg("-a").args([bench.repo.root(), &copy]);
        assert!(command.status().unwrap().success());
        run(&copy, &["--base", "main", "--review-only"]).ends(0);
        std::fs::canonicalize(copy).unwrap()
    });
    std::fs::rename(bench.repo.root(), bench.repo.beside("gone")).unwrap();
    let nowhere = bench.repo.beside("home");
    let asked = run(&nowhere, &["show", id]);
    asked.ends(2).with("RL0018");
    for copy in &copies {
        asked.says(copy.to_str().unwrap());
    }
    let next = asked.next();
    let words: Vec<&str> = next[1..].iter().map(String::as_str).collect();
    run(&nowhere, &words).ends(0).says(id);
}

/// Our own snapshots are no content: a cache folder in the source is refused before anything is made, unless git
/// leaves it out.
#[test]
fn a_cache_folder_in_the_source_is_refused() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .spare("helper", &ScriptedAgent::with_script("cat"), "")
        .ready();
    let root = bench.repo.root();
    let with = |args: &[&str]| {
        let mut command = bench.command(args);
        command.env("XDG_CACHE_HOME", root.join("cc"));
        Ran::of(&command.output().unwrap())
    };
    let review = ["--base", "main", "--review-only"];
    let submit = [
        "job",
        "submit",
        "--agent",
        "helper",
        "--prompt-file",
        "README.md",
    ];
    for args in [&review[..], &submit] {
        let refused = with(args);
        refused.ends(3).with("RL0121").says("would be part of");
        assert_eq!(
            refused.next()[..4],
            ["env", "-u", "XDG_CACHE_HOME", "run-loop"]
        );
        assert!(!root.join("cc").exists());
    }
    std::fs::write(root.join(".git/info/exclude"), "/cc/\n").unwrap();
    with(&review).ends(0).says("`git clean -fdx` takes it");
}

/// T-043: a cache folder that is given by a relative path is none, for nobody: wherever a command is started,
/// one absolute folder is used.
#[test]
fn a_relative_cache_folder_is_nobodys() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let deeper = bench.repo.root().join("src");
    for (folder, line) in [
        (
            bench.repo.root().to_owned(),
            &["--base", "main", "--review-only"][..],
        ),
        (deeper.clone(), &["show"]),
        (deeper, &["gate", "--base", "main"]),
    ] {
        let mut command = bench.command(line);
        command
            .env("XDG_CACHE_HOME", "relative/cache")
            .current_dir(&folder);
        Ran::of(&command.output().unwrap()).ends(0);
        assert!(!folder.join("relative").exists());
    }
    assert!(bench.repo.beside("home/.cache/run-loop/stores").is_dir());
}
