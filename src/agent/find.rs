//! Finding an agent's program, before anything is locked or written.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// The absolute path of a program (row T-066): a bare name is looked up on `path_var`, anything
/// with a slash is taken relative to `root`.
///
/// Relative and empty entries of the path are passed over: they would name another program in
/// each working directory, and in a review tree one of the reviewed change's.
///
/// # Errors
/// When there is no such file, or it is not executable.
pub fn program(name: &str, path_var: &OsStr, root: &Path) -> Result<PathBuf, Failure> {
    let missing = |message: String| Failure::new(Code::AgentNotRunnable, message);
    if name.is_empty() {
        return Err(missing("an agent's command is empty".to_owned())
            .next(["run-loop", "config", "show", "--origin"]));
    }
    if name.contains('/') {
        let path = root.join(name);
        let shown = path.display().to_string();
        return match suits(&path) {
            Suits::Yes => Ok(path),
            Suits::NotExecutable => {
                Err(missing(format!("{shown} is not executable"))
                    .next(["chmod", "+x", "--", &shown]))
            }
            Suits::NotAFile => {
                Err(missing(format!("{shown} is no program file"))
                    .next(["ls", "-ld", "--", &shown]))
            }
            Suits::Missing => Err(missing(format!("{shown} does not exist"))
                .next(["run-loop", "config", "show", "--origin"])),
        };
    }
    let mut not_executable = None;
    for folder in std::env::split_paths(path_var).filter(|folder| folder.is_absolute()) {
        let path = folder.join(name);
        match suits(&path) {
            Suits::Yes => return Ok(path),
            Suits::NotExecutable => {
                not_executable.get_or_insert(path);
            }
            Suits::NotAFile | Suits::Missing => {}
        }
    }
    Err(match not_executable {
        Some(path) => {
            let shown = path.display().to_string();
            missing(format!("{shown} is not executable")).next(["chmod", "+x", "--", &shown])
        }
        None => missing(format!("{name} is in no folder of PATH"))
            .next(["run-loop", "config", "show", "--origin"]),
    })
}

enum Suits {
    Yes,
    NotExecutable,
    NotAFile,
    Missing,
}

fn suits(path: &Path) -> Suits {
    match fs_err::metadata(path) {
        Err(_) => Suits::Missing,
        Ok(data) if !data.is_file() => Suits::NotAFile,
        Ok(_) if access(path, Access::EXEC_OK).is_ok() => Suits::Yes,
        Ok(_) => Suits::NotExecutable,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file(path: &Path, mode: u32) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, "#!/bin/sh\n").unwrap();
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn found(name: &str, path_var: &str, root: &Path) -> Result<PathBuf, (String, Vec<String>)> {
        program(name, OsStr::new(path_var), root).map_err(|failure| {
            assert_eq!(failure.code, Code::AgentNotRunnable);
            (failure.message, failure.next.0)
        })
    }

    #[test]
    fn a_bare_name_is_found_on_the_path_and_made_absolute() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        file(&root.join("a/bot"), 0o644);
        file(&root.join("b/bot"), 0o755);
        file(&root.join("bot"), 0o755);
        let both = format!("{0}/a::.:{0}/b", root.display());
        assert_eq!(found("bot", &both, root), Ok(root.join("b/bot")));
        let only = format!("{}/a", root.display());
        let (message, next) = found("bot", &only, root).unwrap_err();
        assert!(message.ends_with("a/bot is not executable"), "{message}");
        assert_eq!(next[0], "chmod");
        let (message, _) = found("bot", ".:", root).unwrap_err();
        assert_eq!(message, "bot is in no folder of PATH");
    }

    #[test]
    fn a_path_is_taken_relative_to_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        file(&root.join("tools/bot"), 0o755);
        file(&root.join("tools/text"), 0o644);
        assert_eq!(found("./tools/bot", "", root), Ok(root.join("./tools/bot")));
        assert!(
            found("tools/text", "", root)
                .unwrap_err()
                .0
                .ends_with("not executable")
        );
        assert!(
            found("./tools", "", root)
                .unwrap_err()
                .0
                .ends_with("is no program file")
        );
        assert!(
            found("./none", "", root)
                .unwrap_err()
                .0
                .ends_with("does not exist")
        );
        assert!(found("", "", root).is_err());
    }
}
