use std::fs::File;

use super::{Locked, Sharing};

/// The same file opened anew: another holder's view of it.
fn anew(file: &tempfile::NamedTempFile) -> File {
    File::open(file.path()).unwrap()
}

/// A descriptor that a forked process still has is a duplicate: it shares the open file.
#[test]
fn a_lock_given_back_is_free_although_the_open_file_is_shared() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for sharing in [Sharing::Exclusive, Sharing::Shared] {
        let opened = anew(&file);
        let inherited = opened.try_clone().unwrap();
        let held = Locked::attempt(opened, sharing).unwrap().unwrap();
        assert!(
            Locked::attempt(anew(&file), Sharing::Exclusive)
                .unwrap()
                .is_none()
        );
        drop(held);
        assert!(
            Locked::attempt(anew(&file), Sharing::Exclusive)
                .unwrap()
                .is_some(),
            "{sharing:?}"
        );
        drop(inherited);
    }
}

#[test]
fn holders_exclude_each_other_and_those_who_share_do_not() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let one = Locked::attempt(anew(&file), Sharing::Shared)
        .unwrap()
        .unwrap();
    let two = Locked::wait(anew(&file), Sharing::Shared).unwrap();
    assert!(
        Locked::attempt(anew(&file), Sharing::Exclusive)
            .unwrap()
            .is_none()
    );
    drop((one, two));
    let held = Locked::attempt_past_probes(anew(&file)).unwrap().unwrap();
    assert!(Locked::attempt_past_probes(anew(&file)).unwrap().is_none());
    assert!(
        Locked::attempt(anew(&file), Sharing::Shared)
            .unwrap()
            .is_none()
    );
    drop(held);
}

/// A probe shares for a moment; whoever locks meanwhile is not refused.
#[test]
fn probes_never_keep_a_holder_out() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_owned();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                drop(Locked::attempt(File::open(&path).unwrap(), Sharing::Shared).unwrap());
            }
        });
        for _ in 0..200 {
            assert!(Locked::attempt_past_probes(anew(&file)).unwrap().is_some());
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
