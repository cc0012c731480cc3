//! The terminal of this process.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::agent::human::Terminal;

/// Standard input and standard error: standard output is for data.
#[derive(Debug, Clone, Copy, Default)]
pub struct Console;

impl Terminal for Console {
    fn is_interactive(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }
    fn show(&mut self, text: &str) -> io::Result<()> {
        let mut stderr = io::stderr().lock();
        stderr.write_all(text.as_bytes())?;
        stderr.flush()
    }
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
    }
}
