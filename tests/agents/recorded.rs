//! Output recorded from the real programs, with how each run ended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use run_loop::agent::adapter::account::Account;
use run_loop::agent::adapter::outcome;
use run_loop::agent::redact::Secrets;
use run_loop::config::profiles;
use run_loop::domain::job::Ended;
use run_loop::domain::profile::Profile;
use run_loop::domain::trouble::Trouble;

/// One recorded run, read as the product reads it.
pub(crate) struct Recorded {
    pub(crate) profile: Profile,
    pub(crate) account: Account,
    pub(crate) ended: Ended,
}

fn folder(program: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/agents/transcripts").join(program)
}

/// Whose output was recorded.
pub(crate) fn programs() -> BTreeSet<String> {
    let all = std::fs::read_dir(folder("")).unwrap();
    let names = all.map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

/// How the recorded runs of a program ended.
pub(crate) fn ends(program: &str) -> BTreeMap<String, serde_json::Value> {
    let text = std::fs::read_to_string(folder(program).join("ends.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn profile(program: &str) -> Profile {
    profiles::embedded(program).unwrap().unwrap()
}

/// What a program printed in a recorded run.
pub(crate) fn printed(program: &str, case: &str) -> String {
    let path = folder(program).join(format!("{case}.stdout"));
    std::fs::read_to_string(path).unwrap()
}

/// A recorded run; a signal that the recorder sent is one that we did not send.
pub(crate) fn recorded(program: &str, case: &str) -> Recorded {
    let end = &ends(program)[case];
    let exited = match end["exit"].as_i64() {
        Some(code) => Ended::Exited {
            code: i32::try_from(code).unwrap(),
        },
        None => Ended::Signalled { signal: 15 },
    };
    ended_so(program, case, exited)
}

/// A recorded run with another end than the recorded one.
pub(crate) fn ended_so(program: &str, case: &str, exited: Ended) -> Recorded {
    read_so(program, case, &printed(program, case), exited)
}

/// The same where the program had printed this on its standard output.
pub(crate) fn read_so(program: &str, case: &str, stdout: &str, exited: Ended) -> Recorded {
    let profile = profile(program);
    let account = Account::of(profile.stream, stdout.as_bytes());
    let stderr = std::fs::read_to_string(folder(program).join(format!("{case}.stderr")));
    let stderr = stderr.unwrap_or_default();
    let ended = outcome::ended(&profile, exited, &account, &stderr, &Secrets::default());
    Recorded {
        profile,
        account,
        ended,
    }
}

impl Recorded {
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let Ended::Failed { trouble, .. } = &self.ended else {
            return None;
        };
        Some(*trouble)
    }
    pub(crate) fn answer(&self) -> String {
        self.account.final_message().unwrap_or_default()
    }
}
