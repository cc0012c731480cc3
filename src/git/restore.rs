//! Commands that bring back what a job lost (design, section 4).

use std::path::Path;

use crate::domain::identity::Pin;
use crate::domain::path::RepoPath;

/// The command that prints a path as the pin held it; the store's git directory is absolute.
///
/// The snapshot stays in the review store for as long as the run is kept. A path that is not UTF-8
/// cannot stand in an argument that is stored as text, so that the whole snapshot is unpacked.
#[must_use]
pub fn command(store_git_dir: &Path, pin: &Pin, path: &RepoPath) -> Vec<String> {
    let store = format!("--git-dir={}", store_git_dir.display());
    let snapshot = &pin.snapshot;
    let words = match path.as_str() {
        Some(path) => vec!["show".to_owned(), format!("{snapshot}:{path}")],
        None => vec![
            "archive".to_owned(),
            format!("--output=snapshot-{}.tar", snapshot.short()),
            snapshot.to_string(),
        ],
    };
    ["git".to_owned(), store].into_iter().chain(words).collect()
}
