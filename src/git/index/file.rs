//! An index file, read here: git lists a large one more slowly than it is read, and takes the folders'
//! ids in it for granted.

use std::ffi::CStr;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::domain::digest::Digest;
use crate::git::index::cache_tree::{self, Folders};
use crate::git::index::recorded::{Recorded, STAT};
use crate::git::object_id::{RawId, each_digit};
use crate::git::repository::ObjectFormat;

/// The modes that git writes today.
const MODES: [u32; 4] = [0o100_644, 0o100_755, 0o120_000, 0o160_000];

const ASSUMED: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const SKIPPED: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
/// The length of its name among an entry's flags; a longer name has all of these bits.
const LENGTH: u16 = 0x0fff;

/// One entry.
#[derive(Debug)]
pub(crate) struct Line {
    pub(super) mode: u32,
    pub(crate) id: RawId,
    pub(super) stage: u8,
    assumed: bool,
    skipped: bool,
    /// Nothing of it was added yet: no tree holds it.
    pub(super) is_intent: bool,
    path: Range<usize>,
    /// Where its bytes begin.
    start: usize,
}

impl Line {
    /// Whether it is of a file or a link that git looks at, in no conflict.
    pub(crate) fn is_plain(&self) -> bool {
        self.stage == 0 && !self.assumed && !self.skipped && !self.is_intent && !self.is_submodule()
    }
    fn is_submodule(&self) -> bool {
        self.mode == 0o160_000
    }
    /// Its mode, as git prints it.
    pub(crate) fn mode(&self) -> &'static [u8] {
        match self.mode {
            0o100_755 => b"100755",
            0o120_000 => b"120000",
            0o160_000 => b"160000",
            // There are no others: see `MODES`.
            _ => b"100644",
        }
    }
}

/// An index that can be read here: whole, not sparse, and with nothing unknown in it.
#[derive(Debug)]
pub(crate) struct IndexFile<'a> {
    bytes: &'a [u8],
    format: ObjectFormat,
    lines: Vec<Line>,
    paths: Vec<u8>,
    /// Where the entries end.
    end: usize,
    extensions: Vec<Extension>,
}

#[derive(Debug)]
struct Extension {
    name: [u8; 4],
    /// With its name and length.
    whole: Range<usize>,
}

impl Extension {
    fn body(&self) -> Range<usize> {
        self.whole.start + 8..self.whole.end
    }
}

impl<'a> IndexFile<'a> {
    /// Reads one; `None` for everything that is left to git.
    pub(crate) fn parse(bytes: &'a [u8], format: ObjectFormat) -> Option<Self> {
        let mut head = Fields { bytes, at: 0 };
        let (name, version, count) = (head.take(4)?, head.number()?, head.number()?);
        if name != b"DIRC" || !(2..=4).contains(&version) {
            return None;
        }
        let mut file = Self {
            bytes,
            format,
            // No entry is shorter.
            lines: Vec::with_capacity((count as usize).min(bytes.len() / STAT)),
            paths: Vec::with_capacity(bytes.len() / 2),
            end: 0,
            extensions: Vec::new(),
        };
        let mut last = (0..0, 0);
        for _ in 0..count {
            let line = file.line(&mut head, version, &last.0)?;
            let order = (&file.paths[line.path.clone()], line.stage);
            if order <= (&file.paths[last.0.clone()], last.1) {
                return None;
            }
            last = (line.path.clone(), line.stage);
            file.lines.push(line);
        }
        file.end = head.at;
        file.extensions(head)?;
        Some(file)
    }

    fn line(&mut self, fields: &mut Fields<'_>, version: u32, last: &Range<usize>) -> Option<Line> {
        let start = fields.at;
        let mode = Recorded(fields.take(STAT)?.try_into().ok()?).mode();
        let width = self.format.width();
        let mut id = [0; 32];
        id[..width].copy_from_slice(fields.take(width)?);
        let flags = fields.short()?;
        let more = if flags & EXTENDED == 0 {
            0
        } else if version >= 3 {
            fields.short()?
        } else {
            return None;
        };
        if more & !(SKIPPED | INTENT_TO_ADD) != 0 || !MODES.contains(&mode) {
            return None;
        }
        let from = self.paths.len();
        if version == 4 {
            let kept = last.len().checked_sub(fields.offset()?)?;
            self.paths.extend_from_within(last.start..last.start + kept);
        }
        let name = fields.until_nul()?;
        self.paths.extend_from_slice(name);
        if version < 4 {
            // As many NULs as make the entry's length a multiple of eight, one at least.
            let length = (fields.at - 1 - start + 8) & !7;
            let padding = fields.take(start + length - fields.at)?;
            if padding.iter().any(|byte| *byte != 0) {
                return None;
            }
        }
        // Git goes by the length that the flags say, we by where the name ends.
        let path = &self.paths[from..];
        if path.len().min(usize::from(LENGTH)) != usize::from(flags & LENGTH) || !is_plain(path) {
            return None;
        }
        Some(Line {
            mode,
            id,
            stage: u8::try_from(flags >> 12 & 3).ok()?,
            assumed: flags & ASSUMED != 0,
            skipped: more & SKIPPED != 0,
            is_intent: more & INTENT_TO_ADD != 0,
            path: from..self.paths.len(),
            start,
        })
    }

    fn extensions(&mut self, mut fields: Fields<'_>) -> Option<()> {
        let end = self.bytes.len().checked_sub(self.format.width())?;
        while fields.at < end {
            let start = fields.at;
            let name: [u8; 4] = fields.take(4)?.try_into().ok()?;
            let length = usize::try_from(fields.number()?).ok()?;
            fields.take(length)?;
            // Git must know one whose name begins with a small letter; another half of the entries, or
            // folders in their places, are among these.
            if !name[0].is_ascii_uppercase() {
                return None;
            }
            self.extensions.push(Extension {
                name,
                whole: start..fields.at,
            });
        }
        (fields.at == end).then_some(())
    }

    /// The entries, in order.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }
    /// The path of an entry.
    pub(crate) fn path(&self, line: &Line) -> &[u8] {
        &self.paths[line.path.clone()]
    }
    /// What is recorded of an entry's file.
    pub(crate) fn recorded(&self, line: &Line) -> Option<Recorded<'a>> {
        let bytes = self.bytes.get(line.start..)?;
        bytes.first_chunk().map(Recorded)
    }
    /// The ids of folders that git keeps in it, right or not.
    pub(crate) fn folders(&self) -> Folders {
        let body = self.kept().map(|it| &self.bytes[it.body()]);
        let folders = body.and_then(|body| cache_tree::all(self.format, body));
        folders.unwrap_or_default()
    }
    fn kept(&self) -> Option<&Extension> {
        let mut folders = self.extensions.iter().filter(|it| it.name == *b"TREE");
        folders.next().filter(|_| folders.next().is_none())
    }

    /// An index of some of its plain entries, with all that is recorded of their files.
    pub(crate) fn part<'l>(&self, of: impl Iterator<Item = &'l Line>) -> Vec<u8> {
        let (mut bytes, mut count) = (b"DIRC\0\0\0\x02\0\0\0\0".to_vec(), 0_u32);
        let width = self.format.width();
        for line in of {
            let start = bytes.len();
            bytes.extend_from_slice(&self.bytes[line.start..line.start + STAT + width]);
            let path = self.path(line);
            let length = u16::try_from(path.len()).unwrap_or(LENGTH).min(LENGTH);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(path);
            let length = (bytes.len() - start + 8) & !7;
            bytes.resize(start + length, 0);
            count += 1;
        }
        bytes[8..12].copy_from_slice(&count.to_be_bytes());
        bytes.extend(std::iter::repeat_n(0, width));
        bytes
    }

    /// What `git ls-files -v -s -z` prints of it, each flag as it is stored.
    pub(crate) fn listing(&self) -> Vec<u8> {
        let mut listing = Vec::with_capacity(self.bytes.len());
        for line in &self.lines {
            self.list(line, &mut listing);
        }
        listing
    }
    /// The digest of [`Self::listing`], of which no more than a piece is there at once.
    pub(crate) fn digest(&self) -> Digest {
        const PIECE: usize = 1 << 16;
        let (mut hasher, mut piece) = (Sha256::new(), Vec::with_capacity(2 * PIECE));
        for line in &self.lines {
            self.list(line, &mut piece);
            if piece.len() >= PIECE {
                hasher.update(&piece);
                piece.clear();
            }
        }
        hasher.update(&piece);
        Digest::from_hasher(hasher)
    }
    fn list(&self, line: &Line, listing: &mut Vec<u8>) {
        let tag = match (line.stage, line.skipped) {
            (1.., _) => b'M',
            (0, true) => b'S',
            (0, false) => b'H',
        };
        listing.push(if line.assumed {
            tag.to_ascii_lowercase()
        } else {
            tag
        });
        listing.push(b' ');
        listing.extend_from_slice(line.mode());
        listing.push(b' ');
        listing.extend(each_digit(&line.id[..self.format.width()]));
        listing.extend_from_slice(&[b' ', b'0' + line.stage, b'\t']);
        listing.extend_from_slice(self.path(line));
        listing.push(0);
    }

    /// The same index with nothing but its entries and, where they are right, the ids of its folders:
    /// git writes these into trees as they stand. What else an index may hold could make git read
    /// something else than was read here, as a table of where its parts are does.
    pub(super) fn plain(&self) -> Vec<u8> {
        let mut bytes = self.bytes[..self.end].to_vec();
        if let Some(folders) = self.kept()
            && cache_tree::is_right(self, self.format, &self.bytes[folders.body()])
        {
            bytes.extend_from_slice(&self.bytes[folders.whole.clone()]);
        }
        // No sum: git computes none of an index when it reads one.
        bytes.extend(std::iter::repeat_n(0, self.format.width()));
        bytes
    }
}

/// Whether a path is one that git lets into an index.
fn is_plain(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/')
        .all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git"))
}

/// The fields of a file, one after the other.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }
    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }
    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }
    /// A number of as many bytes as it needs, as packs have it.
    fn offset(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 127);
        }
        Some(value)
    }
    fn until_nul(&mut self) -> Option<&'a [u8]> {
        let found = CStr::from_bytes_until_nul(self.bytes.get(self.at..)?).ok()?;
        Some(self.take(found.count_bytes() + 1)?.split_last()?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index without an entry, and with these extensions.
    fn index(extensions: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02\0\0\0\0".to_vec();
        for (name, body) in extensions {
            bytes.extend_from_slice(*name);
            bytes.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
            bytes.extend_from_slice(body);
        }
        bytes.extend_from_slice(&[1; 20]);
        bytes
    }

    /// An index of one entry with this mode and name, of which the flags say this length.
    fn of_one(version: u8, mode: u32, name: &[u8], length: u16, end: &[u8]) -> Vec<u8> {
        let mut bytes = [&b"DIRC\0\0\0"[..], &[version, 0, 0, 0, 1]].concat();
        let mut stat = [0; STAT];
        stat[24..28].copy_from_slice(&mode.to_be_bytes());
        bytes.extend_from_slice(&stat);
        bytes.extend_from_slice(&[7; 20]);
        bytes.extend_from_slice(&length.to_be_bytes());
        if version == 4 {
            bytes.push(0);
        }
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(end);
        bytes.extend_from_slice(&[0; 20]);
        bytes
    }

    /// Git goes by the length that is said of a name, and whoever goes by its end reads another list.
    #[test]
    fn what_git_may_read_in_another_way_is_left_to_it() {
        let is_read = |bytes: &[u8]| IndexFile::parse(bytes, ObjectFormat::Sha1).is_some();
        let file = 0o100_644;
        let (five, one) = (&[0; 5][..], &[0; 1][..]);
        assert!(is_read(&of_one(2, file, b"a.txt", 5, five)));
        assert!(is_read(&of_one(4, file, b"a.txt", 5, one)));
        for length in [0, 4, 6, 9, 0xfff] {
            assert!(
                !is_read(&of_one(2, file, b"a.txt", length, five)),
                "{length}"
            );
            assert!(
                !is_read(&of_one(4, file, b"a.txt", length, one)),
                "{length}"
            );
        }
        assert!(
            !is_read(&of_one(2, file, b"a.txt", 5, b"\0x\0\0\0")),
            "padding"
        );
        let long = [b'a'; 5_000];
        assert!(is_read(&of_one(4, file, &long, 0xfff, one)));
        assert!(!is_read(&of_one(4, file, &long, 0x388, one)));
        for mode in [0, 0o100_664, 0o040_000, 0o100_644 | 1 << 16] {
            assert!(!is_read(&of_one(4, mode, b"a.txt", 5, one)), "{mode:o}");
        }
        for name in [
            "",
            "/a",
            "a/",
            "a//b",
            "a/./b",
            "..",
            ".git/config",
            "a/.GIT",
        ] {
            let length = u16::try_from(name.len()).unwrap();
            let bytes = of_one(4, file, name.as_bytes(), length, one);
            assert!(!is_read(&bytes), "{name}");
        }
    }

    /// More entries than are listed at once.
    #[test]
    fn the_digest_is_that_of_the_whole_listing() {
        let count = 3_000_u32;
        let mut bytes = [&b"DIRC\0\0\0\x04"[..], &count.to_be_bytes()].concat();
        let mut stat = [0; STAT];
        stat[24..28].copy_from_slice(&MODES[0].to_be_bytes());
        for number in 0..count {
            let name = format!("{number:0>5}");
            bytes.extend_from_slice(&stat);
            bytes.extend_from_slice(&[7; 20]);
            bytes.extend_from_slice(&5_u16.to_be_bytes());
            // Nothing of the last name is kept.
            bytes.push(if number == 0 { 0 } else { 5 });
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(0);
        }
        bytes.extend_from_slice(&[0; 20]);
        let file = IndexFile::parse(&bytes, ObjectFormat::Sha1).unwrap();
        assert_eq!(file.lines().len(), 3_000);
        assert_eq!(file.digest(), Digest::of(&file.listing()));
    }

    /// Tables of where an index's parts are lead git to others than were read here.
    #[test]
    fn nothing_but_entries_and_right_folders_is_kept() {
        let empty = index(&[]);
        let bare = [&empty[..12], &[0; 20]].concat();
        let unread = index(&[(b"EOIE", &[0; 24]), (b"IEOT", b"x"), (b"XXXX", b"TREE")]);
        for bytes in [empty, unread, index(&[(b"TREE", b"nonsense")])] {
            let file = IndexFile::parse(&bytes, ObjectFormat::Sha1).unwrap();
            assert_eq!(file.plain(), bare);
        }
        for left_to_git in [&b"link"[..], b"sdir", b"what"] {
            let name: &[u8; 4] = left_to_git.try_into().unwrap();
            let bytes = index(&[(name, b"")]);
            assert!(IndexFile::parse(&bytes, ObjectFormat::Sha1).is_none());
        }
    }
}
