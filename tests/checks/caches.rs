//! `cache:` folders: kept outside the tree, and never by way of a link.

use crate::change::{Change, edit};

fn with_cache(run: &str) -> Change {
    let mut change = edit(|repo| repo.write("web/a.js", "a\n")).check("build", run);
    change.job.cache = vec!["target".to_owned(), "web/node_modules".to_owned()];
    change
}

/// Runs again with a fresh folder for output.
fn again(change: &mut Change, run: &str) {
    run.clone_into(&mut change.job.checks[0].run);
    let scratch = change.repo.beside("scratch-again");
    std::fs::create_dir(&scratch).unwrap();
    change.job.scratch = scratch;
}

#[test]
fn a_cache_is_moved_out_and_back() {
    let mut change = with_cache("mkdir -p target web/node_modules && echo 1 > target/built");
    let first = change.examine();
    first.passes();
    assert!(
        first.report.contains("cache `target`: cold"),
        "{}",
        first.report
    );
    assert!(!change.job.tree.join("target").exists());
    assert!(!change.job.tree.join("web/node_modules").exists());

    again(
        &mut change,
        "test -f target/built && test -d web/node_modules",
    );
    let second = change.examine();
    second.passes();
    assert!(
        second.report.contains("cache `target`: warm"),
        "{}",
        second.report
    );
    assert!(!change.job.tree.join("target").exists());
}

#[test]
fn a_tracked_path_in_the_place_of_a_cache_is_refused() {
    for path in ["target/file", "target"] {
        let mut change = edit(|repo| repo.write(path, "x\n")).check("build", "touch ran");
        change.job.cache = vec!["target".to_owned()];
        let problem = change.examine().no_verdict();
        assert!(
            problem.contains("`target`") && problem.contains("in its place"),
            "{problem}"
        );
        assert!(!change.job.tree.join("ran").exists());
    }
}

#[test]
fn a_tracked_link_on_the_way_is_refused() {
    let mut change = edit(|repo| {
        std::os::unix::fs::symlink(repo.beside(""), repo.root().join("out")).unwrap();
    })
    .check("build", "touch ran");
    change.job.cache = vec!["out/target".to_owned()];
    let problem = change.examine().no_verdict();
    assert!(problem.contains("on the way"), "{problem}");
    assert!(!change.job.tree.join("ran").exists());
}

/// A command replaces a folder on the way by a link to a folder of the user's.
#[test]
fn a_link_planted_by_a_command_is_not_followed() {
    let run =
        "rm -rf web && ln -s ../precious web && mkdir target-real && ln -s target-real target";
    let change = with_cache(run);
    let precious = change.repo.beside("precious/node_modules");
    std::fs::create_dir_all(&precious).unwrap();
    std::fs::write(precious.join("kept"), "").unwrap();
    let examined = change.examine();
    examined.passes();
    assert!(precious.join("kept").exists(), "{}", examined.report);
    assert_eq!(
        examined.report.matches("not kept").count(),
        2,
        "{}",
        examined.report
    );
    assert_eq!(
        std::fs::read_dir(&change.job.cache_home).unwrap().count(),
        0
    );
}

#[test]
fn odd_cache_paths_are_refused() {
    for path in ["", "..", "../x", "/abs", "a/../b", ".git/x", "a//b"] {
        let mut change = edit(|repo| repo.write("a", "a\n")).check("build", "touch ran");
        change.job.cache = vec![path.to_owned()];
        assert!(
            change.examine().no_verdict().contains("plain names"),
            "{path}"
        );
    }
}

#[test]
fn without_commands_no_cache_is_touched() {
    let mut change = edit(|repo| repo.write("target", "x\n"));
    change.job.cache = vec!["target".to_owned()];
    change.examine().passes();
    assert!(!change.job.cache_home.exists());
}
