//! The commands of `setup:` alone, in a working tree that a user prepares.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::checks::command::{Configured, Meaning, Runner, find_bash};
use crate::checks::environment::without_secrets;
use crate::checks::error::Error;
use crate::checks::output::{Places, Quote};
use crate::checks::secret::SecretRules;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::process::guard::GuardProgram;

/// What to run, and where.
#[derive(Debug)]
pub struct Setup {
    /// The commands, in order.
    pub commands: Vec<String>,
    /// The working tree.
    pub tree: PathBuf,
    /// A folder for captured output, of this use alone.
    pub scratch: PathBuf,
    /// The environment; keys are dropped from it.
    pub env: BTreeMap<OsString, OsString>,
    /// The time limit of each command, in seconds.
    pub timeout: u64,
    /// The program that guards commands.
    pub guard: GuardProgram,
}

/// Runs the commands one after the other. Each must end with 0 and leave no process.
///
/// # Errors
/// `WorktreeFailed` with the end of what the first failed command printed.
pub async fn run(setup: &Setup, stop: &CancellationToken) -> Result<(), Failure> {
    if setup.commands.is_empty() {
        return Ok(());
    }
    let rules = SecretRules::embedded().map_err(|error| failed(Error::from(error).to_string()))?;
    let env = without_secrets(&setup.env, rules);
    let runner = Runner {
        bash: find_bash(&setup.env, &setup.tree).map_err(|failure| Failure {
            code: Code::WorktreeFailed,
            ..failure
        })?,
        tree: &setup.tree,
        scratch: &setup.scratch,
        guard: &setup.guard,
        env: &env,
        places: Places::new(&setup.tree, &setup.scratch, &setup.env),
        rules,
    };
    for (index, command) in setup.commands.iter().enumerate() {
        let configured = Configured {
            name: format!("setup {}", index + 1),
            run: command.clone(),
            timeout: setup.timeout,
            setup: true,
        };
        let ran = runner.run(configured, index + 1, stop).await;
        match ran.meaning() {
            Meaning::Passed => {}
            Meaning::Failed(words) | Meaning::NoVerdict { problem: words, .. } => {
                let printed = said(&[&ran.stdout, &ran.stderr]);
                return Err(failed(format!("{words}{printed}")));
            }
        }
    }
    Ok(())
}

fn said(quotes: &[&Quote]) -> String {
    let text: Vec<&str> = quotes
        .iter()
        .map(|quote| quote.text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    if text.is_empty() {
        String::new()
    } else {
        format!("; it printed:\n{}", text.join("\n"))
    }
}

fn failed(message: String) -> Failure {
    Failure::new(Code::WorktreeFailed, message)
}
