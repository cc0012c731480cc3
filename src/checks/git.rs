//! The three questions to git: which entries changed, which blobs are new, what a blob holds.
//!
//! The process is `git` as prepared by the one who asks (hardened, in the review store); this file
//! adds arguments and reads the answers. Any doubt is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read as _};
use std::process::ExitStatus;

use crate::checks::error::Error;
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::changes::{self, Change};
use crate::process::command::Command;

/// One changed entry of the two content trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path.
    pub(crate) path: RepoPath,
    /// The mode before; `000000` where there was none.
    pub(crate) old_mode: String,
    /// The mode now.
    pub(crate) new_mode: String,
    /// The object before; all zero where there was none.
    pub(crate) old: Oid,
    /// The object now.
    pub(crate) new: Oid,
}

/// The mode of a submodule.
pub(crate) const SUBMODULE: &str = "160000";
/// The mode of a symbolic link.
pub(crate) const LINK: &str = "120000";
/// The mode of nothing.
pub(crate) const ABSENT: &str = "000000";

impl Entry {
    /// Whether it holds a blob now.
    pub(crate) fn is_blob(&self) -> bool {
        self.new_mode != SUBMODULE && self.new_mode != ABSENT
    }
}

/// Every changed entry, by path.
pub(crate) fn changed_entries(base: &Command, pin: &Pin) -> Result<Vec<Entry>, Error> {
    const WHAT: &str = "diff-tree";
    let output = base
        .clone()
        .args([
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
        ])
        .args(["--end-of-options", pin.base_content_tree.as_str()])
        .arg(pin.identity.content_tree.as_str())
        .output()?;
    expect_clean(WHAT, output.status, &output.stderr)?;
    let changes = changes::parse(&output.stdout).map_err(|found| Error::GitAnswer {
        what: WHAT,
        found: String::from_utf8_lossy(found).into_owned(),
    })?;
    let entries = changes
        .into_iter()
        .map(|(path, Change { old, new })| Entry {
            path,
            old_mode: old.mode,
            new_mode: new.mode,
            old: old.oid,
            new: new.oid,
        });
    Ok(entries.collect())
}

/// Every blob that `base..snapshot` brings, also those that no longer stand in the final tree,
/// with one path it had.
pub(crate) fn new_blobs(base: &Command, pin: &Pin) -> Result<BTreeMap<Oid, RepoPath>, Error> {
    const WHAT: &str = "rev-list";
    let streamed = base
        .clone()
        .args(["rev-list", "--objects", "--filter=object:type=blob"])
        .args(["--filter-provided-objects", "--end-of-options"])
        .arg(pin.snapshot.as_str())
        .arg(format!("^{}", pin.identity.base))
        .stream(|pipe| {
            let mut reader = BufReader::new(pipe);
            let mut blobs = BTreeMap::new();
            let mut line = Vec::new();
            // A line longer than this is no path of a real file system.
            while reader.by_ref().take(1 << 20).read_until(b'\n', &mut line)? > 0 {
                let (oid, path) = new_blob(&line).ok_or_else(|| Error::GitAnswer {
                    what: WHAT,
                    found: String::from_utf8_lossy(&line).into_owned(),
                })?;
                blobs.entry(oid).or_insert(path);
                line.clear();
            }
            Ok::<_, Error>(blobs)
        })?;
    expect_clean(WHAT, streamed.status, &streamed.stderr)?;
    Ok(streamed.value)
}

/// `<oid> <path>`, the path perhaps empty.
fn new_blob(line: &[u8]) -> Option<(Oid, RepoPath)> {
    let line = line.strip_suffix(b"\n")?;
    let split = line.iter().position(|byte| *byte == b' ');
    let (oid, path) = line.split_at(split.unwrap_or(line.len()));
    let oid = Oid::parse(std::str::from_utf8(oid).ok()?)?;
    Some((oid, RepoPath::new(path.get(1..).unwrap_or_default())))
}

/// The blobs that these paths held at the base; paths that held none are left out.
pub(crate) fn base_blobs(
    base: &Command,
    pin: &Pin,
    paths: &BTreeSet<RepoPath>,
) -> Result<BTreeMap<RepoPath, Oid>, Error> {
    const WHAT: &str = "ls-tree";
    let output = base
        .clone()
        .args(["ls-tree", "-r", "-z", "--full-tree"])
        .arg(pin.base_content_tree.as_str())
        .output()?;
    expect_clean(WHAT, output.status, &output.stderr)?;
    let mut blobs = BTreeMap::new();
    for record in output.stdout.split(|byte| *byte == 0) {
        if record.is_empty() {
            continue;
        }
        let (path, oid) = tree_entry(record).ok_or_else(|| Error::GitAnswer {
            what: WHAT,
            found: String::from_utf8_lossy(record).into_owned(),
        })?;
        if let Some(oid) = oid {
            blobs.insert(path, oid);
        }
    }
    blobs.retain(|path, _| paths.contains(path));
    Ok(blobs)
}

/// Where links of the snapshot may lead.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Its folders.
    pub(crate) folders: BTreeSet<Vec<u8>>,
    /// Its links.
    pub(crate) links: Vec<(RepoPath, Oid)>,
}

/// The folders and the links of the snapshot.
pub(crate) fn layout(base: &Command, pin: &Pin) -> Result<Layout, Error> {
    const WHAT: &str = "ls-tree";
    let output = base
        .clone()
        .args(["ls-tree", "-r", "-t", "-z", "--full-tree"])
        .arg(pin.identity.tree.as_str())
        .output()?;
    expect_clean(WHAT, output.status, &output.stderr)?;
    let mut layout = Layout::default();
    for record in output.stdout.split(|byte| *byte == 0) {
        if record.is_empty() {
            continue;
        }
        let (path, blob) = tree_entry(record).ok_or_else(|| Error::GitAnswer {
            what: WHAT,
            found: String::from_utf8_lossy(record).into_owned(),
        })?;
        match blob {
            Some(blob) if record.starts_with(LINK.as_bytes()) => layout.links.push((path, blob)),
            None if record.starts_with(b"040000 ") => {
                layout.folders.insert(path.as_bytes().to_vec());
            }
            Some(_) | None => {}
        }
    }
    Ok(layout)
}

/// `<mode> <type> <oid>\t<path>`; the object where it is a blob.
fn tree_entry(record: &[u8]) -> Option<(RepoPath, Option<Oid>)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&record[..tab]).ok()?;
    let mut words = head.split(' ');
    let (_mode, kind, oid) = (words.next()?, words.next()?, words.next()?);
    let oid = Oid::parse(oid)?;
    let path = RepoPath::new(&record[tab + 1..]);
    Some((path, (kind == "blob").then_some(oid)))
}

/// A git process ended well and said nothing on the side.
pub(crate) fn expect_clean(
    what: &'static str,
    status: ExitStatus,
    stderr: &[u8],
) -> Result<(), Error> {
    if status.success() && stderr.trim_ascii().is_empty() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(stderr);
    Err(Error::GitEnded {
        what,
        status: status.to_string(),
        stderr: text.trim().chars().take(500).collect(),
    })
}
