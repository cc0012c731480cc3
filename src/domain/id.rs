//! Identifiers of runs, jobs, effects and findings. No bare string or integer crosses a module.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::time::{Stamp, Timestamp};

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes an id from an injected stamp; `salt` tells apart ids minted under one stamp.
            #[must_use]
            pub fn mint(stamp: &Stamp, salt: &str) -> Self {
                let bytes = stamp.derive(salt);
                let mut random = [0_u8; 10];
                random.copy_from_slice(&bytes[..10]);
                let millis = u64::try_from(stamp.at.as_millis()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }
            /// Reads an id in its canonical form: lower case, with hyphens.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let id = Uuid::try_parse(text).ok()?;
                (id.hyphenated().to_string() == text).then_some(Self(id))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0.hyphenated())
            }
        }
    };
}

uuid_id!(
    /// One execution of the loop (`loop_id`), a `UUIDv7`.
    LoopId
);
uuid_id!(
    /// One delegation to one agent, a `UUIDv7`.
    JobId
);
uuid_id!(
    /// One message to a run, a `UUIDv7`.
    MessageId
);

impl JobId {
    /// Makes an id that sorts behind those of earlier jobs, of which this one is the newest, also where the
    /// clock was set back since, and in the same millisecond: jobs are kept in the order of their ids.
    #[must_use]
    pub fn mint_after(newest: Option<Self>, stamp: &Stamp, salt: &str) -> Self {
        let behind = newest.map(|newest| newest.minted_at().plus_millis(1));
        let at = behind.map_or(stamp.at, |behind| behind.max(stamp.at));
        Self::mint(&Stamp { at, ..*stamp }, salt)
    }
    /// The time that it was minted with.
    fn minted_at(self) -> Timestamp {
        let mut millis = [0_u8; 8];
        millis[2..].copy_from_slice(&self.0.as_bytes()[..6]);
        Timestamp::from_millis(i64::from_be_bytes(millis))
    }
}

/// A requested effect; numbered from 1 within its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(pub u64);

/// A finding's number in its run; shown as `F-1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FindingId(pub u32);

impl FindingId {
    /// Reads an id exactly as it is shown: `F-3`, neither `F-03` nor `F-+3`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let id = Self(text.strip_prefix("F-")?.parse().ok()?);
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F-{}", self.0)
    }
}

/// A round's number in its run, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoundNumber(pub u32);

impl fmt::Display for RoundNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the clock does, and however many are minted at once.
    #[test]
    fn a_later_job_sorts_behind_an_earlier_one() {
        let stamp = |millis, seed| Stamp {
            at: Timestamp::from_millis(millis),
            seed: [seed; 32],
        };
        let mut newest = None;
        for (nth, millis) in [5_000, 5_000, 5_000, 1_000, 0, 5_001, 9_000, 8_999]
            .into_iter()
            .enumerate()
        {
            let id = JobId::mint_after(newest, &stamp(millis, 7), &format!("job {nth}"));
            assert!(newest < Some(id), "job {nth}");
            newest = Some(id);
        }
        // Where nothing is before it, it is minted as any other.
        let first = stamp(1_000, 3);
        assert_eq!(
            JobId::mint_after(None, &first, "a"),
            JobId::mint(&first, "a")
        );
        let before = JobId::mint(&stamp(999, 9), "b");
        assert_eq!(
            JobId::mint_after(Some(before), &first, "a"),
            JobId::mint(&first, "a")
        );
    }
}
