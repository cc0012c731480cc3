//! Tests of the `docs` area through its public surface.
