//! Tests of the `config` area through its public surface.
