//! The JSON schemas of promoted files, for `run-loop schema sidecar` and `manifest`.

use serde_json::Value;

use crate::promote::{Manifest, Sidecar};

/// The JSON schema of a sidecar.
#[must_use]
pub fn sidecar() -> Value {
    schemars::schema_for!(Sidecar).to_value()
}

/// The JSON schema of a manifest.
#[must_use]
pub fn manifest() -> Value {
    schemars::schema_for!(Manifest).to_value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn schemas_know_the_formats_and_refuse_other_fields() {
        for (schema, name) in [
            (super::sidecar(), "sidecar"),
            (super::manifest(), "manifest"),
        ] {
            assert_eq!(schema["additionalProperties"], false);
            assert!(schema["properties"]["policy_sha256"].is_object());
            let format = format!("run-loop/{name}/1");
            assert!(schema.to_string().contains(&format), "{schema}");
        }
    }
}
