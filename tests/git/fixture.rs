//! What the tests of this area share: the git under test, and the store beside a repository.

use std::path::Path;

use run_loop::git::{Git, GitEnvironment, Repository, ReviewStore};

use crate::support::repo::{Repo, git_program};

/// The git under test, without the machine's and the user's configuration.
pub(crate) fn git() -> Git {
    Git::find_in(&environment()).unwrap()
}

/// Its environment, to be changed by a test.
pub(crate) fn environment() -> GitEnvironment {
    GitEnvironment {
        path: std::env::var_os("PATH").unwrap(),
        program: Some(git_program()),
        no_system_config: true,
        ..GitEnvironment::default()
    }
}

/// The repository as found from a folder.
pub(crate) fn discover(dir: &Path) -> Repository {
    Repository::discover(&git(), dir).unwrap()
}

/// The open store of a repository, in a cache folder beside it.
pub(crate) fn store(repo: &Repo, found: &Repository) -> ReviewStore {
    ReviewStore::open(&git(), found, &repo.beside("cache")).unwrap()
}
