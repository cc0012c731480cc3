//! Which known agent programs are here, and what is known of them.

use super::Told;
use crate::cli::environment::Environment;
use crate::domain::failure::Failure;
use crate::domain::profile::KeysReach;
use crate::report::agents::{KnownAgent, Standing};
use crate::report::doctor::Finding;

/// Tells of every program that was found; none of them was asked for more than its version.
pub(super) fn tell(
    known: Result<Vec<KnownAgent>, Failure>,
    environment: &Environment,
    told: &mut Told,
) {
    let known = match known {
        Ok(known) => known,
        Err(failure) => return told.add(Finding::problem("agents", failure)),
    };
    let here: Vec<&KnownAgent> = known.iter().filter(|one| one.program.is_some()).collect();
    if here.is_empty() {
        told.add(Finding::warning(
            "agents",
            "no known agent program is on PATH",
            ["run-loop", "agents"],
        ));
    }
    for one in here {
        told.add(program(one));
        told.findings.extend(keys(one, environment));
    }
}

fn program(one: &KnownAgent) -> Finding {
    let about = format!("agent {}", one.name);
    let version = one.version.as_deref().unwrap_or("tells no version");
    let path = one.program.as_deref().unwrap_or_default();
    let tested = one.tested_version.as_deref().unwrap_or("none");
    let text = match one.standing {
        Standing::Tested => {
            return Finding::ok(about, format!("{version}, tested, {path}")).with(cannot(one));
        }
        Standing::OtherVersion | Standing::UnknownVersion => {
            format!("{version}, {path}; tested is {tested}")
        }
        Standing::Untested | Standing::Missing => {
            format!("{version}, {path}; nobody has tested it")
        }
    };
    let next = ["run-loop", "doctor", "--agent", &one.name];
    Finding::warning(about, text, next).with(cannot(one))
}

fn cannot(one: &KnownAgent) -> impl Iterator<Item = String> {
    let lines = one.cannot.iter();
    lines.map(|line| format!("cannot switch off: {line}"))
}

/// A key in the environment that the program hands on to whatever its model runs.
fn keys(one: &KnownAgent, environment: &Environment) -> Option<Finding> {
    let reach = match (one.keys_reach, one.keys_reach.whose()) {
        (KeysReach::Nobody, _) => return None,
        (_, Some(whose)) => format!("the shell commands of its model see it, {whose}"),
        (_, None) => "nobody has looked whether the shell commands of its model see it".to_owned(),
    };
    let set: Vec<&str> = one
        .keys
        .iter()
        .map(String::as_str)
        .filter(|key| environment.get(key).is_some())
        .collect();
    (!set.is_empty()).then(|| {
        let text = format!("{}: {reach}", set.join(", "));
        Finding::warning(
            format!("keys of {}", one.name),
            text,
            ["run-loop", "agents"],
        )
    })
}
