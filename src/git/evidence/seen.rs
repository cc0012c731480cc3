//! The diff since an earlier tree, for those who saw that one.

use std::io::{self, Seek as _};
use std::path::Path;

use super::differ::{Differ, Pair, Renames};
use super::exclusion;
use super::list::Counts;
use super::parts;
use super::patch;
use super::{Error, RANDOM, SINCE};
use crate::domain::glob::Glob;
use crate::domain::seen::{Change, SeenPart};

/// The most bytes of it that anybody is given.
const BYTES: u64 = 2 << 20;
/// It may take the prompt's room for a diff divided by this: most of what it shows stands there
/// already.
const SHARE: u64 = 2;

/// The change from one tree to the other, without what the globs name.
pub(super) fn change(
    differ: &Differ,
    pair: Pair,
    globs: &[Glob],
    diff_cap: u64,
    scratch: &Path,
) -> Result<Change, Error> {
    let all = differ.list(&pair, Renames::None, Counts::Without)?;
    if all.is_empty() {
        return Ok(Change::Same);
    }
    let renames = Renames::for_list(&all);
    let draft = tempfile::Builder::new()
        .prefix(SINCE)
        .rand_bytes(RANDOM)
        .tempdir_in(scratch)?;
    let halves = exclusion::divide(differ, pair, &all, globs, &draft.path().join("index"))?;
    let shown = differ.list(&halves.shown, renames, Counts::With)?;
    let hidden = all
        .iter()
        .filter(|entry| exclusion::is_excluded(globs, &entry.path))
        .count();
    let mut file = tempfile::tempfile_in(draft.path())?;
    differ.patch(&halves.shown, renames, file.try_clone()?)?;
    file.rewind()?;
    patch::read(&mut io::BufReader::new(&file), &shown)?;
    file.rewind()?;
    let (parts, left_out) = cut(&mut io::BufReader::new(&file), diff_cap)?;
    Ok(Change::Differs {
        parts,
        hidden,
        left_out,
    })
}

fn cut(diff: &mut impl io::BufRead, diff_cap: u64) -> io::Result<(Vec<SeenPart>, u64)> {
    let mut cut = Vec::new();
    let (mut total, mut left_out) = (0_u64, 0_u64);
    parts::pieces(diff, |piece| {
        let size = piece.bytes.len() as u64;
        if left_out > 0 || total + size > BYTES {
            left_out += size;
            return Ok(());
        }
        total += size;
        cut.push(SeenPart {
            in_prompt: total <= diff_cap / SHARE,
            bytes: piece.closed(),
            name: piece.name,
        });
        Ok(())
    })?;
    Ok((cut, left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is too long is cut at ends of lines, and the rest is counted.
    #[test]
    fn what_is_too_long_is_cut_and_counted() {
        let diff = "+0123456789 0123456789\n".repeat(150_000);
        let (parts, left_out) = cut(&mut io::Cursor::new(&diff), 200_000).unwrap();
        let given: Vec<u8> = parts.iter().flat_map(|part| part.bytes.clone()).collect();
        assert!(diff.as_bytes().starts_with(&given) && given.ends_with(b"\n"));
        assert_eq!(given.len() as u64 + left_out, diff.len() as u64);
        assert!(given.len() as u64 <= BYTES && left_out > 0);
        let shown: Vec<bool> = parts.iter().map(|part| part.in_prompt).collect();
        assert_eq!(shown[..2], [true, false]);
        let (short, left_out) = cut(&mut io::Cursor::new("+a\n"), 200_000).unwrap();
        assert_eq!((short.len(), left_out), (1, 0));
        assert!(short[0].in_prompt);
    }
}
