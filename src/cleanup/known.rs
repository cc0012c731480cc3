//! The repositories whose runs can be looked up: the current one, and those that review stores
//! borrow from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cleanup::item::{Item, What};
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::git::store::upkeep::{Kind, StoreFolder, Upkeep};
use crate::store::home::Home;
use crate::store::{Journal, StateFolder, put_away};

/// The states of the repositories that are known.
#[derive(Debug)]
pub(crate) struct Known {
    states: Vec<(PathBuf, StateFolder, BTreeSet<LoopId>)>,
    /// See [`Self::is_whole`].
    whole: bool,
}

impl Known {
    /// Finds them. A state that cannot be read is told and passed over: its runs are unknown.
    pub(crate) fn find(
        cache_root: &Path,
        current: Option<&Path>,
        items: &mut Vec<Item>,
    ) -> Result<Self, Failure> {
        let mut places: BTreeSet<PathBuf> = current.map(Path::to_owned).into_iter().collect();
        let mut whole = true;
        if let Some(upkeep) = Upkeep::open(cache_root)? {
            let failed = |error| crate::store::state_folder::unwritable(upkeep.path(), &error);
            let stores = upkeep.list().map_err(failed)?;
            let told = |store: &StoreFolder| store.gone || store.common_dir.is_some();
            let mut ready = stores.iter().filter(|store| store.kind == Kind::Ready);
            whole = !upkeep.is_shared().map_err(failed)? && ready.all(told);
            places.extend(stores.into_iter().filter_map(|store| store.common_dir));
        }
        let mut states = Vec::new();
        for place in places {
            let found = StateFolder::find(&place).and_then(|state| match state {
                None => Ok(None),
                Some(state) => {
                    let runs = state.run_ids()?.into_iter().collect();
                    Ok(Some((state, runs)))
                }
            });
            match found {
                Ok(None) => {}
                Ok(Some((state, runs))) => states.push((place, state, runs)),
                Err(failure) => {
                    let item = Item::new(&place.join("run-loop"), What::State, None, 0);
                    items.push(item.kept(failure.message));
                    whole = false;
                }
            }
        }
        Ok(Self { states, whole })
    }

    /// Whether every repository that may be there was read, and no other machine can have runs here.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The state that a run is at home in, where one is known that has it; a copy of it is no word on it. Why
    /// it cannot be told, where it cannot.
    pub(crate) fn home_of(&self, run: LoopId) -> Result<Option<&StateFolder>, String> {
        let holding = self
            .states
            .iter()
            .filter(|(_, _, runs)| runs.contains(&run));
        let holding: Vec<_> = holding.map(|(_, state, _)| state).collect();
        let homes: Vec<Home> = holding.iter().map(|state| Home::of(state, run)).collect();
        if let Some(at) = homes.iter().position(|home| *home == Home::Here) {
            return Ok(Some(holding[at]));
        }
        if let Some(Home::Elsewhere(theirs)) =
            homes.iter().find(|it| matches!(it, Home::Elsewhere(_)))
        {
            let theirs = theirs.display();
            return Err(format!("it is a run of {theirs}: clean up there"));
        }
        match holding[..] {
            [state] => Ok(Some(state)),
            [] => self.nobodys_or_put_away(run),
            [..] => Err("several repositories have this run".to_owned()),
        }
    }

    /// A run that no state has: what it left is kept where its record was put away.
    fn nobodys_or_put_away(&self, run: LoopId) -> Result<Option<&StateFolder>, String> {
        for state in self.states() {
            let away = put_away::all(state).map_err(|failure| failure.message)?;
            if away.contains(&run) {
                let place = state.damaged_path(run);
                return Err(format!(
                    "its journal was damaged and put away; with {} this may go, too",
                    place.display()
                ));
            }
        }
        Ok(None)
    }

    /// Every state.
    pub(crate) fn states(&self) -> impl Iterator<Item = &StateFolder> {
        self.states.iter().map(|(_, state, _)| state)
    }

    /// The repositories (their common directories) with a run whose id begins so.
    pub(crate) fn with_run(&self, id: &str) -> Vec<PathBuf> {
        let has = |runs: &BTreeSet<LoopId>| runs.iter().any(|run| run.to_string().starts_with(id));
        let mut found: Vec<_> = self
            .states
            .iter()
            .filter(|(_, _, runs)| has(runs))
            .collect();
        // A copy has no run of its own.
        let is_home = |(_, state, runs): &&(PathBuf, StateFolder, BTreeSet<LoopId>)| {
            let mut runs = runs.iter().filter(|run| run.to_string().starts_with(id));
            runs.any(|run| Home::of(state, *run) == Home::Here)
        };
        if found.len() > 1 && found.iter().any(is_home) {
            found.retain(is_home);
        }
        found
            .into_iter()
            .map(|(place, _, _)| place.clone())
            .collect()
    }

    /// Runs without any event.
    pub(crate) fn never_began(&self) -> Vec<LoopId> {
        let mut found = Vec::new();
        for (_, state, runs) in &self.states {
            found.extend(runs.iter().copied().filter(|run| {
                // One that cannot be looked at blocks no other, and proves nothing.
                let free = Journal::is_driven(state, *run).is_ok_and(|driven| !driven);
                free && Journal::never_began(state, *run)
            }));
        }
        found
    }

    /// The state of a repository, and its runs; `None` when it has none or is not known.
    pub(crate) fn of_repository(
        &self,
        common_dir: &Path,
    ) -> Option<(&StateFolder, &BTreeSet<LoopId>)> {
        self.states
            .iter()
            .find(|(place, _, _)| place == common_dir)
            .map(|(_, state, runs)| (state, runs))
    }
}
