//! Changes that the size, the times that can be set, or a look at the wrong moment do not show.
//! Each is tried within a run and between two.

use std::cell::Cell;
use std::fs::{File, FileTimes, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use run_loop::domain::code::Code;
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::fixture::World;
use crate::poison::{scrubbed, scrubbed_in};
use crate::support::repo::git;
use crate::support::skipped;

/// Does something to a file, and sets its time of modification back.
fn keeping_its_time(path: &Path, edit: impl FnOnce(&Path)) {
    let time = std::fs::metadata(path).unwrap().modified().unwrap();
    edit(path);
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

fn overwrite(path: &Path) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(b"2222\n", 0).unwrap();
}

#[track_caller]
fn run(program: &str, args: &[&Path]) {
    assert!(Command::new(program).args(args).status().unwrap().success());
}

/// Pages that were read before they are stored to: on a memory file system no time changes at all.
#[test]
#[expect(
    unsafe_code,
    reason = "a map is what is tried; nobody else has the file"
)]
fn a_store_through_a_map() {
    scrubbed(|_, tree| {
        for path in ["same-size", "deep/er/file"] {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .open(tree.join(path))
                .unwrap();
            // SAFETY: the file is this test's own, and nothing cuts it short.
            let mut map = unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap();
            assert_ne!(std::hint::black_box(map[0]), b'2');
            map[0] = b'2';
        }
    });
}

/// ext4 lets the owner of two files exchange their blocks, and every time of both stays: gives the second
/// what the first holds, where the file system can.
#[expect(
    unsafe_code,
    reason = "the call is what is tried; both files are the test's own"
)]
fn exchange_blocks(one: &Path, other: &Path) -> bool {
    #[repr(C)]
    struct MoveExtent {
        reserved: u32,
        donor: i32,
        starts: [u64; 2],
        length: u64,
        moved: u64,
    }
    const MOVE_EXTENT: rustix::ioctl::Opcode =
        rustix::ioctl::opcode::read_write::<MoveExtent>(b'f', 15);
    let open = |path: &Path| {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.unwrap();
        file.sync_all().unwrap();
        file
    };
    let (one, other) = (open(one), open(other));
    let before = other.metadata().unwrap();
    let mut asked = MoveExtent {
        reserved: 0,
        donor: other.as_raw_fd(),
        starts: [0, 0],
        length: 1,
        moved: 0,
    };
    // SAFETY: the argument is what the call reads and writes, and outlives it.
    let call = unsafe { rustix::ioctl::Updater::<MOVE_EXTENT, _>::new(&mut asked) };
    // SAFETY: as above; where the file system knows no such call it does nothing.
    let done = unsafe { rustix::ioctl::ioctl(&one, call) };
    rustix::fs::fadvise(&other, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let after = other.metadata().unwrap();
    assert_eq!(
        (after.ctime(), after.ctime_nsec()),
        (before.ctime(), before.ctime_nsec())
    );
    done.is_ok() && asked.moved == 1
}

/// On whichever file system can: that of temporary folders, or the one that this is built on.
#[test]
fn blocks_that_changed_places() {
    let can = |folder: &Path| {
        let scratch = tempfile::tempdir_in(folder).unwrap();
        let files = ["one", "other"].map(|name| scratch.path().join(name));
        for file in &files {
            std::fs::write(file, file.to_str().unwrap()).unwrap();
        }
        exchange_blocks(&files[0], &files[1])
    };
    let folders = [std::env::temp_dir(), env!("CARGO_TARGET_TMPDIR").into()];
    let Some(folder) = folders.iter().find(|folder| can(folder)) else {
        return skipped("no file system here exchanges the blocks of files (ext4 does)");
    };
    let exchanges = Cell::new(0);
    let world = World::new_in(folder);
    scrubbed_in(world, |world, tree| {
        let (path, other) = (tree.join("same-size"), world.repo.beside("other"));
        std::fs::write(&other, "2222\n").unwrap();
        assert!(exchange_blocks(&other, &path));
        // What it is by now is the kernel's affair.
        assert_ne!(std::fs::read(&path).unwrap(), b"1111\n");
        exchanges.set(exchanges.get() + 1);
    });
    assert_eq!(exchanges.get(), 5);
}

/// The first of them come in the tick in which the tree was proved.
#[test]
fn edits_right_after_the_proof() {
    let world = World::new();
    let paths = ["same-size", "README.md", "bin/run.sh", ".gitignore"];
    for round in 0..8_usize {
        let rev = ["one", "two"][round % 2];
        let tree = world.open("a", rev);
        let path = tree.join(paths[round % paths.len()]);
        world.try_open("a", rev).unwrap();
        keeping_its_time(&path, overwrite);
        world.open("a", "one");
    }
    assert_eq!(world.quarantined(), 0);
    world.release();
}

#[test]
fn an_edit_through_another_name_that_is_gone_again() {
    scrubbed(|world, tree| {
        let (path, other) = (tree.join("same-size"), world.repo.beside("other"));
        std::fs::hard_link(&path, &other).unwrap();
        keeping_its_time(&other, overwrite);
        std::fs::remove_file(&other).unwrap();
    });
}

#[test]
fn a_file_that_took_anothers_place() {
    scrubbed(|world, tree| {
        let path = tree.join("same-size");
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        let other = world.repo.beside("older");
        std::fs::write(&other, "2222\n").unwrap();
        let file = File::options().write(true).open(&other).unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
        // To another file system it is a copy.
        run("mv", &[&other, &path]);
    });
}

#[test]
fn files_and_folders_that_changed_places() {
    scrubbed(|world, tree| {
        let aside = tree.parent().unwrap().join("aside");
        let exchange = |one: &str, other: &str| {
            std::fs::rename(tree.join(one), &aside).unwrap();
            std::fs::rename(tree.join(other), tree.join(one)).unwrap();
            std::fs::rename(&aside, tree.join(other)).unwrap();
        };
        let inode = |path: &str| std::fs::metadata(tree.join(path)).unwrap().ino();
        let before = (inode("same-size"), inode("deep/er/file"));
        exchange("same-size", "deep/er/file");
        assert_eq!((inode("deep/er/file"), inode("same-size")), before);
        exchange("bin", "deep/er");
        exchange("src", "deep");
        world.untouched();
    });
}

#[test]
fn holes_and_lost_ends() {
    scrubbed(|_, tree| {
        keeping_its_time(&tree.join("same-size"), |path| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(2).unwrap();
            file.set_len(5).unwrap();
        });
        keeping_its_time(&tree.join("bin/run.sh"), |path| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            match rustix::fs::fallocate(&file, hole, 0, 4) {
                Err(Errno::OPNOTSUPP) => skipped("files here can have no holes punched into them"),
                made => made.unwrap(),
            }
        });
        let lost = std::fs::read(tree.join("same-size")).unwrap();
        assert_eq!(lost, b"11\0\0\0");
    });
}

/// The clock of the machine is not the user's to set, but every time of a file that can be.
#[test]
fn every_time_set_to_the_same_moment() {
    scrubbed(|_, tree| {
        let moment = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
        for path in ["same-size", "README.md", "src/lib.rs", "deep/er/file"] {
            overwrite(&tree.join(path));
            let file = File::options().write(true).open(tree.join(path)).unwrap();
            let times = FileTimes::new().set_modified(moment).set_accessed(moment);
            file.set_times(times).unwrap();
        }
    });
}

#[test]
fn rights_that_came_and_went() {
    scrubbed(|_, tree| {
        for path in ["same-size", "bin/run.sh"] {
            let path = tree.join(path);
            let rights = std::fs::metadata(&path).unwrap().permissions();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
            keeping_its_time(&path, overwrite);
            std::fs::set_permissions(&path, rights).unwrap();
        }
    });
}

#[test]
fn pipes_in_the_place_of_files() {
    scrubbed(|_, tree| {
        for path in ["same-size", "src/lib.rs", "link"] {
            let path = tree.join(path);
            std::fs::remove_file(&path).unwrap();
            run("mkfifo", &[&path]);
        }
    });
}

/// What lies on the disk says nothing: neither the agent's index nor a copy of ours is asked.
#[test]
fn indexes_that_say_that_nothing_changed() {
    scrubbed(|_, tree| {
        let before = std::fs::read(tree.join(".git/index")).unwrap();
        keeping_its_time(&tree.join("same-size"), overwrite);
        git(tree, &["add", "-A"]);
        std::fs::write(tree.join(".git/index"), before).unwrap();
    });
}

#[test]
fn everything_gone() {
    scrubbed(|_, tree| {
        for entry in std::fs::read_dir(tree).unwrap() {
            let path = entry.unwrap().path();
            run("rm", &[Path::new("-rf"), &path]);
        }
    });
}

/// More folders in each other than are gone through at once are removed like any others.
#[test]
fn a_folder_without_end() {
    let world = World::new();
    let tree = world.open("a", "one");
    let mut folder = rustix::fs::open(&tree, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..5_000 {
        rustix::fs::mkdirat(&folder, "d", Mode::RWXU).unwrap();
        folder = rustix::fs::openat(&folder, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    drop(folder);
    assert_eq!(world.open("a", "two"), tree);
    assert_eq!(world.quarantined(), 0);
    assert!(!tree.join("d").exists());
    assert_eq!(world.trees.release(), Vec::<String>::new());
}

/// An object whose bytes are not those that its id stands for: git reads and checks it out all the
/// same.
#[test]
fn an_object_with_other_bytes() {
    let world = World::new();
    world.open("a", "one");
    let id = world.oid("two:new/file").to_string();
    let object = world
        .repo
        .root()
        .join(".git/objects")
        .join(&id[..2])
        .join(&id[2..]);
    std::fs::remove_file(&object).unwrap();
    let mut forged = ZlibEncoder::new(File::create(&object).unwrap(), Compression::fast());
    forged.write_all(b"blob 4\0bad\n").unwrap();
    forged.finish().unwrap();
    assert_eq!(git(world.repo.root(), &["cat-file", "blob", &id]), "bad");
    for slot in ["a", "b"] {
        let failure = world.try_open(slot, "two").unwrap_err();
        assert_eq!(failure.code, Code::ReviewTreeFailed, "{failure:?}");
    }
}
