//! Names that a Makefile or a justfile defines.

/// Names that people give to what must pass.
const WANTED: [&str; 3] = ["check", "test", "lint"];

/// Those of the wanted names that the file defines, in our order.
///
/// `check` stands for everything else where it is there: by the conventions of both programs.
pub(super) fn defined(text: &str) -> Vec<&'static str> {
    let has = |name: &str| text.lines().any(|line| is_rule(line, name));
    let found: Vec<&str> = WANTED.into_iter().filter(|name| has(name)).collect();
    match found.first() {
        Some(&"check") => vec!["check"],
        Some(_) | None => found,
    }
}

/// Whether a line is the rule of this name: at its start, followed by a colon that assigns nothing.
fn is_rule(line: &str, name: &str) -> bool {
    let Some((head, rest)) = line.split_once(':') else {
        return false;
    };
    // A recipe of just may have parameters: `test *args:`.
    let mut words = head.split_whitespace();
    let begins = !head.starts_with(char::is_whitespace) && words.next() == Some(name);
    let needs_none = words.all(|word| word.starts_with('*') || word.contains('='));
    let assigns = rest.starts_with('=') || rest.starts_with(":=");
    begins && needs_none && !assigns
}

#[cfg(test)]
mod tests {
    use super::defined;

    #[test]
    fn rules_are_told_from_variables_recipes_and_other_names() {
        for (text, expected) in [
            ("test:\n\tcargo test\n", &["test"][..]),
            ("test: build\n\tx\nlint :\n\ty\n", &["test", "lint"]),
            ("test:= 1\nlint ::= 2\n", &[]),
            ("\ttest:\n  check:\n", &[]),
            ("tests:\ncheck-all:\n", &[]),
            ("check: test lint\ntest:\nlint:\n", &["check"]),
            ("# test: of nothing\n.PHONY: test\n", &[]),
            ("test *args:\n    cargo test\n", &["test"]),
            ("test which:\n    cargo test {{which}}\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(defined(text), expected, "{text:?}");
        }
    }
}
