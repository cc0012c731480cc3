//! An index that says other folders than its entries are.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::repo::git;

fn bytes_of(id: &str) -> Vec<u8> {
    let digits = id.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn index_of(root: &Path) -> PathBuf {
    root.join(git(root, &["rev-parse", "--git-path", "index"]))
}

/// Puts ids in the places of others in the index.
pub fn exchange<'a>(root: &Path, ids: impl Iterator<Item = (&'a String, &'a String)>) {
    let file = index_of(root);
    let mut index = std::fs::read(&file).unwrap();
    for (old, new) in ids {
        let (old, new) = (bytes_of(old), bytes_of(new));
        let places: Vec<usize> = (0..index.len() - old.len())
            .filter(|at| index[*at..].starts_with(&old))
            .collect();
        let [at] = *places else {
            unreachable!("{places:?}")
        };
        index[at..at + new.len()].copy_from_slice(&new);
    }
    let zeros = index.len() - 20;
    index[zeros..].fill(0);
    std::fs::write(&file, index).unwrap();
}

/// Makes all files older than the index: what git doubts it enters again, with its folders.
pub fn age(root: &Path) {
    for path in git(root, &["ls-files"]).lines() {
        let path = root.join(path);
        if path.is_file() {
            let old = UNIX_EPOCH + Duration::from_secs(1_600_000_000);
            let file = std::fs::File::open(path).unwrap();
            file.set_modified(old).unwrap();
        }
    }
    git(root, &["update-index", "-q", "--refresh"]);
}

/// Stages another text of a tracked file in a folder, in an index that says the folders of HEAD.
#[track_caller]
pub fn hide(root: &Path, folder: &str, file: &str, text: &str, options: &[&str]) {
    let path = format!("{folder}/{file}");
    let ids = |tree: &str| {
        let folder = format!("{tree}:{folder}");
        [tree, &folder].map(|name| git(root, &["rev-parse", name]))
    };
    let before = ids("HEAD^{tree}");
    std::fs::write(root.join(&path), text).unwrap();
    git(root, &["add", "--", &path]);
    age(root);
    git(root, &[&["update-index"], options].concat());
    let after = ids(&git(root, &["write-tree"]));
    exchange(root, after.iter().zip(&before));
    let status = ["status", "--porcelain", "--untracked-files=all"];
    assert_eq!(git(root, &status), "", "git overlooks it");
}
