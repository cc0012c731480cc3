//! Tests of the `contract` area through its public surface.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends where it fails"
)]

#[path = "contract/claims.rs"]
mod claims;
#[path = "contract/coverage.rs"]
mod coverage;
#[path = "contract/delegated.rs"]
mod delegated;
#[path = "contract/findings.rs"]
mod findings;
#[path = "contract/fixture.rs"]
mod fixture;
#[path = "contract/lines.rs"]
mod lines;
#[path = "contract/mutations.rs"]
mod mutations;
#[path = "contract/no_verdicts.rs"]
mod no_verdicts;
#[path = "contract/places.rs"]
mod places;
#[path = "contract/prompts.rs"]
mod prompts;
#[path = "contract/replies.rs"]
mod replies;
#[path = "contract/reports.rs"]
mod reports;
#[path = "contract/schemas.rs"]
mod schemas;
#[path = "contract/spoken.rs"]
mod spoken;
#[path = "contract/words.rs"]
mod words;
#[path = "contract/work.rs"]
mod work;
