//! What a job used and told of itself.

use std::path::Path;

use crate::agent::adapter::account::Account;
use crate::agent::profile::Continued;
use crate::agent::redact::Secrets;
use crate::domain::profile::Profile;
use crate::domain::spent::Spent;

/// What a program told of itself, without secrets: it is written down and promoted. A session whose name holds one is none that
/// anybody could go on in.
pub(super) fn told(
    profile: &Profile,
    account: &Account,
    directory: Option<&Path>,
    continues: Option<Continued<'_>>,
    secrets: &Secrets,
) -> Spent {
    let spent = spent(profile, account, directory, continues);
    let shown = |told: Option<String>| told.map(|told| secrets.taken_out_of_text(&told));
    let is_shown = |told: &String| secrets.taken_out_of_text(told) == *told;
    Spent {
        model: shown(spent.model),
        version: shown(spent.version),
        session: spent.session.filter(is_shown),
        ..spent
    }
}

/// What the job used: in a continued session some programs count on.
fn spent(
    profile: &Profile,
    account: &Account,
    directory: Option<&Path>,
    continues: Option<Continued<'_>>,
) -> Spent {
    let mut spent = account.spent();
    spent.directory = directory.and_then(Path::to_str).map(str::to_owned);
    match continues {
        Some(Continued { id, before }) if spent.session.as_deref() == Some(id) => {
            spent.since(before, &profile.session.counts_on)
        }
        // In another session than it was to go on in: whether it counts on from that one nobody knows.
        Some(_) if spent.session.is_some() => {
            spent.since(&Spent::default(), &profile.session.counts_on)
        }
        Some(_) | None => spent,
    }
}
