//! Where the run lies that is to go on or to end: in the repository of this place, or in any other whose
//! runs are known here. What the run has stored says where it belongs, so that its id is enough.

use std::path::{Path, PathBuf};

use crate::cleanup::item::Fate;
use crate::cleanup::known::Known;
use crate::cli::args::Format;
use crate::cli::args::control::ControlArgs;
use crate::cli::environment::Environment;
use crate::cli::history::History;
use crate::cli::locate;
use crate::cli::output;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::{Git, Repository};
use crate::runtime::clock;
use crate::store::StateFolder;

/// A repository's runs, and the place that they are looked at from.
pub(super) struct Found {
    pub(super) git: Git,
    /// The working tree of this place; `None` where the run is of another repository.
    source: Option<Repository>,
    state: Option<StateFolder>,
}

impl Found {
    /// The runs that the command is about: those of this place, unless the run that is named is not
    /// among them and another repository has it.
    ///
    /// # Errors
    /// As [`locate::locate`] without an id; else when nobody knows the run, or two repositories do.
    pub(super) fn of(environment: &Environment, args: &ControlArgs) -> Result<Self, Failure> {
        let here = Self::here(environment, args.repository.worktree.as_deref());
        let Some(given) = args.run.as_deref().filter(|given| !given.is_empty()) else {
            return here;
        };
        if let Ok(found) = &here
            && knows(found.state.as_ref(), given)?
        {
            return here;
        }
        match elsewhere(environment, given, here.as_ref().err())? {
            Some(place) => Ok(Self {
                git: locate::git(environment)?,
                source: None,
                state: StateFolder::find(&place)?,
            }),
            None => here,
        }
    }
    fn here(environment: &Environment, worktree: Option<&Path>) -> Result<Self, Failure> {
        let place = locate::locate(environment, worktree)?;
        Ok(Self {
            state: StateFolder::find(&place.source.common_dir)?,
            git: place.git,
            source: Some(place.source),
        })
    }
    /// The runs there are.
    pub(super) fn history(&self, format: Format) -> History<'_> {
        let source = self.source.as_ref();
        History {
            state: self.state.as_ref(),
            source_root: source.map(|source| source.source_root.as_path()),
            control_root: source.map(|source| source.control_root.as_path()),
            format,
            now: clock::now(),
        }
    }
}

/// Whether a state has a run of this id or prefix.
///
/// # Errors
/// When its folder cannot be listed.
pub(super) fn knows(state: Option<&StateFolder>, given: &str) -> Result<bool, Failure> {
    let Some(state) = state else {
        return Ok(false);
    };
    let wanted = given.to_ascii_lowercase();
    let runs = state.run_ids()?;
    Ok(runs.iter().any(|run| run.to_string().starts_with(&wanted)))
}

/// The other repository that has a run of this id; `None` where none has, and this place says so. `here` is
/// why this place has no runs at all.
///
/// # Errors
/// When several have one, or none has and this is no repository.
pub(super) fn elsewhere(
    environment: &Environment,
    given: &str,
    here: Option<&Failure>,
) -> Result<Option<PathBuf>, Failure> {
    let mut unread = Vec::new();
    let known = Known::find(&environment.cache_root()?, None, &mut unread)?;
    let places = known.with_run(&given.to_ascii_lowercase());
    if places.is_empty() {
        // One of these may have it.
        for item in &unread {
            if let Fate::Kept { reason } = &item.fate {
                output::note(&format!("{} is left out: {reason}", item.path));
            }
        }
    }
    match &places[..] {
        [place] => Ok(Some(place.clone())),
        [] if here.is_some_and(|failure| failure.code == Code::NotARepository) => {
            let message = format!("no repository that is known here has a run {given:?}");
            Err(Failure::new(Code::UnknownRun, message).next(["run-loop", "--help"]))
        }
        [] => Ok(None),
        [first, ..] => {
            let named: Vec<String> = places.iter().map(|it| it.display().to_string()).collect();
            let message = format!(
                "the id {given:?} fits runs of {} repositories: {}",
                places.len(),
                named.join(", ")
            );
            let failure = Failure::new(Code::UnknownRun, message);
            // Inside of a repository the option names its own working trees only.
            let outside = here.is_some_and(|failure| failure.code == Code::NotARepository);
            Err(match first.parent().filter(|_| first.ends_with(".git")) {
                Some(root) if outside => {
                    let root = root.display().to_string();
                    failure.next(["run-loop", "status", given, "--worktree", &root])
                }
                Some(_) | None => failure.next(["git", "-C", &named[0], "worktree", "list"]),
            })
        }
    }
}
