//! What reviewers will and will not see, in lines for people.

use crate::domain::control_files::is_control_file;
use crate::domain::evidence::{ChangedFile, Evidence, UnreviewedKind};

/// How many paths of a kind are named; executables and control files are always named.
const NAMED: usize = 20;
const KINDS: [(UnreviewedKind, &str); 4] = [
    (UnreviewedKind::Excluded, "excluded by review.exclude"),
    (UnreviewedKind::Binary, "binary"),
    (UnreviewedKind::LfsPointer, "pointers of git-lfs"),
    (UnreviewedKind::Submodule, "submodules"),
];

/// Renders the scope of a round: what is shown, and each thing that is not (scenario V06).
#[must_use]
pub fn scope_lines(evidence: &Evidence) -> Vec<String> {
    let total = evidence.files.len();
    let hidden = evidence.unreviewed().count();
    let mut lines = vec![format!(
        "{} changed: reviewers see {}, {} not shown",
        counted(total, "file"),
        total - hidden,
        hidden
    )];
    lines.push(diff_line(evidence));
    for (kind, words) in KINDS {
        let files: Vec<&ChangedFile> = evidence
            .unreviewed()
            .filter_map(|(file, of)| (of == kind).then_some(file))
            .collect();
        if files.is_empty() {
            continue;
        }
        lines.push(format!("not shown, {words}: {}", files.len()));
        let mut left = 0;
        for (number, file) in files.iter().enumerate() {
            if number < NAMED || is_executable(file) || is_control(file) {
                lines.push(format!("  {}", named(file)));
            } else {
                left += 1;
            }
        }
        if left > 0 {
            lines.push(format!("  and {left} more, all in files.json"));
        }
    }
    let control: Vec<&ChangedFile> = evidence.files.iter().filter(|f| is_control(f)).collect();
    if !control.is_empty() {
        lines.push(format!("instructs agents: {}", control.len()));
        lines.extend(control.iter().map(|file| format!("  {}", named(file))));
    }
    lines
}

fn diff_line(evidence: &Evidence) -> String {
    let bytes: u64 = evidence.parts.iter().map(|part| part.bytes).sum();
    let in_prompt = evidence.parts.iter().filter(|part| part.in_prompt).count();
    let parts = evidence.parts.len();
    let place = if in_prompt == parts {
        "all in the prompt".to_owned()
    } else {
        format!("{in_prompt} in the prompt, the rest as files")
    };
    format!(
        "the diff: {}, {bytes} bytes, {place}",
        counted(parts, "part")
    )
}

fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn named(file: &ChangedFile) -> String {
    let from = file
        .old_path
        .as_ref()
        .map_or_else(String::new, |old| format!(" (from {old})"));
    let mode = if file.old_mode == file.new_mode {
        file.new_mode.clone()
    } else {
        format!("{} to {}", file.old_mode, file.new_mode)
    };
    let executable = if is_executable(file) {
        ", executable"
    } else {
        ""
    };
    format!("{}{from} (mode {mode}{executable})", file.path)
}

fn is_executable(file: &ChangedFile) -> bool {
    file.new_mode == "100755"
}

fn is_control(file: &ChangedFile) -> bool {
    is_control_file(file.path.as_bytes())
        || file
            .old_path
            .as_ref()
            .is_some_and(|old| is_control_file(old.as_bytes()))
}
