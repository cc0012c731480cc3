//! Tests of the `process` area through its public surface.
