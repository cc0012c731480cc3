//! What an agent that is confined must write besides its tree and its job's folder: the folder in
//! which its program keeps logins, sessions and logs.

use std::ffi::OsStr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::agent::environment::Variables;
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::process::confine;

/// What the agent may write besides, where its readers are to be confined; `None` where they are
/// not. Folders of its program that are not there yet are made: what is missing when the rules
/// are made cannot be made under them.
///
/// # Errors
/// As [`check`], before anything is made.
pub fn writes(
    agent: &Agent,
    environment: &Variables,
    kept: &[&Path],
) -> Result<Option<Vec<PathBuf>>, Failure> {
    let Some(places) = places(agent, environment) else {
        return Ok(None);
    };
    let mut written = Vec::new();
    for place in places {
        let real = apart(&agent.name, &place, kept)?;
        let is_folder = place.as_os_str().as_encoded_bytes().ends_with(b"/");
        if is_there(&real, is_folder) {
            written.push(real);
        }
    }
    Ok(Some(written))
}

/// Whether the agent can be confined, where it is to be: what it would be given to write must not
/// hold what is `kept` from it, nor lie there, links followed.
///
/// # Errors
/// `AgentUnfit`, which names both folders.
pub fn check(agent: &Agent, environment: &Variables, kept: &[&Path]) -> Result<(), Failure> {
    let places = places(agent, environment).unwrap_or_default();
    places
        .iter()
        .try_for_each(|place| apart(&agent.name, place, kept).map(drop))
}

/// What its profile says that its program writes; `None` where it is not to be confined.
fn places(agent: &Agent, environment: &Variables) -> Option<Vec<PathBuf>> {
    let program = match &agent.kind {
        AgentKind::Command(program) => return program.confine.then(Vec::new),
        AgentKind::Profile(program) => program,
        AgentKind::Checks | AgentKind::Human => return None,
    };
    let confined = program.profile.confined.as_ref();
    let named = confined.map_or(&[][..], |confined| &confined.writes);
    program.confine.then(|| {
        let places = named.iter().filter_map(|named| place(named, environment));
        places.collect()
    })
}

/// Where a place really lies, if that is neither in nor above what is kept.
fn apart(agent: &str, place: &Path, kept: &[&Path]) -> Result<PathBuf, Failure> {
    let lies = confine::real(place);
    let kept = confine::names(kept.iter().copied()).map_err(|error| {
        let message =
            format!("{agent} cannot be confined: what is mounted here is not told: {error}");
        Failure::new(Code::AgentUnfit, message).next(["cat", "/proc/self/mountinfo"])
    })?;
    for folder in kept {
        let how = if lies.starts_with(&folder) {
            "lies in"
        } else if folder.starts_with(&lies) {
            "holds"
        } else {
            continue;
        };
        let leads = if lies == place {
            String::new()
        } else {
            format!(" (that is {})", lies.display())
        };
        let message = format!(
            "{agent} cannot be confined: its program writes {}{leads}, which {how} {}; unconfined it runs by `confine: false` in its entry of `agents:`",
            place.display(),
            folder.display()
        );
        // What is in force, `confine` among it, and the file that says so.
        return Err(Failure::new(Code::AgentUnfit, message)
            .next(["run-loop", "config", "show", "--origin"]));
    }
    Ok(lies)
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
fn is_there(path: &Path, is_folder: bool) -> bool {
    if is_folder && !path.exists() {
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

    /// What a program keeps of its own is never what it is kept from, by whatever name.
    #[test]
    fn a_place_that_leads_to_what_is_kept_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let source = root.join("work/source");
        fs_err::create_dir_all(source.join("src")).unwrap();
        fs_err::create_dir_all(root.join("home/.own")).unwrap();
        for (link, to) in [("in", "work/source/src"), ("above", "work")] {
            std::os::unix::fs::symlink(root.join(to), root.join("home").join(link)).unwrap();
        }
        let kept = [source.as_path()];
        let lies = |place: &str| apart("ann", &root.join("home").join(place), &kept);
        for (refused, how) in [
            ("in/", "lies in"),
            ("in/.own/new/", "lies in"),
            ("../work/source/", "lies in"),
            ("above/", "holds"),
            ("../", "holds"),
        ] {
            let failure = lies(refused).unwrap_err();
            assert_eq!(failure.code, Code::AgentUnfit);
            assert!(failure.message.contains("`confine: false`"), "{failure}");
            assert_eq!(failure.next.to_string(), "run-loop config show --origin");
            assert!(
                failure.message.contains(how),
                "{refused}: {}",
                failure.message
            );
        }
        assert_eq!(lies(".own/"), Ok(root.join("home/.own")));
        assert_eq!(lies(".new/"), Ok(root.join("home/.new")));
        assert_eq!(lies("above/.own/"), Ok(root.join("work/.own")));
    }
}
