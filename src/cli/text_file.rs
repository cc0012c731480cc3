//! A text that an option names a file for: a task or a plan.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

use crate::cli::options;
use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// A text larger than this is refused.
const CAP: u64 = 256 * 1024;

/// An option with a file as its value, found from the control root, as every path but `--worktree`
/// (row M-043).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    /// The option.
    pub(crate) option: &'static str,
    /// Its value.
    pub(crate) given: &'a Path,
    /// Where it is found from.
    pub(crate) root: &'a Path,
    /// Where the command was started: whoever stands in another working tree may mean the file there.
    pub(crate) here: &'a Path,
    /// The command line.
    pub(crate) line: &'a [String],
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) text: String,
    /// That another file of that name lies in the current folder, which whoever stands there may have
    /// meant (scenario T-038: it is not read).
    pub(crate) notice: Option<String>,
}

impl Named<'_> {
    /// Reads the file.
    ///
    /// # Errors
    /// `BadValue`, as [`read`].
    pub(crate) fn read(&self) -> Result<Found, Failure> {
        let Self { option, given, .. } = self;
        let (path, beside) = (self.root.join(given), self.here.join(given));
        match read(option, &path) {
            Ok(text) => {
                let other = read(option, &beside).is_ok_and(|other| other != text);
                let notice = other.then(|| {
                    format!(
                        "{option} {} is found from {}: another file of that name, {}, is not read",
                        given.display(),
                        self.root.display(),
                        beside.display()
                    )
                });
                Ok(Found { path, text, notice })
            }
            Err(failure) if !path.exists() && beside.is_file() => {
                let message = format!(
                    "{}; that is where {option} is found from, and there is one at {}",
                    failure.message,
                    beside.display()
                );
                let shown = beside.to_string_lossy();
                let next = options::with_value(self.line, option, &shown);
                Err(Failure::new(Code::BadValue, message).next(next))
            }
            Err(failure) => Err(failure),
        }
    }
}

/// Reads a regular file of text that is not too large and not blank (rows M-041 and M-042).
///
/// # Errors
/// `BadValue`, naming the option and the file.
pub(crate) fn read(option: &str, path: &Path) -> Result<String, Failure> {
    let refused = |what: &dyn std::fmt::Display| {
        let message = format!("{option} {}: {what}", path.display());
        Failure::new(Code::BadValue, message).next(["ls", "-l", "--", &listable(path)])
    };
    // Opened before it is looked at, and without waiting: a FIFO would hold us for ever. Its errors do
    // not name the path, which stands there already.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty()).map_err(|error| refused(&error))?;
    let file = std::fs::File::from(file);
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

/// The path where there is something, else the nearest folder above it: listing what is not there
/// fails.
pub(crate) fn listable(path: &Path) -> String {
    let there = path
        .ancestors()
        .find(|path| path.symlink_metadata().is_ok());
    there.unwrap_or(path).display().to_string()
}
