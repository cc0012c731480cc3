//! Slots that are looked at before anybody asks for them.

use crate::fixture::{World, slot_name};

/// Takes all slots back and looks at them, as a round does while its source is pinned.
fn look_over(world: &World) {
    world.trees.take_back();
    world.trees.look_over();
}

#[test]
fn what_a_job_left_goes_before_the_slot_is_opened() {
    let world = World::new();
    let tree = world.open("a", "one");
    std::fs::write(tree.join("left"), "by the agent\n").unwrap();
    look_over(&world);
    assert!(!tree.join("left").exists() && !tree.join(".git").exists());
    world.open("a", "two");
    assert_eq!(world.quarantined(), 0);
    world.release();
}

/// A look that comes late must not take away what the next job writes.
#[test]
fn a_slot_that_was_opened_since_is_left_alone() {
    let world = World::new();
    world.open("a", "one");
    world.trees.take_back();
    let tree = world.open("a", "two");
    std::fs::write(tree.join("note"), "of a job at work\n").unwrap();
    world.trees.look_over();
    assert!(tree.join("note").exists() && tree.join(".git").exists());
    world.open("a", "two");
    world.release();
}

/// A file system that ignores case, or anything else, could let a switch meet what it does not name.
#[test]
fn the_folders_that_a_switch_touches_are_looked_at_again() {
    let world = World::new();
    let tree = world.open("a", "one");
    look_over(&world);
    // The switch to `two` takes a folder out of the root, and writes one into it.
    std::fs::write(tree.join("same-size"), "2222\n").unwrap();
    std::fs::write(tree.join("odd"), "").unwrap();
    world.open("a", "two");
    look_over(&world);
    std::fs::remove_file(tree.join("README.md")).unwrap();
    world.open("a", "one");
    look_over(&world);
    std::fs::remove_dir_all(tree.join("bin")).unwrap();
    world.open("a", "one");
    assert_eq!(world.quarantined(), 0);
    world.release();
}

/// A job of the round reaches the slots of others where nothing confines it: who is asked behind it gets the
/// snapshot all the same, also where the switch touches no folder that it wrote to.
#[test]
fn a_slot_that_is_opened_behind_a_job_is_looked_at_again() {
    for next in ["one", "two"] {
        let world = World::new();
        let tree = world.open("checks", "one");
        look_over(&world);
        world.trees.job_begins();
        std::fs::write(tree.join("bin/run.sh"), "exit 0\n").unwrap();
        std::fs::write(tree.join("bin/odd"), "").unwrap();
        world.open("checks", next);
        assert_eq!(world.quarantined(), 0);
        world.release();
    }
}

#[test]
fn a_slot_in_doubt_is_not_looked_at() {
    let world = World::new();
    let tree = world.open("a", "one");
    std::fs::write(tree.join("left"), "by somebody who may live\n").unwrap();
    world.trees.take_back();
    world.trees.distrust(&slot_name("a"));
    world.trees.look_over();
    assert!(tree.join("left").exists());
    world.open("a", "two");
    assert_eq!(world.quarantined(), 1);
    world.release();
}

/// What is known of a slot outlives a look and a run that ends before it was opened again.
#[test]
fn a_slot_that_was_looked_at_waits_for_a_later_run() {
    let world = World::new();
    world.open("a", "one");
    look_over(&world);
    world.release();
    assert_eq!(world.waiting().len(), 1);
    let later = world.run(1);
    world.open_of(&later, "a", "two");
    assert_eq!(later.release(), Vec::<String>::new());
}
