//! Who lives in a process group, as the kernel says.

use std::io;

use rustix::process::Pid;

/// What is known of a group beside its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Members {
    /// Nobody lives in it.
    None,
    /// Somebody does.
    Some,
    /// The kernel does not tell (no `/proc`).
    Unknown,
}

impl Members {
    /// Looks for living members of the leader's group, the leader itself left out.
    ///
    /// `kill(-group, 0)` cannot tell: our unreaped leader, kept so that its number is not given
    /// away, counts as a member, and so do zombies that nobody reaps.
    pub(crate) fn beside(leader: Pid) -> Self {
        Self::scan(leader).unwrap_or(Self::Unknown)
    }

    fn scan(leader: Pid) -> io::Result<Self> {
        let leader = leader.as_raw_nonzero().get();
        let mut leader_seen = false;
        for entry in fs_err::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let stat = match fs_err::read(format!("/proc/{pid}/stat")) {
                Ok(stat) => stat,
                // Gone in between: `open` says not found, `read` says no such process.
                Err(error) if is_gone(&error) => continue,
                Err(error) => return Err(error),
            };
            let Some((state, group)) = state_and_group(&stat) else {
                return Err(io::Error::other("unreadable process state"));
            };
            if pid == leader {
                leader_seen = true;
            } else if group == leader && !matches!(state, b'Z' | b'X') {
                return Ok(Self::Some);
            }
        }
        // Our unreaped leader is there; a listing without it is not the kernel's.
        Ok(if leader_seen {
            Self::None
        } else {
            Self::Unknown
        })
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// State and process group of a line `pid (name) state ppid group …`; names hold anything.
fn state_and_group(stat: &[u8]) -> Option<(u8, i32)> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.bytes().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some((state, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let line = b"42 (a) Z 1 (b) S 7 40 40 0 -1";
        assert_eq!(state_and_group(line), Some((b'S', 40)));
        assert_eq!(state_and_group(b"42 (a"), None);
    }
}
