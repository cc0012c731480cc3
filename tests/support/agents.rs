//! Scripted agents: real executables (bash and sed alone) that read the prompt and answer.
//!
//! They know the report contract from the design's text and share no code with the product.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What every script starts with: functions that take a prompt apart and write a report.
const LIBRARY: &str = include_str!("agents/library.bash");

/// A program that plays an agent.
#[derive(Debug, Clone)]
pub struct ScriptedAgent {
    body: String,
}

impl ScriptedAgent {
    /// Runs these lines of bash; the functions of `agents/library.bash` are there, and
    /// `read_prompt` was not called yet.
    pub fn with_script(body: impl Into<String>) -> Self {
        Self { body: body.into() }
    }
    /// Reads everything and approves: right nonce, tree, receipts and coverage.
    pub fn passing() -> Self {
        Self::with_script("read_prompt; verdict PASS '[]' | deliver")
    }
    /// Reads everything and does not approve. `findings` is the JSON array of the report; see
    /// [`finding`].
    pub fn not_passing(findings: &str) -> Self {
        Self::with_script(format!(
            "read_prompt; verdict 'NOT PASS' {} | deliver",
            quote(findings)
        ))
    }
    /// Approves while listing findings.
    pub fn passing_with(findings: &str) -> Self {
        Self::with_script(format!(
            "read_prompt; verdict PASS {} | deliver",
            quote(findings)
        ))
    }
    /// Reads the prompt, says nothing and exits 0.
    pub fn silent() -> Self {
        Self::with_script("read_prompt")
    }
    /// Says `VERDICT: PASS` and nothing else.
    pub fn plain_pass() -> Self {
        Self::with_script("read_prompt; echo 'VERDICT: PASS' | deliver")
    }
    /// Answers in the line form, for a slot with `contract: line`.
    pub fn line(verdict: &str) -> Self {
        Self::with_script(format!(
            "read_prompt; printf 'Looked at it.\\n\\nNonce: %s\\nVERDICT: %s\\n' \"$NONCE\" {} | deliver",
            quote(verdict)
        ))
    }
    /// Gives the prompt back.
    pub fn echo_prompt() -> Self {
        Self::with_script("read_prompt; printf '%s' \"$PROMPT\" | deliver")
    }
    /// A perfect approval, and then this exit code.
    pub fn exits(code: u8) -> Self {
        Self::with_script(format!(
            "read_prompt; verdict PASS '[]' | deliver; exit {code}"
        ))
    }
    /// A perfect approval, and then death by this signal (`KILL`, `SEGV`, …).
    pub fn dies_of(signal: &str) -> Self {
        Self::with_script(format!(
            "read_prompt; verdict PASS '[]' | deliver; kill -{signal} $$"
        ))
    }
    /// A perfect approval, and then it never exits; TERM ends it.
    pub fn hangs() -> Self {
        Self::with_script("read_prompt; verdict PASS '[]' | deliver; forever")
    }
    /// As [`Self::hangs`], but says so through a [`Point`] first.
    pub fn hangs_at(point: &Point) -> Self {
        Self::with_script(format!(
            "read_prompt; verdict PASS '[]' | deliver; echo $$ > {}; forever",
            quote_path(point.path())
        ))
    }
    /// A perfect approval, and then it never exits and takes no notice of TERM.
    pub fn ignores_term() -> Self {
        Self::with_script("trap '' TERM INT HUP; read_prompt; verdict PASS '[]' | deliver; forever")
    }
    /// Exits 0 when it is told to TERM, after a perfect approval.
    pub fn exits_zero_on_term(point: &Point) -> Self {
        Self::with_script(format!(
            "trap 'exit 0' TERM; read_prompt; verdict PASS '[]' | deliver; echo $$ > {}; \
             while :; do sleep 1000 & wait $!; done",
            quote_path(point.path())
        ))
    }
    /// Writes this many bytes to standard output and error each, then approves on its channel.
    pub fn floods(bytes: u64) -> Self {
        Self::with_script(format!(
            "read_prompt; head -c {bytes} /dev/zero | tr '\\0' x; echo; \
             head -c {bytes} /dev/zero | tr '\\0' y >&2; verdict PASS '[]' | deliver"
        ))
    }
    /// Appends a line to a file (a path, or bash such as `"$RUN_LOOP_JOB_TREE/a"`), then approves.
    pub fn writes_into(path: &str) -> Self {
        Self::with_script(format!(
            "read_prompt; echo 'written by an agent' >> {path}; verdict PASS '[]' | deliver"
        ))
    }
    /// Answers by the number of its call: the first script first, the last one from then on.
    /// `counter` is a file that need not exist.
    pub fn in_turn(counter: &Path, turns: &[Self]) -> Self {
        use std::fmt::Write as _;
        let mut body = format!(
            "turn=$(cat {0} 2>/dev/null || echo 0); echo $((turn + 1)) > {0}; case $turn in\n",
            quote_path(counter)
        );
        for (i, turn) in turns.iter().enumerate() {
            let pattern = if i + 1 == turns.len() {
                "*".to_owned()
            } else {
                i.to_string()
            };
            writeln!(body, "{pattern})\n{}\n;;", turn.body).unwrap();
        }
        body.push_str("esac");
        Self { body }
    }
    /// Does something first.
    #[must_use]
    pub fn after(mut self, bash: &str) -> Self {
        self.body = format!("{bash}\n{}", self.body);
        self
    }
    /// Does something last, unless it has exited.
    #[must_use]
    pub fn and_then(mut self, bash: &str) -> Self {
        self.body = format!("{}\n{bash}", self.body);
        self
    }
    /// Writes the program, executable, and returns its path.
    pub fn install(&self, folder: &Path, name: &str) -> PathBuf {
        executable(
            folder,
            name,
            &format!("#!/usr/bin/env bash\n{LIBRARY}\n{}\n", self.body),
        )
    }
}

/// One finding as JSON; join several with commas inside `[…]`.
pub fn finding(title: &str, severity: &str, path: &str, line: u32) -> String {
    serde_json::json!({
        "title": title, "severity": severity, "path": path, "line": line,
        "body": format!("{title}: seen here.")
    })
    .to_string()
}

/// Writes an executable file and returns its path.
///
/// A child writes it: a descriptor open for writing in this process could be inherited by a fork
/// of another thread, and the kernel would refuse to run the file ("text file busy").
pub fn executable(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    let mut child = Command::new("/bin/sh")
        .args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(content.as_bytes())
        .unwrap();
    assert!(
        child.wait().unwrap().success(),
        "cannot write {}",
        path.display()
    );
    path
}

/// A named point that a script reaches and a test waits for: a FIFO. A script that writes to it
/// waits for the test; a test that waits for it has a limit.
#[derive(Debug)]
pub struct Point {
    path: PathBuf,
}

impl Point {
    /// Makes the point in a folder.
    pub fn new(folder: &Path, name: &str) -> Self {
        let path = folder.join(name);
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success(), "mkfifo {}", path.display());
        Self { path }
    }
    /// Where it is; a script does `echo something > path` or `read -r line < path`.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Waits until a script writes to the point; what it wrote, trimmed.
    #[track_caller]
    pub fn reached(&self) -> String {
        let path = self.path.clone();
        within(
            &format!("{} to be reached", self.path.display()),
            move || std::fs::read_to_string(path).unwrap().trim().to_owned(),
        )
    }
    /// Lets a script go on that reads from the point.
    #[track_caller]
    pub fn release(&self) {
        let path = self.path.clone();
        within(&format!("{} to be read", self.path.display()), move || {
            std::fs::write(path, "go\n").unwrap();
        });
    }
}

/// Runs something that may block; panics when it takes three minutes, far more than anything here takes on a busy machine.
#[track_caller]
pub fn within<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(run()));
    receiver
        .recv_timeout(std::time::Duration::from_mins(3))
        .unwrap_or_else(|_| panic!("waited three minutes for {what}"))
}

/// Quotes a text for the shell.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn quote_path(path: &Path) -> String {
    quote(path.to_str().unwrap())
}
