//! Reports as they may be committed: `git diff --check` has nothing to say about them (row M-087).

/// The same text without trailing blanks, blank lines at its end, blanks before a tab in an
/// indent, and lines that git takes for conflict markers (those get one blank in front).
pub(super) fn clean(report: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = report
        .split(|byte| *byte == b'\n')
        .map(clean_line)
        .collect();
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    let mut text = lines.join(&b'\n');
    if !text.is_empty() {
        text.push(b'\n');
    }
    text
}

fn clean_line(line: &[u8]) -> Vec<u8> {
    let end = line
        .iter()
        .rposition(|byte| !is_blank(*byte))
        .map_or(0, |last| last + 1);
    let line = &line[..end];
    let text = line
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t'))
        .unwrap_or(line.len());
    let (indent, text) = line.split_at(text);
    // Blanks after the last tab of the indent stand for themselves; those before it do not.
    let last_tab = indent.iter().rposition(|byte| *byte == b'\t');
    let tabs = indent.iter().copied().filter(|byte| *byte == b'\t');
    let mut clean: Vec<u8> = tabs.collect();
    clean.extend_from_slice(last_tab.map_or(indent, |last| &indent[last + 1..]));
    if clean.is_empty() && is_marker(text) {
        clean.push(b' ');
    }
    clean.extend_from_slice(text);
    clean
}

/// What git's `isspace` takes off the end of a line.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

/// Whether git's check takes the line for a conflict marker: seven alike, then a blank or the end.
fn is_marker(line: &[u8]) -> bool {
    let Some(first @ (b'<' | b'>' | b'=' | b'|')) = line.first() else {
        return false;
    };
    line.len() >= 7
        && line[..7].iter().all(|byte| byte == first)
        && line.get(7).is_none_or(|byte| is_blank(*byte))
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn what_git_diff_check_complains_about_is_taken_off() {
        let report = b"# Review \t\r\n \t x\n  y\n=======\n<<<<<<< HEAD\n<<<<<<<x\n\n  \n\n";
        let expected = b"# Review\n\t x\n  y\n =======\n <<<<<<< HEAD\n<<<<<<<x\n";
        assert_eq!(clean(report), expected);
        assert_eq!(clean(expected), expected, "cleaning twice changes nothing");
    }

    #[test]
    fn a_clean_report_stays_as_it_is_and_an_open_end_is_closed() {
        assert_eq!(clean(b"a\n\nb\n"), b"a\n\nb\n");
        assert_eq!(clean(b"a"), b"a\n");
        assert_eq!(clean(b""), b"");
    }
}
