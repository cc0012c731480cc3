//! The bytes of a report as its agent handed them over: keys may stand in them.

use std::fmt;

use crate::agent::redact::Secrets;

/// A report's bytes.
///
/// # Invariants
/// A contract reads them as they came: what is taken out of them might be a path that they answer for.
/// Nobody keeps or shows them but without what is secret.
#[derive(Clone, PartialEq, Eq)]
pub struct HandedOver(Vec<u8>);

impl HandedOver {
    /// These.
    #[must_use]
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
    /// As they came: to be read, and not kept.
    #[must_use]
    pub fn as_came(&self) -> &[u8] {
        &self.0
    }
    /// As they may be kept and shown.
    #[must_use]
    pub fn shown(&self, secrets: &Secrets) -> Vec<u8> {
        secrets.taken_out(self.0.clone())
    }
}

impl fmt::Debug for HandedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandedOver({} bytes)", self.0.len())
    }
}
