//! Tests of the `engine` area through its public surface.
