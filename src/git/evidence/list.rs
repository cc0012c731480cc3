//! The list of changed files, as git names them.

use std::iter::Peekable;
use std::slice::Split;

use crate::domain::evidence::FileStatus;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;

/// The mode of a submodule's entry.
pub(super) const SUBMODULE: &str = "160000";
/// The mode where there is no file.
pub(super) const ABSENT: &str = "000000";

/// One changed file between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: RepoPath,
    pub(super) old_path: Option<RepoPath>,
    pub(super) status: FileStatus,
    pub(super) old_mode: String,
    pub(super) new_mode: String,
    pub(super) old_oid: Oid,
    pub(super) new_oid: Oid,
    /// Lines added and removed; `None` where git shows the file as binary.
    pub(super) lines: Option<(u64, u64)>,
}

impl Entry {
    /// Whether either side is a submodule.
    pub(super) fn is_submodule(&self) -> bool {
        self.old_mode == SUBMODULE || self.new_mode == SUBMODULE
    }
    /// Whether there is a new side whose bytes differ from the old one's.
    pub(super) fn has_new_bytes(&self) -> bool {
        self.new_mode != ABSENT && self.old_oid != self.new_oid
    }
}

/// Output of git that does not have the form it always has.
#[derive(Debug, thiserror::Error)]
#[error("git's list of changed files has {what} at entry {entry}")]
pub(super) struct Malformed {
    what: &'static str,
    entry: usize,
}

type Fields<'a> = Peekable<Split<'a, u8, fn(&u8) -> bool>>;

/// What was asked beside the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// Nothing: `--raw`.
    Without,
    /// Lines added and removed: `--raw --numstat`.
    With,
}

/// Reads what `diff-tree -r -z --raw --no-abbrev` prints.
pub(super) fn parse(output: &[u8], counts: Counts) -> Result<Vec<Entry>, Malformed> {
    let at = |what, entry| Malformed { what, entry };
    let Some(body) = output.strip_suffix(b"\0") else {
        return if output.is_empty() {
            Ok(Vec::new())
        } else {
            Err(at("no end", 0))
        };
    };
    let is_nul: fn(&u8) -> bool = |byte| *byte == 0;
    let mut fields: Fields = body.split(is_nul).peekable();
    let mut entries = Vec::new();
    while fields.peek().is_some_and(|field| field.starts_with(b":")) {
        let entry = raw(&mut fields).map_err(|what| at(what, entries.len()))?;
        entries.push(entry);
    }
    let counted = match counts {
        Counts::With => entries.as_mut_slice(),
        Counts::Without => &mut [],
    };
    for (number, entry) in counted.iter_mut().enumerate() {
        numbers(&mut fields, entry).map_err(|what| at(what, number))?;
    }
    match fields.next() {
        None => Ok(entries),
        Some(_) => Err(at("more than was asked", entries.len())),
    }
}

fn raw(fields: &mut Fields) -> Result<Entry, &'static str> {
    let meta = fields.next().ok_or("no entry")?;
    let meta = std::str::from_utf8(meta).map_err(|_| "odd bytes")?;
    let words: Vec<&str> = meta.trim_start_matches(':').split(' ').collect();
    let [old_mode, new_mode, old_oid, new_oid, status] = words[..] else {
        return Err("the wrong number of columns");
    };
    if [old_mode, new_mode]
        .iter()
        .any(|mode| mode.len() != 6 || !mode.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err("an odd mode");
    }
    let old_oid = Oid::parse(old_oid).ok_or("an odd object id")?;
    let new_oid = Oid::parse(new_oid).ok_or("an odd object id")?;
    let mut path = || {
        let bytes = fields.next().filter(|bytes| !bytes.is_empty());
        bytes.map(RepoPath::new).ok_or("no path")
    };
    let first = path()?;
    let (status, path, old_path) = match status.as_bytes() {
        b"A" => (FileStatus::Added, first, None),
        b"D" => (FileStatus::Deleted, first, None),
        b"T" => (FileStatus::TypeChanged, first, None),
        b"M" if old_oid == new_oid => (FileStatus::ModeChanged, first, None),
        b"M" => (FileStatus::Modified, first, None),
        [b'R', ..] => (FileStatus::Renamed, path()?, Some(first)),
        _ => return Err("an unknown status"),
    };
    Ok(Entry {
        path,
        old_path,
        status,
        old_mode: old_mode.to_owned(),
        new_mode: new_mode.to_owned(),
        old_oid,
        new_oid,
        lines: None,
    })
}

fn numbers(fields: &mut Fields, entry: &mut Entry) -> Result<(), &'static str> {
    let field = fields.next().ok_or("no numbers")?;
    let mut columns = field.splitn(3, |byte| *byte == b'\t');
    let mut column = || columns.next().ok_or("too few numbers");
    let (added, removed, name) = (column()?, column()?, column()?);
    entry.lines = match (added, removed) {
        (b"-", b"-") => None,
        _ => Some((number(added)?, number(removed)?)),
    };
    let (old, new) = if name.is_empty() {
        let mut name = || fields.next().ok_or("no name beside its numbers");
        (Some(name()?), name()?)
    } else {
        (None, name)
    };
    let same =
        new == entry.path.as_bytes() && old == entry.old_path.as_ref().map(RepoPath::as_bytes);
    same.then_some(()).ok_or("numbers of another file")
}

fn number(digits: &[u8]) -> Result<u64, &'static str> {
    let text = std::str::from_utf8(digits).map_err(|_| "an odd number")?;
    text.parse().map_err(|_| "an odd number")
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const B: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn reads_every_status() {
        let raw = format!(
            ":100644 100644 {A} {B} M\0a\0:100644 100755 {A} {A} M\0b\tc\nd\0\
             :100644 100644 {A} {B} R087\0old\0new\0:100644 120000 {A} {B} T\0t\0\
             1\t2\ta\x000\t0\tb\tc\nd\x003\t4\t\0old\0new\0-\t-\tt\0"
        );
        let entries = parse(raw.as_bytes(), Counts::With).unwrap();
        let seen: Vec<_> = entries.iter().map(|e| (e.status, e.lines)).collect();
        assert_eq!(
            seen,
            [
                (FileStatus::Modified, Some((1, 2))),
                (FileStatus::ModeChanged, Some((0, 0))),
                (FileStatus::Renamed, Some((3, 4))),
                (FileStatus::TypeChanged, None),
            ]
        );
        assert_eq!(entries[1].path, RepoPath::from("b\tc\nd"));
        assert_eq!(entries[2].old_path, Some(RepoPath::from("old")));
    }

    #[test]
    fn an_empty_output_is_an_empty_list() {
        assert_eq!(parse(b"", Counts::With).unwrap(), []);
    }

    #[test]
    fn anything_odd_is_an_error_and_never_a_shorter_list() {
        for raw in [
            format!(":100644 100644 {A} {B} M\0a\0"),
            format!(":100644 100644 {A} {B} M\0a\x001\t2\tb\0"),
            format!(":100644 100644 {A} {B} M\0a\x001\t2\ta"),
            format!(":100644 100644 {A} {B} M\0a\x001\t2\ta\x001\t2\ta\0"),
            format!(":100644 100644 {A} {B} X\0a\x001\t2\ta\0"),
            format!(":100644 100644 {A} 22 M\0a\x001\t2\ta\0"),
            format!(":100644 100644 {A} {B} M\0a\x001\tx\ta\0"),
            "warning\0".to_owned(),
        ] {
            assert!(parse(raw.as_bytes(), Counts::With).is_err(), "{raw:?}");
        }
    }
}
