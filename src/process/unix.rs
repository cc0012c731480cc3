//! What the standard library cannot do between fork and exec: `unsafe`, as nowhere else but in
//! `git::read::library::opening`, which sets a global of libgit2's.

use std::ffi::CString;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use landlock::RulesetStatus;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities,
};

use crate::process::confine::Rules;

/// Makes the kernel kill the child when the thread that starts it dies, however it dies.
///
/// It reaches the child alone and not what the child starts: the last resort for a guard that was
/// killed, when nobody else is left to end its job.
#[expect(
    unsafe_code,
    reason = "a death signal can only be asked for by the child itself, before its program runs"
)]
pub(crate) fn die_with_this_thread(command: &mut Command) {
    let parent = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // A parent that died before the line above would never be told of.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::Error::from(Errno::SRCH))
        }
    };
    // SAFETY: `ask` makes three system calls and touches no lock, no memory of other threads and
    // no allocator (an `io::Error` of an errno holds none), so it may run between fork and exec.
    unsafe { command.pre_exec(ask) };
}

/// Makes a write beyond a limit on the size of files (`ulimit -f`) an error for this process: by default the
/// kernel ends it in the middle of what it does. A handler that does nothing, and not "ignored": programs that
/// are started have the default again.
#[expect(unsafe_code, reason = "the standard library sets no handlers")]
pub fn outlive_file_size_limits() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: the handler touches nothing at all, so it may run between any two instructions.
    unsafe { libc::signal(libc::SIGXFSZ, handler as libc::sighandler_t) };
}

/// Puts the child in a session of its own, without a terminal, and makes the kernel kill it when the thread
/// that starts it dies.
#[expect(
    unsafe_code,
    reason = "a session can only be made by the child itself, before its program runs"
)]
pub(crate) fn apart(command: &mut Command) {
    die_with_this_thread(command);
    let leave = || {
        setsid()?;
        Ok(())
    };
    // SAFETY: `leave` makes one system call and touches no lock, no memory of other threads and no
    // allocator (an `io::Error` of an errno holds none), so it may run between fork and exec.
    unsafe { command.pre_exec(leave) };
}

/// What a child whose rules do not hold fails with; no program's start fails with it.
pub(crate) const NOT_CONFINED: Errno = Errno::NOTRECOVERABLE;

/// Applies rules to the child, and proves by opening that they hold and that it is not blind.
#[expect(
    unsafe_code,
    reason = "rules hold for who asks for them, so the child itself must, before its program runs"
)]
pub(crate) fn confine(command: &mut Command, rules: Rules) {
    let Rules {
        ruleset,
        open,
        closed,
    } = rules;
    let mut ruleset = Some(ruleset);
    let opens = |path: &CString| {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::open(path.as_c_str(), flags, Mode::empty()).is_ok()
    };
    let apply = move || {
        let holds = ruleset
            .take()
            .and_then(|ruleset| ruleset.restrict_self().ok())
            .is_some_and(|status| status.ruleset != RulesetStatus::NotEnforced)
            && sees_no_other().is_ok();
        if holds && open.iter().all(opens) && !closed.iter().any(opens) {
            Ok(())
        } else {
            Err(io::Error::from(NOT_CONFINED))
        }
    };
    // SAFETY: the guard has one thread, so that no lock (the allocator's among them) is held by
    // another one across the fork; besides that `apply` makes system calls alone.
    unsafe { command.pre_exec(apply) };
}

/// Capabilities with which a process looks into others, and into their environment, whatever its rules say:
/// those of root.
const SEES_OTHERS: [CapabilitySet; 6] = [
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::PERFMON,
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::BPF,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_RAWIO,
];

/// Gives those up for good: whoever has rules gains nothing by running another program.
fn sees_no_other() -> rustix::io::Result<()> {
    let lost = SEES_OTHERS
        .into_iter()
        .fold(CapabilitySet::empty(), CapabilitySet::union);
    let own = capabilities(None)?;
    if !own.permitted.intersects(lost) {
        return Ok(());
    }
    for capability in SEES_OTHERS {
        // Not everybody may; what follows holds all the same.
        let _ = remove_capability_from_bounding_set(capability);
    }
    set_capabilities(
        None,
        CapabilitySets {
            effective: own.effective.difference(lost),
            permitted: own.permitted.difference(lost),
            inheritable: own.inheritable.difference(lost),
        },
    )
}

/// Whether the kernel runs this program by itself, as far as its first bytes tell: a script with a
/// first line, or of the format of the running program.
///
/// With anything between fork and exec the standard library uses `execvp`, which hands a file of a
/// format that the kernel does not know to `/bin/sh`.
pub(crate) fn is_run_by_the_kernel(program: &Path) -> bool {
    match (head(program), head(Path::new("/proc/self/exe"))) {
        (Some(program), Some(own)) => {
            // What stands between says which system it is for, which the kernel does not ask.
            program.starts_with(b"#!") || (program[..7] == own[..7] && program[18..] == own[18..])
        }
        (None, _) | (_, None) => false,
    }
}

/// Magic number, class, order of bytes and version, and (18, 19) the machine.
fn head(path: &Path) -> Option<[u8; 20]> {
    let mut head = [0; 20];
    let mut file = fs_err::File::open(path).ok()?.take(20);
    let mut length = 0;
    while let read @ 1.. = file.read(&mut head[length..]).ok()? {
        length += read;
    }
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_files_of_no_known_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        assert!(is_run_by_the_kernel(Path::new("/bin/sh")));
        assert!(!is_run_by_the_kernel(&path), "nothing there");
        for (content, expected) in [
            ("#!x", true),
            ("", false),
            ("echo hello, world, hello", false),
        ] {
            fs_err::write(&path, content).unwrap();
            assert_eq!(is_run_by_the_kernel(&path), expected, "{content}");
        }
        let mut other = fs_err::read("/proc/self/exe").unwrap();
        // `UNIX - GNU`, as linkers write of a program with indirect functions, or `UNIX - System V`.
        other[7] ^= 3;
        fs_err::write(&path, &other).unwrap();
        assert!(is_run_by_the_kernel(&path), "of the GNU system");
        other[18] ^= 1;
        fs_err::write(&path, other).unwrap();
        assert!(!is_run_by_the_kernel(&path), "of another machine");
    }
}
