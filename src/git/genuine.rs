//! Whether what the object store gives is what its ids stand for.
//!
//! Git computes an object's id when it writes or receives it, never when it reads it, and it does not
//! write what is already there. Whoever may write into a repository, as an agent may that works in
//! it, can put other bytes under the id of the tree that will be pinned: git then shows, compares and
//! checks out those. So everything that a verdict rests on is proved here, once it is pinned: the
//! history between the base and what is reviewed, and every object in which the two differ. Objects
//! that are read one by one are proved where they are read (`read`), and the files of a review tree by
//! its own proof (`review_tree`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Seek as _};
use std::path::Path;

use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::git::changes;
use crate::git::commit::Commit;
use crate::git::error::Error;
use crate::git::object_id::{ObjectId, raw};
use crate::git::program::{Git, finish, finish_into};
use crate::git::read::{Object, Place, Read as _, ask};
use crate::git::repository::ObjectFormat;
use crate::git::store::ReviewStore;

/// The largest commit that is kept to be read; nobody writes one.
const LARGEST_COMMIT: u64 = 64 << 20;

/// Proves all that the verdict on a pin rests on.
///
/// # Errors
/// `NotGenuine`, with the object; and where that cannot be known.
pub(crate) fn pinned(git: &Git, store: &ReviewStore, pin: &Pin) -> Result<(), Error> {
    let identity = &pin.identity;
    let mut asked = Asked::of(git, store.git_dir());
    let tips: Vec<&Oid> = [&identity.head].into_iter().chain(&pin.base_tip).collect();
    asked.history(&identity.base, &tips)?;
    asked.change([&pin.base_content_tree, &identity.content_tree], Files::Too)?;
    // A file that only a promisor remote has is nobody's forgery: git computes the id of what it
    // fetches, and `evidence` proves it again.
    for absent in store.absent(git, &asked.files)? {
        asked.files.remove(&absent);
    }
    let commits = asked.read(tempfile::tempfile_in(store.temporary())?)?;
    // Where the base is where the run began, HEAD may have been set back since.
    if let Some(tip) = &pin.base_tip {
        is_base(&commits, [tip, &identity.head], &identity.base, || {
            merge_bases(git, store.git_dir(), [tip, &identity.head])
        })?;
    }
    Ok(())
}

/// Proves the history by which commits lead to their base.
///
/// # Errors
/// As [`pinned`].
pub(crate) fn history(git: &Git, git_dir: &Path, base: &Oid, tips: &[&Oid]) -> Result<(), Error> {
    let mut asked = Asked::of(git, git_dir);
    asked.history(base, tips)?;
    let commits = asked.read(tempfile::tempfile()?)?;
    match tips {
        [one, other] => is_base(&commits, [one, other], base, || {
            merge_bases(git, git_dir, [one, other])
        }),
        _ => tips
            .iter()
            .try_for_each(|tip| leads(&commits, tip, base).map(drop)),
    }
}

fn merge_bases(git: &Git, git_dir: &Path, [one, other]: [&Oid; 2]) -> Result<Vec<Oid>, Error> {
    ask(
        git,
        Place::new(git_dir),
        |library| library.merge_bases(one, other),
        |program| program.merge_bases(one, other),
    )
}

/// Proves which paths differ between two trees; not what their files hold.
///
/// # Errors
/// As [`pinned`].
pub(crate) fn trees(git: &Git, git_dir: &Path, pair: [&Oid; 2]) -> Result<(), Error> {
    let mut asked = Asked::of(git, git_dir);
    asked.change(pair, Files::Not)?;
    asked.read(tempfile::tempfile()?).map(drop)
}

/// The ids of two trees and of every object in which they differ.
///
/// # Errors
/// When git fails.
pub(crate) fn objects(git: &Git, git_dir: &Path, trees: [&Oid; 2]) -> Result<BTreeSet<Oid>, Error> {
    let mut asked = Asked::of(git, git_dir);
    asked.change(trees, Files::Too)?;
    Ok(asked.all())
}

/// Whether the files of a change are asked for too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    Too,
    Not,
}

/// The objects to prove.
struct Asked<'a> {
    git: &'a Git,
    git_dir: &'a Path,
    /// Commits and trees: all of them have been read before they are proved.
    objects: BTreeSet<Oid>,
    /// Files, of which a partial clone need not have all.
    files: BTreeSet<Oid>,
}

impl<'a> Asked<'a> {
    fn of(git: &'a Git, git_dir: &'a Path) -> Self {
        Self {
            git,
            git_dir,
            objects: BTreeSet::new(),
            files: BTreeSet::new(),
        }
    }

    fn all(&self) -> BTreeSet<Oid> {
        self.objects.union(&self.files).cloned().collect()
    }

    /// The commits of the tips that the base does not have, and the base.
    fn history(&mut self, base: &Oid, tips: &[&Oid]) -> Result<(), Error> {
        self.objects.insert(base.clone());
        if tips.iter().all(|tip| *tip == base) {
            return Ok(());
        }
        let asked = lines(tips.iter().copied()) + "^" + base.as_str() + "\n";
        let command = self.git.on(self.git_dir).args(["rev-list", "--stdin"]);
        let listing = finish(&command.stdin(asked))?;
        let listing = String::from_utf8_lossy(&listing);
        for line in listing.lines() {
            let commit = Oid::parse(line);
            let commit = commit.ok_or_else(|| Error::answer("git rev-list", line.as_bytes()))?;
            self.objects.insert(commit);
        }
        Ok(())
    }

    /// Both trees, and every object in which they differ.
    ///
    /// What a forged tree hides is not named here, but the tree itself is: it is either a root or
    /// named by a tree that is, and that one is proved as well.
    fn change(&mut self, pair: [&Oid; 2], files: Files) -> Result<(), Error> {
        self.objects.extend(pair.map(Oid::clone));
        for change in changes::with_trees(self.git, self.git_dir, pair)?.into_values() {
            for entry in [change.old, change.new] {
                if entry.is_nothing() || entry.is_submodule() {
                    continue;
                }
                if entry.is_tree() {
                    self.objects.insert(entry.oid);
                } else if files == Files::Too {
                    self.files.insert(entry.oid);
                }
            }
        }
        Ok(())
    }

    /// Reads them all and computes their ids; returns the commits.
    fn read(&self, mut room: std::fs::File) -> Result<BTreeMap<Oid, Commit>, Error> {
        let objects = self.all();
        let asked = lines(&objects);
        let command = self
            .git
            .on(self.git_dir)
            .args(["cat-file", "--batch", "--buffer"]);
        finish_into(&command.stdin(asked), room.try_clone()?)?;
        room.rewind()?;
        let mut answers = BufReader::with_capacity(1 << 16, room);
        let mut commits = BTreeMap::new();
        for oid in &objects {
            let mut line = Vec::new();
            answers.read_until(b'\n', &mut line)?;
            let (kind, length) =
                header(&line, oid).ok_or_else(|| Error::answer("git cat-file --batch", &line))?;
            let bytes = proved(&mut answers, oid, &kind, length)?;
            if kind == "commit" {
                let object = Object {
                    oid: oid.clone(),
                    kind,
                    bytes,
                };
                let commit = Commit::parse(&object);
                let commit = commit
                    .ok_or_else(|| Error::answer("git cat-file commit", oid.as_str().as_bytes()))?;
                commits.insert(oid.clone(), commit);
            }
        }
        Ok(commits)
    }
}

/// One id on each line.
pub(crate) fn lines<'a>(oids: impl IntoIterator<Item = &'a Oid>) -> String {
    let mut lines = String::new();
    for oid in oids {
        lines.push_str(oid.as_str());
        lines.push('\n');
    }
    lines
}

/// Reads one object, and the end of a line after it; the bytes are those of a commit, else none.
fn proved(
    answers: &mut impl BufRead,
    oid: &Oid,
    kind: &str,
    length: u64,
) -> Result<Vec<u8>, Error> {
    let mut id = ObjectId::new(ObjectFormat::of(oid), kind, length);
    let mut kept = Vec::new();
    let keeps = kind == "commit" && length <= LARGEST_COMMIT;
    let mut left = length;
    while left > 0 {
        let chunk = answers.fill_buf()?;
        if chunk.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let taken = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
        id.update(&chunk[..taken]);
        if keeps {
            kept.extend_from_slice(&chunk[..taken]);
        }
        answers.consume(taken);
        left -= taken as u64;
    }
    let mut end = [0];
    answers.read_exact(&mut end)?;
    if id.finish() != raw(oid) {
        return Err(Error::NotGenuine { oid: oid.clone() });
    }
    Ok(kept)
}

/// `<id> <kind> <length>\n`, for the id that was asked for.
fn header(line: &[u8], asked: &Oid) -> Option<(String, u64)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let rest = line.strip_prefix(asked.as_str())?.strip_prefix(' ')?;
    let (kind, length) = rest.split_once(' ')?;
    Some((kind.to_owned(), length.parse().ok()?))
}

/// Whether a commit is where two part: both lead to it, and to nothing later that both have. A history
/// that is said to end where it does not (the file `shallow`) hides what is later.
fn is_base(
    commits: &BTreeMap<Oid, Commit>,
    tips: [&Oid; 2],
    base: &Oid,
    all: impl FnOnce() -> Result<Vec<Oid>, Error>,
) -> Result<(), Error> {
    let [one, other] = tips;
    let one = leads(commits, one, base)?;
    let both: Vec<&Oid> = leads(commits, other, base)?
        .into_iter()
        .filter(|oid| one.contains(oid) && *oid != base && commits.contains_key(*oid))
        .collect();
    // Two that were merged into each other have several, and git picks one.
    match both.first() {
        Some(later) if all()?.len() < 2 => Err(Error::NotBest {
            base: base.clone(),
            later: (*later).clone(),
        }),
        Some(_) | None => Ok(()),
    }
}

/// Whether proved commits lead from one to another, and which these are: git was told so by commits
/// that may lie outside of what was proved.
fn leads<'a>(
    commits: &'a BTreeMap<Oid, Commit>,
    from: &'a Oid,
    to: &'a Oid,
) -> Result<BTreeSet<&'a Oid>, Error> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(oid) = next.pop() {
        if seen.insert(oid)
            && oid != to
            && let Some(commit) = commits.get(oid)
        {
            next.extend(&commit.parents);
        }
    }
    if seen.contains(to) {
        Ok(seen)
    } else {
        Err(Error::NoWay {
            from: from.clone(),
            to: to.clone(),
        })
    }
}
