//! Which version of a known program is here: asked of the program, for those whose output does
//! not tell it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;

use crate::agent::environment::{Variables, passed_on};
use crate::domain::agent::ProfileAgent;
use crate::domain::job::Ended;
use crate::domain::profile::{Profile, Stream};
use crate::process::command::Command;
use crate::process::guard::GuardProgram;
use crate::process::supervise::{Supervision, supervise};

/// How long a program may take to tell its version beside its work, which takes longer.
const BESIDE_WORK: Duration = Duration::from_mins(1);

/// The versions that programs told, each asked once.
#[derive(Debug, Default)]
pub struct Versions {
    known: Mutex<BTreeMap<String, Arc<OnceCell<Option<String>>>>>,
}

impl Versions {
    /// The version of an agent's program; `None` where its own output tells it, or where it does
    /// not tell it in time.
    pub async fn of(
        &self,
        agent: &ProfileAgent,
        environment: &Variables,
        guard: &GuardProgram,
        stop: CancellationToken,
    ) -> Option<String> {
        let tells = matches!(agent.profile.stream, Stream::Claude | Stream::Acp);
        if tells || agent.profile.programs.is_empty() {
            return None;
        }
        let cell = {
            let mut known = self.known.lock().await;
            Arc::clone(known.entry(agent.program.clone()).or_default())
        };
        let program = Path::new(&agent.program);
        let (profile, limit) = (&agent.profile, BESIDE_WORK);
        let told = cell.get_or_init(|| ask(program, profile, environment, guard, limit, stop));
        told.await.clone()
    }
}

/// What a program says of its version; `None` where it does not say it in time. It gets no key,
/// and sees neither the repository nor the user's home.
pub async fn ask(
    program: &Path,
    profile: &Profile,
    environment: &Variables,
    guard: &GuardProgram,
    limit: Duration,
    stop: CancellationToken,
) -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let mut command = Command::new(program, folder.path()).args(&profile.version);
    command.env = passed_on(environment, &[]);
    for name in ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        if command.env.contains_key(OsStr::new(name)) {
            command = command.env(name, folder.path());
        }
    }
    let capture = folder.path().join("capture");
    let limits = Supervision::new(guard, limit, &capture);
    let done = supervise(&command, limits, stop).await;
    let text = String::from_utf8_lossy(done.stdout.whole()?).into_owned();
    matches!(done.ended, Ended::Exited { code: 0 }).then(|| version_in(&text))?
}

/// The version in what a program prints of itself: the first word that begins with a digit and
/// has a point in it.
#[must_use]
pub fn version_in(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || "(),".contains(c))
        .map(|word| word.trim_start_matches('v').trim_end_matches('.'))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, version) in [
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("0.61.0\n", Some("0.61.0")),
            ("aider 0.86.2\n", Some("0.86.2")),
            ("v1.18.33", Some("1.18.33")),
            ("GitHub Copilot CLI 1.0.102.\n", Some("1.0.102")),
            ("no version here\n", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }
}
