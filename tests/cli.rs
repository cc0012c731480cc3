//! Tests of the `cli` area through its public surface.
