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
}
