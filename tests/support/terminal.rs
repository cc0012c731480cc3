//! A pseudo terminal for the built program, by `script` of util-linux.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::agents::quote;

/// A command at a terminal.
pub struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    output: Receiver<Vec<u8>>,
    screen: Vec<u8>,
}

/// How a command ended at a terminal, and everything that was written there.
#[derive(Debug)]
pub struct Session {
    pub code: i32,
    pub screen: String,
}

impl Terminal {
    /// Starts a command line at a terminal of this many columns; `None` where this machine has no
    /// `script`.
    pub fn start(
        prepare: impl FnOnce(&mut Command),
        line: &[&str],
        columns: u16,
        folder: &Path,
    ) -> Option<Self> {
        let words: Vec<String> = line.iter().map(|word| quote(word)).collect();
        let line = format!("stty cols {columns} rows 40; exec {}", words.join(" "));
        let mut command = Command::new("script");
        prepare(&mut command);
        let mut child = command
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
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let (sender, output) = channel();
        let mut pipe = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = pipe.read(&mut chunk) {
                if sender.send(chunk[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keyboard = child.stdin.take().unwrap();
        Some(Self {
            child,
            keyboard,
            output,
            screen: Vec::new(),
        })
    }
    /// Types something.
    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }
    /// Waits until a text was written.
    #[track_caller]
    pub fn shows(&mut self, text: &str) {
        while !self.so_far().contains(text) {
            let Ok(chunk) = self.output.recv_timeout(Duration::from_mins(1)) else {
                panic!("no {text:?} on the screen: {:?}", self.so_far())
            };
            self.screen.extend(chunk);
        }
    }
    /// Waits until the command ends.
    #[track_caller]
    pub fn ends(mut self) -> Session {
        while let Ok(chunk) = self.output.recv_timeout(Duration::from_mins(1)) {
            self.screen.extend(chunk);
        }
        let code = self.child.wait().unwrap().code().unwrap();
        Session {
            code,
            screen: self.so_far(),
        }
    }
    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.screen).into_owned()
    }
}
