//! Which paths git lets into a working tree: those that no file system takes for a git directory.
//!
//! The rules are those of git's `verify_path` as it is set by default on Linux: `core.protectNTFS` is
//! on, `core.protectHFS` is not. Neither git2 nor any other library that is used here has them for a
//! whole path.

use super::content::Kind;

/// Whether git would make a path in a working tree, if it stood for such an entry.
pub(super) fn admit(path: &[u8], kind: Kind) -> bool {
    let is_link = kind == Kind::Link;
    let is_odd = |part: &[u8]| {
        matches!(part, b"" | b"." | b"..")
            || part.eq_ignore_ascii_case(b".git")
            || is_link && part.eq_ignore_ascii_case(b".gitmodules")
    };
    // Windows begins a name behind a backslash too.
    let begins = |at: &usize| *at == 0 || matches!(path[*at - 1], b'/' | b'\\');
    let mut names = (0..path.len()).filter(begins).map(|at| &path[at..]);
    !path.split(|byte| *byte == b'/').any(is_odd)
        && !names.any(|name| is_git(name) || is_link && is_modules(name))
}

/// Whether NTFS takes the beginning of a path for `.git`.
fn is_git(path: &[u8]) -> bool {
    [&b".git"[..], b"git~1"]
        .iter()
        .filter_map(|name| behind(path, name))
        .any(|rest| ends(rest, b"\\/:"))
}

/// Whether NTFS takes a path for `.gitmodules`, by its name or a short one that it may have.
fn is_modules(path: &[u8]) -> bool {
    let numbered = behind(path, b"gitmod~").and_then(|rest| match rest.split_first() {
        Some((b'1'..=b'4', rest)) => Some(rest),
        Some(_) | None => None,
    });
    [behind(path, b".gitmodules"), numbered, behind_hashed(path)]
        .into_iter()
        .flatten()
        .any(|rest| ends(rest, b":"))
}

/// What follows the short name that NTFS gives `.gitmodules` where many names are alike: letters of
/// it and of its hash, and a number, eight characters together.
fn behind_hashed(path: &[u8]) -> Option<&[u8]> {
    let (name, rest) = path.split_at_checked(8)?;
    let tilde = name.iter().position(|byte| *byte == b'~')?;
    let letters = b"gi7eba".get(..tilde)?;
    let digits = &name[tilde + 1..];
    let is_number = digits[0] != b'0' && digits.iter().all(u8::is_ascii_digit);
    (is_number && letters.eq_ignore_ascii_case(&name[..tilde])).then_some(rest)
}

/// What follows a name in whatever case.
fn behind<'a>(path: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = path.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(rest)
}

/// Whether a name ends here: NTFS drops spaces and periods, and a colon begins a stream.
fn ends(rest: &[u8], stops: &[u8]) -> bool {
    let mut shown = rest.iter().filter(|byte| !matches!(byte, b' ' | b'.'));
    shown.next().is_none_or(|byte| stops.contains(byte))
}
