//! Running a program that may hang, as one does that waits for a network: to its end or to a deadline.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::command::{Command, Output};
use super::unix;

impl Command {
    /// Runs it to its end, in a session of its own, where it can ask nobody for anything. `None`: it took
    /// longer than it may, and was ended with all that it had started there.
    ///
    /// Its input and output lie in files: what outlives it in other sessions, as the connections do that
    /// `ssh` shares, keeps nobody waiting.
    ///
    /// # Errors
    /// When the program cannot be started or its files cannot be used.
    pub fn output_within(&self, limit: Duration) -> io::Result<Option<Output>> {
        let [mut stdout, mut stderr] = [tempfile::tempfile()?, tempfile::tempfile()?];
        let mut command = self.prepared();
        command
            .stdin(self.input()?)
            .stdout(Stdio::from(stdout.try_clone()?))
            .stderr(Stdio::from(stderr.try_clone()?));
        unix::apart(&mut command);
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        let (ended, ends) = channel::<()>();
        let is_late = std::thread::scope(|scope| {
            let watch = scope.spawn(move || {
                let is_late = ends.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
                if is_late {
                    // It has not been waited for, so that the number is nobody else's.
                    kill_process_group(group, Signal::KILL).ok();
                }
                is_late
            });
            let waited = ends_without_being_reaped(group);
            drop(ended);
            let is_late = watch
                .join()
                .map_err(|_| io::Error::other("the watch over a program panicked"))?;
            waited.map(|()| is_late)
        })?;
        let status = child.wait()?;
        if is_late && !status.success() {
            return Ok(None);
        }
        Ok(Some(Output {
            status,
            stdout: whole(&mut stdout)?,
            stderr: whole(&mut stderr)?,
        }))
    }

    fn input(&self) -> io::Result<Stdio> {
        let Some(bytes) = &self.stdin else {
            return Ok(Stdio::null());
        };
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(Stdio::from(file))
    }
}

fn ends_without_being_reaped(child: Pid) -> io::Result<()> {
    loop {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(child), options) {
            Err(Errno::INTR) => {}
            done => return Ok(done.map(drop)?),
        }
    }
}

fn whole(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Command;

    const LONG: Duration = Duration::from_hours(1);

    fn shell(script: &str) -> Command {
        Command::new("/bin/sh", "/")
            .env("PATH", "/usr/bin:/bin")
            .args(["-c", script])
    }

    #[test]
    fn what_ends_in_time_tells_everything() {
        let command = shell("cat; echo no >&2; exit 3").stdin("yes");
        let output = command.output_within(LONG).unwrap().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(
            (output.stdout, output.stderr),
            (b"yes".to_vec(), b"no\n".to_vec())
        );
        assert!(
            shell("tty -s </dev/tty")
                .output_within(LONG)
                .unwrap()
                .is_some_and(|it| !it.status.success())
        );
    }

    /// With all that it started, though that holds what it prints to.
    #[test]
    fn what_takes_longer_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, said) = (folder.path().join("pipe"), folder.path().join("said"));
        let script = format!(
            "mkfifo '{0}'; sh -c 'echo $$ >\"{1}\"; exec cat \"{0}\"' & cat '{0}'",
            pipe.display(),
            said.display()
        );
        let mut limit = Duration::from_millis(20);
        // It may be ended before it could say who it is.
        let started: u32 = loop {
            assert!(shell(&script).output_within(limit).unwrap().is_none());
            let said = fs_err::read_to_string(&said).unwrap_or_default();
            if let Ok(number) = said.trim().parse() {
                break number;
            }
            drop(fs_err::remove_file(&pipe));
            limit *= 2;
        };
        let lives = || {
            let state = fs_err::read_to_string(format!("/proc/{started}/stat"));
            state.is_ok_and(|state| !state.contains(") Z "))
        };
        while lives() {
            std::thread::yield_now();
        }
    }

    /// Somebody who left the session goes on and holds its output; nobody waits for that.
    #[test]
    fn who_left_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let script = format!("mkfifo '{0}'; setsid cat '{0}' & exit 0", pipe.display());
        let output = shell(&script).output_within(LONG).unwrap();
        assert!(output.unwrap().status.success());
        // It goes on until somebody has written.
        drop(fs_err::OpenOptions::new().write(true).open(&pipe).unwrap());
    }
}
