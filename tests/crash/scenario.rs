//! What is run until it is killed, and what must be true whatever happened.

use crate::support::agents::{ScriptedAgent, finding};
use crate::support::bench::Bench;
use crate::support::crash::{calls, counted, processes, there_is, until};

/// A bench, its agents, and the exit code that an undisturbed run ends with.
pub struct Scenario {
    pub bench: Bench,
    pub agents: &'static [&'static str],
    pub exit: i32,
    before: Vec<String>,
}

impl Scenario {
    fn new(bench: Bench, agents: &'static [&'static str], exit: i32) -> Self {
        let before = untouchable(&bench);
        Self {
            bench,
            agents,
            exit,
            before,
        }
    }
    /// Two reviewers, one of whom is asked once more, and a check: PASS.
    pub fn passes() -> Self {
        let bench = Bench::new();
        let ann = counted(&bench, "ann", &ScriptedAgent::passing());
        let turns = [ScriptedAgent::plain_pass(), ScriptedAgent::passing()];
        let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
        let bob = counted(&bench, "bob", &bob);
        let bench = bench
            .reviewer("ann", &ann)
            .reviewer_with("bob", &bob, "report: file")
            .also("checks")
            .config("checks: [{name: lines, run: 'test -s src/lib.rs', timeout: 60}]")
            .ready();
        Self::new(bench, &["ann", "bob"], 0)
    }
    /// One says NOT PASS, one PASS.
    pub fn does_not_pass() -> Self {
        let bench = Bench::new();
        let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 5));
        let ann = counted(&bench, "ann", &ScriptedAgent::not_passing(&high));
        let bob = counted(&bench, "bob", &ScriptedAgent::passing());
        let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
        Self::new(bench, &["ann", "bob"], 1)
    }

    /// Right after the kill: `status` knows at once, and nobody is told PASS who has none.
    pub fn after_the_kill(&self, seen: &[String], why: &str) {
        let over = seen.iter().any(|line| line.contains("\"run_ended\""));
        let status = self.bench.run(&["status"]);
        if seen.is_empty() {
            // It may have died before its first event, or before it was told.
        } else if !over {
            let words = ["interrupted", "PASS", "NOT PASS"];
            let said = format!("{}{}", status.stdout, status.stderr);
            assert!(
                words.iter().any(|word| said.contains(word)),
                "{why}: {said}"
            );
            assert!(!said.contains("running"), "{why}: {said}");
        }
        self.no_unearned_pass(why);
    }
    /// The gate believes in nothing that no journal tells.
    fn no_unearned_pass(&self, why: &str) {
        let log = self.bench.run(&["log", "--format", "ndjson"]).stdout;
        let promoted = log.lines().any(|line| line.contains("\"promoted\""));
        let gate = self.bench.gate();
        assert!(
            gate.code != Some(0) || (promoted && self.exit == 0),
            "{why}: the gate passed what was not approved\n{}{}\n{log}",
            gate.stdout,
            gate.stderr
        );
    }
    /// After `resume` or `cancel`: nothing lives, nothing lies about, nothing of the user's moved.
    pub fn at_the_end(&self, why: &str) {
        let folder = self.bench.repo.beside("agents");
        let pids = self
            .agents
            .iter()
            .flat_map(|name| processes(&self.bench, name));
        for pid in pids {
            until(&format!("{why}: agent {pid} is gone"), || {
                !there_is(&pid, &folder)
            });
        }
        let left = self.bench.left_in_cache(&["trees", "jobs", "evidence"]);
        assert_eq!(left, Vec::<String>::new(), "{why}");
        assert_eq!(untouchable(&self.bench), self.before, "{why}");
        if self.exit != 0 {
            assert_eq!(self.bench.promoted(), Vec::<String>::new(), "{why}");
            self.no_unearned_pass(why);
        }
    }
    /// A report that was recorded is never bought again: the calls of each agent whose slot was
    /// settled before the kill.
    pub fn settled_calls(&self, seen: &[String]) -> Vec<(&'static str, usize)> {
        let settled = |name: &str| {
            let slot = format!("\"slot\":\"{name}\"");
            let mut lines = seen.iter();
            lines.any(|line| line.contains("\"slot_settled\"") && line.contains(&slot))
        };
        let settled = self.agents.iter().filter(|name| settled(name));
        settled
            .map(|name| (*name, calls(&self.bench, name)))
            .collect()
    }
}

/// What no crash may touch: refs, objects, index, configuration, hooks, files.
fn untouchable(bench: &Bench) -> Vec<String> {
    let root = bench.repo.root();
    let find = std::process::Command::new("find")
        .args([
            ".git/objects",
            ".git/refs",
            ".git/hooks",
            ".git/info",
            "-type",
            "f",
        ])
        .current_dir(root)
        .output()
        .unwrap();
    let mut objects: Vec<_> = find.stdout.split(|byte| *byte == b'\n').collect();
    objects.sort_unstable();
    let git = |args: &[&str]| bench.repo.git(args);
    vec![
        String::from_utf8(objects.join(&b'\n')).unwrap(),
        git(&["for-each-ref"]),
        git(&["config", "--local", "--list"]),
        git(&["worktree", "list", "--porcelain"]),
        git(&["ls-files", "--stage", "--debug"]),
        git(&["status", "--porcelain=v2", "-uall", "--", ":!.agents"]),
    ]
}
