//! A store whose objects are damaged: git writes nothing that lies there already (issue 3, point 2).

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::id::LoopId;
use run_loop::domain::identity::Pin;
use run_loop::domain::oid::Oid;
use run_loop::domain::slot::SlotName;
use run_loop::git::review_tree::ReviewTrees;
use run_loop::git::{Git, GitEnvironment, ReviewStore, evidence};
use run_loop::lock::{Locked, Sharing};

use crate::support::reference::reference;
use crate::support::repo::{self, Repo};
use crate::support::source::{Source, discover, environment, git};

/// What becomes of a file's bytes.
type Damage = fn(&[u8]) -> Vec<u8>;

/// Puts other bytes in the place of a file that nobody may write to.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn packs(source: &Source, kind: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(source.store.objects().join("pack")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_kind = |path: &PathBuf| path.extension().is_some_and(|found| found == kind);
    paths.filter(is_kind).collect()
}

/// The store holds what git takes for sound, and just what the working tree has.
#[track_caller]
fn pins_what_lies_there(repo: &Repo, source: &Source) {
    let pin = source.pin();
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
    repo::git(source.store.git_dir(), &["fsck", "--full", "--no-dangling"]);
    let name = format!("{}:edit.txt", pin.snapshot);
    let shown = repo::git(source.store.git_dir(), &["show", &name]);
    assert_eq!(shown, "an edit of mine");
}

/// A full disk or a power cut in the middle of a pin: what lies loose was not packed yet.
#[test]
fn a_loose_object_that_is_damaged_is_written_anew() {
    let cut: [Damage; 4] = [
        |_| Vec::new(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes[..bytes.len() - 1].to_vec(),
        |bytes| [bytes, b"more"].concat(),
    ];
    for (kind, cut) in ["{}:edit.txt", "{}^{tree}", "{}"]
        .into_iter()
        .flat_map(|kind| cut.map(|cut| (kind, cut)))
    {
        let repo = Repo::new();
        repo.write("edit.txt", "an edit of mine\n");
        let source = Source::of(&repo, "HEAD");
        let name = kind.replace("{}", source.pin().snapshot.as_str());
        let store = source.store.git_dir();
        let oid = repo::git(store, &["rev-parse", &name]);
        std::fs::remove_dir_all(store.join("objects/pack")).unwrap();
        std::fs::create_dir(store.join("objects/pack")).unwrap();
        let (folder, file) = oid.split_at(2);
        let path = source.store.objects().join(folder).join(file);
        let bytes = std::fs::read(&path).unwrap();
        put(&path, &cut(&bytes));
        pins_what_lies_there(&repo, &source);
    }
}

/// Another byte in the middle of a file.
fn damage(path: &Path) {
    damage_at(path, std::fs::read(path).unwrap().len() / 2);
}

fn damage_at(path: &Path, place: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[place] ^= 0xff;
    put(path, &bytes);
}

/// What was set aside of a store, the names sorted; none where nothing was.
fn aside(store: &Path) -> Vec<String> {
    let mut folder = store.to_owned().into_os_string();
    folder.push(".damaged-1");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Whether a store still has all of a snapshot under the name of its round.
fn has(store: &Path, round: u32, snapshot: &Oid) -> bool {
    let run = LoopId::parse("01890a5d-ac96-774b-bcce-b302099a8057").unwrap();
    let held = std::fs::read_to_string(store.join(format!("refs/run-loop/{run}/{round}")));
    assert_eq!(held.is_ok(), ReviewStore::holds(store, run, snapshot));
    held.is_ok_and(|held| {
        assert_eq!(held.trim_end(), snapshot.as_str());
        let walked = repo::git_command(store)
            .args(["rev-list", "--objects", "--quiet", snapshot.as_str()])
            .output();
        walked.unwrap().status.success()
    })
}

/// A run that parked has its only snapshots there.
#[test]
fn of_a_damaged_store_only_the_damaged_pack_goes() {
    for kind in ["pack", "idx"] {
        let repo = Repo::new();
        repo.write("edit.txt", "an edit of another day\n");
        let source = Source::of(&repo, "HEAD");
        let first = source.pin();
        let before = packs(&source, "pack");
        repo.write("edit.txt", "an edit of mine\n");
        let second = source.try_pin(2).unwrap();
        let store = source.store.git_dir().to_owned();
        repo::git(&store, &["prune-packed"]);
        let path = packs(&source, kind)
            .into_iter()
            .find(|path| !before.contains(&path.with_extension("pack")))
            .unwrap();
        damage(&path);
        let failure = source.try_pin(3).unwrap_err();
        assert!(failure.message.contains("is damaged"), "{failure}");
        drop(source);
        let source = Source::of(&repo, "HEAD");
        let name = path.file_stem().unwrap().to_str().unwrap();
        let aside = aside(&store);
        let is_of_it = |file: &String| file.split('.').next() == Some(name);
        assert!(aside.iter().all(is_of_it), "{aside:?}");
        assert!(
            aside.contains(&format!("{name}.pack")),
            "set aside, not deleted"
        );
        assert!(
            aside.contains(&format!("{name}.idx")),
            "no file of it stays"
        );
        assert!(has(&store, 1, &first.snapshot), "another pack has it");
        assert!(!has(&store, 2, &second.snapshot), "nothing says to hold it");
        pins_what_lies_there(&repo, &source);
        assert!(!store.join("run-loop-damaged").exists());
    }
}

/// Also where git itself complains before anything of a run was asked.
#[test]
fn a_pack_that_git_cannot_open_goes_alone() {
    let repo = Repo::new();
    repo.write("edit.txt", "an edit of mine\n");
    let source = Source::of(&repo, "HEAD");
    let pin = source.pin();
    let store = source.store.git_dir().to_owned();
    repo::git(&store, &["prune-packed"]);
    drop(source);
    for kind in ["pack", "idx"] {
        let name = format!("objects/pack/pack-{}.{kind}", "1".repeat(40));
        std::fs::write(store.join(name), format!("no {kind}")).unwrap();
    }
    let source = Source::of(&repo, "HEAD");
    assert_eq!(aside(&store).len(), 2);
    assert!(has(&store, 1, &pin.snapshot));
    pins_what_lies_there(&repo, &source);
}

/// What git is told by a process that somebody killed, or by a disk that does not answer, is not known.
#[test]
fn what_could_not_be_looked_at_is_not_damaged() {
    let repo = Repo::new();
    repo.write("edit.txt", "an edit of mine\n");
    let source = Source::of(&repo, "HEAD");
    let pin = source.pin();
    let store = source.store.git_dir().to_owned();
    repo::git(&store, &["prune-packed"]);
    drop(source);
    let program = repo.beside("git");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*verify-pack*) kill -9 $$ ;;\n*commit-tree*) exit 1 ;;\nesac\nexec '{}' \"$@\"\n",
        repo::git_program().display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let killed = Git::find_in(&GitEnvironment {
        program: Some(program),
        ..environment()
    });
    let source = Source::at(&repo, repo.root(), Some("HEAD"), killed.unwrap());
    let failure = source.try_pin(2).unwrap_err();
    assert_eq!(failure.code, Code::GitFailed, "{failure}");
    assert!(!failure.message.contains("is damaged"), "{failure}");
    drop(source);
    // A pack that cannot be read; another one is damaged.
    let damaged = store.join(format!("objects/pack/pack-{}.pack", "1".repeat(40)));
    std::fs::write(&damaged, "no pack").unwrap();
    std::fs::write(damaged.with_extension("idx"), "no index").unwrap();
    let unread = store.join(format!("objects/pack/pack-{}.pack", "2".repeat(40)));
    std::fs::create_dir(&unread).unwrap();
    std::fs::write(unread.with_extension("idx"), "no index").unwrap();
    let found = discover(repo.root());
    let open = || ReviewStore::open(&git(), &found, &repo.beside("cache"));
    assert_eq!(open().unwrap_err().code, Code::StateUnwritable);
    assert_eq!(aside(&store), Vec::<String>::new(), "nothing is moved");
    std::fs::remove_dir(&unread).unwrap();
    open().unwrap();
    assert_eq!(aside(&store).len(), 2);
    assert!(has(&store, 1, &pin.snapshot));
}

/// The user's objects are theirs to mend: what is ours stays where it is meanwhile.
#[test]
fn damage_in_the_users_repository_costs_the_store_nothing() {
    let repo = Repo::new();
    repo.write("edit.txt", "an edit of mine\n");
    let source = Source::of(&repo, "HEAD");
    let pin = source.pin();
    let store = source.store.git_dir().to_owned();
    drop(source);
    let theirs = repo.root().join(".git/objects/pack");
    std::fs::create_dir_all(&theirs).unwrap();
    for kind in ["pack", "idx"] {
        std::fs::write(
            theirs.join(format!("pack-{}.{kind}", "1".repeat(40))),
            "none",
        )
        .unwrap();
    }
    let found = discover(repo.root());
    let failure = ReviewStore::open(&git(), &found, &repo.beside("cache")).unwrap_err();
    assert_eq!(failure.code, Code::GitFailed, "{failure}");
    assert_eq!(aside(&store), Vec::<String>::new());
    std::fs::remove_dir_all(&theirs).unwrap();
    let source = Source::of(&repo, "HEAD");
    assert!(has(&store, 1, &pin.snapshot));
    pins_what_lies_there(&repo, &source);
}

/// Whoever meets a damaged pack after the pin leads to it as well.
#[test]
fn a_damaged_pack_is_told_by_whatever_meets_it() {
    type Meets = fn(&Source, &Pin, &Path) -> Result<(), Failure>;
    let cases: [(Meets, Option<usize>); 3] = [
        (
            |source, pin, folder| {
                let (git, store, review) = (&source.git, &source.store, &source.spec.review);
                evidence::make(
                    git,
                    store,
                    pin,
                    review,
                    "00112233445566778899aabbccddeeff",
                    folder,
                )
                .map(drop)
            },
            None,
        ),
        (
            |source, pin, folder| {
                let trees = ReviewTrees::new(
                    &source.git,
                    &source.store,
                    &source.found,
                    folder,
                    source.spec.loop_id,
                );
                let slot = SlotName::parse("ann").unwrap();
                let (snapshot, tree) = (&pin.snapshot, &pin.identity.tree);
                let opened = trees.open(&slot, snapshot, tree, &pin.identity.base, "main");
                let left = trees.release();
                assert!(left.is_empty(), "{left:?}");
                opened.map(drop)
            },
            None,
        ),
        // It reads no files: the commit is what it meets, which comes first.
        (|source, pin, _| source.try_measure(pin).map(drop), Some(20)),
    ];
    for (meets, place) in cases {
        let repo = Repo::new();
        // More than fits beside the head of the pack: the damage is in this one.
        let noise: Vec<String> = (0..5_000_u32)
            .map(|n| n.wrapping_mul(2_654_435_761).to_string())
            .collect();
        repo.write("edit.txt", noise.join("\n"));
        let source = Source::of(&repo, "HEAD");
        let pin = source.pin();
        let store = source.store.git_dir().to_owned();
        repo::git(&store, &["prune-packed"]);
        let [pack] = &packs(&source, "pack")[..] else {
            unreachable!()
        };
        match place {
            Some(place) => damage_at(pack, place),
            None => damage(pack),
        }
        let folder = repo.beside("cache/more");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        let failure = meets(&source, &pin, &folder.join("evidence")).unwrap_err();
        assert!(failure.message.contains("sets it aside"), "{failure}");
        drop(source);
        drop(Source::of(&repo, "HEAD"));
        assert!(!aside(&store).is_empty());
    }
}

/// Two runs that look at once: the second one must not take away what the first has written anew.
#[test]
fn damaged_objects_are_removed_by_one_run_at_a_time() {
    let repo = Repo::new();
    repo.write("edit.txt", "an edit of mine\n");
    let source = Source::of(&repo, "HEAD");
    let name = format!("{}^{{tree}}", source.pin().snapshot);
    let store = source.store.git_dir().to_owned();
    let oid = repo::git(&store, &["rev-parse", &name]);
    std::fs::remove_dir_all(store.join("objects/pack")).unwrap();
    std::fs::create_dir(store.join("objects/pack")).unwrap();
    let (folder, file) = oid.split_at(2);
    let path = source.store.objects().join(folder).join(file);
    put(&path, b"damaged");
    let lock = std::fs::File::open(store.with_extension("build")).unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&lock.metadata().unwrap());
    let lock = Locked::wait(lock, Sharing::Exclusive).unwrap();
    let waits = || {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        let of_it = format!(":{inode} ");
        locks
            .lines()
            .any(|line| line.contains("->") && line.contains(&of_it))
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| source.try_pin(2));
        while !waits() {
            assert!(path.exists(), "removed while another run looks");
            assert!(!other.is_finished(), "it waits for nobody");
            std::thread::yield_now();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"damaged");
        drop(lock);
        other.join().unwrap().unwrap();
    });
    pins_what_lies_there(&repo, &source);
}
