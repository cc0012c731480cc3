//! A source that moves while it is read. What moves is scripted: an allowed filter that git runs in
//! the middle of its reading, so that no test is a race.

use std::path::PathBuf;

use run_loop::domain::code::Code;
use run_loop::git::Git;

use crate::both_ways::aged;
use crate::support::reference::reference;
use crate::support::repo::Repo;
use crate::support::source::{Source, environment, git};
use crate::trial::{real_git, script};

/// While git reads `m.f`, this happens in the working tree; `z.txt` is read later.
fn while_read(what: &str) -> (Repo, Source) {
    let repo = Repo::new();
    let program = repo.beside("filter");
    script(&program, &format!("{what}\ncat"));
    repo.git(&["config", "filter.f.clean", program.to_str().unwrap()]);
    repo.write(".gitattributes", "*.f filter=f\n");
    repo.write("a.txt", "first\n");
    repo.write("m.f", "filtered\n");
    repo.write("z.txt", "last\n".repeat(10_000));
    let mut source = Source::at(&repo, repo.root(), Some("HEAD"), git());
    source.spec.allow_filters = vec!["f".to_owned()];
    (repo, source)
}

/// Measures until nothing moves; that tree is plain git's own. Returns how often it moved.
#[track_caller]
fn settles(repo: &Repo, source: &Source) -> usize {
    let mut pin = source.pin();
    for moved in 0..4 {
        let again = source.measure(&pin).pin;
        if again.identity == pin.identity {
            assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
            return moved;
        }
        pin = again;
    }
    panic!("it never settles");
}

#[test]
fn file_that_vanishes_once() {
    let (repo, source) = while_read("rm -f z.txt");
    assert_eq!(settles(&repo, &source), 0);
}

/// `z.txt` is written anew before each try, as a build would, and is not a file any more when git
/// comes to it.
#[track_caller]
fn refused_each_time(what: &str) {
    let (repo, source) = while_read(what);
    let posing = repo.beside("posing");
    let text = format!(
        "for word; do [ \"$word\" = add ] && {{ rm -rf z.txt; echo again > z.txt; }}; done\n\
         exec '{}' \"$@\"",
        real_git().display()
    );
    script(&posing, &text);
    let mut environment = environment();
    environment.program = Some(posing);
    let git = Git::find_in(&environment).unwrap();
    let mut posed = Source::at(&repo, repo.root(), Some("HEAD"), git);
    posed.spec = source.spec;
    let failure = posed.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::SourceNotQuiet, "{failure}");
    assert_eq!(posed.try_pin(2).unwrap_err().code, Code::SourceUnquietLater);
}

#[test]
fn file_that_vanishes_each_time_is_refused() {
    refused_each_time("rm -f z.txt");
}

#[test]
fn file_that_becomes_a_folder_each_time_is_refused() {
    refused_each_time("rm -rf z.txt; mkdir z.txt; echo x > z.txt/inside");
}

#[test]
fn file_that_grows() {
    let (repo, source) = while_read("[ $(wc -c < z.txt) -gt 50010 ] || echo more >> z.txt");
    // How often git filters a file in one capture is its own affair.
    assert_ne!(settles(&repo, &source), 0);
}

#[test]
fn file_that_is_truncated() {
    let (repo, source) = while_read(": > z.txt");
    assert_eq!(settles(&repo, &source), 0);
    assert_eq!(std::fs::read(repo.root().join("z.txt")).unwrap(), b"");
}

/// What was read already: the pin is torn, and the next measurement finds it.
#[test]
fn file_that_changes_after_it_was_read() {
    let (repo, source) = while_read("echo second > a.txt");
    let pin = source.pin();
    let measured = source.measure(&pin);
    let moved: Vec<String> = measured
        .moved_paths
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_ne!(pin.identity, measured.pin.identity);
    assert_eq!(moved, ["a.txt"]);
    assert_eq!(settles(&repo, &source), 0);
}

/// The file itself changes while the filter has it.
#[test]
fn file_that_changes_while_it_is_filtered() {
    let (repo, source) = while_read("[ -s m.f ] && : > m.f");
    assert_eq!(settles(&repo, &source), 1);
}

#[test]
fn file_that_appears() {
    let (repo, source) = while_read("echo late > b.txt");
    assert_eq!(settles(&repo, &source), 1);
    assert!(repo.root().join("b.txt").exists());
}

/// Never the same twice: each measurement says so, and none says unchanged.
#[test]
fn file_that_never_holds_still() {
    let (_repo, source) = while_read("echo x >> counter.txt");
    let mut pin = source.pin();
    for _ in 0..3 {
        let again = source.measure(&pin);
        assert_ne!(again.pin.identity.tree, pin.identity.tree);
        pin = again.pin;
    }
}

/// A commit in the middle of a capture belongs to another state than the one that was read.
#[test]
fn head_that_moves_is_tried_again() {
    let (repo, source) = while_read(
        "unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY\n\
         [ -e ../once ] || { : > ../once; git -c core.hooksPath=/dev/null -c user.name=a \
         -c user.email=a@b commit -q --allow-empty -m late >&2; }",
    );
    let before = repo.git(&["rev-parse", "HEAD"]);
    let pin = source.pin();
    let after = repo.git(&["rev-parse", "HEAD"]);
    assert_ne!(before, after);
    assert_eq!(pin.identity.head.as_str(), after);
}

/// An edited file and a new one, captured the quick way by a git around whose `add -u` this happens, in the
/// working tree; with how often a capture went through the whole of it.
fn around_add(before: &str, after: &str) -> (Repo, Source, PathBuf) {
    let repo = aged();
    repo.write("docs/b.md", "edited\n".repeat(10_000));
    repo.write("new.txt", "new\n");
    let (whole, program) = (repo.beside("whole"), repo.beside("around"));
    let text = format!(
        "words=\n\
         for word; do words=\"$words $word\"; done\n\
         case \"$words\" in\n\
         *' add -u') {before}\n'{git}' \"$@\" || exit\n{after}\n;;\n\
         *' add -A') echo >> '{whole}'; exec '{git}' \"$@\";;\n\
         *) exec '{git}' \"$@\";;\n\
         esac",
        git = real_git().display(),
        whole = whole.display(),
    );
    script(&program, &text);
    let mut environment = environment();
    environment.program = Some(program);
    let git = Git::find_in(&environment).unwrap();
    let source = Source::at(&repo, repo.root(), Some("HEAD"), git);
    (repo, source, whole)
}

/// What is done once.
fn once(what: &str) -> String {
    format!("[ -e ../once ] || {{ : > ../once; {what}; }}")
}

/// The look saw another file than git reads: what git reads counts.
#[test]
fn quick_file_that_changes_before_git_reads_it() {
    for (what, moved) in [
        ("echo more >> docs/b.md", 0),
        (": > docs/b.md", 0),
        ("rm docs/b.md", 0),
        ("rm docs/b.md; ln -s deep docs/b.md", 0),
        // Of what the look saw unchanged git is told nothing: the next measurement finds it.
        ("echo more >> docs/deep/a.md", 1),
        ("rm -r docs/deep", 1),
        ("mv docs docs-2; ln -s docs-2 docs", 1),
    ] {
        let (repo, source, whole) = around_add(&once(what), "");
        assert_eq!(settles(&repo, &source), moved, "{what}");
        assert!(repo.beside("once").exists());
        assert!(!whole.exists(), "{what}: git went through all of it");
    }
}

#[test]
fn quick_file_that_changes_after_git_read_it() {
    for what in [
        "echo more >> docs/b.md",
        ": > docs/b.md",
        "rm docs/b.md",
        "rm docs/b.md; mkdir docs/b.md; echo x > docs/b.md/inside",
    ] {
        let (repo, source, whole) = around_add("", &once(what));
        assert_eq!(settles(&repo, &source), 1, "{what}");
        assert!(!whole.exists(), "{what}: git went through all of it");
    }
}

/// Git dies of a file that is cut short while it is mapped: a new try, and the last is the reference's.
#[test]
fn quick_file_that_vanishes_or_is_cut_short_each_time() {
    let (repo, source, whole) = around_add("kill -BUS $$", "");
    assert_eq!(settles(&repo, &source), 0);
    let reference = std::fs::read_to_string(&whole).unwrap();
    assert_eq!(
        reference.len(),
        2,
        "once for the pin, once for the measurement"
    );
    // A new file that is gone when its turn comes is no reason to go without the others.
    let (repo, source, _) = around_add("", "rm -f new.txt");
    assert_eq!(settles(&repo, &source), 0);
    assert!(!repo.root().join("new.txt").exists());
}
