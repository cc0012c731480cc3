//! Taking the capabilities of root away, before which the kernel hides nothing and refuses nothing.

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

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
