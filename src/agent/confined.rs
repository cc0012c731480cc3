//! What an agent that is confined must write besides its tree and its job's folder: the folder in
//! which its program keeps logins, sessions and logs.

use std::ffi::OsStr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::agent::environment::Variables;
use crate::domain::agent::{Agent, AgentKind};

/// What the agent may write besides, where its readers are to be confined; `None` where they are
/// not. Folders of its program that are not there yet are made: what is missing when the rules
/// are made cannot be made under them.
#[must_use]
pub fn writes(agent: &Agent, environment: &Variables) -> Option<Vec<PathBuf>> {
    let program = match &agent.kind {
        AgentKind::Command(program) => return program.confine.then(Vec::new),
        AgentKind::Profile(program) => program,
        AgentKind::Checks | AgentKind::Human => return None,
    };
    let confined = program.profile.confined.as_ref();
    let named = confined.map_or(&[][..], |confined| &confined.writes);
    program.confine.then(|| {
        let places = named.iter().filter_map(|named| place(named, environment));
        places.filter(|path| is_there(path)).collect()
    })
}

/// Where a profile's name leads: `~` is the home, `${NAME:-DEFAULT}` a variable or what stands for
/// it. `None` where a variable is missing, or no absolute path comes of it.
fn place(named: &str, environment: &Variables) -> Option<PathBuf> {
    let value = |name: &str| {
        let value = environment.get(OsStr::new(name))?;
        (!value.is_empty()).then(|| PathBuf::from(value))
    };
    let (stem, rest) = match named.strip_prefix("${") {
        Some(variable) => {
            let (variable, rest) = variable.split_once('}')?;
            let (name, default) = variable.split_once(":-").unwrap_or((variable, ""));
            let stem = value(name).or_else(|| place(default, environment))?;
            (stem, rest)
        }
        None => (value("HOME")?, named.strip_prefix('~')?),
    };
    let mut path = stem.into_os_string();
    path.push(rest);
    let path = PathBuf::from(path);
    path.is_absolute().then_some(path)
}

/// Whether it is there, made if it is a folder that is not.
fn is_there(path: &Path) -> bool {
    let names_a_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    if names_a_folder && !path.exists() {
        let mut folder = std::fs::DirBuilder::new();
        // What cannot be made is not given; the program itself says what it lacks.
        return folder.recursive(true).mode(0o700).create(path).is_ok();
    }
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_profile_are_places_of_this_user() {
        let variables: Variables = [
            ("HOME", "/home/ann"),
            ("CODEX_HOME", "/srv/codex"),
            ("EMPTY", ""),
            ("RELATIVE", "here"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        for (named, expected) in [
            ("~/.claude/", Some("/home/ann/.claude/")),
            ("${CODEX_HOME:-~/.codex}/", Some("/srv/codex/")),
            ("${OTHER:-~/.codex}/", Some("/home/ann/.codex/")),
            (
                "${EMPTY:-~/.local/share}/x/",
                Some("/home/ann/.local/share/x/"),
            ),
            ("${OTHER}/", None),
            ("${RELATIVE}/", None),
            ("relative", None),
        ] {
            let found = place(named, &variables);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{named}");
        }
        assert_eq!(place("~/.claude/", &Variables::new()), None);
    }
}
