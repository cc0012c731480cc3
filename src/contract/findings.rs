//! `findings.json`: the findings of a run so far, as agents read them beside the diff.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::finding::{Disposition, Finding, Word};
use crate::domain::id::FindingId;
use crate::domain::lines::Place;
use crate::domain::path::RepoPath;
use crate::domain::severity::Severity;

/// The version of the form.
const VERSION: u32 = 1;

/// A path as agents get it: text, and its exact bytes where it is none.
#[derive(Serialize)]
struct Named {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
}

/// Lines of a file.
#[derive(Serialize)]
struct Lines {
    #[serde(flatten)]
    file: Named,
    line: u32,
    end_line: u32,
}

#[derive(Serialize)]
struct Listed<'a> {
    id: String,
    slot: &'a str,
    round: u32,
    severity: Severity,
    blocking: bool,
    title: &'a str,
    #[serde(flatten)]
    file: Option<Named>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    /// Where its lines are in the tree that the job sees; absent where they are not there any more, or it
    /// names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Lines>,
    body: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    again: Option<String>,
    disposition: Disposition,
    said: Vec<Said<'a>>,
}

/// What somebody said of it since.
#[derive(Serialize)]
struct Said<'a> {
    /// What their job was asked for.
    role: &'static str,
    disposition: Disposition,
    note: &'a str,
}

/// Renders findings with all that was said of them, oldest first; `places` says where the lines are that
/// they cite. One finding per line, so that a long list can be read in pieces.
///
/// # Errors
/// When one cannot be written as JSON.
pub fn render(
    findings: &[Finding],
    words: &BTreeMap<FindingId, Vec<Word>>,
    places: &BTreeMap<FindingId, Place>,
) -> serde_json::Result<Vec<u8>> {
    let mut text = format!("{{\"version\": {VERSION}, \"findings\": [").into_bytes();
    for (number, finding) in findings.iter().enumerate() {
        text.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        let said = words.get(&finding.id).into_iter().flatten();
        serde_json::to_writer(
            &mut text,
            &Listed {
                said: said.map(of).collect(),
                now: places.get(&finding.id).map(lines),
                ..listed(finding)
            },
        )?;
    }
    text.extend_from_slice(b"\n]}\n");
    Ok(text)
}

fn listed(finding: &Finding) -> Listed<'_> {
    let claim = &finding.claim;
    Listed {
        id: finding.id.to_string(),
        slot: finding.slot.as_str(),
        round: finding.round.0,
        severity: claim.severity,
        blocking: finding.blocking,
        title: &claim.title,
        file: claim.path.as_ref().map(named),
        line: claim.line,
        end_line: claim.end_line,
        now: None,
        body: &claim.body,
        again: finding.again.map(|first| first.to_string()),
        disposition: finding.disposition,
        said: Vec::new(),
    }
}

fn of(word: &Word) -> Said<'_> {
    Said {
        role: word.role.as_str(),
        disposition: word.disposition,
        note: &word.note,
    }
}

fn lines(place: &Place) -> Lines {
    Lines {
        file: named(&place.path),
        line: place.first,
        end_line: place.last,
    }
}

fn named(path: &RepoPath) -> Named {
    match path.as_str() {
        Some(text) => Named {
            path: text.to_owned(),
            path_b64: None,
        },
        None => Named {
            path: String::from_utf8_lossy(path.as_bytes()).into_owned(),
            path_b64: Some(path.to_base64()),
        },
    }
}
