//! Every kind of hazard has a test, and every test is of a kind that is listed.

use std::collections::BTreeSet;
use std::process::Command;

/// One name for each line; a line that starts with `#` is a heading.
const KINDS: &str = include_str!("kinds.txt");

fn tests(more: &[&str]) -> BTreeSet<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_kind_has_a_test_and_every_test_a_kind() {
    let kinds: Vec<String> = KINDS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let known: BTreeSet<String> = kinds.iter().cloned().collect();
    assert_eq!(kinds.len(), known.len(), "a kind is listed twice");
    assert!(known.len() >= 65, "{}", known.len());
    let mut tests = tests(&[]);
    tests.retain(|name| !name.starts_with("named::"));
    let missing: Vec<_> = known.difference(&tests).collect();
    assert!(missing.is_empty(), "kinds without a test: {missing:?}");
    let unknown: Vec<_> = tests.difference(&known).collect();
    assert!(unknown.is_empty(), "tests of no listed kind: {unknown:?}");
}

#[test]
fn none_is_left_out() {
    assert_eq!(tests(&["--ignored"]), BTreeSet::new());
}
