//! A pseudo terminal for the built program, by `script` of util-linux.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::agents::{quote, within};

/// How a command ended at a terminal, and everything that it wrote there.
#[derive(Debug)]
pub struct Session {
    pub code: i32,
    pub screen: String,
}

/// Runs a command line of this many columns at a terminal, with what somebody types; `None` where
/// this machine has no `script`.
pub fn at_terminal(
    prepare: impl FnOnce(&mut Command),
    line: &[&str],
    columns: u16,
    folder: &Path,
    typed: &str,
) -> Option<Session> {
    let words: Vec<String> = line.iter().map(|word| quote(word)).collect();
    let line = format!("stty cols {columns} rows 40; exec {}", words.join(" "));
    let mut command = Command::new("script");
    command
        .args([
            "--quiet",
            "--return",
            "--flush",
            "--command",
            &line,
            "/dev/null",
        ])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    prepare(&mut command);
    let mut child = command.spawn().ok()?;
    // The end of its input is the end of the terminal's: it stays open until the program is done.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).unwrap();
    let output = within("a command at a terminal", move || {
        child.wait_with_output().unwrap()
    });
    drop(stdin);
    Some(Session {
        code: output.status.code().unwrap(),
        screen: String::from_utf8_lossy(&output.stdout).into_owned(),
    })
}
