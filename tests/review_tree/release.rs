//! What the end of a run leaves: nothing of ours, and everything of others (T-013, W02, W08).

use std::os::unix::fs::symlink;

use run_loop::domain::code::Code;

use crate::fixture::{World, trees};

/// M-015: what a run holds is given back.
#[test]
fn nothing_is_left_whatever_the_agents_left() {
    let world = World::new();
    for slot in ["a", "b"] {
        let tree = world.open(slot, "two");
        symlink(world.repo.root(), tree.join("all")).unwrap();
        std::fs::write(tree.join("left over"), "x").unwrap();
        std::fs::write(tree.parent().unwrap().join("beside"), "x").unwrap();
    }
    world.release();
    assert_eq!(
        std::fs::read_dir(world.root().parent().unwrap())
            .unwrap()
            .count(),
        0
    );
    assert_eq!(world.trees.release(), Vec::<String>::new(), "twice is once");
}

/// T-013: a later process removes what a killed one left.
#[test]
fn a_later_process_removes_what_a_killed_one_left() {
    let world = World::new();
    world.open("a", "two");
    world.open("b", "one");
    let listed = world.repo.git(&["worktree", "list"]);
    assert_eq!(trees(&world.repo).release(), Vec::<String>::new());
    assert!(!world.root().exists());
    assert_eq!(world.repo.git(&["worktree", "list"]), listed);
}

/// T-013: a removal that was itself killed is gone on with, wherever it stood.
#[test]
fn a_removal_that_was_killed_is_gone_on_with() {
    let order = [".quarantine", ".ids", ".owner"];
    for gone in 1..=order.len() {
        let world = World::new();
        world.open("a", "two");
        std::fs::remove_dir_all(world.root().join("a")).unwrap();
        for name in &order[..gone] {
            let path = world.root().join(name);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
        assert_eq!(trees(&world.repo).release(), Vec::<String>::new(), "{gone}");
        assert!(!world.root().exists(), "{gone}");
    }
}

#[test]
fn nothing_was_opened() {
    let world = World::new();
    assert_eq!(world.trees.release(), Vec::<String>::new());
    world.untouched();
}

#[test]
fn a_link_in_the_place_of_a_slot_is_removed_and_not_followed() {
    let world = World::new();
    let tree = world.open("a", "two");
    std::fs::remove_dir_all(tree.parent().unwrap()).unwrap();
    symlink(world.repo.root(), tree.parent().unwrap()).unwrap();
    world.release();
}

/// W02: the user's repository itself, moved into a slot's place, stays and is named.
#[test]
fn a_folder_that_is_not_ours_stays_and_is_named() {
    for inside in ["", "tree"] {
        let world = World::new();
        let tree = world.open("a", "two");
        let slot = tree.parent().unwrap().to_owned();
        let place = if inside.is_empty() { slot } else { tree };
        let precious = world.repo.beside("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("work"), "mine").unwrap();
        std::fs::remove_dir_all(&place).unwrap();
        std::fs::rename(&precious, &place).unwrap();
        let opened = world.try_open("a", "two").unwrap();
        world.holds(&opened, "two");
        let left = world.trees.release();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].contains(".quarantine/a-1"), "{left:?}");
        assert!(left[0].contains("is not a folder that we made"), "{left:?}");
        let kept = world
            .root()
            .join(".quarantine/a-1")
            .join(inside)
            .join("work");
        assert_eq!(std::fs::read(kept).unwrap(), b"mine");
        world.untouched();
    }
}

#[test]
fn the_runs_folder_replaced_is_neither_used_nor_emptied() {
    let world = World::new();
    world.open("a", "two");
    let aside = world.repo.beside("aside");
    std::fs::rename(world.root(), &aside).unwrap();
    symlink(world.repo.root(), world.root()).unwrap();
    assert_eq!(
        world.try_open("a", "two").unwrap_err().code,
        Code::ReviewTreeFailed
    );
    assert_eq!(world.trees.release().len(), 1);
    world.untouched();
    assert!(aside.join("a/tree").exists());
}
