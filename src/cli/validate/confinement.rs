//! Who of a run is confined, and whether they can be.

use std::collections::BTreeSet;
use std::path::Path;

use crate::agent::confined;
use crate::cli::environment::Environment;
use crate::config::roles::Cast;
use crate::domain::agent::{Agent, AgentKind};
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

impl Confinement<'_> {
    /// Asks of everybody who is to be confined that nobody writes what is kept from them, and says who of
    /// them cannot be: where the kernel cannot, nobody, and where what reviewers read holds the runs'
    /// records, which cannot be kept from them then, no reviewer.
    ///
    /// # Errors
    /// `AgentUnfit`, of the first who would.
    pub(super) fn check(&self, environment: &Environment) -> Result<Option<String>, Failure> {
        let opens_records = self.opens_records();
        let can_confine = confine::landlock_version().is_some();
        if can_confine {
            let repository = self.repository;
            let kept = [
                &*repository.source_root,
                &*repository.common_dir,
                self.cache_root,
            ];
            let panel = if opens_records { &[][..] } else { self.panel };
            readers(panel, self.cast)
                .try_for_each(|agent| confined::check(agent, environment.variables(), &kept))?;
        }
        Ok(unconfined(
            self.panel,
            self.cast,
            opens_records,
            can_confine,
        ))
    }
    fn opens_records(&self) -> bool {
        let records = self.repository.common_dir.join("run-loop");
        let hidden = [self.cache_root, &records];
        self.isolation == Isolation::Env
            && !confine::can_hide(&hidden, &self.repository.source_root)
    }
}

/// The notice of who is to be confined and cannot be; who plans, challenges and rules reads a tree of its
/// own, whatever the reviewers read.
fn unconfined(
    panel: &[Slot],
    cast: &Cast,
    opens_records: bool,
    can_confine: bool,
) -> Option<String> {
    let (why, agents): (_, Vec<&Agent>) = if !can_confine {
        let why = "the kernel has no Landlock";
        (why, readers(panel, cast).collect())
    } else if opens_records {
        let why = "reviewers read the source root, and the runs' records lie in it";
        (why, reviewers(panel).collect())
    } else {
        return None;
    };
    let asked = |agent: &&Agent| match &agent.kind {
        AgentKind::Command(program) => program.confine,
        AgentKind::Profile(program) => program.confine,
        AgentKind::Checks | AgentKind::Human => false,
    };
    let names = agents.into_iter().filter(asked);
    let names: BTreeSet<&str> = names.map(|agent| agent.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("{why}: {names} run unconfined, and what is promoted says so")
    })
}

/// Everybody who has a job that may not write.
fn readers<'a>(panel: &'a [Slot], cast: &'a Cast) -> impl Iterator<Item = &'a Agent> {
    // A plan is challenged; all else that a creator does, it writes.
    let planner = cast.planner.as_ref();
    let challenger = planner.and(cast.creator.as_ref());
    reviewers(panel)
        .chain(challenger)
        .chain(planner)
        .chain(&cast.arbiter)
}

/// Who reviews, and who steps in.
fn reviewers(panel: &[Slot]) -> impl Iterator<Item = &Agent> {
    let panel = panel.iter();
    panel.flat_map(|slot| std::iter::once(&slot.agent).chain(&slot.fallback))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agent::{CommandAgent, Contract, PromptChannel, ReportChannel};
    use crate::domain::digest::Digest;

    fn agent(name: &str, confine: bool) -> Agent {
        Agent {
            name: name.to_owned(),
            kind: AgentKind::Command(CommandAgent {
                program: "/agent".to_owned(),
                args: Vec::new(),
                prompt: PromptChannel::Stdin,
                report: ReportChannel::Stdout,
                env: Vec::new(),
                confine,
            }),
            remote: false,
            family: name.to_owned(),
            timeout: None,
            contract: Contract::Json,
            definition: Digest::of(name.as_bytes()),
        }
    }

    /// Issue 6, 6: whoever is to be confined and is not is told of, not reviewers alone.
    #[test]
    fn everybody_who_reads_unconfined_is_told() {
        let cast = Cast {
            creator: Some(agent("cora", true)),
            planner: Some(agent("pat", true)),
            arbiter: Some(agent("art", true)),
            notices: Vec::new(),
        };
        assert_eq!(
            unconfined(&[], &cast, false, false).as_deref(),
            Some(
                "the kernel has no Landlock: art, cora, pat run unconfined, and what is promoted says so"
            )
        );
        // They have a tree of their own, and are confined there.
        assert_eq!(unconfined(&[], &cast, true, true), None);
        // Without a plan the creator does nothing but write.
        let cast = Cast {
            planner: None,
            arbiter: Some(agent("art", false)),
            ..cast
        };
        assert_eq!(unconfined(&[], &cast, false, false), None);
    }
}
