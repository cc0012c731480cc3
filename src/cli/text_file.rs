//! A text that an option names a file for: a task or a plan.

use std::io::Read as _;
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt as _;
use rustix::fs::OFlags;

use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// A text larger than this is refused.
const CAP: u64 = 256 * 1024;

/// Reads a regular file of text that is not too large and not blank (rows M-041 and M-042).
///
/// # Errors
/// `BadValue`, naming the option and the file.
pub(crate) fn read(option: &str, path: &Path) -> Result<String, Failure> {
    let refused = |what: &dyn std::fmt::Display| {
        let shown = path.display().to_string();
        Failure::new(Code::BadValue, format!("{option} {shown}: {what}"))
            .next(["ls", "-l", "--", &shown])
    };
    // Opened before it is looked at, and without waiting: a FIFO would hold us for ever.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::CLOEXEC).bits()).unwrap_or_default();
    let file = fs_err::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| refused(&error))?;
    let data = file.metadata().map_err(|error| refused(&error))?;
    if !data.is_file() {
        return Err(refused(&"it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(CAP + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > CAP {
        return Err(refused(&format!("it has more than {CAP} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused(&"it is not UTF-8"))?;
    if text.trim().is_empty() {
        return Err(refused(&"it is blank"));
    }
    Ok(text)
}
