//! The one command that helps after a refusal, for the place in which what merges stands: a command that is
//! pasted must never act on another tree or another branch than the one that was judged.

use std::path::PathBuf;

use crate::gate::approval::Commit;
use crate::gate::question::Question;
use crate::gate::request::GateRequest;
use crate::git::error::path_of;
use crate::git::object;
use crate::promote::Manifest;

/// Words of a command.
type Words = Vec<String>;

fn words<const N: usize>(words: [&str; N]) -> Words {
    words.map(str::to_owned).to_vec()
}

/// A command of git's, wherever it is pasted.
pub(super) fn git<const N: usize>(request: &GateRequest<'_>, args: [&str; N]) -> Words {
    let root = request.repository.source_root.to_string_lossy();
    let start = ["git", "-C", &root].into_iter();
    start.chain(args).map(str::to_owned).collect()
}

/// The working tree that has what merges checked out; `None` where none has, or nobody can tell.
pub(super) fn standing(request: &GateRequest<'_>, head: &Commit) -> Option<String> {
    let (git, repository) = (request.git, request.repository);
    let here = || repository.source_root.to_string_lossy().into_owned();
    if head.name == "HEAD" {
        return Some(here());
    }
    let places = |which: [&str; 2]| -> Option<Vec<PathBuf>> {
        let asked = ["for-each-ref", "--format=%(worktreepath)"];
        let listing = git.run_on(&repository.git_dir, asked.iter().chain(&which));
        let listing = listing.ok()?;
        let lines = listing.split(|byte| *byte == b'\n');
        Some(lines.filter(|line| !line.is_empty()).map(path_of).collect())
    };
    if head.name.starts_with("refs/heads/") {
        let place = places([&head.name, "--"])?.into_iter().next()?;
        return Some(place.to_string_lossy().into_owned());
    }
    let current = object::commit_of(git, &repository.git_dir, "HEAD").ok()?;
    if current.as_ref() == Some(&head.oid) {
        return Some(here());
    }
    let at = format!("--points-at={}", head.oid);
    let place = places([&at, "refs/heads/"])?.into_iter().next()?;
    Some(place.to_string_lossy().into_owned())
}

/// What gives what merges a working tree; where it is no branch of this repository, what shows the
/// branches that have it.
fn without_a_tree(request: &GateRequest<'_>, head: &Commit, base: &str) -> Words {
    match head.name.strip_prefix("refs/heads/") {
        Some(branch) => words(["run-loop", "worktree", "prepare", branch, "--base", base]),
        None => git(
            request,
            ["branch", "--all", "--contains", head.oid.as_str()],
        ),
    }
}

/// What reviews what merges, in the working tree that has it. `before` is an approval of an older state of
/// it: where the base names no reviewers, those of that run are asked again.
pub(super) fn review(question: &Question<'_>, before: Option<&Manifest>) -> Words {
    let base = question.request.base.unwrap_or(question.base.as_str());
    let Some(place) = standing(question.request, question.head) else {
        return without_a_tree(question.request, question.head, base);
    };
    let mut command = words(["run-loop", "--worktree", &place, "--base", base]);
    command.push("--review-only".to_owned());
    if question.policy.panel.is_empty() {
        let panel = before.map_or(&[][..], |manifest| &manifest.panel);
        let readers = panel.iter().filter(|slot| slot.reader);
        command.extend(readers.flat_map(|slot| words(["--reviewer", &slot.agent.name])));
    }
    command
}

/// What brings the base's commits into what merges.
pub(super) fn merge(request: &GateRequest<'_>, tip: &Commit, head: &Commit) -> Words {
    match standing(request, head) {
        Some(place) => words(["git", "-C", &place, "merge", tip.oid.as_str()]),
        None => without_a_tree(request, head, tip.oid.as_str()),
    }
}

/// What makes a commit of the content that was approved.
pub(super) fn commit(question: &Question<'_>) -> Option<Words> {
    let place = standing(question.request, question.head)?;
    Some(words(["git", "-C", &place, "commit"]))
}
