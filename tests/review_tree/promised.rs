//! Review trees of partial clones whose checkout is sparse: most files are with the remote alone.

use run_loop::domain::code::Code;

use crate::fixture::World;
use crate::support::repo::{Repo, git};

/// A repository, and a clone of it that has the files of its top folder alone.
fn sparse_partial_clone() -> (Repo, Repo) {
    let origin = Repo::new();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    origin.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    origin.write("docs/guide.md", "guide\n");
    origin.write("docs/deep/more.md", "more\n");
    origin.write("tools/run.sh", "run\n");
    origin.commit("third");
    origin.git(&["tag", "one"]);
    let clone = origin.cloned(&origin.url(), &["--filter=blob:none", "--sparse"]);
    assert!(
        !clone.root().join("docs").exists(),
        "the checkout is sparse"
    );
    let listing = clone.git(&["rev-list", "--objects", "--missing=print", "HEAD"]);
    assert!(listing.contains('?'), "files are with the remote alone");
    (origin, clone)
}

/// Packs that were fetched into the store.
fn fetched(world: &World) -> usize {
    let stores = std::fs::read_dir(world.repo.beside("cache/stores")).unwrap();
    let folders = stores.map(|entry| entry.unwrap().path().join("objects/pack"));
    let packs = folders.filter_map(|folder| std::fs::read_dir(folder).ok());
    let names = packs.flatten().map(|entry| entry.unwrap().path());
    names
        .filter(|path| path.extension().is_some_and(|kind| kind == "promisor"))
        .count()
}

#[test]
fn what_only_the_remote_has_is_fetched_at_once_for_all_slots() {
    let (_origin, clone) = sparse_partial_clone();
    let world = World::around(clone);
    for slot in ["first", "second"] {
        let tree = world.open(slot, "one");
        let text = std::fs::read_to_string(tree.join("docs/deep/more.md")).unwrap();
        assert_eq!(text, "more\n");
        // The agent's own git has them as well.
        assert_eq!(git(&tree, &["show", "HEAD:tools/run.sh"]), "run");
    }
    assert_eq!(fetched(&world), 1);
    world.release();
}

/// Never a tree with less in it.
#[test]
fn without_the_remote_the_tree_is_refused() {
    let (origin, clone) = sparse_partial_clone();
    std::fs::rename(origin.root(), origin.beside("away")).unwrap();
    let world = World::around(clone);
    let failure = world.try_open("first", "one").unwrap_err();
    assert_eq!(failure.code, Code::ReviewTreeFailed);
    assert!(failure.message.contains("promisor remote"), "{failure}");
    world.untouched();
}
