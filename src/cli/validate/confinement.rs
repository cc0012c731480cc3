//! Who of a run is confined, and whether they can be.

use std::path::Path;

use crate::agent::confined;
use crate::cli::environment::Environment;
use crate::config::roles::Cast;
use crate::domain::agent::Agent;
use crate::domain::failure::Failure;
use crate::domain::isolation::Isolation;
use crate::domain::slot::Slot;
use crate::git::Repository;
use crate::process::confine;

/// What of a run decides it.
pub(super) struct Confinement<'a> {
    pub(super) panel: &'a [Slot],
    pub(super) cast: &'a Cast,
    pub(super) isolation: Isolation,
    pub(super) repository: &'a Repository,
    pub(super) cache_root: &'a Path,
}

impl<'a> Confinement<'a> {
    /// Asks of everybody who is to be confined that nobody writes what is kept from them, and says
    /// whether what reviewers read holds the runs' records, so that they cannot be kept from them.
    ///
    /// # Errors
    /// `AgentUnfit`, of the first who would.
    pub(super) fn check(&self, environment: &Environment) -> Result<bool, Failure> {
        let opens_records = self.opens_records();
        if confine::landlock_version().is_none() {
            return Ok(opens_records);
        }
        let repository = self.repository;
        let kept = [
            &*repository.source_root,
            &*repository.common_dir,
            self.cache_root,
        ];
        let panel = if opens_records { &[][..] } else { self.panel };
        self.readers(panel)
            .try_for_each(|agent| confined::check(agent, environment.variables(), &kept))?;
        Ok(opens_records)
    }
    fn opens_records(&self) -> bool {
        let records = self.repository.common_dir.join("run-loop");
        let hidden = [self.cache_root, &records];
        self.isolation == Isolation::Env
            && !confine::can_hide(&hidden, &self.repository.source_root)
    }
    fn readers(&self, panel: &'a [Slot]) -> impl Iterator<Item = &'a Agent> {
        // A plan is challenged; all else that a creator does, it writes.
        let planner = self.cast.planner.as_ref();
        let challenger = planner.and(self.cast.creator.as_ref());
        panel
            .iter()
            .flat_map(|slot| std::iter::once(&slot.agent).chain(&slot.fallback))
            .chain(challenger)
            .chain(planner)
            .chain(&self.cast.arbiter)
    }
}
