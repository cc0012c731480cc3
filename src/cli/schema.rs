//! `run-loop schema NAME`.

use crate::cli::args::{SchemaArgs, SchemaName};
use crate::cli::later;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

/// Prints the schema.
pub(crate) fn run(args: &SchemaArgs) -> Result<Exit, Failure> {
    match args.name {
        // CALL SITE: `contract::schema::verdict`.
        SchemaName::Verdict => Err(later::command("schema verdict", ["run-loop", "--help"])),
        SchemaName::Config => Err(later::command("schema config", ["run-loop", "--help"])),
    }
}
