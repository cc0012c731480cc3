//! Tests of the `contract` area through its public surface.
