//! The throw-away repository of the demo.

use std::path::Path;

use super::{Stage, broken};
use crate::domain::failure::Failure;

impl Stage<'_> {
    /// A repository with `main`, a configuration that names the scripted agents, and `feature`.
    pub(super) fn repository(&self) -> Result<(), Failure> {
        for folder in ["project", "home"] {
            fs_err::create_dir(self.root.join(folder))
                .map_err(|error| broken(&error.to_string()))?;
        }
        self.git(&["init", "--quiet", "--initial-branch", "main"])?;
        for (key, value) in [("user.name", "Demo"), ("user.email", "demo@example.org")] {
            self.git(&["config", key, value])?;
        }
        self.write("README.md", "# A small project\n")?;
        self.write("NOTES.md", "")?;
        self.write("stats.py", "")?;
        self.write("run-loop.yaml", &self.configuration())?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", "first"])?;
        self.git(&["switch", "--quiet", "--create", "feature"])?;
        Ok(())
    }

    fn configuration(&self) -> String {
        // JSON strings are YAML strings.
        let quoted = |text: &Path| serde_json::Value::from(text.display().to_string()).to_string();
        let (program, notes) = (
            quoted(&self.program),
            quoted(&self.root.join("project/NOTES.md")),
        );
        format!(
            "version: 1\n\
             agents:\n  \
               careful: {{kind: command, command: [{program}, __demo-agent]}}\n  \
               busy: {{kind: command, command: [{program}, __demo-agent, --edits, {notes}]}}\n\
             reports: .agents/reports\n"
        )
    }

    pub(super) fn write(&self, path: &str, content: &str) -> Result<(), Failure> {
        fs_err::write(self.root.join("project").join(path), content)
            .map_err(|error| broken(&error.to_string()))
    }

    pub(super) fn git(&self, args: &[&str]) -> Result<(), Failure> {
        let command = self
            .program_command(Path::new("git"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(args);
        let ran = command
            .output()
            .map_err(|error| broken(&format!("git: {error}")))?;
        if ran.status.success() {
            return Ok(());
        }
        Err(broken(&format!(
            "git {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&ran.stderr)
        )))
    }
}
