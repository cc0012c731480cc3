//! Tests of the `checks` area through its public surface.
