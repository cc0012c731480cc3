//! Seeded repositories, made once and kept below the target folder.
//!
//! `main` has every file; `feature`, checked out, three commits more of 40 edits each. Median file
//! 4 KB (log-normal), the large one with 80,000 files in 5,000 folders.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::git;
use crate::random::Random;

/// Changed when the generator makes something else.
const VERSION: u32 = 1;
/// Files that one step edits.
pub const STEP: usize = 40;
/// Commits of `feature`.
const COMMITS: u64 = 3;
/// How much older than the index the files are: git looks twice at younger ones.
const AGE: Duration = Duration::from_millis(1_300);

/// How many files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Small,
    Medium,
    Large,
}

impl Size {
    pub fn parse(name: &str) -> Self {
        match name {
            "small" => Self::Small,
            "medium" => Self::Medium,
            "large" => Self::Large,
            other => unreachable!("--corpus {other}: small, medium or large"),
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
    fn files(self) -> usize {
        match self {
            Self::Small => 1_000,
            Self::Medium => 10_000,
            Self::Large => 80_000,
        }
    }
}

/// What the working tree is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Clean.
    A,
    /// 20 files modified, 20 untracked.
    B,
    /// 2,000 files modified; in the small corpus a quarter of all.
    C,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
        }
    }
}

/// A repository on the disk.
#[derive(Debug)]
pub struct Corpus {
    size: Size,
    home: PathBuf,
}

impl Corpus {
    /// The repository of a size; made where it is not there yet.
    pub fn ready(size: Size) -> Self {
        let corpora = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpora");
        let home = corpora.join(format!("{}-{VERSION}", size.name()));
        let corpus = Self { size, home };
        let mark = corpus.home.join("complete");
        if !mark.exists() {
            eprintln!("making the {} corpus ({} files)", size.name(), size.files());
            drop(std::fs::remove_dir_all(&corpus.home));
            std::fs::create_dir_all(corpus.root()).expect("a folder for the corpus");
            corpus.import();
            std::fs::write(mark, "").expect("the mark of a complete corpus");
        }
        // What an interrupted run left.
        drop(std::fs::remove_dir_all(corpus.scratch()));
        std::fs::create_dir(corpus.scratch()).expect("a scratch folder");
        git::run(corpus.root().as_path(), &["worktree", "prune"]);
        corpus
    }
    pub fn name(&self) -> &'static str {
        self.size.name()
    }
    pub fn files(&self) -> usize {
        self.size.files()
    }
    pub fn folders(&self) -> usize {
        self.files() / 16
    }
    /// The working tree.
    pub fn root(&self) -> PathBuf {
        self.home.join("repository")
    }
    /// A folder on the same file system that is empty when the program starts.
    pub fn scratch(&self) -> PathBuf {
        self.home.join("scratch")
    }

    /// Brings the working tree into a state, and lets it age.
    pub fn enter(&self, state: State) {
        let root = self.root();
        git::run(&root, &["reset", "-q", "--hard", "feature"]);
        git::run(&root, &["clean", "-fdxq"]);
        let (modified, untracked) = match state {
            State::A => (0, 0),
            State::B => (20, 20),
            State::C => (2_000.min(self.files() / 4), 0),
        };
        let mut random = Random::new(7);
        for file in random.choose(modified, self.files()) {
            self.edit(file, 100);
        }
        for file in 0..untracked {
            let folder = random.below(self.folders());
            let path = root.join(folder_of(folder)).join(format!("new_{file}.rs"));
            std::fs::write(path, content(self.files() + file, 0)).expect("an untracked file");
        }
        self.settle();
    }
    /// Edits the 40 files of a step; each number gives other bytes.
    pub fn step(&self, number: u64) {
        for file in Random::new(11).choose(STEP, self.files()) {
            self.edit(file, 1_000 + number);
        }
    }
    fn edit(&self, file: usize, revision: u64) {
        let path = self.root().join(path_of(file, self.folders()));
        std::fs::write(path, content(file, revision)).expect("an edit");
    }
    /// Lets the files grow older than the index that is written then.
    fn settle(&self) {
        std::thread::sleep(AGE);
        // It ends with 1 where files are modified, which is no news here.
        let mut refresh = git::command(&self.root());
        refresh.args(["update-index", "-q", "--refresh"]);
        refresh.output().expect("git starts");
        std::thread::sleep(AGE);
    }

    fn import(&self) {
        let root = self.root();
        git::run(&root, &["init", "-q", "-b", "main"]);
        let mut import = git::command(&root)
            .args(["fast-import", "--quiet", "--done"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("git starts");
        let mut stream = BufWriter::new(import.stdin.take().expect("a pipe"));
        let mut commit =
            |branch: &str, from: &str, files: &mut dyn Iterator<Item = (usize, u64)>| {
                write!(
                    stream,
                    "commit refs/heads/{branch}\ncommitter Ann <ann@example.org> 1767323045 +0000\n\
                 data 5\nfiles{from}\n"
                )?;
                for (file, revision) in files {
                    let (path, bytes) = (path_of(file, self.folders()), content(file, revision));
                    write!(stream, "M 100644 inline {path}\ndata {}\n", bytes.len())?;
                    stream.write_all(&bytes)?;
                    stream.write_all(b"\n")?;
                }
                std::io::Result::Ok(())
            };
        commit("main", "", &mut (0..self.files()).map(|file| (file, 0))).expect("a commit");
        let mut from = "\nfrom refs/heads/main";
        for revision in 1..=COMMITS {
            let step = Random::new(revision).choose(STEP, self.files());
            let mut files = step.into_iter().map(|file| (file, revision));
            commit("feature", from, &mut files).expect("a commit");
            from = "";
        }
        stream.write_all(b"done\n").expect("the end of the stream");
        drop(stream);
        assert!(
            import.wait().expect("git ends").success(),
            "git fast-import"
        );
        git::run(&root, &["checkout", "-q", "feature"]);
    }
}

fn folder_of(folder: usize) -> String {
    format!(
        "area_{}/part_{}/module_{folder}",
        folder / 400,
        (folder / 20) % 20
    )
}

fn path_of(file: usize, folders: usize) -> String {
    format!("{}/source_{file}.rs", folder_of(file % folders))
}

const WORDS: [&str; 16] = [
    "let", "value", "index", "match", "result", "buffer", "state", "return", "Some", "None",
    "self", "entries", "length", "offset", "while", "insert",
];

/// A file's bytes: lines of words; a later revision has another line in the middle.
fn content(file: usize, revision: u64) -> Vec<u8> {
    let mut random = Random::new(file as u64 ^ 0x5eed);
    let median = 4_096.0_f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 200 and 200,000"
    )]
    let size = (median * random.normal().exp()).clamp(200.0, 200_000.0) as usize;
    let mut text = String::with_capacity(size + 64);
    let mut is_revised = revision == 0;
    while text.len() < size {
        if !is_revised && text.len() >= size / 2 {
            writeln!(text, "    // revision {revision} of {file}").expect("a String");
            is_revised = true;
        }
        text.push_str("    ");
        for _ in 0..5 {
            let number = random.next();
            text.push_str(WORDS[usize::try_from(number % 16).expect("16 words")]);
            write!(text, "_{} ", number >> 52).expect("a String");
        }
        text.push('\n');
    }
    text.into_bytes()
}
