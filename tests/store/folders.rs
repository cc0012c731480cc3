//! The state folder and whole-file writes.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use run_loop::domain::code::Code;
use run_loop::store::{Access, Folder, StateFolder, atomic};

use crate::sample::{Place, run_id};

fn mode(path: &std::path::Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn the_state_is_closed_to_others() {
    let place = Place::new();
    let run = place.run(1, &crate::sample::approved(1, "/src".as_ref(), 'd'));
    let run = place.state.run_path(run);
    for folder in [place.state.path(), place.state.locks().path(), &run] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    assert_eq!(mode(&run.join("journal.db")), 0o600);
}

#[test]
fn an_open_state_folder_is_closed() {
    let place = Place::new();
    std::fs::set_permissions(place.state.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let again = StateFolder::open(place.folder.path()).unwrap();
    assert_eq!(mode(again.path()), 0o700);
}

#[test]
fn a_linked_state_folder_is_refused() {
    for name in ["run-loop", "run-loop/runs", "run-loop/locks"] {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        if name.contains('/') {
            std::fs::create_dir(folder.path().join("run-loop")).unwrap();
        }
        symlink(&elsewhere, folder.path().join(name)).unwrap();
        let refused = StateFolder::open(folder.path()).unwrap_err();
        assert_eq!(refused.code, Code::StateUnwritable, "{name}");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "{name}");
        StateFolder::find(folder.path()).unwrap_err();
    }
}

#[test]
fn a_file_in_the_place_of_the_state_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run-loop"), b"").unwrap();
    let refused = StateFolder::open(folder.path()).unwrap_err();
    assert_eq!(refused.code, Code::StateUnwritable);
}

#[test]
fn a_linked_run_folder_is_not_followed() {
    let place = Place::new();
    let run = place.run(1, &crate::sample::approved(1, "/src".as_ref(), 'd'));
    let path = place.state.run_path(run);
    let aside = place.folder.path().join("aside");
    std::fs::rename(&path, &aside).unwrap();
    symlink(&aside, &path).unwrap();
    run_loop::store::Journal::load(&place.state, run).unwrap_err();
    run_loop::store::Artifacts::open(&place.state, run).unwrap_err();
}

#[test]
fn looking_for_a_state_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(StateFolder::find(folder.path()).unwrap().is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_write_replaces_whole_files_and_links_alike() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    std::fs::write(&outside, b"theirs").unwrap();
    let inside = folder.path().join("inside");
    let made = atomic::create_dir(&inside).unwrap();
    assert_eq!(mode(&inside), 0o700);
    symlink(&outside, inside.join("a")).unwrap();
    made.write("a", b"ours", Access::Private).unwrap();
    assert_eq!(std::fs::read(&outside).unwrap(), b"theirs");
    assert_eq!(std::fs::read(inside.join("a")).unwrap(), b"ours");
    assert_eq!(mode(&inside.join("a")), 0o600);
    atomic::write(&inside.join("b"), b"more").unwrap();
    assert_eq!(made.names().unwrap(), ["a", "b"], "no temporary file stays");
}

#[test]
fn nothing_leaves_its_folder_by_name_or_link() {
    let folder = tempfile::tempdir().unwrap();
    let root = Folder::open(folder.path()).unwrap();
    for name in ["", ".", "..", "a/b", "../a", "/etc"] {
        root.write(name, b"", Access::Private).unwrap_err();
        root.make_child(name, Access::Private).unwrap_err();
    }
    for path in ["../a", "/etc", "a/../../b"] {
        root.make_descend(path.as_ref(), Access::Private)
            .unwrap_err();
    }
    let deep = root.make_descend("x/./y".as_ref(), Access::Shared).unwrap();
    assert_eq!(deep.path(), folder.path().join("x/y"));
    std::fs::create_dir(folder.path().join("real")).unwrap();
    symlink("real", folder.path().join("link")).unwrap();
    root.descend("link".as_ref()).unwrap_err();
    root.make_descend("link/y".as_ref(), Access::Shared)
        .unwrap_err();
}

#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = Folder::open(folder.path()).unwrap();
    std::fs::write(folder.path().join("file"), b"12345").unwrap();
    symlink("file", folder.path().join("link")).unwrap();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let fifo = std::process::Command::new("mkfifo")
        .arg(folder.path().join("fifo"))
        .status();
    assert!(fifo.unwrap().success());
    assert_eq!(root.read("file", 5).unwrap(), b"12345");
    root.read("file", 4).unwrap_err();
    for name in ["link", "folder", "fifo", "missing"] {
        root.read(name, 100).unwrap_err();
    }
}

#[test]
fn runs_are_found_by_id_and_nothing_else_is_a_run() {
    let place = Place::new();
    let events = crate::sample::approved(1, "/src".as_ref(), 'd');
    place.run(2, &events);
    place.run(1, &events);
    std::fs::create_dir(place.state.path().join("runs/notes")).unwrap();
    std::fs::write(place.state.path().join("runs/.tmp-1-2"), b"").unwrap();
    assert_eq!(place.state.run_ids().unwrap(), [run_id(1), run_id(2)]);
}
