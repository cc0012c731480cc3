//! A pass: promoted, with sidecars, nothing of the user's touched, nothing left behind.

use crate::support::agents::{ScriptedAgent, finding};
use crate::support::bench::{Bench, Ran};
use crate::support::repo::git;

/// T-009, T-019, rows M-082 to M-085: what is promoted names the identity of its round.
#[test]
fn two_reviewers_pass_and_are_promoted() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .reviewer_with("bob", &ScriptedAgent::passing(), "report: file")
        .also("checks")
        .ready();
    let ran = bench.review();
    // What comes next is one command that can be run as it stands.
    let head = bench.repo.git(&["rev-parse", "feature"]);
    let root = bench.repo.root().display().to_string();
    let next = format!("run-loop gate --worktree {root} --base main --head {head}");
    let told = format!("next: {next}\n");
    assert!(ran.ends(0).stdout.ends_with(&told), "{}", ran.stdout);
    // Wherever it is run.
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    let mut gate = bench.command(&words);
    gate.current_dir(bench.repo.beside("home"));
    assert_eq!(gate.output().unwrap().status.code(), Some(0));
    let promoted = bench.promoted();
    assert_eq!(
        promoted.len(),
        7,
        "three reports, three sidecars, one manifest: {promoted:?}"
    );
    let sidecar = bench.sidecar("ann");
    let rev = |name: &str| bench.repo.git(&["rev-parse", name]);
    assert_eq!(sidecar["base"], rev("main"));
    assert_eq!(sidecar["head"], rev("feature"));
    assert_eq!(sidecar["tree"], rev("feature^{tree}"));
    assert_eq!(sidecar["evidence"], "review-tree");
    assert_eq!(sidecar["verdict"], "PASS");
    assert_eq!(sidecar["by"], "reviewer");
    assert_eq!(bench.sidecar("checks")["by"], "checks");
    bench
        .gate()
        .ends(0)
        .says(&rev("feature"))
        .says(&rev("main"));
}

/// What was approved is not a commit yet, or nobody read it: the gate is not what comes next.
#[test]
fn what_comes_next_is_true() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    bench.repo.write("untracked.txt", "untracked\n");
    let root = bench.repo.root().display().to_string();
    let ran = bench.review();
    let next = format!("next: git -C {root} add --all\n");
    assert!(ran.ends(0).stdout.ends_with(&next), "{}", ran.stdout);
    ran.says("is not committed yet: add it, commit it, and ask run-loop gate");
    bench.repo.git(&["add", "--all"]);
    bench.repo.git(&["commit", "-qm", "as approved"]);
    bench.gate().ends(0);
    let bench = Bench::new().ready();
    let line = ["--base", "main", "--review-only", "--reviewer", "checks"];
    let ran = bench.run(&line);
    assert!(ran.ends(0).stdout.ends_with("next: run-loop agents\n"));
    // The base moved on: no gate takes this head before that is merged.
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    bench.repo.git(&["switch", "-q", "main"]);
    bench.repo.write("main.txt", "main\n");
    bench.repo.commit("main moved");
    bench.repo.git(&["switch", "-q", "feature"]);
    let ran = bench.review();
    let root = bench.repo.root().display();
    let next = format!("next: git -C {root} merge main\n");
    assert!(ran.ends(0).stdout.ends_with(&next), "{}", ran.stdout);
    bench.gate().ends(4).with("RL0903");
}

/// What earlier runs published lies there untracked, and is nothing that anybody has to add or is told of.
#[test]
fn evidence_alone_is_no_uncommitted_edit() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    bench.review().ends(0);
    for committed in [false, true] {
        if committed {
            bench.repo.git(&["add", "-f", ".agents"]);
            bench.repo.git(&["commit", "-q", "-m", "evidence"]);
        }
        let ran = bench.review();
        let next = "\nnext: run-loop gate --worktree ";
        assert!(ran.ends(0).stdout.contains(next), "{}", ran.stdout);
        assert!(!ran.stderr.contains("uncommitted"), "{}", ran.stderr);
    }
    bench.repo.write("src/lib.rs", "pub fn edited() {}\n");
    let ran = bench.review();
    assert!(
        ran.ends(0).stdout.contains(" add --all\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("uncommitted"), "{}", ran.stderr);
}

/// Without `--base` only what came after the start was reviewed: the gate that is named asks where it merges,
/// and never starts at the commit that the run began from.
#[test]
fn after_a_run_without_a_base_the_gate_asks_for_all_that_merges() {
    // The creator commits: nothing is left to be added.
    let creator = ScriptedAgent::with_script(
        "echo '// new' >> src/lib.rs; git -c user.name=a -c user.email=a@b commit -qam new; \
         echo Done. | deliver",
    );
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .spare("cat", &creator, "")
        .ready();
    let ran = bench.run(&["--creator", "cat", "--reviewer", "ann", "write it"]);
    ran.ends(0);
    let head = bench.repo.git(&["rev-parse", "feature"]);
    let root = bench.repo.root().display();
    let next = format!("next: run-loop gate --worktree {root} --head {head}\n");
    assert!(ran.stdout.ends_with(&next), "{}", ran.stdout);
    let gate = bench.run(&["gate", "--head", &head]);
    gate.ends(4).with("RL0904");
}

/// T-001, T-002, scenario I13: objects, refs, index bytes, configuration, stash, worktrees, status.
#[test]
fn the_users_repository_is_untouched() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .also("checks")
        .ready();
    let root = bench.repo.root().to_owned();
    bench.repo.write("stashed.txt", "stashed\n");
    bench.repo.git(&["stash", "-u"]);
    bench.repo.write("staged.txt", "staged\n");
    bench.repo.git(&["add", "staged.txt"]);
    bench.repo.write("src/lib.rs", "pub fn edited() {}\n");
    bench.repo.write("untracked.txt", "untracked\n");
    let look = || {
        let index = std::fs::read(root.join(".git/index")).unwrap();
        let mut objects = Vec::new();
        let output = std::process::Command::new("find")
            .args([
                ".git/objects",
                ".git/refs",
                ".git/hooks",
                ".git/info",
                "-type",
                "f",
            ])
            .current_dir(&root)
            .output()
            .unwrap();
        objects.extend(output.stdout);
        let says = |args: &[&str]| git(&root, args);
        (
            index,
            objects,
            says(&["for-each-ref"]),
            says(&["config", "--local", "--list"]),
            says(&["stash", "list"]),
            says(&["worktree", "list", "--porcelain"]),
            says(&["status", "--porcelain=v2", "-uall", "--", ":!.agents"]),
        )
    };
    let before = look();
    bench.review().ends(0);
    assert!(
        before == look(),
        "something of the user's repository changed"
    );
    assert_eq!(
        bench.left_in_cache(&["trees", "jobs", "evidence"]),
        Vec::<String>::new()
    );
    // The sidecar names the tree with all three edits; git is the reference.
    bench.repo.git(&["add", "-A", "--", ":!.agents"]);
    let tree = bench.repo.git(&["write-tree"]);
    assert_eq!(bench.sidecar("ann")["tree"], tree);
}

/// Scenario P02: findings below the bar are listed in a PASS.
#[test]
fn findings_below_the_bar_pass_by_threshold() {
    let low = format!("[{}]", finding("could be shorter", "low", "src/lib.rs", 5));
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::not_passing(&low))
        .ready();
    bench.review().ends(0).says("could be shorter");
    assert_eq!(bench.sidecar("ann")["by"], "threshold");
}

/// Issue 2: fallback. The first agent is gone after two attempts, the second one answers.
#[test]
fn a_fallback_answers_for_an_agent_that_fails() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::exits(3))
        .reviewer("bob", &ScriptedAgent::passing());
    let bench = bench.config("# the panel is replaced below").also("checks");
    bench.write_config();
    let text = std::fs::read_to_string(bench.repo.root().join("run-loop.yaml")).unwrap();
    let text = text.replace(
        "[ann, bob, checks]",
        "[{agent: ann, fallback: [bob]}, checks]",
    );
    bench.repo.write("run-loop.yaml", text);
    bench.repo.commit("configuration");
    bench.repo.git(&["switch", "-q", "-c", "feature"]);
    bench.repo.write("a.txt", "a\n");
    bench.repo.commit("a");
    bench.review().ends(0);
    assert_eq!(bench.sidecar("ann")["agent"]["name"], "bob");
}

/// Issue 2: one re-ask mends the form of a report.
#[test]
fn a_re_ask_mends_form() {
    let bench = Bench::new();
    let counter = bench.repo.beside("turn");
    let agent = ScriptedAgent::in_turn(
        &counter,
        &[ScriptedAgent::plain_pass(), ScriptedAgent::passing()],
    );
    let bench = bench.reviewer("ann", &agent).ready();
    bench.review().ends(0);
    assert_eq!(bench.sidecar("ann")["attempt"], 2);
}

/// T-015: what a reviewer edits in its review tree is its own.
#[test]
fn edits_in_the_review_tree_touch_nothing() {
    let agent = ScriptedAgent::writes_into("\"$RUN_LOOP_JOB_TREE/src/lib.rs\"");
    let bench = Bench::new().reviewer("ann", &agent).ready();
    let before = bench.repo.git(&["status", "--porcelain"]);
    bench.review().ends(0);
    let after = bench
        .repo
        .git(&["status", "--porcelain", "--", ":!.agents"]);
    assert_eq!(before, after);
}

/// `contract: line`, only on a slot that says that its coverage is `none`.
#[test]
fn a_line_contract_is_recorded_without_coverage() {
    let bench = Bench::new()
        .reviewer_with("ann", &ScriptedAgent::line("PASS"), "contract: line")
        .config("");
    bench.write_config();
    let text = std::fs::read_to_string(bench.repo.root().join("run-loop.yaml")).unwrap();
    bench.repo.write(
        "run-loop.yaml",
        text.replace("[ann]", "[{agent: ann, coverage: none}]"),
    );
    bench.repo.commit("configuration");
    bench.repo.git(&["switch", "-q", "-c", "feature"]);
    bench.repo.write("a.txt", "a\n");
    bench.repo.commit("a");
    bench.review().ends(0);
    assert_eq!(bench.sidecar("ann")["coverage"], "none");
}

/// `RUN_LOOP_LOG` writes diagnostics to stderr, and a filter that is none ends 2.
#[test]
fn diagnostics_are_written_where_they_are_asked_for() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let with = |filter: &str| {
        let mut command = bench.command(&["--base", "main", "--review-only"]);
        Ran::of(&command.env("RUN_LOOP_LOG", filter).output().unwrap())
    };
    with("run_loop=[").ends(2).with("RL0013");
    with("run_loop=debug").ends(0).says("performing");
}
