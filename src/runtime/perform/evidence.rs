//! The evidence of a round, made once for all slots.

use crate::agent::redact::Secrets;
use crate::domain::code::Code;
use crate::domain::delegation::detail;
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::git::evidence;
use crate::runtime::rim::Rim;

pub(super) fn perform(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    pin: &Pin,
    receipt_seed: &str,
    since: &[Oid],
) -> Result<Evidence, Failure> {
    let folder = rim.evidence_folder(run.loop_id, round);
    let mut evidence = evidence::make(
        &rim.git,
        &rim.store,
        pin,
        &run.review,
        receipt_seed,
        &folder,
    )?;
    let secrets = Secrets::of(run.agents(), &rim.environment);
    let diff = fs_err::read(folder.join("diff.patch"))
        .map_err(|error| Failure::new(Code::EvidenceFailed, error.to_string()))?;
    if let Some(path) = shows(&diff, &secrets) {
        let message = format!(
            "the change adds to {path} the value of a key that an agent of this run is given: whoever is shown \
             the change would get it, so nobody is asked"
        );
        let base = pin.identity.base.to_string();
        let failure = Failure::new(Code::EvidenceFailed, message);
        return Err(failure.next(["git", "diff", &base, "--", &path]));
    }
    evidence.since = evidence::since(&rim.git, &rim.store, since, &pin.identity.tree);
    Ok(evidence)
}

/// The file to which a diff adds one of the values.
fn shows(diff: &[u8], secrets: &Secrets) -> Option<String> {
    if !secrets.is_in(diff) {
        return None;
    }
    let (mut path, mut in_hunk) = (&b""[..], false);
    for line in diff.split(|byte| *byte == b'\n') {
        // Within a hunk each line has its sign before it, whatever it looks like with it.
        if line.starts_with(b"diff --git ") {
            in_hunk = false;
        } else if line.starts_with(b"@@ ") {
            in_hunk = true;
        } else if let Some(named) = line.strip_prefix(b"+++ ").filter(|_| !in_hunk) {
            path = named.strip_prefix(b"b/").unwrap_or(named);
        } else if line.starts_with(b"+") && secrets.is_in(line) {
            return Some(detail(&String::from_utf8_lossy(path)));
        }
    }
    None
}
