//! Tests of the `git` area through its public surface.
