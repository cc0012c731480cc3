//! A bench with a cast: agents that act by the role they are asked in, and a note of who was asked.

use std::path::PathBuf;

use crate::support::agents::{ScriptedAgent, finding, quote};
use crate::support::bench::{Bench, Ran};

/// What a reviewer of [`looks_for`] raises.
pub(crate) const MISSING: &str = "the sum is missing";

/// A repository with `main` and a checked-out `feature`, and agents by name.
pub(crate) struct Stage {
    bench: Option<Bench>,
    log: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let bench = Bench::new();
        let log = bench.repo.beside("asked");
        Self {
            bench: Some(bench),
            log,
        }
    }
    /// An agent that is named on the command line. Its script is run with the prompt read, once
    /// for each job; each job is noted first, with its role, its round and the agent's name.
    pub(crate) fn agent(self, name: &str, script: &str) -> Self {
        self.agent_with(name, script, "")
    }
    /// An agent under one more name.
    pub(crate) fn named_also(mut self, name: &str, other: &str) -> Self {
        self.bench = self.bench.map(|bench| bench.named_also(name, other));
        self
    }
    pub(crate) fn agent_with(mut self, name: &str, script: &str, keys: &str) -> Self {
        let noted = format!(
            "read_prompt\nprintf '%s\\n' \"$RUN_LOOP_JOB_ROLE {name}\" >> {}\n\
             printf '%s' \"$PROMPT\" > {}.\"$RUN_LOOP_JOB_ROLE\".{name}\n{script}",
            quote(self.log.to_str().unwrap()),
            quote(self.log.to_str().unwrap()),
        );
        let agent = ScriptedAgent::with_script(noted);
        self.bench = self.bench.map(|bench| bench.spare(name, &agent, keys));
        self
    }
    /// Adds top-level lines to the configuration at the base.
    pub(crate) fn config(mut self, lines: &str) -> Self {
        self.bench = self.bench.map(|bench| bench.config(lines));
        self
    }
    /// An entry of the panel, in place of `--reviewer`.
    pub(crate) fn panel(mut self, entry: &str) -> Self {
        self.bench = self.bench.map(|bench| bench.also(entry));
        self
    }
    pub(crate) fn ready(mut self) -> Self {
        self.bench = self.bench.map(Bench::ready);
        self
    }
    pub(crate) fn bench(&self) -> &Bench {
        self.bench.as_ref().unwrap()
    }
    /// Leaves a program in the place of an agent's that the system cannot run, which nobody can see before.
    pub(crate) fn cannot_start(&self, name: &str) {
        let path = self.bench().repo.beside("agents").join(name);
        let broken = path.with_extension("new");
        std::fs::write(&broken, "#!/nonexistent/interpreter\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&broken, mode).unwrap();
        std::fs::rename(broken, path).unwrap();
    }
    /// The loop against `main` with a task.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let line = [&["--base", "main", "add a sum"][..], args].concat();
        let ran = self.bench().run(&line);
        self.every_prompt_says_how_to_delegate();
        ran
    }
    /// M-054: whatever is asked of whomever, the prompt ends with the sentence that says how a part of it is
    /// passed on.
    fn every_prompt_says_how_to_delegate(&self) {
        let begin = format!("{}.", self.log.file_name().unwrap().display());
        for entry in std::fs::read_dir(self.log.parent().unwrap()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(whose) = name.strip_prefix(&begin) else {
                continue;
            };
            let (role, agent) = whose.split_once('.').unwrap();
            let prompt = self.prompt(role, agent);
            let last = prompt.trim_end().lines().last().unwrap_or_default();
            assert!(
                last.starts_with(
                    "To pass a part of this job on to another agent, run `run-loop job submit "
                ),
                "{whose}: {last}"
            );
        }
    }
    /// Who was asked for what, in order: `implement ann`.
    pub(crate) fn asked(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
    /// The newest prompt of a role and agent.
    pub(crate) fn prompt(&self, role: &str, name: &str) -> String {
        let path = format!("{}.{role}.{name}", self.log.display());
        std::fs::read_to_string(path).unwrap()
    }
    /// Nothing was promoted.
    #[track_caller]
    pub(crate) fn promoted_nothing(&self) {
        assert_eq!(self.bench().promoted(), Vec::<String>::new());
    }
    #[track_caller]
    pub(crate) fn gate_ends(&self, code: i32) {
        // The creator leaves its edits uncommitted: the user commits what was approved.
        let repo = &self.bench().repo;
        repo.git(&["add", "src"]);
        repo.git(&["commit", "-q", "-m", "as approved", "--allow-empty"]);
        self.bench().gate().ends(code);
    }
}

/// A script that acts by its role: `[("implement", "…"), …]`.
pub(crate) fn by_role(acts: &[(&str, &str)]) -> String {
    use std::fmt::Write as _;
    let mut script = String::from("case $RUN_LOOP_JOB_ROLE in\n");
    for (role, act) in acts {
        writeln!(script, "{role})\n{act}\n;;").unwrap();
    }
    script.push_str("esac");
    script
}

/// A review: NOT PASS with one high finding until `src/lib.rs` holds the words.
pub(crate) fn looks_for(words: &str) -> String {
    let findings = format!("[{}]", finding(MISSING, "high", "src/lib.rs", 1));
    format!(
        "if grep -q {} \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; then verdict PASS '[]' | deliver; \
         else verdict 'NOT PASS' {} | deliver; fi",
        quote(words),
        quote(&findings)
    )
}

/// Adds a line to the source, as a creator does.
pub(crate) fn adds(line: &str) -> String {
    format!("echo {} >> src/lib.rs", quote(line))
}

/// An implementation that adds a line and says so.
pub(crate) fn implements(line: &str) -> String {
    format!("{}; echo 'It is written.' | deliver", adds(line))
}
