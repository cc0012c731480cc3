//! A source that moves while it is read. What moves is scripted: an allowed filter that git runs in
//! the middle of its reading, so that no test is a race.

use run_loop::domain::code::Code;
use run_loop::git::Git;

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
    settles(&repo, &source);
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
    settles(&repo, &source);
}

#[test]
fn file_that_is_truncated() {
    let (repo, source) = while_read(": > z.txt");
    settles(&repo, &source);
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
    if pin.identity != measured.pin.identity {
        assert_eq!(moved, ["a.txt"]);
    }
    settles(&repo, &source);
}

/// The file itself changes while the filter has it.
#[test]
fn file_that_changes_while_it_is_filtered() {
    let (repo, source) = while_read("[ -s m.f ] && : > m.f");
    settles(&repo, &source);
}

#[test]
fn file_that_appears() {
    let (repo, source) = while_read("echo late > b.txt");
    settles(&repo, &source);
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
