//! `VERSIONS.md` keeps its shape and names the version that is built.

#[test]
fn the_newest_entry_is_this_version_or_unreleased() {
    let text = std::fs::read_to_string("VERSIONS.md").unwrap();
    let headings: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let newest = headings.first().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        newest.starts_with("Unreleased") || newest.starts_with(version),
        "{newest}"
    );
    for kind in text.lines().filter_map(|line| line.strip_prefix("### ")) {
        let known = [
            "Added",
            "Changed",
            "Deprecated",
            "Removed",
            "Fixed",
            "Security",
            "Known limits",
        ];
        assert!(known.contains(&kind), "{kind} is no kind of change");
    }
}
