//! The environment of a job: from an allow-list, never inherited.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// Variables by name.
pub type Variables = BTreeMap<OsString, OsString>;

/// What every program needs to find itself and the network; nothing that holds a key.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Families of such variables.
const ALLOWED_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Families that no job gets, whoever names them: `GIT_*` would point an agent's git at another
/// repository, `RUN_LOOP_*` is ours to set.
const NEVER: &[&str] = &["GIT_", "RUN_LOOP_"];

/// Whether an agent's `env` may name a variable.
#[must_use]
pub fn is_passable(name: &str) -> bool {
    let well_formed = !name.is_empty() && !name.contains(['=', '\0']);
    well_formed && !NEVER.iter().any(|prefix| name.starts_with(prefix))
}

/// The variables of ours that a job gets: the allow-list, and what its agent names.
#[must_use]
pub fn passed_on(ours: &Variables, named: &[String]) -> Variables {
    let passes = |name: &OsStr| {
        let starts = |prefix: &&str| name.as_bytes().starts_with(prefix.as_bytes());
        let named = named
            .iter()
            .any(|one| one.as_str() == name && is_passable(one));
        named
            || ALLOWED.iter().any(|allowed| *allowed == name)
            || ALLOWED_PREFIXES.iter().any(starts)
    };
    ours.iter()
        .filter(|(name, _)| passes(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ours: &[&str], named: &[&str]) -> Vec<String> {
        let ours = ours
            .iter()
            .map(|name| ((*name).into(), "x".into()))
            .collect();
        let named: Vec<_> = named.iter().map(|name| (*name).to_owned()).collect();
        passed_on(&ours, &named)
            .into_keys()
            .map(|name| name.into_string().unwrap())
            .collect()
    }

    #[test]
    fn keys_pass_only_when_the_agent_names_them() {
        let ours = [
            "AWS_SECRET_ACCESS_KEY",
            "BOT_TOKEN",
            "HOME",
            "LC_ALL",
            "XDG_DATA_HOME",
        ];
        assert_eq!(names(&ours, &[]), ["HOME", "LC_ALL", "XDG_DATA_HOME"]);
        assert_eq!(
            names(&ours, &["BOT_TOKEN"]),
            ["BOT_TOKEN", "HOME", "LC_ALL", "XDG_DATA_HOME"]
        );
    }

    #[test]
    fn git_and_our_own_variables_never_pass() {
        let ours = [
            "GIT_DIR",
            "GIT_SSH_COMMAND",
            "RUN_LOOP_JOB_ID",
            "RUN_LOOP_FORMAT",
        ];
        assert_eq!(names(&ours, &ours), [""; 0]);
        assert!(!is_passable("GIT_DIR") && !is_passable("A=B") && !is_passable(""));
    }
}
