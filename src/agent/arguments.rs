//! Placeholders in an agent's arguments.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// What a placeholder stands for.
pub(crate) type Placeholder<'a> = (&'static str, &'a OsStr);

/// The names that arguments may hold.
pub(crate) const PROMPT: &str = "{prompt}";
/// The tree under review.
pub(crate) const TREE: &str = "{tree}";
/// The evidence folder.
pub(crate) const EVIDENCE: &str = "{evidence}";

/// Replaces placeholders in one pass: a path that itself holds `{tree}` stays as it is.
pub(crate) fn fill(argument: &str, placeholders: &[Placeholder<'_>]) -> OsString {
    let mut filled = Vec::with_capacity(argument.len());
    let mut rest = argument;
    while let Some(start) = rest.find('{') {
        filled.extend_from_slice(&rest.as_bytes()[..start]);
        rest = &rest[start..];
        let found = placeholders
            .iter()
            .find_map(|(name, value)| rest.strip_prefix(name).map(|after| (after, value)));
        if let Some((after, value)) = found {
            filled.extend_from_slice(value.as_bytes());
            rest = after;
        } else {
            filled.push(b'{');
            rest = &rest[1..];
        }
    }
    filled.extend_from_slice(rest.as_bytes());
    OsString::from_vec(filled)
}

/// What stands for a placeholder and would be read as something else where it stands: a list goes on at each
/// comma, and in JSON a path is a pattern. No program that is told paths so has a way to say it otherwise.
pub(crate) fn misread<'a>(
    text: &str,
    placeholders: &[Placeholder<'a>],
) -> Option<(&'a OsStr, char)> {
    let is_plain = |text: &str| placeholders.iter().all(|(name, _)| text != *name);
    let signs: &[char] = if text.starts_with("{\"") {
        &['"', '\\', '*', '?']
    } else if text.contains(',') && is_plain(text) {
        &[',']
    } else {
        return None;
    };
    let mut named = placeholders.iter().filter(|(name, _)| text.contains(name));
    named.find_map(|(_, value)| {
        let mut signs = signs.iter();
        let sign = signs.find(|sign| value.to_string_lossy().contains(**sign))?;
        Some((*value, *sign))
    })
}

/// The placeholders that an argument holds.
pub(crate) fn named(argument: &str) -> impl Iterator<Item = &'static str> {
    [PROMPT, TREE, EVIDENCE]
        .into_iter()
        .filter(move |name| argument.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_once_and_everything_else_stays() {
        let values: [Placeholder<'_>; 2] = [
            (TREE, OsStr::new("/t/{prompt}")),
            (PROMPT, OsStr::new("/p")),
        ];
        for (argument, filled) in [
            ("{tree}", "/t/{prompt}"),
            ("--in={prompt}:{tree}", "--in=/p:/t/{prompt}"),
            ("{{prompt}}", "{/p}"),
            ("{\"tree\": 1}", "{\"tree\": 1}"),
            ("{evidence}", "{evidence}"),
            ("", ""),
            ("{", "{"),
        ] {
            assert_eq!(fill(argument, &values), filled, "{argument}");
        }
    }

    #[test]
    fn a_path_that_would_be_read_otherwise_is_told() {
        let permission = r#"{"external_directory": {"{tree}/*": "allow"}}"#;
        for (text, path, sign) in [
            ("{tree},{evidence}", "/a,b", Some(',')),
            ("--dirs={tree},{evidence}", "/a,b", Some(',')),
            ("{tree},{evidence}", "/a\"b*", None),
            ("{tree}", "/a,b", None),
            (permission, "/a,b", None),
            (permission, "/a\"b", Some('"')),
            (permission, "/a\\b", Some('\\')),
            (permission, "/a*", Some('*')),
            (permission, "/a?", Some('?')),
        ] {
            let values: [Placeholder<'_>; 2] =
                [(TREE, OsStr::new(path)), (EVIDENCE, OsStr::new("/e"))];
            let told = misread(text, &values);
            assert_eq!(
                told,
                sign.map(|sign| (OsStr::new(path), sign)),
                "{text} {path}"
            );
        }
    }
}
