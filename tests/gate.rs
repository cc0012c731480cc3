//! Tests of the `gate` area through its public surface.
