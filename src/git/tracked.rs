//! What a working tree's index has.

use std::collections::BTreeSet;
use std::path::Path;

use crate::git::error::Error;
use crate::git::program::Git;

/// The files below a folder of a working tree that git tracks, staged or committed; by their paths from its root.
///
/// # Errors
/// When git cannot be asked.
pub fn tracked(git: &Git, root: &Path, folder: &str) -> Result<BTreeSet<String>, Error> {
    let listing = git.run(
        root,
        ["--literal-pathspecs", "ls-files", "-z", "--", folder],
    )?;
    let paths = listing.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    // No file of ours has another name.
    let paths = paths.filter_map(|path| String::from_utf8(path.to_vec()).ok());
    Ok(paths.collect())
}
