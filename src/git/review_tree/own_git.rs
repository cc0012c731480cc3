//! Our git directory of a slot: outside the tree, with our own index, never the agent's.

use std::io::{self, BufReader};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::Error;
use super::sum::{Sum, SumKey};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::Git;
use crate::git::program::finish;
use crate::git::repository::ObjectFormat;
use crate::process::command::Command;

/// Attributes that win over every other: the files are the tree's blobs, byte by byte. So no
/// filter runs, ends of lines and encodings stay, and pointers of git-lfs stay pointers.
pub(super) const ATTRIBUTES: &str = "* -text !eol -ident !filter !working-tree-encoding\n";

/// Bytes of an index that are read at once.
const PIECE: usize = 1 << 16;

/// What the git directories of a slot have in common.
#[derive(Debug)]
pub(super) struct Borrowed {
    pub(super) format: ObjectFormat,
    /// The file that names the folders of objects.
    pub(super) alternates: Vec<u8>,
    /// Where history ends, in a shallow clone.
    pub(super) shallow: Option<Vec<u8>>,
}

impl Borrowed {
    /// Makes the empty folder `dir` a git directory without an index.
    pub(super) fn fill(&self, dir: &Path, head: &str, settings: &str) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        for name in [
            "info",
            "objects",
            "objects/info",
            "objects/pack",
            "refs",
            "refs/heads",
        ] {
            builder.create(dir.join(name))?;
        }
        let (version, extensions) = match self.format {
            ObjectFormat::Sha1 => (0, ""),
            ObjectFormat::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
        };
        let config = format!(
            "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = false\n\
             \tsymlinks = true\n\tignorecase = false\n\tlogallrefupdates = false\n\
             {settings}{extensions}"
        );
        fs_err::write(dir.join("config"), config)?;
        fs_err::write(dir.join("HEAD"), format!("{head}\n"))?;
        fs_err::write(dir.join("info/attributes"), ATTRIBUTES)?;
        fs_err::write(dir.join("objects/info/alternates"), &self.alternates)?;
        if let Some(shallow) = &self.shallow {
            fs_err::write(dir.join("shallow"), shallow)?;
        }
        Ok(())
    }
}

/// An index as we left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seal {
    sum: Sum,
    stat: [i64; 6],
}

/// Our git directory beside a tree.
#[derive(Debug)]
pub(super) struct OwnGit<'a> {
    git: &'a Git,
    slot: &'a Path,
}

impl<'a> OwnGit<'a> {
    /// That of a slot's folder.
    pub(super) fn new(git: &'a Git, slot: &'a Path) -> Self {
        Self { git, slot }
    }
    fn dir(&self) -> PathBuf {
        self.slot.join("git")
    }
    fn index(&self) -> PathBuf {
        self.dir().join("index")
    }
    /// Fills the directory, without an index; it must be there and empty.
    pub(super) fn fill(&self, borrowed: &Borrowed) -> io::Result<()> {
        let settings = "\tattributesFile = /dev/null\n\texcludesFile = /dev/null\n\
                        \tautocrlf = false\n\tuntrackedCache = false\n\tsplitIndex = false\n\
                        \tsparseCheckout = false\n[index]\n\tsparse = false\n";
        borrowed.fill(&self.dir(), "ref: refs/heads/none", settings)
    }
    /// A git process on the tree that knows no configuration but this directory's.
    fn command(&self) -> Command {
        let option = |name: &str, path: &Path| {
            let mut option = std::ffi::OsString::from(name);
            option.push(path);
            option
        };
        self.git
            .command(self.slot)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .arg(option("--git-dir=", &self.dir()))
            .arg(option("--work-tree=", &self.slot.join("tree")))
    }
    /// Makes an index of a tree, with nothing said about any file.
    pub(super) fn enter(&self, tree: &Oid) -> Result<(), Error> {
        finish(&self.command().args(["read-tree", tree.as_str()]))?;
        Ok(())
    }
    /// Hashes every file that the index says nothing about, and takes down what it knows then.
    pub(super) fn hash(&self) -> Result<(), Error> {
        // Its exit code says whether files differ, which is no news here; the proof comes later.
        let command = self.command().args(["update-index", "-q", "--refresh"]);
        command.output()?;
        Ok(())
    }
    /// Makes the tree hold the files of `tree` where it does not, and the index with it. Files
    /// whose stat data says too little are hashed on the way.
    pub(super) fn switch(&self, tree: &Oid) -> Result<(), Error> {
        let command = self
            .command()
            // As many as there are processors; git keeps to one where it is not worth more.
            .args(["-c", "checkout.workers=0"])
            .args(["read-tree", "--reset", "-u", tree.as_str()]);
        finish(&command)?;
        Ok(())
    }
    /// Compares what lies on the disk with a tree, file by file, through the index.
    ///
    /// Entering everything and writing a tree would say the same, but git then sets the times of
    /// the user's objects that it meets again.
    pub(super) fn scan(&self, tree: &Oid) -> Result<(), Error> {
        let command = self.command().args([
            "diff-index",
            "--raw",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules=none",
            "--end-of-options",
            tree.as_str(),
            "--",
        ]);
        let differences = finish(&command)?;
        match differences.split(|byte| *byte == 0).nth(1) {
            None if differences.is_empty() => Ok(()),
            path => Err(Error::Doubt(format!(
                "{} is not as in the tree {tree}",
                RepoPath::new(path.unwrap_or_default())
            ))),
        }
    }
    /// What the index is now, to be compared before it is believed again. Its bytes are known by the sum
    /// that those of the slot's files are known by.
    pub(super) fn seal(&self, key: SumKey) -> io::Result<Seal> {
        let path = self.index();
        let meta = fs_err::symlink_metadata(&path)?;
        if !meta.is_file() {
            return Err(io::Error::other(format!("{} is no file", path.display())));
        }
        let size = i64::try_from(meta.size()).unwrap_or(i64::MAX);
        let inode = i64::from_ne_bytes(meta.ino().to_ne_bytes());
        let mut summing = key.begin();
        let file = fs_err::File::open(&path)?;
        io::copy(&mut BufReader::with_capacity(PIECE, file), &mut summing)?;
        Ok(Seal {
            sum: summing.finish(),
            stat: [
                size,
                inode,
                meta.mtime(),
                meta.mtime_nsec(),
                meta.ctime(),
                meta.ctime_nsec(),
            ],
        })
    }
}
