//! `run-loop skills install`: what agents should know about their part in a loop.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::args::Format;
use crate::cli::args::skills::InstallArgs;
use crate::cli::environment::Environment;
use crate::cli::{locate, output};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::store::folder::{Access, Folder};

/// Folders in which programs look for skills.
const PLACES: [&str; 2] = [".claude/skills", ".agents/skills"];
/// The skills, by the names of their folders.
const SKILLS: [(&str, &str); 5] = [
    ("arbiter", include_str!("../../skills/arbiter/SKILL.md")),
    ("creator", include_str!("../../skills/creator/SKILL.md")),
    ("planner", include_str!("../../skills/planner/SKILL.md")),
    ("reviewer", include_str!("../../skills/reviewer/SKILL.md")),
    ("run-loop", include_str!("../../skills/run-loop/SKILL.md")),
];
/// A skill's file.
const FILE: &str = "SKILL.md";
/// More than this is read of no file that lies there.
const CAP: u64 = 1024 * 1024;

/// One file to be there.
struct Skill {
    folder: PathBuf,
    text: &'static str,
    there: There,
}

/// What lies in a skill's place.
#[derive(PartialEq, Eq)]
enum There {
    Nothing,
    Same,
    Other,
}

/// Installs the skills; nothing is written unless all of them can be.
///
/// # Errors
/// `SkillBlocked`, or where there is no place for them.
pub(crate) fn run(
    args: &InstallArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let root = if args.user {
        home(environment)?
    } else {
        locate::locate(environment, args.repository.worktree.as_deref())?
            .source
            .source_root
    };
    let base = Folder::open(&root).map_err(|error| blocked(&root, &error))?;
    let skills = look(&base)?;
    if let Some(skill) = skills
        .iter()
        .find(|skill| skill.there == There::Other && !args.force)
    {
        return Err(Failure::new(
            Code::SkillBlocked,
            format!(
                "{} is there and says something else",
                root.join(&skill.folder).join(FILE).display()
            ),
        )
        .next(forced(args)));
    }
    for skill in skills.iter().filter(|skill| skill.there != There::Same) {
        base.make_descend(&skill.folder, Access::Shared)
            .and_then(|folder| folder.write(FILE, skill.text.as_bytes(), Access::Shared))
            .map_err(|error| blocked(&root.join(&skill.folder), &error))?;
    }
    output::data(&told(&root, &skills, format));
    Ok(Exit::Approved)
}

/// What lies in the places of all skills.
fn look(base: &Folder) -> Result<Vec<Skill>, Failure> {
    let mut skills = Vec::new();
    for place in PLACES {
        for (name, text) in SKILLS {
            let folder = Path::new(place).join(name);
            let read = base
                .descend(&folder)
                .and_then(|found| found.read(FILE, CAP));
            let there = match read {
                Ok(bytes) if bytes == text.as_bytes() => There::Same,
                Ok(_) => There::Other,
                Err(error) if error.kind() == io::ErrorKind::NotFound => There::Nothing,
                // A link or something odd: written through by nobody, whatever was asked.
                Err(error) => return Err(blocked(&base.path().join(&folder), &error)),
            };
            skills.push(Skill {
                folder,
                text,
                there,
            });
        }
    }
    Ok(skills)
}

fn home(environment: &Environment) -> Result<PathBuf, Failure> {
    let home = environment.get("HOME").map(PathBuf::from);
    home.filter(|home| home.is_absolute()).ok_or_else(|| {
        Failure::new(
            Code::StateUnwritable,
            "--user needs a home folder, and HOME holds no absolute path",
        )
        .next(["run-loop", "skills", "install"])
    })
}

fn blocked(path: &Path, error: &io::Error) -> Failure {
    let path = path.display().to_string();
    Failure::new(
        Code::SkillBlocked,
        format!("no skill can be written into {path}: {error}"),
    )
    .next(["ls", "-ld", "--", &path])
}

/// The same line, with `--force`.
fn forced(args: &InstallArgs) -> Vec<String> {
    let mut line = ["run-loop", "skills", "install", "--force"]
        .map(str::to_owned)
        .to_vec();
    if args.user {
        line.push("--user".to_owned());
    }
    if let Some(worktree) = &args.repository.worktree {
        line.extend(["--worktree".to_owned(), worktree.display().to_string()]);
    }
    line
}

fn told(root: &Path, skills: &[Skill], format: Format) -> String {
    let entry = |skill: &Skill| {
        let path = root.join(&skill.folder).join(FILE).display().to_string();
        let fate = match skill.there {
            There::Nothing => "written",
            There::Other => "replaced",
            There::Same => "unchanged",
        };
        (path, fate)
    };
    let entries = skills.iter().map(entry);
    match format {
        Format::Human => {
            let lines = entries.map(|(path, fate)| format!("{fate:<9} {path}") + "\n");
            output::printable(&lines.collect::<String>())
        }
        Format::Json => {
            let files: Vec<_> = entries
                .map(|(path, fate)| json!({"path": path, "fate": fate}))
                .collect();
            output::document(&json!({"version": 1, "files": files}))
        }
        Format::Ndjson => entries
            .map(|(path, fate)| output::document(&json!({"path": path, "fate": fate})))
            .collect(),
    }
}
