//! `run-loop init`: shows a first `run-loop.yaml`, and writes it when that is agreed to.

use std::path::Path;

use serde_json::json;
use similar::TextDiff;

use crate::agent::find;
use crate::agent::human::{Console, Terminal as _};
use crate::cli::args::Format;
use crate::cli::args::init::InitArgs;
use crate::cli::environment::Environment;
use crate::cli::locate::Place;
use crate::cli::sources::trust_name;
use crate::cli::{locate, output};
use crate::config::load::FILE_NAME;
use crate::config::sources::File;
use crate::config::trust::Trust;
use crate::config::world::{Programs, World};
use crate::config::{Sources, load, panel, profiles, rules};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::exit::Exit;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::profile::Stream;
use crate::git::object;
use crate::init::{Project, Who, text};
use crate::report::text::block;
use crate::store::{Access, Folder};

/// Shows the file and writes it.
///
/// # Errors
/// `InitRefused` when something is there, or nobody agreed; nothing was written then.
pub(crate) fn run(
    args: &InitArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let place = locate::locate(environment, args.repository.worktree.as_deref())?;
    let root = &place.source.source_root;
    let folder = Folder::open(root).map_err(|error| unwritable(root, &error))?;
    nothing_there(root)?;
    let Some(trusted) = environment.config_folder() else {
        return Err(Failure::new(
            Code::StateUnwritable,
            "there is no configuration folder: neither XDG_CONFIG_HOME nor HOME holds an absolute path",
        ));
    };
    let trust = Trust::read(&trusted)?;
    let mut project = Project::read(root);
    untracked(&place, &mut project)?;
    let who = Who {
        reviewers: args.reviewer.clone(),
        found: found(environment),
    };
    let text = text(&project, &who);
    accepted(root, &text)?;
    let diff = TextDiff::from_lines("", &text);
    let mut diff = diff.unified_diff();
    let diff = block(&diff.header("/dev/null", FILE_NAME).to_string());
    match format {
        Format::Human => output::data(&format!("{diff}\n")),
        // Who is asked sees what for; standard output is the program's.
        Format::Json | Format::Ndjson if !args.yes && Console.is_interactive() => {
            output::progress(&diff);
        }
        Format::Json | Format::Ndjson => {}
    }
    for note in &project.notes {
        output::note(note);
    }
    agreed(args)?;
    folder
        .write_new(FILE_NAME, text.as_bytes(), Access::Shared)
        .map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                is_there(root)
            } else {
                unwritable(root, &error)
            }
        })?;
    trust.add(&trusted, &trust_name(&place.source), text.as_bytes())?;
    tell(root, &text, &project, format);
    Ok(Exit::Approved)
}

/// Whatever lies there, also a link to nowhere, is the user's.
fn nothing_there(root: &Path) -> Result<(), Failure> {
    match fs_err::symlink_metadata(root.join(FILE_NAME)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unwritable(root, &error)),
        Ok(_) => Err(is_there(root)),
    }
}

fn is_there(root: &Path) -> Failure {
    let path = root.join(FILE_NAME).display().to_string();
    Failure::new(
        Code::InitRefused,
        format!("{path} is there already, and is never overwritten"),
    )
    .next(["ls", "-l", "--", &path])
}

fn unwritable(root: &Path, error: &std::io::Error) -> Failure {
    let shown = root.display().to_string();
    let message = format!("{FILE_NAME} was not written to {shown}: {error}");
    Failure::new(Code::StateUnwritable, message).next(["ls", "-ld", "--", &shown])
}

/// A folder that the repository itself holds is none to keep from run to run.
fn untracked(place: &Place, project: &mut Project) -> Result<(), Failure> {
    let mut kept = Vec::new();
    for folder in &project.cache {
        if is_tracked(place, folder)? {
            let note = format!("{folder} is in the repository, and so not in `cache:`");
            project.notes.push(note);
        } else {
            kept.push(*folder);
        }
    }
    project.cache = kept;
    Ok(())
}

fn is_tracked(place: &Place, folder: &str) -> Result<bool, Failure> {
    let (git, git_dir) = (&place.git, &place.source.git_dir);
    if object::commit_of(git, git_dir, "HEAD")?.is_none() {
        return Ok(false);
    }
    Ok(object::entry(git, git_dir, "HEAD", folder)?.is_some())
}

/// Known programs on `PATH`; none is started.
fn found(environment: &Environment) -> Vec<String> {
    let here = |name: &&str| {
        let profile = profiles::embedded(name).ok().flatten();
        profile.is_some_and(|profile| {
            // Another way to talk with a program that is named already, or one that nobody means alone.
            if profile.stream == Stream::Acp {
                return false;
            }
            let programs = profile.programs.iter();
            programs
                .into_iter()
                .any(|program| find::program(program, environment.path(), Path::new("/")).is_ok())
        })
    };
    profiles::names().filter(here).map(str::to_owned).collect()
}

/// The loader must take what is written, and everybody who is named must be known.
fn accepted(root: &Path, text: &str) -> Result<(), Failure> {
    let config = load(&Sources {
        base_file: Some(File {
            name: root.join(FILE_NAME).display().to_string(),
            bytes: text.as_bytes().to_vec(),
        }),
        ..Sources::default()
    })?;
    rules::checks(&config)?;
    rules::cache(&config)?;
    // Whether their programs are here is a question for who reviews, on whatever machine.
    let world = World {
        repository: &[],
        read_base: &|_| Ok(None),
        programs: Programs::AsWritten,
    };
    panel::slots(&config, &world)?;
    Ok(())
}

/// Whether it may be written: asked at a terminal, else only when the command line says so.
fn agreed(args: &InitArgs) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let refused = |message: &str| {
        let mut next = vec!["run-loop".to_owned(), "init".to_owned(), "--yes".to_owned()];
        for name in &args.reviewer {
            next.extend(["--reviewer".to_owned(), name.clone()]);
        }
        if let Some(worktree) = &args.repository.worktree {
            next.extend(["--worktree".to_owned(), worktree.display().to_string()]);
        }
        Err(Failure::new(Code::InitRefused, message).next(next))
    };
    let mut console = Console;
    if !console.is_interactive() {
        return refused("nothing was written: there is no terminal to ask at, and no --yes");
    }
    let unreadable = |error: std::io::Error| Failure::new(Code::Internal, error.to_string());
    console
        .show(&format!("write {FILE_NAME}? [y/N] "))
        .map_err(unreadable)?;
    let answer = console.line().map_err(unreadable)?.unwrap_or_default();
    if ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
        Ok(())
    } else {
        refused("nothing was written: it was not agreed to")
    }
}

fn tell(root: &Path, text: &str, project: &Project, format: Format) {
    let path = root.join(FILE_NAME).display().to_string();
    let sha256 = Digest::of(text.as_bytes());
    // Wherever it is pasted.
    let add = ["git", "-C", &root.display().to_string(), "add", FILE_NAME].map(str::to_owned);
    let add = NextCommand(add.to_vec());
    match format {
        Format::Human => {
            output::note(&format!(
                "wrote {path} and trusts it as it is (sha256 {sha256}); commit it on the branch \
                 that you merge into, where it counts"
            ));
            output::progress(&format!("next: {add}"));
        }
        Format::Json | Format::Ndjson => {
            let checks: Vec<&str> = project
                .checks
                .iter()
                .map(|check| check.run.as_str())
                .collect();
            let document = json!({
                "version": 1,
                "path": path,
                "sha256": sha256,
                "checks": checks,
                "next": add,
            });
            output::data(&output::document(&document));
        }
    }
}
