//! What a job handed over whose engine died: read by whoever takes its run up, or ends it.

use std::io;
use std::path::Path;

use crate::agent::dispatched::Dispatched;
use crate::agent::handed_over::HandedOver;
use crate::agent::job_folder::JobFolder;
use crate::agent::profile::{self, Continued, Wanted};
use crate::agent::redact::Secrets;
use crate::agent::{command, redact};
use crate::domain::agent::AgentKind;
use crate::domain::finding::Claim;
use crate::domain::id::{JobId, LoopId};
use crate::domain::job::Reading;
use crate::domain::verdict::Verdict;

/// What a job of a dead engine left.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Its folder.
    pub(crate) folder: Option<JobFolder>,
    /// What it handed over, where its guard saw its end.
    pub(crate) dispatched: Option<Dispatched>,
    /// What stands where its report would, where nobody saw its end.
    pub(crate) unseen: Option<HandedOver>,
    /// Why none of its words may be kept: it could see keys that nobody here can take out of them.
    pub(crate) withheld: Option<&'static str>,
}

/// How a job's answer is to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Who was asked.
    pub(crate) kind: &'a AgentKind,
    /// The session that it was to go on in.
    pub(crate) continues: Option<Continued<'a>>,
    /// What is wanted of a structured answer.
    pub(crate) wanted: Wanted,
}

/// Reads what a job left, once its guard has ended it; words that may not be kept are gone from its folder
/// then.
///
/// # Errors
/// When what lies there is damaged: then nothing of it is believed.
pub(crate) async fn read(
    cache: &Path,
    run: LoopId,
    folder: JobId,
    asked: Asked<'_>,
    secrets: &Secrets,
) -> io::Result<Taken> {
    let Some(found) = JobFolder::find(cache, run, folder)? else {
        return Ok(Taken::default());
    };
    let read = match asked.kind {
        AgentKind::Command(program) => command::taken_over(program, &found, secrets).await,
        AgentKind::Profile(program) => {
            profile::taken_over(program, &found, secrets, asked.continues, asked.wanted).await
        }
        AgentKind::Checks | AgentKind::Human => Ok(None),
    };
    let unseen = match (&read, asked.kind) {
        (Ok(None), AgentKind::Command(program)) => command::unseen(program, &found, secrets),
        (Ok(_) | Err(_), _) => None,
    };
    // After it was read: what it says counts, though its words may not be kept.
    let withheld = redact::let_go(&found, secrets).await?;
    Ok(Taken {
        folder: Some(found),
        dispatched: read?,
        unseen,
        withheld,
    })
}

/// What a text says that nobody vouches for: it can bar PASS, and does nothing else. `None` where it says
/// nothing against the change.
#[must_use]
pub(crate) fn only_against(reading: Reading) -> Option<Reading> {
    let open = reading.still_open();
    let (claimed, claims) = match reading {
        Reading::Review(said) => (Some(said.verdict), said.findings),
        Reading::Invalid {
            claimed, claims, ..
        } => (claimed, claims),
        Reading::Reply { .. } | Reading::Silent => return None,
    };
    let claimed = claimed.filter(|verdict| *verdict == Verdict::NotPass);
    let says_so = claimed.is_some() || !claims.is_empty() || !open.is_empty();
    says_so.then(|| Reading::Invalid {
        problems: vec!["nobody saw the end of its job, so it only counts against".to_owned()],
        claimed,
        claims,
        open,
    })
}

/// What a report said whose words may not be kept: a verdict against the change, and what it found, bar PASS
/// as those of every report do; a verdict for it is given again.
#[must_use]
pub(crate) fn without_its_words(reading: Reading, why: &str) -> Reading {
    let open = reading.still_open();
    let (claimed, claims) = match reading {
        Reading::Review(said) => (Some(said.verdict), said.findings),
        Reading::Invalid {
            claimed, claims, ..
        } => (claimed, claims),
        Reading::Reply { .. } | Reading::Silent => (None, Vec::new()),
    };
    Reading::Invalid {
        problems: vec![why.to_owned()],
        claimed,
        claims: claims.into_iter().map(without_words).collect(),
        open,
    }
}

fn without_words(claim: Claim) -> Claim {
    Claim {
        title: "a finding whose words could not be kept".to_owned(),
        body: String::new(),
        // A path of the snapshot is nobody's key.
        path: claim.path.filter(|_| claim.blob.is_some()),
        ..claim
    }
}
