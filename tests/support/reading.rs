//! Both readers asked the same: what the library says at all, the program says too, and plain git is
//! asked a third time.

use std::fmt::Debug;
use std::path::Path;

use run_loop::domain::oid::Oid;
use run_loop::git::read::library::Library;
use run_loop::git::read::program::Program;
use run_loop::git::read::{Peel, Place, Read, Unsure, layout};
use run_loop::git::{Git, Repository};

use super::repo::git_command;

/// Two readers of one place.
pub struct Readers<'a> {
    git: &'a Git,
    place: Place<'a>,
    /// Questions that the library answered.
    pub answered: usize,
    /// Questions that it left to the program.
    pub left: usize,
}

impl<'a> Readers<'a> {
    pub fn of(git: &'a Git, git_dir: &'a Path) -> Self {
        Self {
            git,
            place: Place::new(git_dir),
            answered: 0,
            left: 0,
        }
    }

    /// What both say; the program alone where the library leaves it to it.
    #[track_caller]
    pub fn same<T: Debug + PartialEq>(
        &mut self,
        about: &str,
        library: impl FnOnce(&Library) -> Result<T, Unsure>,
        program: impl FnOnce(&Program<'_>) -> Result<T, run_loop::git::Error>,
    ) -> Option<T> {
        let place = self.place;
        let said = program(&Program {
            git: self.git,
            place,
        });
        let Ok(found) = Library::open(place).and_then(|opened| library(&opened)) else {
            self.left += 1;
            return said.ok();
        };
        self.answered += 1;
        let said = said.unwrap_or_else(|error| panic!("{about}: {found:?} and {error}"));
        assert_eq!(found, said, "{about}");
        Some(found)
    }

    #[track_caller]
    pub fn name(&mut self, name: &str) -> Option<Oid> {
        self.same(name, |it| it.resolves(name), |it| it.resolves(name));
        let mut commit = None;
        for peel in [Peel::Tree, Peel::Commit] {
            commit = self
                .same(
                    &format!("{name} to a {}", peel.as_str()),
                    |it| it.peeled(name, peel),
                    |it| it.peeled(name, peel),
                )
                .flatten();
            let asked = format!("{name}^{{{}}}", peel.as_str());
            assert_eq!(
                commit.as_ref().map(Oid::as_str),
                plain(self.place.git_dir, &["rev-parse", "-q", "--verify", &asked]).as_deref(),
                "{asked}"
            );
        }
        commit
    }

    /// The whole tree of a revision, folder by folder and file by file.
    #[track_caller]
    pub fn tree(&mut self, rev: &str) {
        let listed = self.same(
            rev,
            |it| it.tree_entries(rev, ""),
            |it| it.tree_entries(rev, ""),
        );
        let files = listed.unwrap_or_default();
        let listing = plain(
            self.place.git_dir,
            &["ls-tree", "-r", "--full-tree", "-z", rev],
        );
        let known = listing.map(|text| text.split_terminator('\0').count());
        assert_eq!(Some(files.len()), known, "{rev}");
        let mut paths: Vec<String> = ["no such", "README.md/below", "no/such"]
            .map(str::to_owned)
            .to_vec();
        for file in files.iter().filter_map(|entry| entry.path.as_str()) {
            let folders = file
                .match_indices('/')
                .map(|(end, _)| file[..end].to_owned());
            paths.extend(folders);
            paths.push(file.to_owned());
        }
        paths.sort();
        paths.dedup();
        paths.truncate(12);
        for path in &paths {
            self.same(path, |it| it.entry(rev, path), |it| it.entry(rev, path));
            self.same(
                path,
                |it| it.tree_entries(rev, path),
                |it| it.tree_entries(rev, path),
            );
        }
        let names: Vec<String> = paths
            .iter()
            .filter(|path| !path.contains('\n'))
            .map(|path| format!("{rev}:{path}"))
            .collect();
        self.same(rev, |it| it.objects(&names), |it| it.objects(&names));
        let blobs: Vec<&Oid> = files
            .iter()
            .filter(|entry| !entry.is_gitlink())
            .map(|entry| &entry.oid)
            .collect();
        self.same(rev, |it| it.blob_sizes(&blobs), |it| it.blob_sizes(&blobs));
    }

    #[track_caller]
    pub fn pair(&mut self, one: &Oid, other: &Oid) {
        let about = format!("{one} and {other}");
        self.same(
            &about,
            |it| it.is_ancestor(one, other),
            |it| it.is_ancestor(one, other),
        );
        self.same(
            &about,
            |it| it.merge_bases(one, other),
            |it| it.merge_bases(one, other),
        );
        self.same(&about, |it| it.apart(one, other), |it| it.apart(one, other));
    }
}

/// What plain git prints, with our care for replacements and grafts; `None` when it fails.
fn plain(git_dir: &Path, args: &[&str]) -> Option<String> {
    let mut command = git_command(git_dir);
    command.env("GIT_NO_REPLACE_OBJECTS", "1");
    command.env("GIT_GRAFT_FILE", "/dev/null");
    command.env("GIT_DIR", git_dir);
    let output = command.args(args).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output
        .status
        .success()
        .then(|| text.trim_end_matches('\n').to_owned())
}

/// Compares both readers on the working tree at `root`: where it lies, HEAD, branches and tags, the
/// whole of HEAD's tree, and ancestry. Returns questions that the library answered, and that it left.
#[track_caller]
pub fn agree(git: &Git, root: &Path) -> (usize, usize) {
    let Ok(said) = Repository::by_program(git, root) else {
        assert!(layout::of(root).is_err(), "{}", root.display());
        return (0, 1);
    };
    let found = layout::of(root).ok();
    if let Some(found) = &found {
        assert_eq!(*found, said);
    }
    let mut readers = Readers::of(git, &said.git_dir);
    let Some(head) = readers.name("HEAD") else {
        return (readers.answered, readers.left);
    };
    if let Ok(there) = Library::open(Place::new(&said.git_dir)).and_then(|it| it.head()) {
        assert_eq!(there.commit, head);
        let branch = plain(&said.git_dir, &["symbolic-ref", "-q", "HEAD"]);
        assert_eq!(there.branch, branch);
    }
    let refs = plain(&said.git_dir, &["for-each-ref", "--format=%(refname)"]);
    let refs = refs.unwrap_or_default();
    let mut commits: Vec<Oid> = refs
        .lines()
        .take(6)
        .filter_map(|name| readers.name(name))
        .collect();
    commits.dedup();
    for commit in &commits {
        readers.pair(commit, &head);
        readers.pair(&head, commit);
    }
    readers.tree(head.as_str());
    (
        readers.answered + usize::from(found.is_some()),
        readers.left + usize::from(found.is_none()),
    )
}
