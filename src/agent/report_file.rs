//! Reading a report from the file an agent was told to write.

use std::io::Read as _;

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::agent::folder::Folder;

/// The largest report: what promoted evidence may hold (design, section 7).
pub const REPORT_CAP: usize = 1 << 20;

/// What lies where the report should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportFile {
    /// Nothing.
    Missing,
    /// Something that is no report, and what.
    Unusable(String),
    /// The report, read once.
    Bytes(Vec<u8>),
}

/// Reads a report. Only for jobs whose processes are gone.
///
/// The file must be a regular one of ours under no other name: a link of any kind would let an
/// agent hand over a file that it did not write, or change it after it was read.
pub(crate) fn read(folder: &Folder, name: &str) -> ReportFile {
    let unusable = |what: &str| ReportFile::Unusable(format!("the report file {what}"));
    let file = match folder.read(name) {
        Ok(file) => file,
        Err(Errno::NOENT) => return ReportFile::Missing,
        Err(Errno::LOOP) => return unusable("is a symbolic link"),
        Err(Errno::NXIO) => return unusable("is a socket"),
        Err(errno) => return unusable(&format!("cannot be opened: {errno}")),
    };
    let stat = match fstat(&file) {
        Ok(stat) => stat,
        Err(errno) => return unusable(&format!("cannot be looked at: {errno}")),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return unusable("is a folder"),
        FileType::Fifo => return unusable("is a FIFO"),
        FileType::Symlink
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return unusable("is no regular file"),
    }
    if stat.st_uid != geteuid().as_raw() {
        return unusable("belongs to another user");
    }
    if stat.st_nlink != 1 {
        return unusable("has another name too (a hard link)");
    }
    let mut bytes = Vec::new();
    // One byte more than allowed: a file that grows meanwhile is too large as well.
    let limit = REPORT_CAP as u64 + 1;
    let path = folder.path().join(name);
    if let Err(error) = fs_err::File::from_parts(file.into(), path)
        .take(limit)
        .read_to_end(&mut bytes)
    {
        return unusable(&format!("cannot be read: {error}"));
    }
    if bytes.len() > REPORT_CAP {
        return unusable(&format!("is larger than {REPORT_CAP} bytes"));
    }
    ReportFile::Bytes(bytes)
}
