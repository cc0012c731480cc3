//! The agent programs that are known, as `run-loop agents` shows them.

use serde::Serialize;

use crate::domain::confinement::Confinement;
use crate::domain::profile::{KeysReach, Profile, WorksIn};
use crate::report::table::table;

/// A known program, on this machine.
#[derive(Debug, Clone, Serialize)]
pub struct KnownAgent {
    /// The profile's name, as in `--reviewer NAME`.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Whose models it has; `null` where it has those of many.
    pub family: Option<String>,
    /// Where it was found; `null` where it was not.
    pub program: Option<String>,
    /// The version that it tells.
    pub version: Option<String>,
    /// The version that was driven for real.
    pub tested_version: Option<String>,
    /// How well it is known here.
    pub standing: Standing,
    /// Whether a file of the user's replaces the embedded profile.
    pub replaced: bool,
    /// Whether its readers are started in the tree, or in an empty folder.
    pub reader_works_in: WorksIn,
    /// Variables that hold its keys.
    pub keys: Vec<String>,
    /// Whose model's shell commands see them.
    pub keys_reach: KeysReach,
    /// What a reader still obeys or reveals.
    pub cannot: Vec<String>,
    /// What confines its readers on this machine, unless an entry of `agents:` says otherwise.
    pub confinement: Confinement,
    /// What a confined one may write besides its tree and its job's folder.
    pub confined_writes: Vec<String>,
}

/// How well a known program is known on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is not on `PATH`.
    Missing,
    /// It is the version that was driven for real.
    Tested,
    /// It is another version.
    OtherVersion,
    /// It tells no version.
    UnknownVersion,
    /// Nobody has driven it, or its profile is the user's own.
    Untested,
}

impl Standing {
    fn said(self) -> &'static str {
        match self {
            Self::Missing => "not on PATH",
            Self::Tested => "tested",
            Self::OtherVersion => "another version than tested",
            Self::UnknownVersion => "tells no version",
            Self::Untested => "not tested",
        }
    }
}

impl KnownAgent {
    /// A profile with what was found of its program, on a machine that can confine or cannot.
    #[must_use]
    pub fn new(
        profile: &Profile,
        replaced: bool,
        program: Option<String>,
        version: Option<String>,
        confines: bool,
    ) -> Self {
        let standing = match (&program, &profile.tested, &version) {
            (None, _, _) => Standing::Missing,
            (Some(_), None, _) => Standing::Untested,
            (Some(_), Some(_), _) if replaced => Standing::Untested,
            (Some(_), Some(_), None) => Standing::UnknownVersion,
            (Some(_), Some(tested), Some(version)) if tested == version => Standing::Tested,
            (Some(_), Some(_), Some(_)) => Standing::OtherVersion,
        };
        Self {
            name: profile.name.clone(),
            title: profile.title.clone(),
            family: profile.family.clone(),
            program,
            version,
            tested_version: profile.tested.clone(),
            standing,
            replaced,
            reader_works_in: profile.reader_works_in,
            keys: profile.keys.clone(),
            keys_reach: profile.keys_reach,
            cannot: profile.limits(),
            confinement: match profile.confined {
                Some(_) if confines => Confinement::Landlock,
                Some(_) | None => Confinement::None,
            },
            confined_writes: profile
                .confined
                .iter()
                .flat_map(|confined| confined.writes.clone())
                .collect(),
        }
    }
}

/// The programs as text for people.
#[must_use]
pub fn human(agents: &[KnownAgent]) -> String {
    let cell = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let rows: Vec<Vec<String>> = agents
        .iter()
        .map(|agent| {
            vec![
                agent.name.clone(),
                agent.title.clone(),
                cell(&agent.version),
                agent.standing.said().to_owned(),
                cell(&agent.program),
            ]
        })
        .collect();
    let mut lines = vec![table(&rows)];
    for agent in agents.iter().filter(|agent| agent.program.is_some()) {
        lines.push(match agent.confinement {
            Confinement::Landlock => format!(
                "\nreaders of {} are confined, except under --review-isolation env where the source root holds \
                 .git; besides tree and job they write {}\n",
                agent.name,
                agent.confined_writes.join(", ")
            ),
            Confinement::None => format!("\nreaders of {} are not confined\n", agent.name),
        });
        if !agent.cannot.is_empty() {
            lines.push(format!("what {} cannot switch off\n", agent.name));
            lines.extend(agent.cannot.iter().map(|line| format!("  {line}\n")));
        }
    }
    lines.concat()
}
