//! `run-loop config trust`.

use crate::cli::args::config::TrustArgs;
use crate::cli::environment::Environment;
use crate::cli::sources::trust_name;
use crate::cli::{locate, output};
use crate::config::load::FILE_NAME;
use crate::config::sources::{File, WorkingCopy};
use crate::config::trust::{self, Trust};
use crate::config::{Sources, load};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

/// Records the working copy's file, as it is now, and prints the commands that may run by that.
pub(crate) fn run(args: &TrustArgs, environment: &Environment) -> Result<Exit, Failure> {
    let place = locate::locate(environment, args.repository.worktree.as_deref())?;
    let path = place.source.source_root.join(FILE_NAME);
    let Some(bytes) = trust::working_copy(&place.source.source_root)? else {
        return Err(Failure::new(
            Code::ConfigInvalid,
            format!("there is no {}, so nothing to trust", path.display()),
        )
        .next(["run-loop", "config", "show", "--origin"]));
    };
    let Some(folder) = environment.config_folder() else {
        return Err(Failure::new(
            Code::StateUnwritable,
            "there is no configuration folder: neither XDG_CONFIG_HOME nor HOME holds an absolute path",
        ));
    };
    // A file that does not load is not worth trusting, and shows no commands to read.
    let file = File {
        name: path.display().to_string(),
        bytes: bytes.clone(),
    };
    let config = load(&Sources {
        working_copy: Some(WorkingCopy {
            file,
            trusted: false,
        }),
        ..Sources::default()
    })?;
    Trust::read(&folder)?.add(&folder, &trust_name(&place.source), &bytes)?;
    let commands = config.settings.agents.iter().filter_map(|(name, entry)| {
        let command = entry.command.as_ref()?;
        Some(format!("  {name}: {}\n", serde_json::json!(command)))
    });
    output::data(&output::printable(&format!(
        "trusted {} as it is now (sha256 {}); its commands may run:\n{}",
        path.display(),
        Digest::of(&bytes),
        commands.collect::<String>()
    )));
    Ok(Exit::Approved)
}
