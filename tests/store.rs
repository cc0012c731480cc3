//! Tests of the `store` area through its public surface.
