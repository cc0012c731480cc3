//! Names to full object ids, once.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::gate::approval::Commit;
use crate::gate::next;
use crate::gate::request::GateRequest;
use crate::git::{missing, object};

/// What merges.
pub(super) fn head(request: &GateRequest<'_>) -> Result<Commit, Failure> {
    commit(
        request,
        request.head.unwrap_or("HEAD"),
        [Code::HeadUnknown, Code::HeadAmbiguous],
    )
}

/// The tip of where it merges.
pub(super) fn base(request: &GateRequest<'_>) -> Result<Commit, Failure> {
    let codes = [Code::BaseUnknown, Code::BaseAmbiguous];
    if let Some(given) = request.base {
        return commit(request, given, codes);
    }
    // The manifest names a base too, but what is judged does not choose its judge.
    let candidates = [
        "refs/remotes/origin/HEAD",
        "refs/heads/main",
        "refs/heads/master",
    ];
    let known = existing(request, &candidates)?;
    let first = candidates
        .iter()
        .find(|name| known.iter().any(|ref_| ref_ == *name));
    match (first, known.len()) {
        (Some(name), 1) => commit(request, name, codes),
        (Some(name), _) if *name == candidates[0] => commit(request, name, codes),
        _ => Err(Failure::new(
            Code::BaseUnknown,
            "no --base is given, and this repository has no default branch that could be meant",
        )
        .next(next::git(request, ["branch", "--all"]))),
    }
}

fn commit(
    request: &GateRequest<'_>,
    given: &str,
    [unknown, ambiguous]: [Code; 2],
) -> Result<Commit, Failure> {
    // `feature~1` is as ambiguous as `feature`.
    let plain = given.split(['~', '^', '@', ':']).next().unwrap_or(given);
    let kinds = ["refs/heads/", "refs/remotes/", "refs/tags/"];
    let names: Vec<String> = kinds.iter().map(|kind| format!("{kind}{plain}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = if plain.is_empty() {
        Vec::new()
    } else {
        existing(request, &names)?
    };
    if let [one, other, ..] = found.as_slice() {
        return Err(
            Failure::new(ambiguous, format!("{given:?} names both {one} and {other}"))
                .next(next::git(request, ["for-each-ref", one, other])),
        );
    }
    let full = match found.as_slice() {
        [only] if plain == given => only.as_str(),
        _ => given,
    };
    let git_dir = &request.repository.git_dir;
    if let Some(oid) = object::commit_of(request.git, git_dir, full)? {
        return Ok(Commit {
            name: full.to_owned(),
            oid,
        });
    }
    let remedy = missing::remedy(request.git, request.repository, given);
    let hint = remedy.hint();
    let message = format!("{given:?} names no commit in this repository{hint}");
    Err(Failure::new(unknown, message).next(remedy.command))
}

/// Those of the full ref names that exist.
fn existing(request: &GateRequest<'_>, names: &[&str]) -> Result<Vec<String>, Failure> {
    let args = ["for-each-ref", "--format=%(refname)"];
    let args = args.iter().chain(names);
    let listing = request.git.run_on(&request.repository.git_dir, args)?;
    let listing = String::from_utf8_lossy(&listing);
    // Git takes the names as patterns, so that a folder of refs matches too.
    let exact = listing.lines().filter(|line| names.contains(line));
    Ok(exact.map(str::to_owned).collect())
}
