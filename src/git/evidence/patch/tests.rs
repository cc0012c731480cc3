use super::*;
use crate::domain::oid::Oid;

fn entry(path: &str, status: FileStatus, lines: Option<(u64, u64)>) -> Entry {
    let oid = |digit: &str| Oid::parse(&digit.repeat(40)).unwrap();
    Entry {
        path: RepoPath::from(path),
        old_path: None,
        status,
        old_mode: "100644".to_owned(),
        new_mode: "100644".to_owned(),
        old_oid: oid("1"),
        new_oid: oid("2"),
        lines,
    }
}

fn modified(path: &str, added: u64, removed: u64) -> Entry {
    entry(path, FileStatus::Modified, Some((added, removed)))
}

const DIFF: &str = "\
diff --git a/x b/x
index 1..2 100644
--- a/x
+++ b/x
@@ -1,3 +1,4 @@ fn
 one
-two
+TWO
+++ b/three
 four
@@ -10 +11,0 @@
-diff --git a/y b/y
\\ No newline at end of file
";

#[test]
fn reads_added_lines_by_the_counts_of_the_hunks() {
    let ranges = read(&mut DIFF.as_bytes(), &[modified("x", 2, 2)]).unwrap();
    assert_eq!(ranges, [vec![(2, 3)]]);
}

#[test]
fn a_diff_cut_anywhere_is_not_whole() {
    let lines: Vec<&str> = DIFF.split_inclusive('\n').collect();
    // The note about the newline alone is no line of the file.
    for count in 0..lines.len() - 1 {
        let cut = lines[..count].concat();
        let result = read(&mut cut.as_bytes(), &[modified("x", 2, 2)]);
        assert!(result.is_err(), "{count} lines");
    }
}

#[test]
fn list_and_diff_name_the_same_files() {
    let two = [modified("x", 2, 2), modified("y", 1, 1)];
    assert!(matches!(
        read(&mut DIFF.as_bytes(), &two),
        Err(Mismatch::NotNamed(path)) if path == RepoPath::from("y")
    ));
    let none: [Entry; 0] = [];
    assert!(matches!(
        read(&mut DIFF.as_bytes(), &none),
        Err(Mismatch::TooMany)
    ));
    assert!(matches!(
        read(&mut DIFF.as_bytes(), &[modified("z", 2, 2)]),
        Err(Mismatch::NotNamed(_))
    ));
    assert!(matches!(
        read(&mut DIFF.as_bytes(), &[modified("x", 2, 3)]),
        Err(Mismatch::NotWhole(_))
    ));
}

#[test]
fn a_very_long_line_is_one_line() {
    let long = "x".repeat(3_000_000);
    let diff = format!(
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+{long}\n+b\n"
    );
    let ranges = read(&mut diff.as_bytes(), &[modified("x", 2, 0)]).unwrap();
    assert_eq!(ranges, [vec![(1, 2)]]);
}

#[test]
fn names_are_quoted_as_git_quotes_them() {
    let quoted = |name: &str| {
        let mut line = Vec::new();
        quote(b"a/", name.as_bytes(), &mut line);
        String::from_utf8(line).unwrap()
    };
    assert_eq!(quoted("a b é"), "a/a b é");
    assert_eq!(quoted("a\"b\\c\n\t\u{1b}"), r#""a/a\"b\\c\n\t\033""#);
}
