//! What a job handed over that nobody read when it ended: read by whoever takes its run up, ends it, or stops
//! it at once.

use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use crate::agent::dispatched::Dispatched;
use crate::agent::handed_over::HandedOver;
use crate::agent::job_folder::JobFolder;
use crate::agent::profile::{self, Continued, Wanted};
use crate::agent::redact::Secrets;
use crate::agent::{command, redact};
use crate::domain::agent::AgentKind;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::finding::Claim;
use crate::domain::id::{FindingId, JobId, LoopId};
use crate::domain::job::{Ended, Reading, Stored};
use crate::domain::verdict::Verdict;
use crate::runtime::remains;
use crate::store::Artifacts;

/// What such a job left.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Its folder.
    pub(crate) folder: Option<JobFolder>,
    /// What it handed over; nothing where nobody saw its end.
    done: Dispatched,
    /// What stands where its report would, see [`unvouched`].
    unvouched: Option<HandedOver>,
    /// Why none of its words may be kept: it could see keys that nobody here can take out of them.
    withheld: Option<&'static str>,
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

/// Reads what a job left, once its guard has ended it, or could have by `patience`; words that may not be kept
/// are gone from its folder then. What is damaged is not believed.
pub(crate) async fn read(
    (cache, run, job): (&Path, LoopId, JobId),
    asked: Asked<'_>,
    secrets: &Secrets,
    patience: Duration,
) -> Taken {
    let damaged = |error: &std::io::Error| {
        let message = format!("what job {job} left cannot be read: {error}");
        // It was started, and may have written.
        Dispatched {
            unusable: Some(message.clone()),
            ..Dispatched::empty(Ended::unread(&Failure::new(Code::StateUnwritable, message)))
        }
    };
    let unseen = |done: Dispatched| Dispatched {
        gone: remains::is_gone(cache, run, job),
        ..done
    };
    let nothing = |done| Taken {
        folder: None,
        done: unseen(done),
        unvouched: None,
        withheld: None,
    };
    let found = match JobFolder::find(cache, run, job) {
        Ok(Some(found)) => found,
        Ok(None) => return nothing(Dispatched::empty(Ended::Interrupted)),
        Err(error) => return nothing(damaged(&error)),
    };
    let read = async {
        match asked.kind {
            AgentKind::Command(program) => command::taken_over(program, &found, secrets).await,
            AgentKind::Profile(program) => {
                profile::taken_over(program, &found, secrets, asked.continues, asked.wanted).await
            }
            AgentKind::Checks | AgentKind::Human => Ok(None),
        }
    };
    let done = match timeout(patience, read).await.unwrap_or(Ok(None)) {
        Ok(Some(done)) => done,
        Ok(None) => unseen(Dispatched::empty(Ended::Interrupted)),
        Err(error) => unseen(damaged(&error)),
    };
    let unvouched = unvouched(asked.kind, &found, &done);
    // After it was read: what it says counts, though its words may not be kept.
    let (done, withheld) = match timeout(patience, redact::let_go(&found, secrets)).await {
        Ok(Ok(withheld)) => (done, withheld),
        // Nobody could make sure that they show no key: also where somebody may still write there.
        Ok(Err(_)) | Err(_) => (done, Some(redact::WITHHELD)),
    };
    Taken {
        folder: Some(found),
        done,
        unvouched,
        withheld,
    }
}

impl Taken {
    /// What the job says, by who reads its report.
    pub(crate) fn reading(&self, secrets: &Secrets, read: impl Fn(&[u8]) -> Reading) -> Reading {
        let reading = reading(&self.done, self.unvouched.as_ref(), secrets, read);
        match self.withheld {
            Some(why) => without_its_words(reading, why),
            None => reading,
        }
    }
    /// What it handed over that may be kept.
    pub(crate) fn handed_over(self) -> Dispatched {
        let Some(why) = self.withheld else {
            return self.done;
        };
        Dispatched {
            spent: self.done.spent,
            lasted: self.done.lasted,
            gone: self.done.gone,
            unusable: Some(why.to_owned()),
            ..Dispatched::empty(Ended::Interrupted)
        }
    }
}

/// What stands where the report of a job would of which there is none that could count: nobody saw its end, or
/// what it printed is damaged, too long, or may still be written to. Nobody vouches for it, and it may be a part.
#[must_use]
pub(crate) fn unvouched(
    kind: &AgentKind,
    folder: &JobFolder,
    done: &Dispatched,
) -> Option<HandedOver> {
    if done.report.is_some() || matches!(done.ended, Ended::NotStarted { .. }) {
        return None;
    }
    match kind {
        AgentKind::Command(program) => command::unvouched(program, folder),
        AgentKind::Profile(program) => profile::unvouched(program, folder),
        AgentKind::Checks | AgentKind::Human => None,
    }
}

/// What a job says: its report; else what stands there all the same, which only counts against the change. It
/// is read as it came, too: what looks like a part of a key may be a verdict.
pub(crate) fn reading(
    done: &Dispatched,
    unvouched: Option<&HandedOver>,
    secrets: &Secrets,
    read: impl Fn(&[u8]) -> Reading,
) -> Reading {
    let (report, why) = match (&done.report, &done.unusable) {
        (Some(report), None) => return read(report.as_came()),
        (report, why) => (report.as_ref().or(unvouched), why),
    };
    // It may begin and end within a key, and so may what it says.
    let kept = |words: &str| secrets.taken_out_of_quoted(words);
    let said = report.map_or_else(Said::default, |report| {
        Said::of(read(report.as_came()).in_words(&kept))
    });
    match why {
        Some(why) => said.in_none(why),
        None if said.is_against() => {
            said.in_none("nobody saw the end of its job, so it only counts against")
        }
        None => Reading::Silent,
    }
}

/// What a report said whose words may not be kept: a verdict against the change, and what it found, bar PASS
/// as those of every report do; a verdict for it is given again.
fn without_its_words(reading: Reading, why: &str) -> Reading {
    let said = Said::of(reading);
    Said {
        claims: said.claims.into_iter().map(without_words).collect(),
        ..said
    }
    .in_none(why)
}

/// What counts of a text although it is no report: it can bar PASS, and does nothing else.
#[derive(Default)]
struct Said {
    refused: bool,
    claims: Vec<Claim>,
    open: Vec<FindingId>,
}

impl Said {
    fn of(reading: Reading) -> Self {
        let open = reading.still_open();
        let (claimed, claims) = match reading {
            Reading::Review(said) => (Some(said.verdict), said.findings),
            Reading::Invalid {
                claimed, claims, ..
            } => (claimed, claims),
            Reading::Reply { .. } | Reading::Silent => (None, Vec::new()),
        };
        Self {
            refused: claimed == Some(Verdict::NotPass),
            claims,
            open,
        }
    }
    fn is_against(&self) -> bool {
        self.refused || !self.claims.is_empty() || !self.open.is_empty()
    }
    fn in_none(self, why: &str) -> Reading {
        Reading::Invalid {
            problems: vec![why.to_owned()],
            claimed: self.refused.then_some(Verdict::NotPass),
            claims: self.claims,
            open: self.open,
        }
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

/// How a job ended, with its report among the artifacts: one that cannot be kept cannot be promoted, and what
/// the job did is done and paid for.
pub(crate) fn kept(
    artifacts: &Artifacts,
    ended: Ended,
    report: Option<Vec<u8>>,
) -> (Ended, Option<Stored>) {
    match report.map(|bytes| artifacts.put(&bytes)) {
        None => (ended, None),
        Some(Ok(stored)) => (ended, Some(stored)),
        Some(Err(failure)) => (ended.without_its_answer(&failure), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::environment::Variables;
    use crate::domain::agent::{CommandAgent, PromptChannel, ReportChannel};
    use crate::domain::severity::Severity;
    use crate::domain::time::{Stamp, Timestamp};

    fn read(report: &[u8]) -> Reading {
        let text = String::from_utf8_lossy(report).into_owned();
        Reading::Invalid {
            problems: Vec::new(),
            claimed: text.contains("NOT PASS").then_some(Verdict::NotPass),
            claims: vec![Claim {
                title: text,
                severity: Severity::High,
                blocking: true,
                path: None,
                line: None,
                end_line: None,
                body: String::new(),
                pre_existing: false,
                blob: None,
            }],
            open: Vec::new(),
        }
    }

    fn said(text: &str, key: &str) -> Said {
        let ours: Variables = [("A_KEY".into(), key.into())].into();
        let secrets = Secrets::named(&["A_KEY".to_owned()], &ours);
        let done = Dispatched::empty(Ended::Interrupted);
        let unvouched = HandedOver::new(text.into());
        Said::of(reading(&done, Some(&unvouched), &secrets, read))
    }

    /// A key that begins like a verdict ends, or ends like one begins, makes no NOT PASS vanish.
    #[test]
    fn what_looks_like_half_a_key_is_a_verdict_all_the_same() {
        for key in ["PASS-word-71c9e2aa", "71c9e2aa-NOT P"] {
            for text in ["NOT PASS", "VERDICT: NOT PASS", "NOT PASS\nsee above"] {
                assert!(said(text, key).refused, "{text:?} beside {key}");
            }
        }
    }

    /// What nobody saw the beginning or the end of may begin or end within a key: half of one is left of none.
    #[test]
    fn half_a_key_is_told_of_none() {
        let key = "house-canary-0123456789";
        for at in 4..key.len() - 4 {
            let (head, tail) = key.split_at(at);
            for (text, told) in [
                (format!("NOT PASS: {head}"), "NOT PASS: [redacted]"),
                (format!("{tail}: NOT PASS"), "[redacted]: NOT PASS"),
            ] {
                let said = said(&text, key);
                assert!(said.refused);
                assert_eq!(said.claims[0].title, told, "{at}");
            }
        }
    }

    /// A second signal: whoever reads waits no longer than it says for a guard that does not end, and a NOT
    /// PASS that stands there bars all the same, without its words.
    #[tokio::test]
    async fn nobody_waits_without_an_end_for_keys_to_be_removed() {
        let cache = tempfile::tempdir().unwrap();
        let stamp = Stamp {
            at: Timestamp::from_millis(1),
            seed: [0; 32],
        };
        let (run, job) = (LoopId::mint(&stamp, "run"), JobId::mint(&stamp, "job"));
        let folder = JobFolder::create(cache.path(), run, job, b"Review it.", None).unwrap();
        fs_err::write(folder.stdout(), "VERDICT: NOT PASS\n").unwrap();
        // Its guard lives, and nobody noted which keys the job could see.
        let lock = fs_err::File::create(folder.capture().join("guard.lock")).unwrap();
        lock.file().lock().unwrap();
        let kind = AgentKind::Command(CommandAgent {
            program: "/ann".to_owned(),
            args: Vec::new(),
            prompt: PromptChannel::Stdin,
            report: ReportChannel::Stdout,
            env: Vec::new(),
            confine: false,
        });
        let asked = Asked {
            kind: &kind,
            continues: None,
            wanted: Wanted::All,
        };
        let secrets = Secrets::named(std::iter::empty(), &Variables::new());
        let read = super::read((cache.path(), run, job), asked, &secrets, Duration::ZERO);
        let taken = timeout(Duration::from_secs(10), read).await.unwrap();
        assert_eq!(taken.withheld, Some(redact::WITHHELD));
        let reading = taken.reading(&secrets, |report| {
            assert_eq!(report, b"VERDICT: NOT PASS\n");
            Reading::Invalid {
                problems: Vec::new(),
                claimed: Some(Verdict::NotPass),
                claims: Vec::new(),
                open: Vec::new(),
            }
        });
        assert!(
            matches!(
                reading,
                Reading::Invalid {
                    claimed: Some(Verdict::NotPass),
                    ..
                }
            ),
            "{reading:?}"
        );
    }
}
