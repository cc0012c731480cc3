//! What every report must be, whatever it answers.

use crate::contract::json::Json;
use crate::contract::markdown::Report;
use crate::contract::object::Object;
use crate::contract::text;
use crate::contract::verdict::TITLE_CAP;

/// How long a report may be.
pub const REPORT_CAP: usize = 1024 * 1024;
/// How many problems are told; an agent that reads twenty has enough to mend.
const PROBLEM_CAP: usize = 20;

/// What bars a report before anyone looks at what it says.
pub(super) fn problems(report: &[u8], nonce: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if report.len() > REPORT_CAP {
        problems.push(format!(
            "the report has {} bytes; at most {REPORT_CAP} are read",
            report.len()
        ));
    }
    if std::str::from_utf8(report).is_err() {
        problems.push("the report is not UTF-8".to_owned());
    }
    if nonce.is_empty() {
        problems.push("the job has no nonce, so nothing can answer it".to_owned());
    }
    problems
}

/// The problems as they are told: not too many, each on one line.
pub(super) fn told(mut problems: Vec<String>) -> Vec<String> {
    if problems.len() > PROBLEM_CAP {
        let more = problems.len() - PROBLEM_CAP;
        problems.truncate(PROBLEM_CAP);
        problems.push(format!("and {more} more problems like these"));
    }
    problems.iter().map(|told| text::inline(told)).collect()
}

/// The value in the one block with this tag.
pub(super) fn block(report: &Report, tag: &str) -> Result<Json, Vec<String>> {
    let block = report.block(tag).map_err(|problem| vec![problem])?;
    Json::parse(&block)
        .map_err(|error| vec![format!("the block does not hold one JSON value: {error}")])
}

/// Checks the version of a block; its nonce, to be compared.
pub(super) fn head(block: &Object<'_>, problems: &mut Vec<String>) -> String {
    if block.get("version") != Some(&Json::Natural(1)) {
        problems.push("`version` must be the number 1".to_owned());
    }
    block.text("nonce", TITLE_CAP, problems)
}

/// Says if a block answers another prompt.
pub(super) fn check_nonce(said: &str, nonce: &str, problems: &mut Vec<String>) {
    if said != nonce {
        problems.push("`nonce` is not the one in the prompt".to_owned());
    }
}
