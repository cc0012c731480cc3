//! The environment of the project's commands: they run code under review, so no key is in it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use crate::checks::secret::SecretRules;

/// Beginnings of names that are dropped: our own, git's, and shell functions.
const PREFIXES: &[&str] = &["RUN_LOOP_", "GIT_", "BASH_FUNC_"];
/// Names that are dropped: they reach key agents, or change what the shell does.
const NAMES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
];
/// Words in a name that mean a key.
const WORDS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
];
/// Ends of a name that mean a key.
const ENDS: &[&str] = &["_KEY", "APIKEY", "_KEY_ID", "_PAT", "_AUTH", "_PASS"];

/// The variables that a command may see.
pub(crate) fn without_secrets(
    given: &BTreeMap<OsString, OsString>,
    rules: &SecretRules,
) -> BTreeMap<OsString, OsString> {
    given
        .iter()
        .filter(|(name, value)| !is_secret_name(name) && rules.find(value.as_bytes()).is_empty())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || NAMES.contains(&name.as_str())
        || WORDS.iter().any(|word| name.contains(word))
        || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_our_own_variables_are_dropped() {
        let given = [
            ("PATH", "/bin"),
            ("HOME", "/home/ann"),
            ("LANG", "C.UTF-8"),
            ("RUN_LOOP_JOB_ID", "x"),
            ("GIT_DIR", "/x"),
            ("OPENAI_API_KEY", "x"),
            ("npm_config_token", "x"),
            ("DB_PASSWORD_FILE", "x"),
            ("AWS_ACCESS_KEY_ID", "x"),
            ("SSH_AUTH_SOCK", "/x"),
            ("BASH_ENV", "/x"),
            ("INNOCENT", &["AK", "IA2345ABCDEFGHIJKL"].concat()),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .into();
        let kept = without_secrets(&given, SecretRules::embedded().unwrap());
        let names: Vec<_> = kept.keys().map(|name| name.to_str().unwrap()).collect();
        assert_eq!(names, ["HOME", "LANG", "PATH"]);
    }
}
