//! Objects that a promisor remote has and nobody here: most files of a partial clone whose checkout is
//! sparse.

use std::collections::BTreeSet;
use std::io;

use tempfile::TempDir;

use super::ReviewStore;
use crate::domain::oid::Oid;
use crate::git::Git;
use crate::git::config::GitConfig;
use crate::git::error::{Error, name_of, path_of};
use crate::git::genuine::lines;
use crate::git::program::{failed, finish};
use crate::git::repository::ObjectFormat;

/// Folders may be missing too, and what is in them is known only then: a filter leaves out those below a
/// depth.
const DEEPEST: usize = 64;

impl ReviewStore {
    /// Fetches what a tree lacks here into the store, as git does one by one: everything at once.
    ///
    /// # Errors
    /// When git fails, no remote can be reached, or none has it.
    pub(crate) fn complete(&self, git: &Git, tree: &Oid) -> Result<(), Error> {
        if !self.is_promisor() {
            return Ok(());
        }
        let mut missing = self.missing(git, tree)?;
        for _ in 0..DEEPEST {
            if missing.is_empty() {
                return Ok(());
            }
            self.fetch(git, &missing)?;
            let left = self.missing(git, tree)?;
            if left == missing {
                break;
            }
            missing = left;
        }
        Err(Error::answer("git fetch", b"not all that was asked for"))
    }

    /// Fetches what is missing here of some objects.
    ///
    /// # Errors
    /// As [`Self::complete`].
    pub(crate) fn bring(&self, git: &Git, objects: &BTreeSet<Oid>) -> Result<(), Error> {
        let absent = self.absent(git, objects)?;
        if !absent.is_empty() {
            self.fetch(git, &absent)?;
        }
        Ok(())
    }

    /// Which of these objects only a promisor remote can have; nothing is fetched to find out.
    ///
    /// # Errors
    /// When git fails, or finds one damaged: that one is here.
    pub(crate) fn absent(
        &self,
        git: &Git,
        objects: &BTreeSet<Oid>,
    ) -> Result<BTreeSet<Oid>, Error> {
        let Some(first) = objects.first().filter(|_| self.is_promisor()) else {
            return Ok(BTreeSet::new());
        };
        let promised_nothing = self.without_remotes(ObjectFormat::of(first))?;
        let command = git
            .on(promised_nothing.path())
            .env("GIT_OBJECT_DIRECTORY", self.objects())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["cat-file", "--batch-check=%(objectname)"])
            .stdin(lines(objects));
        let answer = finish(&command)?;
        let mut answers = answer.split(|byte| *byte == b'\n');
        let mut absent = BTreeSet::new();
        for oid in objects {
            let line = answers.next().unwrap_or_default();
            match line.strip_prefix(oid.as_str().as_bytes()) {
                Some(b"") => {}
                Some(b" missing") => {
                    absent.insert(oid.clone());
                }
                Some(_) | None => return Err(Error::answer("git cat-file --batch-check", line)),
            }
        }
        Ok(absent)
    }

    /// A repository that knows of no remote, to see the objects of this one by: whoever lacks an object
    /// that a remote has promised fetches it, and only new versions of git can be kept from it.
    fn without_remotes(&self, format: ObjectFormat) -> io::Result<TempDir> {
        let folder = tempfile::Builder::new()
            .prefix("alone-")
            .tempdir_in(self.temporary())?;
        for name in ["objects", "refs"] {
            fs_err::create_dir(folder.path().join(name))?;
        }
        fs_err::write(folder.path().join("HEAD"), "ref: refs/heads/none\n")?;
        let config = format!(
            "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\
             [extensions]\n\tobjectformat = {}\n",
            format.as_str()
        );
        fs_err::write(folder.path().join("config"), config)?;
        Ok(folder)
    }

    /// Which objects of a tree are not here; nothing is fetched to find out.
    fn missing(&self, git: &Git, tree: &Oid) -> Result<BTreeSet<Oid>, Error> {
        let command = git.on(self.git_dir()).args([
            "rev-list",
            "--objects",
            "--no-object-names",
            "--missing=print",
            tree.as_str(),
        ]);
        let listing = finish(&command)?;
        let missing = listing.split(|byte| *byte == b'\n').filter_map(|line| {
            let oid = std::str::from_utf8(line.strip_prefix(b"?")?).ok();
            Some(
                oid.and_then(Oid::parse)
                    .ok_or_else(|| Error::answer("git rev-list", line)),
            )
        });
        missing.collect()
    }

    /// Asks the promisor remotes, one after the other, until one gives them.
    fn fetch(&self, git: &Git, objects: &BTreeSet<Oid>) -> Result<(), Error> {
        let config = GitConfig::read(&git.on(self.git_dir()))?;
        let asked = lines(objects);
        let mut last = Error::answer("git config", b"no promisor remote");
        for remote in config.subsections("remote", &["promisor", "partialclonefilter"]) {
            let command = git
                .on(self.git_dir())
                .args(["-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet"])
                .args([
                    "--no-tags",
                    "--no-write-fetch-head",
                    "--recurse-submodules=no",
                ])
                .args(["--filter=blob:none", "--stdin", "--"])
                .arg(path_of(&remote))
                .stdin(asked.as_bytes());
            let limit = git.fetch_limit();
            let why = match command.output_within(limit) {
                // What a server says beside is no answer of it: what came is looked at afterwards.
                Ok(Some(output)) if output.status.success() => return Ok(()),
                Ok(Some(output)) => failed(&command, output).to_string(),
                Ok(None) => format!(
                    "`{}` was ended after {} s",
                    name_of(&command),
                    limit.as_secs_f32()
                ),
                Err(source) => {
                    return Err(Error::Start {
                        command: name_of(&command),
                        source,
                    });
                }
            };
            last = Error::NotFetched {
                remote: path_of(&remote),
                git_dir: self.git_dir().to_owned(),
                why,
            };
        }
        Err(last)
    }
}
