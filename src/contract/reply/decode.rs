//! The blocks of challenge, answers and rulings, version 1, decoded with every fault named.

use crate::contract::form;
use crate::contract::json::Json;
use crate::contract::markdown::is_blank;
use crate::contract::object::Object;
use crate::contract::reply::ExpectReply;
use crate::contract::text::excerpt;
use crate::contract::verdict::{LIST_CAP, TEXT_CAP};
use crate::domain::id::FindingId;
use crate::domain::job::{Answer, AnswerAction, Reply, Role, Ruling, RulingKind};

pub(super) fn challenge(json: &Json, expect: &ExpectReply<'_>) -> Result<Reply, Vec<String>> {
    let mut problems = Vec::new();
    let mut objections = Vec::new();
    for (at, entry) in entries(json, "objections", LIST_CAP, expect, &mut problems) {
        match entry.as_text() {
            Some(text) if is_blank(text) => problems.push(format!("`{at}` is blank")),
            Some(text) if text.chars().count() > TEXT_CAP => {
                problems.push(format!("`{at}` is longer than {TEXT_CAP} characters"));
            }
            Some(text) => objections.push(text.to_owned()),
            None => problems.push(format!("`{at}` must be text, not {}", entry.kind())),
        }
    }
    whole(Reply::Challenge { objections }, problems)
}

pub(super) fn answers(json: &Json, expect: &ExpectReply<'_>) -> Result<Reply, Vec<String>> {
    let words = [
        ("fixed", AnswerAction::Fixed),
        ("refuted", AnswerAction::Refuted),
        ("deferred", AnswerAction::Deferred),
    ];
    let mut problems = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    for (at, entry) in entries(json, "answers", usize::MAX, expect, &mut problems) {
        let taken = |id| answers.iter().any(|answer| answer.finding == id);
        let read = About::read(entry, &at, "action", &words, expect, &taken, &mut problems);
        if let Some(about) = read {
            if about.word == AnswerAction::Refuted {
                about.needs_note(&at, "why the finding is wrong", &mut problems);
                if expect.unruled.contains(&about.finding) {
                    problems.push(format!(
                        "`{at}.action` refutes {}, on which nobody rules: answer \"fixed\" or \"deferred\"",
                        about.finding
                    ));
                }
            }
            answers.push(Answer {
                finding: about.finding,
                action: about.word,
                note: about.note.to_owned(),
            });
        }
    }
    whole(Reply::Answers { answers }, problems)
}

pub(super) fn rulings(json: &Json, expect: &ExpectReply<'_>) -> Result<Reply, Vec<String>> {
    let words: &[(&str, RulingKind)] = if expect.role == Role::Arbitrate {
        &[
            ("sustained", RulingKind::Sustained),
            ("overruled", RulingKind::Overruled),
        ]
    } else {
        &[
            ("withdrawn", RulingKind::Withdrawn),
            ("upheld", RulingKind::Upheld),
        ]
    };
    let mut problems = Vec::new();
    let mut rulings: Vec<Ruling> = Vec::new();
    for (at, entry) in entries(json, "rulings", usize::MAX, expect, &mut problems) {
        let taken = |id| rulings.iter().any(|ruling| ruling.finding == id);
        let read = About::read(entry, &at, "ruling", words, expect, &taken, &mut problems);
        if let Some(about) = read {
            if matches!(about.word, RulingKind::Withdrawn | RulingKind::Overruled) {
                about.needs_note(&at, "why the finding does not stand", &mut problems);
            }
            rulings.push(Ruling {
                finding: about.finding,
                ruling: about.word,
                note: about.note.to_owned(),
            });
        }
    }
    whole(Reply::Rulings { rulings }, problems)
}

fn whole(reply: Reply, problems: Vec<String>) -> Result<Reply, Vec<String>> {
    if problems.is_empty() {
        Ok(reply)
    } else {
        Err(problems)
    }
}

/// The entries of the block's one list, which must be there.
fn entries<'j>(
    json: &'j Json,
    name: &'static str,
    cap: usize,
    expect: &ExpectReply<'_>,
    problems: &mut Vec<String>,
) -> Vec<(String, &'j Json)> {
    let known = ["version", "nonce", name];
    let Some(block) = Object::open(json, "the block", &known, problems) else {
        return Vec::new();
    };
    let nonce = form::head(&block, problems);
    form::check_nonce(&nonce, expect.nonce, problems);
    if block.get(name).is_none() {
        problems.push(format!("`{name}` must be there, as a list"));
    }
    block.list(name, cap, problems)
}

/// What an entry says about one finding.
struct About<'j, W> {
    finding: FindingId,
    word: W,
    note: &'j str,
}

impl<'j, W: Copy> About<'j, W> {
    fn read(
        json: &'j Json,
        at: &'j str,
        name: &'static str,
        words: &[(&str, W)],
        expect: &ExpectReply<'_>,
        taken: &dyn Fn(FindingId) -> bool,
        problems: &mut Vec<String>,
    ) -> Option<Self> {
        let entry = Object::open(json, at, &["finding", name, "note"], problems)?;
        let finding = finding(&entry, expect, taken, problems);
        let names: Vec<&str> = words.iter().map(|(text, _)| *text).collect();
        entry.word(name, &names, problems);
        let said = entry.get(name).and_then(Json::as_text);
        let word = words.iter().find(|(text, _)| said == Some(*text));
        let note = entry.optional_text("note", problems);
        Some(Self {
            finding: finding?,
            word: word?.1,
            note,
        })
    }
    fn needs_note(&self, at: &str, what: &str, problems: &mut Vec<String>) {
        if is_blank(self.note) {
            problems.push(format!("`{at}.note` must say {what}"));
        }
    }
}

/// The finding an entry is about: one that was asked about, and not spoken of yet.
fn finding(
    entry: &Object<'_>,
    expect: &ExpectReply<'_>,
    taken: &dyn Fn(FindingId) -> bool,
    problems: &mut Vec<String>,
) -> Option<FindingId> {
    let at = entry.at;
    let Some(text) = entry.get("finding").and_then(Json::as_text) else {
        problems.push(format!("`{at}.finding` must be a finding's id, as text"));
        return None;
    };
    let asked = FindingId::parse(text).filter(|id| expect.findings.contains(id));
    if asked.is_none() {
        problems.push(format!(
            "`{at}.finding` names {}, which you were not asked about",
            excerpt(text)
        ));
    } else if asked.is_some_and(taken) {
        problems.push(format!("{text} is answered twice"));
    }
    asked
}
