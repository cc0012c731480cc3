//! What agents may leave behind: each is seen or scrubbed, and the user's repository stays whole
//! (the poisonings of the design's section 6 and its measurements).

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::fixture::World;
use crate::support::agents::executable;
use crate::support::repo::git;
use crate::support::rights::reading_as_anybody;

/// Opens a slot, lets the agent do its worst, opens it again at both snapshots, looked over before and
/// not; and again between two runs, the second of which finds what the first left for it.
#[track_caller]
fn poisoned(poison: impl Fn(&World, &Path)) -> World {
    poisoned_in(World::new(), poison)
}

#[track_caller]
fn poisoned_in(world: World, poison: impl Fn(&World, &Path)) -> World {
    for next in ["one", "two"] {
        for is_looked_over in [false, true] {
            let tree = world.open("a", "one");
            poison(&world, &tree);
            if is_looked_over {
                world.trees.take_back();
                world.trees.look_over();
            }
            world.open("a", next);
        }
    }
    let (earlier, later) = (world.run(1), world.run(2));
    let tree = world.open_of(&earlier, "a", "one");
    poison(&world, &tree);
    assert_eq!(earlier.release(), Vec::<String>::new());
    world.open_of(&later, "a", "two");
    assert_eq!(later.release(), Vec::<String>::new());
    world.untouched();
    world
}

#[track_caller]
pub(crate) fn scrubbed(poison: impl Fn(&World, &Path)) {
    scrubbed_in(World::new(), poison);
}

#[track_caller]
pub(crate) fn scrubbed_in(world: World, poison: impl Fn(&World, &Path)) {
    let world = poisoned_in(world, poison);
    assert_eq!(world.quarantined(), 0, "the slot was kept");
    world.release();
}

fn set_aside(poison: impl Fn(&World, &Path)) {
    let world = poisoned(poison);
    assert_eq!(world.quarantined(), 4, "the slot was set aside each time");
    world.release();
}

#[test]
fn an_edit_hidden_by_skip_worktree() {
    scrubbed(|_, tree| {
        git(
            tree,
            &["update-index", "--skip-worktree", "same-size", "README.md"],
        );
        git(tree, &["update-index", "--assume-unchanged", "src/lib.rs"]);
        for file in ["same-size", "README.md", "src/lib.rs"] {
            std::fs::write(tree.join(file), "2222\n").unwrap();
        }
    });
}

#[test]
fn an_edit_of_the_same_size_with_its_old_time() {
    scrubbed(|_, tree| {
        let path = tree.join("same-size");
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "2222\n").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_times(std::fs::FileTimes::new().set_modified(time))
            .unwrap();
    });
}

#[test]
fn sparse_patterns() {
    scrubbed(|_, tree| {
        git(tree, &["sparse-checkout", "set", "--no-cone", "/bin/"]);
        assert!(!tree.join("src").exists());
    });
}

/// Plain git does run them.
#[test]
fn settings_of_the_agents_repository() {
    let world = World::new();
    let ran = world.repo.beside("ran");
    let has_run = || std::fs::read_to_string(&ran).unwrap_or_default();
    let world = poisoned_in(world, |world, tree| {
        assert_eq!(has_run(), "");
        let hooks = world.repo.beside("hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        for name in [
            "post-checkout",
            "post-index-change",
            "pre-commit",
            "fsmonitor",
            "smudge",
        ] {
            let text = format!("#!/bin/sh\necho {name} >> '{}'\ncat\n", ran.display());
            executable(&hooks, name, &text);
        }
        let config = format!(
            "[core]\n\thooksPath = {0}\n\tfsmonitor = {0}/fsmonitor\n\tworktree = /\n[filter \"x\"]\n\tsmudge = {0}/smudge\n",
            hooks.display()
        );
        std::fs::write(tree.join(".git/config"), config).unwrap();
        std::fs::write(tree.join(".git/info/attributes"), "* filter=x\n").unwrap();
        std::fs::write(tree.join(".gitattributes"), "* filter=x\n").unwrap();
        std::fs::remove_file(tree.join("README.md")).unwrap();
        let here = tree.to_str().unwrap();
        git(
            tree,
            &["--work-tree", here, "checkout", "HEAD", "--", "README.md"],
        );
        for name in ["post-checkout", "post-index-change", "fsmonitor", "smudge"] {
            assert!(has_run().contains(name), "{name}: {}", has_run());
        }
        std::fs::remove_file(&ran).unwrap();
    });
    assert_eq!(has_run(), "");
    assert_eq!(world.quarantined(), 0, "the slot was kept");
    world.release();
}

#[test]
fn replaced_objects_and_moved_refs() {
    scrubbed(|_, tree| {
        git(tree, &["replace", "one", "two"]);
        git(tree, &["update-ref", "refs/heads/main", "two"]);
        git(tree, &["checkout", "-q", "-f", "two"]);
    });
}

#[test]
fn a_git_file_that_points_at_the_users_repository() {
    scrubbed(|world, tree| {
        std::fs::remove_dir_all(tree.join(".git")).unwrap();
        let target = world.repo.root().join(".git");
        std::fs::write(tree.join(".git"), format!("gitdir: {}\n", target.display())).unwrap();
    });
}

#[test]
fn a_git_link_to_the_users_repository() {
    scrubbed(|world, tree| {
        std::fs::remove_dir_all(tree.join(".git")).unwrap();
        symlink(world.repo.root().join(".git"), tree.join(".git")).unwrap();
    });
}

#[test]
fn links_in_the_place_of_folders_and_files() {
    scrubbed(|world, tree| {
        std::fs::remove_dir_all(tree.join("src")).unwrap();
        symlink(world.repo.root().join("src"), tree.join("src")).unwrap();
        std::fs::remove_file(tree.join("README.md")).unwrap();
        symlink(world.repo.root().join("README.md"), tree.join("README.md")).unwrap();
        symlink(world.repo.root(), tree.join("all")).unwrap();
        std::fs::remove_file(tree.join("link")).unwrap();
        symlink("same-size", tree.join("link")).unwrap();
    });
}

#[test]
fn another_name_of_a_users_file() {
    scrubbed(|world, tree| {
        let theirs = world.repo.root().join("src/lib.rs");
        std::fs::remove_file(tree.join("src/lib.rs")).unwrap();
        std::fs::hard_link(&theirs, tree.join("src/lib.rs")).unwrap();
        std::fs::remove_file(tree.join("bin/run.sh")).unwrap();
        std::fs::hard_link(
            world.repo.root().join("bin/run.sh"),
            tree.join("bin/run.sh"),
        )
        .unwrap();
    });
}

/// The rights of a folder keep nothing of it from root, so it is tried by somebody else too.
#[test]
fn pipes_sockets_and_odd_rights() {
    let poison = |_: &World, tree: &Path| {
        let status = std::process::Command::new("mkfifo")
            .arg(tree.join("pipe"))
            .arg(tree.join("src/pipe"))
            .status()
            .unwrap();
        assert!(status.success());
        drop(std::os::unix::net::UnixListener::bind(tree.join("socket")).unwrap());
        let mode = |path: &str, mode: u32| {
            let path = tree.join(path);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode("README.md", 0o000);
        mode("same-size", 0o755);
        mode("bin/run.sh", 0o4755);
        std::fs::create_dir_all(tree.join("locked/in")).unwrap();
        std::fs::write(tree.join("locked/in/file"), "x").unwrap();
        mode("locked/in", 0o500);
        mode("locked", 0o000);
        mode("src", 0o555);
        mode("deep", 0o000);
        // What is joined is a whole path: it stands alone.
        let slot = tree.parent().unwrap();
        for folder in [&slot.join("git"), tree, slot] {
            mode(folder.to_str().unwrap(), 0o000);
        }
    };
    scrubbed(poison);
    reading_as_anybody(|| scrubbed(poison));
}

#[test]
fn files_that_no_status_shows() {
    scrubbed(|_, tree| {
        std::fs::write(tree.join("x.log"), "ignored").unwrap();
        std::fs::create_dir_all(tree.join("target/empty/er")).unwrap();
        std::fs::create_dir_all(tree.join("src/empty")).unwrap();
        std::fs::write(tree.join(".git/info/exclude"), "hidden\n").unwrap();
        std::fs::write(tree.join("hidden"), "x").unwrap();
        std::fs::write(tree.join(".gitignore"), "*\n").unwrap();
        std::fs::write(tree.join("sub/inside"), "x").unwrap();
    });
}

#[test]
fn repositories_in_the_tree() {
    scrubbed(|_, tree| {
        for name in ["nested", "sub", "src"] {
            let path = tree.join(name);
            std::fs::create_dir_all(&path).unwrap();
            git(&path, &["init", "-q"]);
        }
    });
}

#[test]
fn a_folder_in_a_files_place_and_the_other_way_round() {
    scrubbed(|_, tree| {
        std::fs::remove_file(tree.join("README.md")).unwrap();
        std::fs::create_dir(tree.join("README.md")).unwrap();
        std::fs::write(tree.join("README.md/x"), "x").unwrap();
        std::fs::remove_dir_all(tree.join("bin")).unwrap();
        std::fs::write(tree.join("bin"), "x").unwrap();
    });
}

#[test]
fn a_lock_left_in_the_agents_git() {
    scrubbed(|_, tree| {
        std::fs::write(tree.join(".git/index.lock"), "").unwrap();
        std::fs::write(tree.join(".git/HEAD.lock"), "").unwrap();
    });
}

#[test]
fn a_lock_left_in_ours() {
    scrubbed(|_, tree| {
        let ours = tree.parent().unwrap().join("git");
        std::fs::write(ours.join("index.lock"), "").unwrap();
        std::fs::write(ours.join("config"), "[core]\n\tworktree = /\n").unwrap();
        std::fs::write(ours.join("info/sparse-checkout"), "/bin/\n").unwrap();
    });
}

#[test]
fn our_index_written_to() {
    set_aside(|_, tree| {
        let ours = tree.parent().unwrap().join("git");
        let args = [
            "--git-dir",
            ours.to_str().unwrap(),
            "--work-tree",
            tree.to_str().unwrap(),
        ];
        git(
            tree,
            &[&args[..], &["update-index", "--skip-worktree", "README.md"]].concat(),
        );
        std::fs::write(tree.join("README.md"), "hidden\n").unwrap();
    });
}

#[test]
fn our_git_directory_removed() {
    set_aside(|_, tree| {
        std::fs::remove_dir_all(tree.parent().unwrap().join("git")).unwrap();
    });
}

/// Every byte is as it was: only that we did not make the folder tells. What we did not make stays too when
/// everything of ours goes.
#[test]
fn a_folder_of_ours_replaced_by_a_copy() {
    for folder in ["", "tree", "git"] {
        let world = World::new();
        let slot = world.open("a", "one").parent().unwrap().to_owned();
        let (ours, moved) = (slot.join(folder), world.repo.beside("moved"));
        std::fs::rename(&ours, &moved).unwrap();
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .args([&moved, &ours])
            .status();
        assert!(copied.unwrap().success());
        world.open("a", "one");
        assert_eq!(world.quarantined(), 1, "{folder:?}");
        let copy = world.root().join(".quarantine/a-1").join(folder);
        let left = world.trees.release();
        assert_eq!(left.len(), 1, "{left:?}");
        let shown = copy.components().collect::<std::path::PathBuf>();
        assert!(left[0].starts_with(shown.to_str().unwrap()), "{left:?}");
        assert!(copy.exists());
        world.untouched();
    }
}

/// W02: a link to the user's repository in the tree's place never leads there.
#[test]
fn the_tree_replaced_by_a_link_to_the_users_repository() {
    set_aside(|world, tree| {
        std::fs::remove_dir_all(tree).unwrap();
        symlink(world.repo.root(), tree).unwrap();
    });
}

/// W02, the slot itself.
#[test]
fn the_slot_replaced_by_a_link_to_the_users_repository() {
    let world = poisoned(|world, tree| {
        let slot = tree.parent().unwrap();
        std::fs::remove_dir_all(slot).unwrap();
        symlink(world.repo.root(), slot).unwrap();
    });
    assert_eq!(world.quarantined(), 4);
    world.release();
}

#[test]
fn the_slot_removed() {
    let world = poisoned(|_, tree| std::fs::remove_dir_all(tree.parent().unwrap()).unwrap());
    world.release();
}
