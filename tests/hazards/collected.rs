//! A garbage collection in the user's repository while it is captured, at every moment at which one can
//! come: it costs no pin, and what is pinned is whole afterwards.

use run_loop::git::Git;

use crate::support::reference::reference;
use crate::support::repo::{self, Repo};
use crate::support::source::{Source, environment, git};
use crate::trial::{real_git, script};

/// A repository with edits whose bytes lie in it, and nothing there needs them: a collection takes them.
fn with_garbage() -> Repo {
    let repo = Repo::new();
    repo.write("staged.txt", "staged\n");
    repo.write("garbage.txt", "garbage\n");
    repo.write("deep/er/garbage.txt", "more garbage\n");
    repo.git(&["add", "-A"]);
    // All trees of the edits, and a commit that was left alone.
    repo.commit("left alone");
    repo.git(&["reset", "-q", "HEAD~1"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["add", "staged.txt"]);
    repo
}

/// The git under test, before whose step with this number the repository is collected; and whether it came to
/// that.
fn collecting(repo: &Repo, step: usize) -> (Git, impl Fn() -> bool) {
    let [program, steps, done] = ["posing", "steps", "collected"].map(|name| repo.beside(name));
    let text = format!(
        "case \"$1\" in --version) ;; *)\n\
         echo x >>'{steps}'\n\
         if [ \"$(wc -l <'{steps}')\" -ge {step} ] && mkdir '{done}' 2>/dev/null; then\n\
         env -u GIT_OBJECT_DIRECTORY -u GIT_INDEX_FILE '{git}' -C '{root}' gc -q --prune=now\n\
         fi ;; esac\n\
         exec '{git}' \"$@\"",
        steps = steps.display(),
        done = done.display(),
        git = real_git().display(),
        root = repo.root().display(),
    );
    script(&program, &text);
    let mut environment = environment();
    environment.program = Some(program);
    (Git::find_in(&environment).unwrap(), move || done.exists())
}

#[test]
fn at_every_step_of_a_pin() {
    for step in 1.. {
        let repo = with_garbage();
        let tree = reference(repo.root(), &[]);
        let mut source = Source::at(&repo, repo.root(), Some("HEAD"), git());
        let (git, is_collected) = collecting(&repo, step);
        source.git = git;
        let pin = match source.try_pin(1) {
            Ok(pin) => pin,
            Err(failure) => panic!("step {step}: {failure}"),
        };
        let is_end = !is_collected();
        repo.git(&["gc", "-q", "--prune=now"]);
        assert_eq!(pin.identity.tree.as_str(), tree, "step {step}");
        let whole = ["rev-list", "--objects", "--quiet", pin.snapshot.as_str()];
        repo::git(source.store.git_dir(), &whole);
        assert_eq!(source.measure(&pin).pin.identity, pin.identity);
        if is_end {
            assert!(step > 5, "a pin takes more steps");
            break;
        }
    }
}
