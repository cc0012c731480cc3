//! The quotes of git's own files: of its configuration and of its lists of paths.

/// Writes a value in quotes that both read.
pub(crate) fn quote(text: &mut Vec<u8>, value: &[u8]) {
    text.push(b'"');
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            other => text.push(*other),
        }
    }
    text.push(b'"');
}

/// Reads the C-style quotes of a list of paths; `None` when they are none.
pub(crate) fn unquote(line: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = line.strip_prefix(b"\"")?.iter().copied();
    let mut text = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => return bytes.next().is_none().then_some(text),
            b'\\' => match bytes.next()? {
                b'n' => text.push(b'\n'),
                b't' => text.push(b'\t'),
                b'r' => text.push(b'\r'),
                b'a' => text.push(7),
                b'b' => text.push(8),
                b'f' => text.push(12),
                b'v' => text.push(11),
                high @ b'0'..=b'3' => {
                    let octal = |byte: u8| matches!(byte, b'0'..=b'7').then(|| byte - b'0');
                    let (middle, low) = (octal(bytes.next()?)?, octal(bytes.next()?)?);
                    text.push((high - b'0') << 6 | middle << 3 | low);
                }
                other @ (b'"' | b'\\') => text.push(other),
                _ => return None,
            },
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quote, unquote};

    #[test]
    fn what_is_quoted_is_read_back() {
        for path in [
            &b"/a/b"[..],
            b"/with\nbreak",
            b"/quo\"te\\slash",
            b"/bytes\xff",
        ] {
            let mut text = Vec::new();
            quote(&mut text, path);
            assert_eq!(unquote(&text).as_deref(), Some(path));
        }
        assert_eq!(
            unquote(br#""/caf\303\251""#).as_deref(),
            Some("/café".as_bytes())
        );
        assert_eq!(unquote(br#""/open"#), None);
        assert_eq!(unquote(br#""/a"b"#), None);
    }
}
