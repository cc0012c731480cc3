//! Tests of review trees through their public surface.
