//! Reading a unified diff of git: which files it names, and which lines it adds.
//!
//! The diff is checked against the list of changed files, section by section and line count by
//! line count, so that a diff which was cut or which hides a file is never taken for whole.

use std::io::{self, BufRead};

use super::list::Entry;
use crate::domain::evidence::FileStatus;
use crate::domain::path::RepoPath;

/// Lines of a new file, first and last, from 1.
pub(super) type Ranges = Vec<(u32, u32)>;

/// Why a diff is not the diff of the listed files.
#[derive(Debug, thiserror::Error)]
pub(super) enum Mismatch {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The list names a file that the diff does not name there.
    #[error("the diff does not name {0} where the list of changed files does")]
    NotNamed(RepoPath),
    /// The diff goes on after the last listed file.
    #[error("the diff names more files than the list of changed files")]
    TooMany,
    /// The lines of a section are not as many as git counted.
    #[error("the diff of {0} is not whole")]
    NotWhole(RepoPath),
}

/// Reads the diff of exactly these entries, in their order; returns the lines that each adds.
pub(super) fn read(diff: &mut impl BufRead, entries: &[Entry]) -> Result<Vec<Ranges>, Mismatch> {
    let mut lines = Lines::new(diff);
    let mut all = Vec::with_capacity(entries.len());
    for entry in entries {
        // A change of type is shown as a deletion and a creation under the same name.
        let sections = if entry.status == FileStatus::TypeChanged {
            2
        } else {
            1
        };
        let wanted = header(entry);
        let mut seen = Section::default();
        for _ in 0..sections {
            if lines.head()? != Some(wanted.as_slice()) {
                return Err(Mismatch::NotNamed(entry.path.clone()));
            }
            seen = section(&mut lines).map_err(|fault| match fault {
                Fault::Io(error) => Mismatch::Io(error),
                Fault::Form => Mismatch::NotWhole(entry.path.clone()),
            })?;
        }
        let counted = sections == 2 || entry.lines.unwrap_or((0, 0)) == (seen.added, seen.removed);
        if !counted {
            return Err(Mismatch::NotWhole(entry.path.clone()));
        }
        all.push(seen.ranges);
    }
    match lines.head()? {
        None => Ok(all),
        Some(_) => Err(Mismatch::TooMany),
    }
}

#[derive(Default)]
struct Section {
    added: u64,
    removed: u64,
    ranges: Ranges,
}

enum Fault {
    Io(io::Error),
    Form,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn section(lines: &mut Lines<impl BufRead>) -> Result<Section, Fault> {
    let mut section = Section::default();
    loop {
        lines.next()?;
        match lines.head()? {
            None => return Ok(section),
            Some(head) if head.starts_with(b"diff --git ") => return Ok(section),
            Some(head) if head.starts_with(b"@@ ") => break,
            Some(_) => {}
        }
    }
    while let Some(head) = lines.head()?.filter(|head| head.starts_with(b"@@ ")) {
        let sizes = hunk_sizes(head).ok_or(Fault::Form)?;
        hunk(lines, sizes, &mut section)?;
    }
    match lines.head()? {
        Some(head) if !head.starts_with(b"diff --git ") => Err(Fault::Form),
        Some(_) | None => Ok(section),
    }
}

struct HunkSizes {
    old: u64,
    new_start: u64,
    new: u64,
}

/// Reads a hunk by its counts, so that no content can be taken for a header.
fn hunk(
    lines: &mut Lines<impl BufRead>,
    mut sizes: HunkSizes,
    section: &mut Section,
) -> Result<(), Fault> {
    let mut at = sizes.new_start;
    while sizes.old > 0 || sizes.new > 0 {
        lines.next()?;
        let kind = lines.head()?.and_then(|head| head.first().copied());
        match kind.ok_or(Fault::Form)? {
            b' ' => {
                sizes.old = sizes.old.checked_sub(1).ok_or(Fault::Form)?;
                sizes.new = sizes.new.checked_sub(1).ok_or(Fault::Form)?;
                at += 1;
            }
            b'-' => {
                sizes.old = sizes.old.checked_sub(1).ok_or(Fault::Form)?;
                section.removed += 1;
            }
            b'+' => {
                sizes.new = sizes.new.checked_sub(1).ok_or(Fault::Form)?;
                section.added += 1;
                let line = u32::try_from(at).map_err(|_| Fault::Form)?;
                match section.ranges.last_mut() {
                    Some((_, last)) if u64::from(*last) + 1 == at => *last = line,
                    Some(_) | None => section.ranges.push((line, line)),
                }
                at += 1;
            }
            b'\\' => {}
            _ => return Err(Fault::Form),
        }
    }
    lines.next()?;
    while lines.head()?.is_some_and(|head| head.starts_with(b"\\")) {
        lines.next()?;
    }
    Ok(())
}

/// Reads `@@ -1,2 +3,4 @@`.
fn hunk_sizes(head: &[u8]) -> Option<HunkSizes> {
    let end = head.windows(3).skip(1).position(|w| w == b" @@")? + 1;
    let text = std::str::from_utf8(&head[..end]).ok()?;
    let (old, new) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, size)) => Some((start.parse().ok()?, size.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((_, old), (new_start, new)): ((u64, u64), (u64, u64)) = (range(old)?, range(new)?);
    Some(HunkSizes {
        old,
        new_start,
        new,
    })
}

/// The line that starts the section of an entry.
fn header(entry: &Entry) -> Vec<u8> {
    let old = entry.old_path.as_ref().unwrap_or(&entry.path);
    let mut line = b"diff --git ".to_vec();
    quote(b"a/", old.as_bytes(), &mut line);
    line.push(b' ');
    quote(b"b/", entry.path.as_bytes(), &mut line);
    line
}

/// Quotes a name as git does with `core.quotePath=false`.
fn quote(prefix: &[u8], name: &[u8], into: &mut Vec<u8>) {
    let plain = |byte: &u8| *byte >= 0x20 && !matches!(*byte, 0x7f | b'"' | b'\\');
    if name.iter().all(plain) {
        into.extend_from_slice(prefix);
        into.extend_from_slice(name);
        return;
    }
    into.push(b'"');
    into.extend_from_slice(prefix);
    for byte in name {
        let letter = match byte {
            0x07 => b'a',
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0b => b'v',
            0x0c => b'f',
            b'\r' => b'r',
            b'"' | b'\\' => *byte,
            _ if plain(byte) => {
                into.push(*byte);
                continue;
            }
            _ => {
                into.extend_from_slice(format!("\\{byte:03o}").as_bytes());
                continue;
            }
        };
        into.extend_from_slice(&[b'\\', letter]);
    }
    into.push(b'"');
}

/// Lines of which only the head is kept: a line of the diff may be as long as a file.
struct Lines<'a, R> {
    source: &'a mut R,
    head: Vec<u8>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Before,
    On,
    End,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// Enough for a header with two paths of the greatest length, every byte quoted.
    const HEAD: usize = 64 * 1024;

    fn new(source: &'a mut R) -> Self {
        Self {
            source,
            head: Vec::new(),
            state: State::Before,
        }
    }
    /// The head of the current line, without its newline; `None` at the end.
    fn head(&mut self) -> io::Result<Option<&[u8]>> {
        if self.state == State::Before {
            self.fill()?;
        }
        Ok((self.state == State::On).then_some(self.head.as_slice()))
    }
    /// Leaves the current line.
    fn next(&mut self) -> io::Result<()> {
        self.head()?;
        if self.state == State::On {
            self.state = State::Before;
        }
        Ok(())
    }
    fn fill(&mut self) -> io::Result<()> {
        self.head.clear();
        self.state = State::End;
        loop {
            let chunk = self.source.fill_buf()?;
            if chunk.is_empty() {
                return Ok(());
            }
            self.state = State::On;
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let taken = newline.unwrap_or(chunk.len());
            let kept = taken.min(Self::HEAD.saturating_sub(self.head.len()));
            self.head.extend_from_slice(&chunk[..kept]);
            self.source.consume(newline.map_or(taken, |at| at + 1));
            if newline.is_some() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
