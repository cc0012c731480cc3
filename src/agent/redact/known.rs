//! Whether whoever reads what a job left knows the secrets that its engine knew: in another shell they may
//! be others, or not be set, and what nobody knows nobody takes out.

use std::collections::BTreeSet;
use std::io;

use crate::agent::job_folder::JobFolder;
use crate::agent::redact::Secrets;
use crate::domain::digest::{Digest, hex};
use crate::process::guard::attach;

/// Why nothing of such a job is believed.
pub(crate) const WITHHELD: &str = "what it left was removed: keys that it could see are not set here, so nobody could take \
                   them out";

impl Secrets {
    /// What tells each value again to whoever has it, and to nobody else: digests under a key that is drawn
    /// for this note alone.
    #[must_use]
    pub(crate) fn note(&self, key: [u8; 32]) -> String {
        let key = hex(&key);
        let lines = self.values.iter().map(|value| told(&key, value));
        let lines: Vec<String> = std::iter::once(key.clone()).chain(lines).collect();
        lines.join("\n") + "\n"
    }

    /// Whether these are all values of such a note. Of one that is damaged nobody knows.
    #[must_use]
    pub(crate) fn know(&self, note: &str) -> bool {
        let Some(whole) = note.strip_suffix('\n') else {
            return false;
        };
        let mut lines = whole.lines();
        let key = lines.next().unwrap_or_default();
        let ours: BTreeSet<String> = self.values.iter().map(|value| told(key, value)).collect();
        key.len() == 64 && lines.all(|line| ours.contains(line))
    }
}

fn told(key: &str, value: &[u8]) -> String {
    let digest = Digest::of(&[key.as_bytes(), b"\n", value].concat());
    digest.as_str().to_owned()
}

/// Lets go of what a job of a dead engine left, once nobody writes there any more, where it could see
/// secrets that these are not; then why.
///
/// # Errors
/// When it cannot be told whether somebody writes there, or something could not be removed.
pub(crate) async fn let_go(
    folder: &JobFolder,
    secrets: &Secrets,
) -> io::Result<Option<&'static str>> {
    let note = folder.secrets_note();
    if note.is_some_and(|note| secrets.know(&note)) {
        return Ok(None);
    }
    attach(folder.capture()).await?;
    folder.forget_prompt();
    folder.forget_output(WITHHELD)?;
    Ok(Some(WITHHELD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::environment::Variables;

    fn secrets(values: &[(&str, &str)]) -> Secrets {
        let ours: Variables = values
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        let names: Vec<String> = values.iter().map(|(name, _)| (*name).to_owned()).collect();
        Secrets::named(&names, &ours)
    }

    /// Whoever has all of them, under whatever names and with more besides, knows what there was to hide.
    #[test]
    fn a_note_is_known_to_whoever_has_all_values() {
        let both = [("A", "first-canary-1"), ("B", "second/canary \u{e9}")];
        let note = secrets(&both).note([7; 32]);
        for known in [
            &[("C", both[0].1), ("D", both[1].1), ("E", "third-canary-3")][..],
            &both,
        ] {
            assert!(secrets(known).know(&note), "{known:?}");
        }
        for unknown in [&[][..], &both[..1], &[("A", "first-canary-2"), both[1]]] {
            assert!(!secrets(unknown).know(&note), "{unknown:?}");
        }
        assert!(secrets(&[]).know(&secrets(&[]).note([0; 32])));
    }

    #[test]
    fn a_note_tells_no_value_and_a_damaged_one_is_unknown() {
        let one = secrets(&[("A", "first-canary-1")]);
        let note = one.note([1; 32]);
        assert!(!note.contains("canary"));
        assert_ne!(note, one.note([2; 32]));
        for damaged in [&note[..note.len() - 1], &note[64..], &note[1..], "", "\n"] {
            assert!(!one.know(damaged), "{damaged}");
        }
    }
}
