//! Taking the capabilities of root away, before which the kernel hides nothing and refuses nothing.

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use rustix::thread::CapabilitySet;

/// The words before a program that runs without them: none for who has none; `None` where nobody can take
/// them away.
pub fn without_capabilities() -> Option<&'static [&'static str]> {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return Some(&[]);
    }
    let there = Command::new("setpriv").arg("--version").output();
    there.ok()?;
    Some(&["setpriv", "--bounding-set=-all", "--inh-caps=-all"])
}

/// Does something in a thread of its own that may read no more than its user may, be it root, and neither
/// may any thread or program that it starts.
pub fn reading_as_anybody<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            read_as_anybody();
            act()
        });
        thread
            .join()
            .unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
    })
}

/// In this thread alone: a thread has capabilities of its own.
fn read_as_anybody() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let gone = [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH];
    for capability in gone {
        // Else a program that root starts has it again.
        if rustix::thread::capability_is_in_bounding_set(capability).unwrap() {
            rustix::thread::remove_capability_from_bounding_set(capability).unwrap();
        }
    }
    let mut sets = rustix::thread::capabilities(None).unwrap();
    for set in [
        &mut sets.effective,
        &mut sets.permitted,
        &mut sets.inheritable,
    ] {
        set.remove(gone[0] | gone[1]);
    }
    rustix::thread::set_capabilities(None, sets).unwrap();
}
