//! Trees between runs: kept, taken by one run alone, and believed in nothing (issue 3, point 3).

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::fixture::World;
use crate::support::repo::git;

fn inode(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).unwrap().ino()
}

/// A world in which a tree waits that held `one`.
fn waiting() -> (World, PathBuf) {
    let world = World::new();
    let run = world.run(1);
    world.open_of(&run, "a", "one");
    assert_eq!(run.release(), Vec::<String>::new());
    let [tree] = world.waiting().try_into().unwrap();
    (world, tree)
}

/// Does something to a waiting tree, and opens a later run's slot at both snapshots.
#[track_caller]
fn poisoned(poison: impl Fn(&World, &Path)) -> World {
    let (world, tree) = waiting();
    poison(&world, &tree);
    let run = world.run(2);
    world.open_of(&run, "b", "two");
    world.open_of(&run, "b", "one");
    world.untouched();
    assert_eq!(run.release(), Vec::<String>::new());
    world.untouched();
    world
}

#[test]
fn a_later_run_takes_up_a_tree_and_writes_only_what_differs() {
    let (world, tree) = waiting();
    assert!(!tree.join(".git").exists(), "no git directory waits");
    let (folder, same, other) = (
        inode(&tree),
        inode(&tree.join("same-size")),
        inode(&tree.join("deep/er/file")),
    );
    let run = world.run(2);
    let opened = world.open_of(&run, "b", "two");
    assert_eq!(world.waiting(), Vec::<PathBuf>::new(), "it is taken");
    assert_eq!(inode(&opened), folder);
    assert_eq!(inode(&opened.join("same-size")), same, "not written again");
    assert!(!opened.join("deep").exists() && other != 0);
    assert_eq!(git(&opened, &["status", "--porcelain", "-uall"]), "");
    assert_eq!(run.release(), Vec::<String>::new());
    assert_eq!(world.waiting().len(), 1);
    world.untouched();
}

#[test]
fn what_an_agent_made_does_not_wait() {
    let world = World::new();
    let run = world.run(1);
    let tree = world.open_of(&run, "a", "one");
    std::fs::create_dir(tree.join("target")).unwrap();
    std::fs::write(tree.join("target/large"), "x").unwrap();
    symlink(world.repo.root(), tree.join("all")).unwrap();
    assert_eq!(run.release(), Vec::<String>::new());
    let [tree] = world.waiting().try_into().unwrap();
    assert!(!tree.join("target").exists() && tree.join("all").symlink_metadata().is_err());
    world.untouched();
}

#[test]
fn two_runs_never_have_the_same_tree() {
    let (world, tree) = waiting();
    let folder = inode(&tree);
    let runs = [world.run(2), world.run(3)];
    let opened = std::thread::scope(|scope| {
        runs.each_ref()
            .map(|run| scope.spawn(|| world.open_of(run, "a", "two")))
            .map(|run| inode(&run.join().unwrap()))
    });
    assert_ne!(opened[0], opened[1]);
    assert!(opened.contains(&folder));
    for run in runs {
        assert_eq!(run.release(), Vec::<String>::new());
    }
    assert_eq!(world.waiting().len(), 2);
}

#[test]
fn no_more_trees_wait_than_the_budget_says() {
    let world = World::new();
    let run = world.run(1);
    for slot in ["a", "b", "c", "d", "e"] {
        world.open_of(&run, slot, "one");
    }
    assert_eq!(run.release(), Vec::<String>::new());
    assert_eq!(world.waiting().len(), 4);
}

/// Nobody proved that its processes are gone.
#[test]
fn the_tree_of_a_run_that_was_killed_does_not_wait() {
    let world = World::new();
    world.open("a", "one");
    assert_eq!(
        crate::fixture::trees(&world.repo).release(),
        Vec::<String>::new()
    );
    assert_eq!(world.waiting(), Vec::<PathBuf>::new());
}

/// The size and every time that can be set are as before: only hashing shows it.
#[test]
fn an_edit_of_the_same_size_with_its_old_time() {
    poisoned(|_, tree| {
        let path = tree.join("same-size");
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "2222\n").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_times(std::fs::FileTimes::new().set_modified(time))
            .unwrap();
    });
}

#[test]
fn a_git_directory_with_settings_of_its_own() {
    poisoned(|world, tree| {
        let ran = world.repo.beside("ran");
        git(tree, &["init", "-q"]);
        let touch = format!("touch {}; cat", ran.display());
        git(tree, &["config", "core.fsmonitor", &touch]);
        git(tree, &["config", "filter.x.smudge", &touch]);
        git(tree, &["config", "filter.x.clean", &touch]);
        std::fs::write(tree.join(".git/info/attributes"), "* filter=x\n").unwrap();
        std::fs::write(tree.join(".gitattributes"), "* filter=x\n").unwrap();
        assert!(!ran.exists());
    });
}

#[test]
fn a_git_file_that_points_at_the_users_repository() {
    poisoned(|world, tree| {
        let target = world.repo.root().join(".git");
        std::fs::write(tree.join(".git"), format!("gitdir: {}\n", target.display())).unwrap();
        symlink(&target, tree.join("other")).unwrap();
    });
}

#[test]
fn links_pipes_odd_rights_and_other_names_of_the_users_files() {
    poisoned(|world, tree| {
        let theirs = world.repo.root();
        std::fs::remove_dir_all(tree.join("bin")).unwrap();
        symlink(theirs.join("bin"), tree.join("bin")).unwrap();
        std::fs::remove_file(tree.join("README.md")).unwrap();
        symlink(theirs.join("README.md"), tree.join("README.md")).unwrap();
        std::fs::remove_file(tree.join("same-size")).unwrap();
        std::fs::hard_link(theirs.join("same-size"), tree.join("same-size")).unwrap();
        std::fs::remove_file(tree.join(".gitignore")).unwrap();
        let status = std::process::Command::new("mkfifo")
            .arg(tree.join(".gitignore"))
            .arg(tree.join("pipe"))
            .status();
        assert!(status.unwrap().success());
        let mode = |path: &str, mode: u32| {
            let path = tree.join(path);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode("deep/er/file", 0o4755);
        mode("deep/er", 0o500);
        mode("deep", 0o000);
    });
}

/// W02: a link in its place is no tree, and nothing behind it is looked at or removed.
#[test]
fn a_link_to_the_users_repository_in_its_place() {
    let world = poisoned(|world, tree| {
        std::fs::remove_dir_all(tree).unwrap();
        symlink(world.repo.root(), tree).unwrap();
    });
    assert_eq!(
        world.waiting().len(),
        2,
        "the link, and the tree of the later run"
    );
}

/// W02: what was put there, under whatever name, is not taken, emptied or removed.
#[test]
fn a_folder_that_somebody_else_put_there() {
    let world = poisoned(|world, tree| {
        let precious = world.repo.beside("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("work"), "mine").unwrap();
        std::fs::remove_dir_all(tree).unwrap();
        std::fs::rename(&precious, tree).unwrap();
        std::fs::create_dir(tree.with_file_name("mine")).unwrap();
        std::fs::write(tree.with_file_name("mine").join("work"), "mine").unwrap();
    });
    let kept = world.waiting();
    let works = kept.iter().filter(|path| path.join("work").exists());
    assert_eq!(works.count(), 2, "{kept:?}");
}

#[test]
fn the_pool_replaced_by_a_link_is_not_used() {
    let world = poisoned(|world, tree| {
        let pool = tree.parent().unwrap();
        std::fs::rename(pool, world.repo.beside("aside")).unwrap();
        symlink(world.repo.root(), pool).unwrap();
    });
    assert!(world.repo.beside("aside").exists());
}

/// A run takes trees of its own repository alone.
#[test]
fn a_tree_of_another_repository_is_not_taken() {
    let (one, _) = waiting();
    let other = World::new();
    let cache = |world: &World| world.repo.beside("cache").join("pool");
    std::fs::create_dir_all(other.repo.beside("cache")).unwrap();
    let status = std::process::Command::new("mv")
        .arg(cache(&one))
        .arg(cache(&other))
        .status();
    assert!(status.unwrap().success());
    let run = other.run(1);
    other.open_of(&run, "a", "two");
    assert_eq!(run.release(), Vec::<String>::new());
    let keys = std::fs::read_dir(cache(&other)).unwrap();
    let trees = keys.map(|key| std::fs::read_dir(key.unwrap().path()).unwrap().count());
    assert_eq!(trees.collect::<Vec<_>>(), [1, 1]);
    other.untouched();
}
