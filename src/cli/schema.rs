//! `run-loop schema NAME`.

use serde_json::json;

use crate::cli::args::{SchemaArgs, SchemaName};
use crate::cli::output;
use crate::config::schema;
use crate::contract;
use crate::domain::exit::Exit;
use crate::domain::profile::Profile;
use crate::promote::{Manifest, Sidecar};

/// Prints the schema.
pub(crate) fn run(args: &SchemaArgs) -> Exit {
    let schema = match args.name {
        SchemaName::Verdict => contract::schema::verdict(),
        SchemaName::Config => schema::config(),
        SchemaName::Sidecar => json!(schemars::schema_for!(Sidecar)),
        SchemaName::Manifest => json!(schemars::schema_for!(Manifest)),
        SchemaName::Profile => json!(schemars::schema_for!(Profile)),
        SchemaName::Templates => json!({ "templates": contract::prompt::own::known() }),
    };
    output::data(&format!("{schema:#}\n"));
    Exit::Approved
}
