//! A later measurement, by the same function as the pin's.

use std::io;

use crate::domain::code::Code;
use crate::domain::effect::MeasurePoint;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::id::RoundNumber;
use crate::domain::identity::{About, Doubt, Elsewhere, Kept, Pin, Remeasured};
use crate::domain::job::Role;
use crate::domain::look::Look;
use crate::domain::oid::Oid;
use crate::domain::restoring::Restoring;
use crate::domain::run_spec::RunSpec;
use crate::domain::work::{ANEW, BRANCHES, STAGED, UNHELD, UNMERGED};
use crate::engine::State;
use crate::git::staged::Now;
use crate::git::{branches, measure, object, operation, staged, unheld, unmerged};
use crate::runtime::perform::{anew, own, pin};
use crate::runtime::rim::Rim;

/// Bytes of a list of branches, or of HEAD's moves.
const TIPS_CAP: u64 = 64 << 20;

/// Measures at a point of the run.
pub(super) fn at(
    rim: &Rim,
    state: &State,
    round: RoundNumber,
    point: MeasurePoint,
    pinned: &Pin,
) -> Result<Remeasured, Failure> {
    let run = super::run_of(state)?;
    match (point, state.work()) {
        (MeasurePoint::AfterWork, Some((work, _))) if work.role.writes() => {
            after_work(rim, (run, state), round, work.role, pinned)
        }
        _ => perform(rim, run, pinned),
    }
}

fn perform(rim: &Rim, run: &RunSpec, pinned: &Pin) -> Result<Remeasured, Failure> {
    let mut measured = measure::measure(&rim.git, &rim.repository, &rim.store, run, pinned)?;
    if !measured.lost.is_empty() {
        measured.kept = Some(kept_in(rim, pinned));
    }
    Ok(measured)
}

/// The measurement by which a run lies aside, and the one by which it is taken up again; `None` where there is
/// nothing to compare with, or the source cannot be measured: then nothing is known of what moved.
pub(crate) fn aside(rim: &Rim, state: &State) -> Option<Remeasured> {
    let (run, pinned) = (state.run.as_deref()?, state.watched_aside()?);
    let measured = measure::look(&rim.git, &rim.repository, &rim.store, run, pinned);
    measured
        .inspect_err(|failure| tracing::warn!(%failure, "the source cannot be measured"))
        .ok()
}

/// What holds what is lost.
fn kept_in(rim: &Rim, pinned: &Pin) -> Kept {
    Kept {
        store: rim.store.git_dir().display().to_string(),
        snapshot: pinned.snapshot.clone(),
        staged: None,
        unmerged: None,
    }
}

/// The measurement after a job that may write: also where else it left work, what is gone from the
/// index, and how an operation that it left open is ended without losing anything.
pub(super) fn after_work(
    rim: &Rim,
    (run, state): (&RunSpec, &State),
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
        anew: state.was_asked_anew(),
        looks: [state.looks_up_to_pin(), state.looks()],
    };
    match perform(rim, run, pinned) {
        Ok(measured) => job.with_left(measured),
        Err(failure) => Err(job.unmeasured(failure)),
    }
}

/// How things were before a job.
struct Before<'a> {
    rim: &'a Rim,
    run: &'a RunSpec,
    round: RoundNumber,
    role: Role,
    pinned: &'a Pin,
    /// Whether the source was to be kept right before a later one of the step's jobs.
    anew: bool,
    /// The looks around the run's writing jobs, up to its pin, and all.
    looks: [&'a [Look]; 2],
}

/// What a job left besides the content.
#[derive(Default)]
struct Left {
    elsewhere: Vec<Elsewhere>,
    gone: staged::Gone,
    conflicts: unmerged::Gone,
    unknown: Vec<Doubt>,
    staged: Option<Oid>,
    unmerged: Option<Oid>,
}

impl Before<'_> {
    /// The measurement with what the job left besides the content.
    fn with_left(&self, mut measured: Remeasured) -> Result<Remeasured, Failure> {
        let now = &measured.pin.identity;
        let left = self.left(Now {
            head: &now.head,
            tree: Some(&now.tree),
        })?;
        measured.lost.extend(left.gone.edits);
        measured.lost.extend(left.conflicts.edits);
        measured.lost.sort();
        measured.lost.dedup();
        measured.elsewhere = left.elsewhere;
        measured.unknown = left.unknown;
        let since = self.since_asked_anew()?;
        measured.anew = since.lost.map(Box::new);
        measured.unknown.extend(since.doubt);
        measured.unstaged = left.gone.staged;
        measured.unmerged = left.conflicts.sides;
        let nothing = measured.lost.is_empty()
            && measured.unstaged.is_empty()
            && measured.unmerged.is_empty();
        measured.kept = (!nothing).then(|| Kept {
            staged: left.staged,
            unmerged: left.unmerged,
            ..kept_in(self.rim, self.pinned)
        });
        own::apart(self.rim, self.looks[0], &mut measured);
        Ok(measured)
    }

    /// What is lost of how things were right before the step was asked anew.
    fn since_asked_anew(&self) -> Result<anew::Found, Failure> {
        if !self.anew {
            return Ok(anew::Found::default());
        }
        let (folder, name) = pin::before_file(self.rim, self.run, self.round, self.role)?;
        let name = format!("{name}.{ANEW}");
        Ok(anew::lost(
            self.rim,
            (self.run, self.looks[1]),
            (&folder, &name),
        ))
    }

    fn left(&self, now: Now<'_>) -> Result<Left, Failure> {
        let Self {
            rim,
            run,
            round,
            role,
            pinned,
            ..
        } = *self;
        let (git, repo, store) = (&rim.git, &rim.repository, &rim.store);
        let (folder, name) = pin::before_file(rim, run, round, role)?;
        let mut left = Left::default();
        // The cache may have been cleared since.
        let mut kept = |kind: &str, about: &[About]| {
            let found = folder.read(format!("{name}.{kind}"), TIPS_CAP);
            match found {
                Ok(before) => Ok(Some(before)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let doubts = about.iter().map(|about| Doubt::not_kept(*about));
                    left.unknown.extend(doubts);
                    Ok(None)
                }
                Err(error) => {
                    let message = format!("what was before the job cannot be read: {error}");
                    Err(Failure::new(Code::MeasureFailed, message))
                }
            }
        };
        let tips = kept(BRANCHES, &[About::Branches])?;
        let marks = kept(UNHELD, &[About::Head, About::Stash])?;
        let staged = kept(STAGED, &[About::Index])?;
        // One doubt about the index is enough.
        let sides = kept(
            UNMERGED,
            if staged.is_some() {
                &[About::Index]
            } else {
                &[]
            },
        )?;
        if let Some(before) = tips {
            left.elsewhere = branches::moved(git, repo, &before, now.head)?;
        }
        if let Some(before) = marks {
            let heads = [&pinned.identity.head, now.head];
            let found = unheld::found(git, repo, &before, heads)?;
            left.elsewhere.extend(found.elsewhere);
            left.unknown.extend(found.unknown);
        }
        left.staged = commit_of(staged.as_deref())?;
        if let Some(commit) = &left.staged {
            left.gone = staged::gone(git, repo, store, commit, &pinned.identity, now)?;
        }
        left.unmerged = commit_of(sides.as_deref())?;
        let kept = left.unmerged.as_ref();
        left.conflicts = unmerged::gone(git, repo, store, kept, &pinned.identity, now)?;
        Ok(left)
    }

    /// The failure of a measurement, with all that is known all the same of what the job threw away
    /// or left elsewhere: each on a line of its own, with the command that brings it.
    fn unmeasured(&self, mut failure: Failure) -> Failure {
        let (rim, pinned, role) = (self.rim, self.pinned, self.role.as_str());
        let mut is_open = false;
        if failure.code == Code::SourceMoved {
            match operation::ending(&rim.git, &rim.repository) {
                Ok(Some(command)) => {
                    is_open = true;
                    failure = failure.next(command);
                }
                Ok(None) => failure = self.back_to_its_branch(failure),
                Err(error) => {
                    let line = format!("\nwhether an operation is open is not known: {error}");
                    failure.message.push_str(&line);
                }
            }
        }
        let left = if is_open {
            // What is refused is the open operation: beside it everything can be looked at.
            self.beside_an_operation()
                .or_else(|_| self.left_unmeasured())
        } else {
            self.left_unmeasured()
        };
        match left {
            Ok(measured) => {
                let all = Restoring::all(&measured, &self.run.source_root);
                for Restoring { said, command, .. } in all {
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
            let command = NextCommand(kept_in(rim, pinned).edits(&pinned.identity.head));
            let line = format!(
                "\nall that was uncommitted in the working tree before the {role} job is printed by: {command}"
            );
            failure.message.push_str(&line);
        }
        failure
    }

    /// Where HEAD is on a branch that has no commit, and was on another one: the way back takes nothing away,
    /// neither from the index nor from the files.
    fn back_to_its_branch(&self, mut failure: Failure) -> Failure {
        let (rim, before) = (self.rim, &self.pinned.tripwire.head_ref);
        let unborn = object::commit_of(&rim.git, &rim.repository.git_dir, "HEAD");
        let now = rim.repository.branch(&rim.git);
        let (Ok(None), Ok(Some(now))) = (unborn, now) else {
            return failure;
        };
        if self.pinned.branch.is_none() || now == *before {
            return failure;
        }
        let short = |name: &str| name.trim_start_matches("refs/heads/").to_owned();
        failure.message = format!(
            "HEAD was switched from {} to {}, which has no commit",
            short(before),
            short(&now)
        );
        let root = self.run.source_root.as_str();
        failure.next(["git", "-C", root, "symbolic-ref", "HEAD", before])
    }

    fn beside_an_operation(&self) -> Result<Remeasured, Failure> {
        let run = RunSpec {
            allow_in_progress: true,
            ..self.run.clone()
        };
        self.with_left(perform(self.rim, &run, self.pinned)?)
    }

    /// What can be known without a measurement: the source as it was, with what the job left elsewhere and
    /// what is gone from the index.
    fn left_unmeasured(&self) -> Result<Remeasured, Failure> {
        let (rim, pinned) = (self.rim, self.pinned);
        let head = object::commit_of(&rim.git, &rim.repository.git_dir, "HEAD")?;
        let head =
            head.ok_or_else(|| Failure::new(Code::MeasureFailed, "HEAD is no commit any more"))?;
        let mut left = self.left(Now {
            head: &head,
            tree: None,
        })?;
        let since = self.since_asked_anew()?;
        left.unknown.extend(since.doubt);
        Ok(Remeasured {
            pin: pinned.clone(),
            moved_paths: Vec::new(),
            base_rewound: false,
            head_descends: false,
            lost: Vec::new(),
            unstaged: left.gone.staged,
            unmerged: left.conflicts.sides,
            own: Vec::new(),
            kept: Some(Kept {
                staged: left.staged,
                unmerged: left.unmerged,
                ..kept_in(rim, pinned)
            }),
            elsewhere: left.elsewhere,
            unknown: left.unknown,
            anew: since.lost.map(Box::new),
        })
    }
}

/// The commit that a file names, where it names one.
fn commit_of(name: Option<&[u8]>) -> Result<Option<Oid>, Failure> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let commit = std::str::from_utf8(name).ok().and_then(Oid::parse);
    commit.map(Some).ok_or_else(|| {
        let message = "what was in the index before the job cannot be read";
        Failure::new(Code::MeasureFailed, message)
    })
}
