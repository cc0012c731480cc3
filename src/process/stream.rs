//! Running a short tool of ours with its output handed over as it comes, not held in memory.

use std::io::{self, Read, Write as _};
use std::process::{ExitStatus, Stdio};

use crate::process::command::Command;

/// What a finished program left beside its output.
#[derive(Debug)]
pub struct Streamed<T> {
    /// How it ended.
    pub status: ExitStatus,
    /// What the reader made of its standard output.
    pub value: T,
    /// All of its standard error.
    pub stderr: Vec<u8>,
}

impl Command {
    /// Runs it to its end while `read` takes its standard output. For short tools of ours (git).
    ///
    /// What `read` leaves unread is drained; when `read` fails, the program is ended.
    ///
    /// # Errors
    /// When the program cannot be started, its pipes cannot be served, or `read` fails.
    pub fn stream<T, E: From<io::Error>>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, E>,
    ) -> Result<Streamed<T>, E> {
        let input = if self.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let mut child = self
            .prepared()
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let stdout = child.stdout.take();
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                if let (Some(mut pipe), Some(bytes)) = (stdin, &self.stdin) {
                    // A program that ends without reading everything is not our failure.
                    drop(pipe.write_all(bytes));
                }
            });
            let errors = scope.spawn(move || {
                let mut text = Vec::new();
                stderr
                    .map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut text))
                    .map(|_| text)
            });
            let taken = match stdout {
                Some(mut pipe) => read(&mut pipe).and_then(|value| {
                    io::copy(&mut pipe, &mut io::sink())?;
                    Ok(value)
                }),
                None => Err(io::Error::other("the program has no standard output").into()),
            };
            if taken.is_err() {
                // Ended already: then there is nothing to end.
                drop(child.kill());
            }
            let status = child.wait()?;
            drop(writer.join());
            let stderr = errors
                .join()
                .map_err(|_| io::Error::other("the reader of stderr panicked"))??;
            Ok(Streamed {
                status,
                value: taken?,
                stderr,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        Command::new("/bin/sh", "/").arg("-c").arg(script)
    }

    #[test]
    fn output_comes_as_it_is_read_and_input_is_fed() {
        let streamed = sh("cat; echo aside >&2; exit 3")
            .stdin("one\ntwo\n")
            .stream(|pipe| {
                let mut text = String::new();
                pipe.read_to_string(&mut text)?;
                Ok::<_, io::Error>(text)
            })
            .unwrap();
        assert_eq!(streamed.value, "one\ntwo\n");
        assert_eq!(streamed.stderr, b"aside\n");
        assert_eq!(streamed.status.code(), Some(3));
    }

    #[test]
    fn a_reader_that_fails_ends_the_program() {
        let result = sh("exec yes").stream(|pipe| {
            pipe.read_exact(&mut [0; 4])?;
            Err::<(), _>(io::Error::other("enough"))
        });
        assert_eq!(result.unwrap_err().to_string(), "enough");
    }

    #[test]
    fn what_is_left_unread_does_not_hold_the_program() {
        let streamed = sh("head -c 1000000 /dev/zero").stream(|_| Ok::<_, io::Error>(()));
        assert!(streamed.unwrap().status.success());
    }
}
