//! Kinds of files, and one kind in another's place.

use std::os::unix::net::UnixListener;

use run_loop::domain::code::Code;

use crate::support::repo::{Repo, pipe};
use crate::trial::{chmod, link, refused, remove, same};

fn fifo(repo: &Repo, path: &str) {
    pipe(&repo.root().join(path));
}

#[test]
fn file_to_folder() {
    let repo = Repo::new();
    remove(&repo, "README.md");
    repo.write("README.md/inside.txt", "x");
    same(&repo).shows("README.md/inside.txt", "x");
}

#[test]
fn folder_to_file() {
    let repo = Repo::new();
    remove(&repo, "src");
    repo.write("src", "x");
    same(&repo).shows("src", "x");
}

#[test]
fn file_to_link() {
    let repo = Repo::new();
    remove(&repo, "README.md");
    link(&repo, "src/lib.rs", "README.md");
    same(&repo)
        .has_mode("README.md", "120000")
        .shows("README.md", "src/lib.rs");
}

#[test]
fn link_to_file() {
    let repo = Repo::new();
    link(&repo, "README.md", "link");
    repo.commit("link");
    remove(&repo, "link");
    repo.write("link", "README.md");
    same(&repo).has_mode("link", "100644");
}

/// What lies behind the link is no content of this tree.
#[test]
fn folder_to_link() {
    let repo = Repo::new();
    let elsewhere = repo.beside("elsewhere");
    std::fs::rename(repo.root().join("src"), &elsewhere).unwrap();
    link(&repo, "../elsewhere", "src");
    same(&repo)
        .has_mode("src", "120000")
        .shows("src", "../elsewhere");
}

#[test]
fn link_to_folder() {
    let repo = Repo::new();
    link(&repo, "src", "link");
    repo.commit("link");
    remove(&repo, "link");
    repo.write("link/lib.rs", "x");
    same(&repo).shows("link/lib.rs", "x");
}

#[test]
fn links_that_lead_nowhere_or_out() {
    let repo = Repo::new();
    link(&repo, "/etc/passwd", "out");
    link(&repo, "nowhere", "dangling");
    link(&repo, "loop", "loop");
    link(&repo, ".", "here");
    same(&repo)
        .shows("out", "/etc/passwd")
        .shows("dangling", "nowhere")
        .shows("loop", "loop")
        .shows("here", ".");
}

/// A FIFO is read by nobody, so nobody waits; a tree without the file would be a deletion.
#[test]
fn file_to_fifo_is_refused() {
    let repo = Repo::new();
    remove(&repo, "README.md");
    fifo(&repo, "README.md");
    refused(&repo, Code::SnapshotRefused, "README.md");
}

#[test]
fn link_to_fifo_is_refused() {
    let repo = Repo::new();
    link(&repo, "README.md", "link");
    repo.commit("link");
    remove(&repo, "link");
    fifo(&repo, "link");
    refused(&repo, Code::SnapshotRefused, "link");
}

/// Git holds none of them, so what comes in their place is new.
#[test]
fn fifo_to_file_folder_and_link() {
    let repo = Repo::new();
    for name in ["one", "two", "three"] {
        fifo(&repo, name);
    }
    same(&repo).is_clean();
    for name in ["one", "two", "three"] {
        remove(&repo, name);
    }
    repo.write("one", "x");
    repo.write("two/inside.txt", "x");
    link(&repo, "README.md", "three");
    same(&repo)
        .shows("one", "x")
        .shows("two/inside.txt", "x")
        .has_mode("three", "120000");
}

#[test]
fn file_to_socket_is_refused() {
    let repo = Repo::new();
    remove(&repo, "README.md");
    let socket = UnixListener::bind(repo.root().join("README.md")).unwrap();
    refused(&repo, Code::SnapshotRefused, "README.md");
    drop(socket);
}

#[test]
fn untracked_fifo_and_socket() {
    let repo = Repo::new();
    fifo(&repo, "src/fifo");
    let socket = UnixListener::bind(repo.root().join("socket")).unwrap();
    same(&repo).lacks("src/fifo").lacks("socket").is_clean();
    drop(socket);
}

#[test]
fn folder_to_fifo() {
    let repo = Repo::new();
    remove(&repo, "src");
    fifo(&repo, "src");
    same(&repo).lacks("src/lib.rs");
}

#[test]
fn empty_file() {
    let repo = Repo::new();
    repo.write("empty", "");
    repo.write("README.md", "");
    same(&repo).shows("empty", "").shows("README.md", "");
}

#[test]
fn empty_folder() {
    let repo = Repo::new();
    std::fs::create_dir_all(repo.root().join("empty/deep")).unwrap();
    same(&repo).is_clean();
}

#[test]
fn mode_only() {
    let repo = Repo::new();
    chmod(&repo.root().join("README.md"), 0o755);
    same(&repo).has_mode("README.md", "100755");
}

/// Git knows one bit of a mode alone.
#[test]
fn modes_that_git_does_not_know() {
    let repo = Repo::new();
    chmod(&repo.root().join("README.md"), 0o4700);
    chmod(&repo.root().join("src/lib.rs"), 0o600);
    same(&repo)
        .has_mode("README.md", "100755")
        .has_mode("src/lib.rs", "100644");
}

#[test]
fn hard_links() {
    let repo = Repo::new();
    let name = |name: &str| repo.root().join(name);
    std::fs::hard_link(name("README.md"), name("twin.md")).unwrap();
    repo.write("README.md", "# Both\n");
    same(&repo)
        .shows("README.md", "# Both\n")
        .shows("twin.md", "# Both\n");
}

#[test]
fn large_sparse_file() {
    let repo = Repo::new();
    let file = std::fs::File::create(repo.root().join("large.bin")).unwrap();
    file.set_len(20_000_000).unwrap();
    same(&repo).has_mode("large.bin", "100644");
}

#[test]
fn two_thousand_files() {
    let repo = Repo::new();
    for number in 0..1_000 {
        repo.write(&format!("d{}/f{number}.txt", number % 40), "tracked\n");
    }
    repo.commit("many");
    for number in 0..1_000 {
        repo.write(&format!("d{}/n{number}.txt", number % 40), "new\n");
    }
    for number in 0..300 {
        let text = format!("edited {number}\n");
        repo.write(&format!("d{}/f{number}.txt", number % 40), text);
    }
    same(&repo)
        .shows("d7/f7.txt", "edited 7\n")
        .shows("d39/n999.txt", "new\n");
}
