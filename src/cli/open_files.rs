//! How many files may be open at once.

use rustix::process::{Resource, getrlimit};

use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// What the smallest command needs with what it starts.
const LEAST: u64 = 64;

/// Refuses a limit with which nothing works: what then lacks a file is met in the middle of things.
///
/// # Errors
/// When fewer may be open.
pub(super) fn enough() -> Result<(), Failure> {
    let Some(most) = getrlimit(Resource::Nofile)
        .current
        .filter(|most| *most < LEAST)
    else {
        return Ok(());
    };
    let message = format!(
        "{most} files may be open at once here (ulimit -n), and nothing works with fewer than {LEAST}"
    );
    Err(Failure::new(Code::StateUnwritable, message).next(["sh", "-c", "ulimit -Hn"]))
}
