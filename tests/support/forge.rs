//! Objects that do not hold what their ids stand for.

use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::repo::{self, Repo};

/// The bytes of an object, as git has them.
pub fn bytes_of(repo: &Repo, kind: &str, id: &str) -> Vec<u8> {
    let output = repo::git_command(repo.root())
        .args(["cat-file", kind, id])
        .output()
        .unwrap();
    assert!(output.status.success());
    output.stdout
}

fn file_of(repo: &Repo, id: &str) -> PathBuf {
    let (folder, name) = id.split_at(2);
    repo.root().join(".git/objects").join(folder).join(name)
}

/// Puts bytes under an id that is not theirs.
pub fn forge(repo: &Repo, id: &str, kind: &str, bytes: &[u8]) {
    let file = file_of(repo, id);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    drop(std::fs::remove_file(&file));
    let mut stream = ZlibEncoder::new(Vec::new(), Compression::default());
    write!(stream, "{kind} {}\0", bytes.len()).unwrap();
    stream.write_all(bytes).unwrap();
    std::fs::write(&file, stream.finish().unwrap()).unwrap();
}
