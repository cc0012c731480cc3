//! The sum by which the bytes of a file are known again.
//!
//! A look at a tree reads every file in it, so the sum must cost little beside the reading:
//! `HighwayHash` takes a fifth of the time that SHA-256 takes where the processor has instructions for
//! it. It is a pseudorandom function (Alakuijala, Cox and Wassenberg, "Fast keyed hash/pseudo-random
//! function using SIMD multiply and permute", 2016): whoever does not have the key cannot make other
//! bytes with the same sum. The key is random, made for one slot, and never leaves this process; nor
//! does a sum.

use std::fmt;
use std::io;

use highway::{HighwayHash as _, HighwayHasher};

/// The sum of the bytes of a file, or of where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum([u64; 4]);

/// What the sums of a slot are made with.
#[derive(Clone, Copy)]
pub(super) struct SumKey([u64; 4]);

impl fmt::Debug for SumKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SumKey").finish_non_exhaustive()
    }
}

impl SumKey {
    /// A new one.
    pub(super) fn random() -> io::Result<Self> {
        let bytes = crate::random::bytes()?;
        let mut key = [0; 4];
        for (word, bytes) in key.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(Self(key))
    }
    /// A sum while the bytes go by.
    pub(super) fn begin(self) -> Summing {
        Summing(HighwayHasher::new(highway::Key(self.0)))
    }
}

/// A sum in the making.
#[derive(Debug)]
pub(super) struct Summing(HighwayHasher);

impl Summing {
    /// More of the bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.append(bytes);
    }
    /// The sum of all of them.
    pub(super) fn finish(self) -> Sum {
        Sum(self.0.finalize256())
    }
}

impl io::Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
