//! Whitespace errors, as `git diff --check` knows them by default.

/// What is wrong with a line, if something is.
pub(crate) fn find(text: &[u8]) -> Option<&'static str> {
    if text.last().is_some_and(|byte| b" \t".contains(byte)) {
        return Some("trailing blanks");
    }
    let indent = text
        .iter()
        .position(|byte| !b" \t".contains(byte))
        .unwrap_or(text.len());
    text[..indent]
        .windows(2)
        .any(|pair| pair == b" \t")
        .then_some("space before tab in the indent")
}
