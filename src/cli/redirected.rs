//! Our own output, where it goes into the tree under review: it would be content, and move it.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::{Git, Repository, uncommitted};

/// Refuses to start where standard output or standard error is a file that the snapshot would hold.
///
/// # Errors
/// `OutputInSource`.
pub(crate) fn refuse(git: &Git, repository: &Repository, line: &[String]) -> Result<(), Failure> {
    let streams = [
        ("standard output", file_of(std::io::stdout().as_fd(), 1)),
        ("standard error", file_of(std::io::stderr().as_fd(), 2)),
    ];
    for (stream, file) in streams {
        let Some(file) = file.filter(|file| is_content(repository, file)) else {
            continue;
        };
        if uncommitted::is_ignored(git, repository, &file) {
            continue;
        }
        let message = format!(
            "{stream} goes into {}, which is part of what is reviewed: it would change in every round. \
             Redirect it to a place outside of {}, or to a file that git ignores",
            file.display(),
            repository.source_root.display()
        );
        return Err(Failure::new(Code::OutputInSource, message).next(line.iter().cloned()));
    }
    Ok(())
}

/// The regular file that a stream of ours is, where its name can be told.
fn file_of(stream: BorrowedFd<'_>, number: u8) -> Option<PathBuf> {
    let data = fstat(stream).ok()?;
    if FileType::from_raw_mode(data.st_mode) != FileType::RegularFile {
        return None;
    }
    let path = fs_err::read_link(format!("/proc/self/fd/{number}")).ok()?;
    // One that was removed meanwhile has another name there.
    path.is_file().then_some(path)
}

/// Whether it lies in the working tree, and not in what git keeps there.
fn is_content(repository: &Repository, file: &Path) -> bool {
    let within = |folder: &Path| file.starts_with(folder);
    within(&repository.source_root)
        && !within(&repository.git_dir)
        && !within(&repository.common_dir)
}
