//! The home of randomness.

use rustix::rand::{GetRandomFlags, getrandom};

/// 32 bytes from the operating system's generator.
///
/// # Errors
/// When the operating system gives none; nothing that rests on it may go on then.
pub(crate) fn bytes() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}
