use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    let glob = Glob::parse(pattern).unwrap();
    for path in yes {
        assert!(glob.matches(path.as_bytes()), "{pattern} matches {path}");
    }
    for path in no {
        assert!(!glob.matches(path.as_bytes()), "{pattern} leaves {path}");
    }
}

#[test]
fn a_star_stays_within_its_component() {
    check(
        "*.lock",
        &["a.lock", ".lock"],
        &["x/a.lock", "a.lock/x", "lock"],
    );
    check(
        "src/*/x",
        &["src/a/x"],
        &["src/x", "src/a/b/x", "src/a/x/y"],
    );
    check("a*b*c", &["abc", "aXbYbc"], &["ab", "acb"]);
}

#[test]
fn two_stars_cross_components() {
    check(
        "docs/**",
        &["docs/a", "docs/a/b"],
        &["docs", "docs2/a", "x/docs/a"],
    );
    check(
        "**/a.md",
        &["a.md", "x/a.md", "x/y/a.md"],
        &["xa.md", "a.md/x"],
    );
    check(
        "a/**/z",
        &["a/z", "a/b/z", "a/b/c/z", "a/z/z"],
        &["az", "a/zz", "b/z"],
    );
    check("**", &["a", "a/b"], &[]);
    check("**/x/**/y/*", &["x/y/z", "a/x/b/y/y/c"], &["x/y", "x/z"]);
}

#[test]
fn a_question_mark_is_one_character() {
    check("?.rs", &["é.rs", "a.rs"], &["ab.rs", ".rs", "/.rs"]);
    assert!(Glob::parse("a?b").unwrap().matches(b"a\xffb"));
    assert!(Glob::parse("*.x").unwrap().matches(b"\xff\xfe.x"));
    assert!(!Glob::parse("*??").unwrap().matches("é".as_bytes()));
}

#[test]
fn a_backslash_takes_the_meaning_away() {
    check(r"\[id\].ts", &["[id].ts"], &["i.ts"]);
    check(r"\*", &["*"], &["a"]);
}

#[test]
fn what_could_mean_two_things_is_refused() {
    for (text, error) in [
        ("", GlobError::Empty),
        ("/a", GlobError::EmptyComponent),
        ("docs/", GlobError::EmptyComponent),
        ("a//b", GlobError::EmptyComponent),
        ("./a", GlobError::Dots),
        ("../a", GlobError::Dots),
        ("a**", GlobError::PartOfComponent),
        ("**.rs", GlobError::PartOfComponent),
        ("[ab]", GlobError::Unsupported('[')),
        ("*.{a,b}", GlobError::Unsupported('{')),
        ("!a", GlobError::Unsupported('!')),
        ("a\\", GlobError::LoneBackslash),
    ] {
        assert_eq!(Glob::parse(text), Err(error), "{text}");
    }
}

/// The reference is a regular expression, which shares nothing with the matcher.
fn reference(pattern: &str) -> regex::Regex {
    let components: Vec<&str> = pattern.split('/').collect();
    let mut text = String::from("^");
    for (i, component) in components.iter().enumerate() {
        let last = i + 1 == components.len();
        match (*component, last) {
            ("**", true) => text.push_str("[^/]*(?:/[^/]*)*"),
            ("**", false) => text.push_str("(?:[^/]*/)*"),
            (name, _) => {
                let name = regex::escape(name);
                text.push_str(&name.replace(r"\*", "[^/]*").replace(r"\?", "[^/]"));
                text.push_str(if last { "" } else { "/" });
            }
        }
    }
    regex::Regex::new(&(text + "$")).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn matches_as_the_regular_expression_does(
        pattern in "(\\*\\*|[ab]?\\*?[ab?]\\*?[a-b]?)(/(\\*\\*|[ab]\\*?|\\*|\\?)){0,4}",
        path in "[abé]{1,3}(/[abé]{1,3}){0,5}",
    ) {
        let glob = Glob::parse(&pattern).unwrap();
        prop_assert_eq!(glob.matches(path.as_bytes()), reference(&pattern).is_match(&path));
    }

    #[test]
    fn a_path_matches_itself_escaped(path in "[^/\\x00]{1,8}(/[^/\\x00]{1,8}){0,3}") {
        let escaped: String = path
            .chars()
            .flat_map(|c| (!c.is_alphanumeric() && c.is_ascii() && c != '/').then_some('\\').into_iter().chain([c]))
            .collect();
        let glob = Glob::parse(&escaped).unwrap();
        prop_assert!(glob.matches(path.as_bytes()));
        let longer = format!("{path}x");
        prop_assert!(!glob.matches(longer.as_bytes()));
    }

    #[test]
    fn never_panics(text in ".{0,20}", path in proptest::collection::vec(any::<u8>(), 0..30)) {
        if let Ok(glob) = Glob::parse(&text) {
            drop(glob.matches(&path).to_string());
        }
    }
}
