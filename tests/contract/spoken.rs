//! Nothing is told to an agent that nobody has read: every text of every template stands in a snapshot.
#![expect(clippy::disallowed_methods, reason = "the snapshots are read")]

use std::path::Path;

use run_loop::contract::prompt::own::known;

/// What stands between the tags of a template, line by line.
fn texts(template: &str) -> Vec<String> {
    let mut bare = template.to_owned();
    for (opens, closes) in [("{{", "}}"), ("{%", "%}")] {
        while let Some(start) = bare.find(opens) {
            let end = start + bare[start..].find(closes).unwrap() + closes.len();
            bare.replace_range(start..end, "\n");
        }
    }
    let lines = bare.lines().map(str::trim);
    let told = lines.filter(|line| line.contains(char::is_alphabetic));
    told.map(str::to_owned).collect()
}

/// Issue 5, item 7: a rendered example of each is a reviewed snapshot.
#[test]
fn every_text_of_every_template_stands_in_a_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract/snapshots");
    let mut read = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        read.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    let mut unread = Vec::new();
    let mut count = 0;
    for template in known() {
        for text in texts(template.text) {
            count += 1;
            if !read.contains(&text) {
                unread.push(format!("{}: {text}", template.name));
            }
        }
    }
    assert!(count > 200, "{count} texts");
    assert!(unread.is_empty(), "{}", unread.join("\n"));
}
