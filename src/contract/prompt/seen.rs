//! What a prompt tells of the content that slots last reported on.

use minijinja::{Value, context};

use crate::contract::prompt::view::{code, count};
use crate::contract::text::{Mark, of_bytes};
use crate::domain::seen::{Change, Seen, SeenPart};

/// One value for each of them; `folder` is the job's evidence, where it has one.
pub(super) fn values(seen: &[Seen], folder: Option<&str>, mark: &Mark) -> Vec<Value> {
    let value = |one: &Seen| {
        let shown = one.parts().iter().filter(|part| part.in_prompt);
        let parts: Vec<String> = shown
            .map(|part| {
                let name = format!("since round {} {}", one.round, part.name);
                mark.quote_diff(&name, &of_bytes(&part.bytes).0)
            })
            .collect();
        context! { note => note(one, folder), parts => parts }
    };
    seen.iter().map(value).collect()
}

/// Whether bytes of it are shown otherwise than they are.
pub(super) fn is_altered(seen: &[Seen]) -> bool {
    let mut parts = seen.iter().flat_map(Seen::parts);
    parts.any(|part| part.in_prompt && of_bytes(&part.bytes).1)
}

fn note(seen: &Seen, folder: Option<&str>) -> String {
    let round = seen.round;
    let by: Vec<String> = seen.by.iter().map(|slot| code(slot.as_str())).collect();
    let who = match by.as_slice() {
        [] => format!("Your last report was on round {round}"),
        [one] => format!("The last report of {one} was on round {round}"),
        more => format!(
            "The last reports of {} were on round {round}",
            more.join(", ")
        ),
    };
    match &seen.change {
        Change::Same => format!("{who}: nothing has changed since."),
        Change::Unknown => {
            format!("{who}. What changed since cannot be told: take all of it for new.")
        }
        Change::Differs {
            parts,
            hidden,
            left_out,
        } => {
            let place = folder.map(|folder| format!("`{folder}/{}/`", seen.folder()));
            let mut told = vec![format!("{who}."), what(parts, place.as_deref())];
            if *left_out > 0 {
                let bytes = count(*left_out, "byte");
                told.push(format!(
                    "It is longer than that: its last {bytes} are left out."
                ));
            }
            if *hidden > 0 {
                let files = number(*hidden, "file");
                told.push(format!(
                    "Changed since too, and left out of diffs by the project's rules: {files}."
                ));
            }
            told.join(" ")
        }
    }
}

/// How much of the diff stands in the prompt, and where all of it lies.
fn what(parts: &[SeenPart], place: Option<&str>) -> String {
    if parts.is_empty() {
        return "No file that may be shown has changed since.".to_owned();
    }
    let all = number(parts.len(), "part");
    let outside = parts.iter().find(|part| !part.in_prompt);
    match (outside, place) {
        (None, None) => "What changed since is the diff below.".to_owned(),
        (None, Some(place)) => {
            format!("What changed since is the diff below, which also lies in {place}.")
        }
        (Some(_), None) => format!("What changed since has {all}; not all of it stands below."),
        (Some(first), Some(place)) => format!(
            "What changed since has {all}, all as files in {place}; those from `{}.patch` on do not stand below.",
            first.name
        ),
    }
}

fn number(number: usize, noun: &str) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX), noun)
}
