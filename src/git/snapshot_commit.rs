//! The snapshot as a commit in the review store, and keeping it there.

use crate::domain::failure::Failure;
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::git::commit::Commit;
use crate::git::error::Error;
use crate::git::object::read_oid;
use crate::git::program::{Git, finish};
use crate::git::read::{Object, Place, Read as _, ask};
use crate::git::repository::Repository;
use crate::git::snapshot::Pinning;
use crate::git::store::ReviewStore;

/// What one process reads about the objects of a pin.
#[derive(Debug)]
pub(crate) struct Objects {
    /// HEAD, read after the capture.
    pub(crate) head: Oid,
    /// Its tree.
    pub(crate) head_tree: Oid,
    /// When HEAD was committed, as git writes it: `<seconds> <zone>`.
    pub(crate) head_time: String,
    /// The base's tree.
    pub(crate) base_tree: Oid,
    /// Whether the base has something at the reports folder's path.
    pub(crate) base_has_reports: bool,
    /// Whether the snapshot has.
    pub(crate) has_reports: bool,
}

impl Objects {
    pub(crate) fn read(
        pinning: &Pinning<'_>,
        base: &Oid,
        tree: &Oid,
        pinned: Option<&Pin>,
    ) -> Result<Self, Failure> {
        let Pinning {
            git,
            repo,
            store,
            spec,
        } = pinning;
        let reports = spec.reports.replace('\n', "?");
        let mut names = vec![
            "HEAD".to_owned(),
            base.to_string(),
            format!("{base}:{reports}"),
            format!("{tree}:{reports}"),
        ];
        names.extend(pinned.map(|pin| pin.snapshot.to_string()));
        let place = Place {
            git_dir: &repo.git_dir,
            store: Some(store.git_dir()),
        };
        let found = ask(
            git,
            place,
            |library| library.objects(&names),
            |program| program.objects(&names),
        )?;
        let [head, base_commit, base_reports, reports, snapshot @ ..] = found.as_slice() else {
            return Err(Error::answer("git cat-file --batch", b"too few objects").into());
        };
        let (head, base_commit) = (commit(head.as_ref())?, commit(base_commit.as_ref())?);
        // T-204: a snapshot that somebody pruned must not be made again in silence.
        if let Some(pin) = pinned {
            let snapshot = commit(snapshot.first().and_then(Option::as_ref))?;
            if snapshot.tree != pin.identity.tree {
                return Err(Error::answer("git cat-file", b"another snapshot").into());
            }
        }
        Ok(Self {
            head: head.oid,
            head_tree: head.tree,
            head_time: time_of(head.committer.as_deref().unwrap_or_default()),
            base_tree: base_commit.tree,
            base_has_reports: base_reports.is_some(),
            has_reports: reports.is_some(),
        })
    }
}

/// What a commit says; one that is missing is no commit.
fn commit(object: Option<&Object>) -> Result<Commit, Error> {
    let bytes = object.map_or(&b"missing"[..], |object| &object.bytes);
    let commit = object.and_then(Commit::parse);
    commit.ok_or_else(|| Error::answer("git cat-file commit", bytes))
}

/// The time of a committer line; a damaged one counts as the epoch.
fn time_of(committer: &str) -> String {
    let mut words = committer.rsplit(' ');
    let (zone, seconds) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let sound =
        digits(seconds) && zone.len() == 5 && zone.starts_with(['+', '-']) && digits(&zone[1..]);
    if sound {
        format!("{seconds} {zone}")
    } else {
        "0 +0000".to_owned()
    }
}

/// Wraps a tree in a commit on HEAD, on no branch and not in the user's name (row M-061).
///
/// Its time is HEAD's, so that the same state always gives the same commit.
pub(crate) fn write(
    git: &Git,
    store: &ReviewStore,
    tree: &Oid,
    head: &Oid,
    time: &str,
) -> Result<Oid, Error> {
    let mut command = git
        .on(store.git_dir())
        .args(["-c", "i18n.commitEncoding=UTF-8"])
        .args(["commit-tree", tree.as_str(), "-p", head.as_str()])
        .args(["-m", "run-loop snapshot"]);
    for who in ["AUTHOR", "COMMITTER"] {
        command = command
            .env(format!("GIT_{who}_NAME"), "run-loop")
            .env(format!("GIT_{who}_EMAIL"), "run-loop@localhost")
            .env(format!("GIT_{who}_DATE"), format!("@{time}"));
    }
    read_oid("git commit-tree", &finish(&command)?)
}

/// Packs everything of `snapshot ^base` into the store, so that no garbage collection in the
/// user's repository can take it away. Returns the pack's name, empty where there is nothing; a
/// user's `pack.packSizeLimit` makes several, a line each.
pub(crate) fn pack(
    git: &Git,
    store: &ReviewStore,
    snapshot: &Oid,
    base: &Oid,
) -> Result<String, Error> {
    let mut options = vec!["--revs"];
    if store.is_promisor() {
        // What the remote has promised stays with it; nothing is fetched for packing.
        options.push("--exclude-promisor-objects");
    }
    packed(git, store, &options, format!("{snapshot}\n^{base}\n"))
}

/// Packs trees that are in no commit into the store, and nothing that is in them; returns what [`pack`]
/// does.
pub(crate) fn pack_trees(git: &Git, store: &ReviewStore, trees: &[Oid]) -> Result<String, Error> {
    if trees.is_empty() {
        return Ok(String::new());
    }
    let trees: String = trees
        .iter()
        .flat_map(|tree| [tree.as_str(), "\n"])
        .collect();
    packed(git, store, &[], trees)
}

fn packed(
    git: &Git,
    store: &ReviewStore,
    options: &[&str],
    objects: String,
) -> Result<String, Error> {
    let command = git
        .on(store.git_dir())
        .args([
            "pack-objects",
            "--non-empty",
            "--delta-base-offset",
            // Looking for deltas among the few files that changed takes longer than all else here.
            "--window=0",
            "-q",
        ])
        .args(options)
        .arg(store.objects().join("pack/pack"))
        .stdin(objects);
    let names = String::from_utf8_lossy(&finish(&command)?)
        .trim_end()
        .to_owned();
    let is_name = |line: &str| line.bytes().all(|byte| byte.is_ascii_hexdigit());
    if names.lines().all(is_name) {
        Ok(names)
    } else {
        Err(Error::answer("git pack-objects", names.as_bytes()))
    }
}

/// Copies a snapshot into the user's repository under a ref: `--keep-snapshots`.
pub(crate) fn keep(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    name: &str,
    pin: &Pin,
) -> Result<(), Error> {
    if pin.dirty {
        let pack = git
            .on(store.git_dir())
            .args(["pack-objects", "--revs", "--stdout", "-q"])
            .stdin(format!("{}\n^{}\n", pin.snapshot, pin.identity.head));
        let pack = finish(&pack)?;
        finish(
            &git.on(&repo.common_dir)
                .args(["unpack-objects", "-q"])
                .stdin(pack),
        )?;
    }
    let update = git
        .on(&repo.common_dir)
        .args(["update-ref", name, pin.snapshot.as_str()]);
    finish(&update).map(drop)
}
