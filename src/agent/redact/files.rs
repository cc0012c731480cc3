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
        // Both while it is known where the mark stands: what is taken out moves it.
        let part = |part, begins, ends| {
            let ends = ends || file.broken.is_some();
            self.other_part(stream, part, begins, ends)
        };
        let clean = match file.mark(bytes.len()) {
            Some(mark) => {
                let (first, last) = (&bytes[..mark.start], &bytes[mark.end..]);
                let cleaned = (part(first, false, true), part(last, true, false));
                if cleaned == (None, None) {
                    return Ok(());
                }
                let first = cleaned.0.as_deref().unwrap_or(first);
                let last = cleaned.1.as_deref().unwrap_or(last);
                [first, &bytes[mark], last].concat()
            }
            None => match part(&bytes, false, false) {
                Some(clean) => clean,
                None => return Ok(()),
            },
        };
        if clean == bytes {
            return Ok(());
        }
        fs_err::write(path, clean)
    }

    /// A part of an output without the values; `None` where it holds none, as nearly every one: many
    /// large ones are looked at, and none of those is held twice.
    fn other_part(&self, stream: Stream, part: &[u8], begins: bool, ends: bool) -> Option<Vec<u8>> {
        // A plain text is said in one.
        let pieces = (stream != Stream::Text).then_some(stream);
        let said_in_pieces = pieces.and_then(|it| self.without_pieces(it, part, begins, ends));
        if said_in_pieces.is_none() && self.is_clean(part, begins, ends) {
            return None;
        }
        let clean = said_in_pieces.unwrap_or_else(|| part.to_vec());
        Some(self.taken_out_of_part(clean, begins, ends))
    }
}
