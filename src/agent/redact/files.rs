//! Secrets in the files that hold what a job printed.

use std::io;

use crate::agent::redact::Secrets;
use crate::domain::profile::Stream;
use crate::process::captured::CapturedFile;

impl Secrets {
    /// Takes the values out of what a job printed. A file that holds none stays as it is, since its guard
    /// vouches for its bytes; one of which nobody knows goes, and what stands there then tells why.
    ///
    /// # Errors
    /// Names a file that may show a value and could not be removed.
    pub(crate) fn taken_out_of_output(
        &self,
        stream: Stream,
        stdout: &mut CapturedFile,
        stderr: &mut CapturedFile,
    ) -> Result<(), String> {
        let stdout = self.taken_out_of_file(stream, stdout);
        // Both, whatever came of the first.
        let stderr = self.taken_out_of_file(Stream::Text, stderr);
        stdout.and(stderr)
    }

    fn taken_out_of_file(&self, stream: Stream, file: &mut CapturedFile) -> Result<(), String> {
        let why = match self.rewrite(stream, file) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => error,
        };
        // Better no file than one that shows a key.
        let path = file.path.clone();
        if let Err(error) = fs_err::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(format!(
                "what it printed may show keys, and could not be removed: {error}"
            ));
        }
        let reason = format!("it was removed, since no keys could be taken out of it: {why}");
        // Whoever looks for it finds why it is not there; where that fails, nothing is there.
        drop(fs_err::write(&path, format!("[run-loop: {reason}]\n")));
        file.forget(reason);
        Ok(())
    }

    fn rewrite(&self, stream: Stream, file: &CapturedFile) -> io::Result<()> {
        let path = &file.path;
        if !fs_err::symlink_metadata(path)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let bytes = fs_err::read(path)?;
        let part = |part: &[u8], begins, ends| {
            let ends = ends || file.broken.is_some();
            // Both while it is known where the mark stands: what is taken out moves it.
            let clean = self.without_pieces(stream, part, begins, ends);
            let clean = clean.unwrap_or_else(|| part.to_vec());
            self.taken_out_of_part(clean, begins, ends)
        };
        let clean = match file.mark(bytes.len()) {
            Some(mark) => [
                part(&bytes[..mark.start], false, true),
                bytes[mark.clone()].to_vec(),
                part(&bytes[mark.end..], true, false),
            ]
            .concat(),
            None => part(&bytes, false, false),
        };
        if clean == bytes {
            return Ok(());
        }
        fs_err::write(path, clean)
    }
}
