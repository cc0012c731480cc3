//! Secrets in a blob of any size, read piece by piece.

use crate::checks::secret::{AFTER, BEFORE, SecretRules};
use crate::domain::digest::Digest;

/// A secret in a blob, without the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// Which rule found it.
    pub(crate) rule: usize,
    /// The line it begins in, from 1.
    pub(crate) line: u32,
    /// The line it ends in.
    pub(crate) end_line: u32,
    /// How long it is.
    pub(crate) bytes: usize,
    /// Its hash: to recognise the same secret elsewhere; never printed, it could be guessed at.
    pub(crate) digest: Digest,
}

/// Scans pieces as if they were one text: what may go on in the next piece is kept and seen again.
#[derive(Debug)]
pub(crate) struct SecretStream<'r> {
    rules: &'r SecretRules,
    /// The end of what was fed before.
    kept: Vec<u8>,
    /// Where, in `kept`, new matches may begin; what is before is only looked back at.
    fresh: usize,
    /// The line that `kept` begins in.
    line: u32,
}

impl<'r> SecretStream<'r> {
    pub(crate) fn new(rules: &'r SecretRules) -> Self {
        Self {
            rules,
            kept: Vec::new(),
            fresh: 0,
            line: 1,
        }
    }

    /// Takes the next piece; `last` says that nothing follows.
    pub(crate) fn feed(&mut self, piece: &[u8], last: bool) -> Vec<Located> {
        if self.kept.is_empty() && last {
            return self.scan(piece, piece.len());
        }
        let mut buffer = std::mem::take(&mut self.kept);
        buffer.extend_from_slice(piece);
        let until = if last {
            buffer.len()
        } else {
            buffer.len().saturating_sub(AFTER + BEFORE).max(self.fresh)
        };
        let found = self.scan(&buffer, until);
        let from = until.saturating_sub(BEFORE);
        self.line = self.line.saturating_add(newlines(&buffer[..from]));
        self.fresh = until - from;
        buffer.drain(..from);
        self.kept = buffer;
        found
    }

    /// Secrets of the buffer that begin from `fresh` on and before `until`.
    fn scan(&self, buffer: &[u8], until: usize) -> Vec<Located> {
        let (mut at, mut line) = (0, self.line);
        let mut found = Vec::new();
        for hit in self.rules.find(buffer) {
            if hit.start < self.fresh || hit.start >= until {
                continue;
            }
            line = line.saturating_add(newlines(&buffer[at..hit.start]));
            at = hit.start;
            let secret = buffer[hit.start..hit.end].trim_ascii_end();
            found.push(Located {
                rule: hit.rule,
                line,
                end_line: line.saturating_add(newlines(secret)),
                bytes: secret.len(),
                digest: Digest::of(secret),
            });
        }
        found
    }
}

fn newlines(bytes: &[u8]) -> u32 {
    let count = bytes.split(|byte| *byte == b'\n').count() - 1;
    u32::try_from(count).unwrap_or(u32::MAX)
}
