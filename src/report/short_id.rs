//! Short forms of run ids.

use crate::domain::id::LoopId;

/// Prefixes shorter than this are not printed: the next run could make them ambiguous.
const SHORTEST: usize = 8;

/// The shortest prefix of `id`, of 8 characters or more, that no other of `all` begins with.
#[must_use]
pub fn short_id(id: LoopId, all: &[LoopId]) -> String {
    let text = id.to_string();
    let others: Vec<String> = all
        .iter()
        .filter(|other| **other != id)
        .map(ToString::to_string)
        .collect();
    // A prefix that ends with a hyphen looks unfinished.
    let fits = |end: &usize| {
        !text[..*end].ends_with('-') && others.iter().all(|o| !o.starts_with(&text[..*end]))
    };
    let end = (SHORTEST..text.len()).find(fits).unwrap_or(text.len());
    text[..end].to_owned()
}
