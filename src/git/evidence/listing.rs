//! `files.json`: the list of changed files as agents read it.

use serde::Serialize;

use crate::domain::evidence::{ChangedFile, FileStatus, UnreviewedKind};
use crate::domain::path::RepoPath;

/// One file; agents get two plain fields where our own JSON has an object.
#[derive(Serialize)]
struct Listed<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    status: FileStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_path_b64: Option<String>,
    old_mode: &'a str,
    new_mode: &'a str,
    size: Option<u64>,
    added: Option<u64>,
    removed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreviewed: Option<UnreviewedKind>,
}

/// Renders the list; one file per line, so that a long list can be read in pieces.
pub(super) fn render(files: &[ChangedFile]) -> serde_json::Result<Vec<u8>> {
    let mut text = b"{\"files\": [\n".to_vec();
    for (number, file) in files.iter().enumerate() {
        if number > 0 {
            text.extend_from_slice(b",\n");
        }
        serde_json::to_writer(&mut text, &listed(file))?;
    }
    text.extend_from_slice(b"\n]}\n");
    Ok(text)
}

fn listed(file: &ChangedFile) -> Listed<'_> {
    let (path, path_b64) = text(&file.path);
    let (old_path, old_path_b64) = match &file.old_path {
        Some(old) => {
            let (text, exact) = text(old);
            (Some(text), exact)
        }
        None => (None, None),
    };
    Listed {
        path,
        path_b64,
        status: file.status,
        old_path,
        old_path_b64,
        old_mode: &file.old_mode,
        new_mode: &file.new_mode,
        size: file.size,
        added: file.added,
        removed: file.removed,
        unreviewed: file.unreviewed,
    }
}

fn text(path: &RepoPath) -> (String, Option<String>) {
    match path.as_str() {
        Some(text) => (text.to_owned(), None),
        None => (
            String::from_utf8_lossy(path.as_bytes()).into_owned(),
            Some(path.to_base64()),
        ),
    }
}
