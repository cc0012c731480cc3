//! `docs/reference/json.md`: every document that `--format json` and `ndjson` print, from the types that
//! are printed. `RUN_LOOP_BLESS=1` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::reference::holds;

/// The page, up to its tables. What stands there of commands is about what is no type of its own.
const INTRODUCTION: &str = include_str!("json.md");

/// Where a type stands, by its name and by what it is called on the page.
const TYPES: [(&str, &str, &str); 34] = [
    ("Run", "src/report/run.rs", "RunReport"),
    ("Round", "src/report/run.rs", "RoundReport"),
    ("Slot", "src/report/run.rs", "SlotReport"),
    ("Finding of a run", "src/report/run.rs", "FindingReport"),
    ("Finding", "src/report/public.rs", "PublicFinding"),
    ("Deviation", "src/report/deviation.rs", "Deviation"),
    ("Warning", "src/report/run.rs", "Warning"),
    ("Printed", "src/report/run.rs", "Printed"),
    ("Left by work", "src/domain/restoring.rs", "LeftByWork"),
    ("Restoring", "src/domain/restoring.rs", "Restoring"),
    ("Identity", "src/domain/identity.rs", "Identity"),
    ("Failure", "src/domain/failure.rs", "Failure"),
    ("Job", "src/domain/job_view.rs", "JobView"),
    ("Signs of life", "src/report/jobs.rs", "Signs"),
    ("Cost", "src/report/cost.rs", "CostReport"),
    ("Cost of a job", "src/report/cost.rs", "JobCost"),
    ("Sum", "src/report/cost.rs", "Sum"),
    ("Usage", "src/domain/spent.rs", "Usage"),
    ("Ledger", "src/report/ledger.rs", "Ledger"),
    ("Tracked", "src/report/ledger.rs", "Tracked"),
    ("Said", "src/report/ledger.rs", "Said"),
    ("Plans", "src/report/plans.rs", "Plans"),
    ("Plan", "src/report/plans.rs", "Plan"),
    ("Entry of a list", "src/cli/list.rs", "Line"),
    ("Row", "src/store/index/row.rs", "RunRow"),
    ("Approval", "src/gate/approval.rs", "Approval"),
    ("Commit", "src/gate/approval.rs", "Commit"),
    ("Approved slot", "src/gate/approval.rs", "ApprovedSlot"),
    ("Doctor's finding", "src/report/doctor.rs", "Finding"),
    ("Known agent", "src/report/agents.rs", "KnownAgent"),
    ("Item", "src/cleanup/item.rs", "Item"),
    ("Value", "src/config/load.rs", "Row"),
    ("Origin", "src/config/layer.rs", "Origin"),
    ("Event", "src/report/public.rs", "PublicEvent"),
];

/// A field as its source says it.
struct Field {
    name: String,
    kind: String,
    meaning: String,
    /// Whether it is left out where there is nothing to say.
    may_be_absent: bool,
}

/// The lines of a type's body.
fn body(file: &str, name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let begins = |line: &&str| {
        ["struct", "enum"].iter().any(|kind| {
            let head = line.split_once(&format!("{kind} {name}"));
            head.is_some_and(|(_, rest)| rest.starts_with([' ', '<']) && rest.ends_with('{'))
        })
    };
    let mut lines = text.lines().skip_while(|line| !begins(line));
    assert!(lines.next().is_some(), "{file} has no {name}");
    lines
        .take_while(|line| *line != "}")
        .map(str::to_owned)
        .collect()
}

/// The fields of lines at one depth.
fn fields<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Field> {
    let (mut meaning, mut may_be_absent, mut found) = (String::new(), false, Vec::new());
    let mut is_hidden = false;
    for line in lines.map(str::trim) {
        if line == "#[serde(skip)]" {
            is_hidden = true;
        } else if let Some(said) = line.strip_prefix("///") {
            meaning = format!("{meaning} {}", said.trim());
        } else if line.starts_with("#[") {
            may_be_absent |= line.contains("skip_serializing_if");
        } else if let Some((name, kind)) = line.trim_end_matches(',').split_once(": ") {
            let field = Field {
                name: name.trim_start_matches("pub ").to_owned(),
                kind: kind_of(kind),
                meaning: meaning.trim().to_owned(),
                may_be_absent,
            };
            found.extend((!is_hidden).then_some(field));
            (meaning, may_be_absent, is_hidden) = (String::new(), false, false);
        }
    }
    found
}

/// A type of the language as one of JSON.
fn kind_of(kind: &str) -> String {
    let kind = kind
        .trim_start_matches("&'a ")
        .trim_start_matches("&'static ");
    let inner = |outer: &str| {
        let rest = kind.strip_prefix(outer)?.strip_prefix('<')?;
        rest.strip_suffix('>').map(kind_of)
    };
    if let Some(inner) = inner("Option") {
        return format!("{inner} or `null`");
    }
    if let Some(inner) = inner("Vec") {
        return format!("list of {inner}");
    }
    let known = TYPES.iter().find(|(_, _, name)| *name == kind);
    match kind {
        _ if kind.starts_with("BTreeMap<") => {
            let inner = kind.trim_end_matches('>').rsplit(", ").next();
            format!("mapping to {}", kind_of(inner.unwrap()))
        }
        "RepoPath" => "path".to_owned(),
        "Json" => "any value".to_owned(),
        "bool" => "`true` or `false`".to_owned(),
        "u8" | "u32" | "u64" | "i64" | "f64" | "usize" | "FindingId" | "RoundNumber"
        | "Timestamp" => "number".to_owned(),
        "NextCommand" => "list of text".to_owned(),
        "Kind" => "[event](#kinds-of-events)".to_owned(),
        _ => match known {
            Some((title, _, _)) => {
                let anchor = title.to_lowercase().replace(' ', "-").replace('\'', "");
                format!("[{}](#{anchor})", title.to_lowercase())
            }
            None => "text".to_owned(),
        },
    }
}

fn table(page: &mut String, fields: &[Field]) {
    page.push_str("| field | what | meaning |\n|---|---|---|\n");
    for field in fields {
        let absent = if field.may_be_absent {
            ", may be absent"
        } else {
            ""
        };
        let Field {
            name,
            kind,
            meaning,
            ..
        } = field;
        writeln!(
            page,
            "| `{name}` | {kind}{absent} | {} |",
            meaning.replace('|', "\\|")
        )
        .unwrap();
    }
}

/// The kinds of events with their fields.
fn kinds(page: &mut String) {
    let lines = body("src/report/public.rs", "Kind");
    let mut meaning = String::new();
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        let own = line
            .strip_prefix("    ")
            .filter(|rest| !rest.starts_with(' '));
        if let Some(said) = own.and_then(|rest| rest.strip_prefix("///")) {
            meaning = format!("{meaning} {}", said.trim());
        } else if let Some(name) = own.filter(|rest| rest.starts_with(char::is_uppercase)) {
            let snake = snake(name.trim_end_matches([' ', '{', ',']));
            writeln!(page, "\n### `{snake}`\n\n{}\n", meaning.trim()).unwrap();
            meaning.clear();
            if name.ends_with('{') {
                let end = at
                    + lines[at..]
                        .iter()
                        .position(|line| line == "    },")
                        .unwrap();
                table(page, &fields(lines[at + 1..end].iter().map(String::as_str)));
                at = end;
            }
        }
        at += 1;
    }
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

#[test]
fn json_documents() {
    let mut page = INTRODUCTION.to_owned();
    let mut undocumented = BTreeMap::new();
    for (title, file, name) in TYPES {
        writeln!(page, "\n## {title}\n").unwrap();
        let fields = fields(body(file, name).iter().map(String::as_str));
        assert!(!fields.is_empty(), "{name}");
        for field in fields.iter().filter(|field| field.meaning.is_empty()) {
            undocumented.insert(format!("{name}.{}", field.name), file);
        }
        table(&mut page, &fields);
    }
    page.push_str("\n## Kinds of events\n\n`kind` in `event` names one of these.\n");
    kinds(&mut page);
    assert!(undocumented.is_empty(), "{undocumented:?}");
    holds("json.md", &page);
}
