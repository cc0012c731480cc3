//! A later measurement, by the same function as the pin's.

use std::io;

use crate::domain::code::Code;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Elsewhere, Kept, Pin, Remeasured};
use crate::domain::job::Role;
use crate::domain::oid::Oid;
use crate::domain::restoring::Restoring;
use crate::domain::run_spec::RunSpec;
use crate::git::staged::Now;
use crate::git::{branches, measure, object, operation, staged, unheld};
use crate::runtime::perform::pin;
use crate::runtime::rim::Rim;

/// Bytes of a list of branches, or of HEAD's moves.
const TIPS_CAP: u64 = 64 << 20;

pub(super) fn perform(rim: &Rim, run: &RunSpec, pinned: &Pin) -> Result<Remeasured, Failure> {
    let mut measured = measure::measure(&rim.git, &rim.repository, &rim.store, run, pinned)?;
    if !measured.lost.is_empty() {
        measured.kept = Some(kept_in(rim, pinned, None));
    }
    Ok(measured)
}

/// What holds what is lost.
fn kept_in(rim: &Rim, pinned: &Pin, staged: Option<Oid>) -> Kept {
    Kept {
        store: rim.store.git_dir().display().to_string(),
        snapshot: pinned.snapshot.clone(),
        staged,
    }
}

/// The measurement after a job that may write: also where else it left work, what is gone from the
/// index, and how an operation that it left open is ended without losing anything.
pub(super) fn after_work(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    role: Role,
    pinned: &Pin,
) -> Result<Remeasured, Failure> {
    let job = Before {
        rim,
        run,
        round,
        role,
        pinned,
    };
    let mut measured = match perform(rim, run, pinned) {
        Ok(measured) => measured,
        Err(failure) => return Err(job.unmeasured(failure)),
    };
    let now = &measured.pin.identity;
    let left = job.left(Now {
        head: &now.head,
        tree: Some(&now.tree),
    })?;
    measured.elsewhere = left.elsewhere;
    measured.unstaged = left.gone.staged;
    measured.lost.extend(left.gone.edits);
    measured.lost.sort();
    measured.lost.dedup();
    if !measured.lost.is_empty() || !measured.unstaged.is_empty() {
        measured.kept = Some(kept_in(rim, pinned, left.staged));
    }
    Ok(measured)
}

/// How things were before a job.
struct Before<'a> {
    rim: &'a Rim,
    run: &'a RunSpec,
    round: RoundNumber,
    role: Role,
    pinned: &'a Pin,
}

/// What a job left besides the content.
#[derive(Default)]
struct Left {
    elsewhere: Vec<Elsewhere>,
    gone: staged::Gone,
    staged: Option<Oid>,
}

impl Before<'_> {
    fn left(&self, now: Now<'_>) -> Result<Left, Failure> {
        let Self {
            rim,
            run,
            round,
            role,
            pinned,
        } = *self;
        let (folder, name) = pin::before_file(rim, run, round, role)?;
        let kept = |kind: &str| match folder.read(format!("{name}.{kind}"), TIPS_CAP) {
            Ok(before) => Ok(Some(before)),
            // The cache was cleared since: what moved is not known, and nothing is said.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let message = format!("what was before the job cannot be read: {error}");
                Err(Failure::new(Code::MeasureFailed, message))
            }
        };
        let mut left = Left::default();
        if let Some(before) = kept(pin::BRANCHES)? {
            left.elsewhere = branches::moved(&rim.git, &rim.repository, &before, now.head)?;
        }
        if let Some(before) = kept(pin::UNHELD)? {
            let heads = [&pinned.identity.head, now.head];
            let found = unheld::found(&rim.git, &rim.repository, &before, heads)?;
            left.elsewhere.extend(found);
        }
        left.staged = match kept(pin::STAGED)? {
            Some(name) if !name.is_empty() => Some(commit_of(&name)?),
            Some(_) | None => None,
        };
        if let Some(commit) = &left.staged {
            let (git, repo, store) = (&rim.git, &rim.repository, &rim.store);
            left.gone = staged::gone(git, repo, store, commit, &pinned.identity, now)?;
        }
        Ok(left)
    }

    /// The failure of a measurement, with all that is known all the same of what the job threw away
    /// or left elsewhere: each on a line of its own, with the command that brings it.
    fn unmeasured(&self, mut failure: Failure) -> Failure {
        let (rim, pinned) = (self.rim, self.pinned);
        if failure.code == Code::SourceMoved {
            match operation::ending(&rim.git, &rim.repository) {
                Ok(Some(command)) => failure = failure.next(command),
                Ok(None) => {}
                Err(error) => {
                    let line = format!("\nwhether an operation is open is not known: {error}");
                    failure.message.push_str(&line);
                }
            }
        }
        let root = &self.run.source_root;
        let role = self.role.as_str();
        match self.left_unmeasured() {
            Ok(left) => {
                let kept = kept_in(rim, pinned, left.staged);
                for Restoring { said, command, .. } in
                    Restoring::unmeasured(&left.gone.staged, &left.elsewhere, &kept, root)
                {
                    let line = format!("\nthe {role} job {said}: {command}");
                    failure.message.push_str(&line);
                }
            }
            Err(error) => {
                let line = format!("\nwhat else the job left is not known: {}", error.message);
                failure.message.push_str(&line);
            }
        }
        if pinned.dirty {
            let command = NextCommand(kept_in(rim, pinned, None).edits(&pinned.identity.head));
            let line = format!(
                "\nall that was uncommitted in the working tree before the {role} job is printed by: {command}"
            );
            failure.message.push_str(&line);
        }
        failure
    }

    fn left_unmeasured(&self) -> Result<Left, Failure> {
        let rim = self.rim;
        let head = object::commit_of(&rim.git, &rim.repository.git_dir, "HEAD")?;
        let head =
            head.ok_or_else(|| Failure::new(Code::MeasureFailed, "HEAD is no commit any more"))?;
        self.left(Now {
            head: &head,
            tree: None,
        })
    }
}

fn commit_of(name: &[u8]) -> Result<Oid, Failure> {
    let commit = std::str::from_utf8(name).ok().and_then(Oid::parse);
    commit.ok_or_else(|| {
        let message = "what was staged before the job cannot be read";
        Failure::new(Code::MeasureFailed, message)
    })
}
