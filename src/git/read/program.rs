//! What the git program says, proved where an id can prove it.

mod proof;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use super::{Object, Peel, Place, Read};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::error::Error;
use crate::git::object::{TreeEntry, read_oid};
use crate::git::object_id::{ObjectId, raw};
use crate::git::program::{Git, ask, finish};
use crate::git::repository::ObjectFormat;
use crate::process::command::Command;

/// The git program, asked about one place.
#[derive(Debug)]
pub struct Program<'a> {
    /// The program.
    pub git: &'a Git,
    /// The place.
    pub place: Place<'a>,
}

impl Program<'_> {
    fn command(&self) -> Command {
        let command = self.git.on(self.place.git_dir);
        match self.place.store {
            Some(store) => command.env("GIT_OBJECT_DIRECTORY", store.join("objects")),
            None => command,
        }
    }
}

impl Read for Program<'_> {
    type Unanswered = Error;

    fn peeled(&self, name: &str, kind: Peel) -> Result<Option<Oid>, Error> {
        let command = self
            .command()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{name}^{{{}}}", kind.as_str()));
        let Some(answer) = ask(&command)? else {
            return Ok(None);
        };
        let oid = read_oid("git rev-parse", &answer)?;
        if kind == Peel::Tree {
            self.prove_root(name, &oid)?;
        }
        Ok(Some(oid))
    }

    fn resolves(&self, name: &str) -> Result<bool, Error> {
        let command = self
            .command()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(name);
        Ok(ask(&command)?.is_some())
    }

    fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool, Error> {
        let command = self.command().args([
            "merge-base",
            "--is-ancestor",
            ancestor.as_str(),
            descendant.as_str(),
        ]);
        Ok(ask(&command)?.is_some())
    }

    fn merge_bases(&self, one: &Oid, other: &Oid) -> Result<Vec<Oid>, Error> {
        let command = self
            .command()
            .args(["merge-base", "--all", one.as_str(), other.as_str()]);
        let answer = ask(&command)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&answer);
        text.lines()
            .map(|line| Oid::parse(line).ok_or_else(|| Error::answer("git merge-base", &answer)))
            .collect()
    }

    fn apart(&self, one: &Oid, other: &Oid) -> Result<(u32, u32), Error> {
        let command = self
            .command()
            .args(["rev-list", "--left-right", "--count"])
            .arg(format!("{one}...{other}"));
        let answer = finish(&command)?;
        let text = String::from_utf8_lossy(&answer);
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(left)), Some(Ok(right)), None) => Ok((left, right)),
            _ => Err(Error::answer("git rev-list --count", &answer)),
        }
    }

    fn entry(&self, rev: &str, path: &str) -> Result<Option<TreeEntry>, Error> {
        let command = self
            .command()
            .args(["ls-tree", "-z", "-l", "--full-tree", rev, "--", path]);
        let entries = parse_entries(&finish(&command)?)?;
        let entry = entries
            .into_iter()
            .find(|entry| entry.path.as_bytes() == path.as_bytes());
        self.prove_entry(rev, path, entry.as_ref())?;
        Ok(entry)
    }

    fn tree_entries(&self, rev: &str, folder: &str) -> Result<Vec<TreeEntry>, Error> {
        let mut command = self
            .command()
            .args(["ls-tree", "-r", "-z", "-l", "--full-tree", rev]);
        if !folder.is_empty() {
            let mut prefix = OsString::from_vec(folder.as_bytes().to_vec());
            prefix.push("/");
            command = command.arg("--").arg(prefix);
        }
        let files = parse_entries(&finish(&command)?)?;
        self.prove_listing(rev, folder, &files)?;
        Ok(files)
    }

    fn objects(&self, names: &[String]) -> Result<Vec<Option<Object>>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let command = self.command().args(["cat-file", "--batch"]);
        let answer = finish(&command.stdin(lines(names)?))?;
        let mut rest = answer.as_slice();
        let mut found = Vec::new();
        for _ in names {
            let (object, after) = batch_item(rest)
                .ok_or_else(|| Error::answer("git cat-file --batch", first_line(rest)))?;
            if let Some(object) = &object {
                prove(object)?;
            }
            found.push(object);
            rest = after;
        }
        if rest.is_empty() {
            Ok(found)
        } else {
            Err(Error::answer("git cat-file --batch", first_line(rest)))
        }
    }

    fn blob_sizes(&self, blobs: &[&Oid]) -> Result<Vec<u64>, Error> {
        if blobs.is_empty() {
            return Ok(Vec::new());
        }
        let command = self.command().args([
            "cat-file",
            "--batch-check=%(objectname) %(objecttype) %(objectsize)",
        ]);
        let names: Vec<String> = blobs.iter().map(ToString::to_string).collect();
        let answer = finish(&command.stdin(lines(&names)?))?;
        let mut answers = answer.split(|byte| *byte == b'\n');
        let size = |wanted: &&Oid| {
            let line = answers.next().unwrap_or_default();
            blob_size(line, wanted).ok_or_else(|| Error::answer("git cat-file --batch-check", line))
        };
        blobs.iter().map(size).collect()
    }
}

/// Whether an object holds what its id stands for.
fn prove(object: &Object) -> Result<(), Error> {
    let Object { oid, kind, bytes } = object;
    if ObjectId::of(ObjectFormat::of(oid), kind, bytes) == raw(oid) {
        Ok(())
    } else {
        Err(Error::NotGenuine { oid: oid.clone() })
    }
}

/// One name on each line.
fn lines(names: &[String]) -> Result<Vec<u8>, Error> {
    let mut input = Vec::new();
    for name in names {
        if name.contains('\n') {
            return Err(Error::answer("git cat-file --batch", name.as_bytes()));
        }
        input.extend_from_slice(name.as_bytes());
        input.push(b'\n');
    }
    Ok(input)
}

/// `<oid> blob <size>` of the blob that was asked for; a missing one has another form.
fn blob_size(line: &[u8], wanted: &Oid) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    let size = text.strip_prefix(wanted.as_str())?.strip_prefix(" blob ")?;
    size.parse().ok()
}

/// One answer of `cat-file --batch`, and what follows it: an object, or that there is none.
fn batch_item(answer: &[u8]) -> Option<(Option<Object>, &[u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let head = &answer[..end];
    let after = &answer[end + 1..];
    if head.ends_with(b" missing") {
        return Some((None, after));
    }
    let mut words = std::str::from_utf8(head).ok()?.split(' ');
    let (oid, kind, size) = (words.next()?, words.next()?, words.next()?);
    let known = matches!(kind, "commit" | "tree" | "blob" | "tag");
    let size: usize = size.parse().ok()?;
    if words.next().is_some() || !known {
        return None;
    }
    let bytes = after.get(..size)?;
    let after = after.get(size..)?.strip_prefix(b"\n")?;
    let object = Object {
        oid: Oid::parse(oid)?,
        kind: kind.to_owned(),
        bytes: bytes.to_vec(),
    };
    Some((Some(object), after))
}

fn first_line(answer: &[u8]) -> &[u8] {
    let end = answer.iter().position(|byte| *byte == b'\n');
    &answer[..end.unwrap_or(answer.len()).min(200)]
}

fn parse_entries(listing: &[u8]) -> Result<Vec<TreeEntry>, Error> {
    listing
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
        .map(|line| parse_entry(line).ok_or_else(|| Error::answer("git ls-tree", line)))
        .collect()
}

/// `<mode> <type> <oid> <size padded>\t<path>`.
fn parse_entry(line: &[u8]) -> Option<TreeEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab])
        .ok()?
        .split_ascii_whitespace();
    let (mode, _kind) = (words.next()?, words.next()?);
    let oid = Oid::parse(words.next()?)?;
    let size = match words.next()? {
        "-" => None,
        digits => Some(digits.parse().ok()?),
    };
    Some(TreeEntry {
        mode: mode.to_owned(),
        oid,
        size,
        path: RepoPath::new(&line[tab + 1..]),
    })
}
