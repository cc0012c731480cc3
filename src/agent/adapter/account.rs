//! What a program's events come to.

use std::collections::BTreeSet;

use crate::agent::adapter::{Event, line};
use crate::domain::profile::Stream;
use crate::domain::spent::{Spent, Usage};
use crate::domain::trouble::Trouble;

/// What was told so far.
///
/// # Invariants
/// A failure that was told is never taken back by a later success.
#[derive(Debug, Clone)]
pub struct Account {
    stream: Stream,
    spent: Spent,
    directory: Option<String>,
    usage: Usage,
    /// The message without a name that is being said, and whether the next piece begins another one.
    message: String,
    closed: bool,
    /// The message with a name that was begun last.
    named: Option<String>,
    /// Its name.
    last_name: Option<String>,
    /// The names of all that were begun.
    begun: BTreeSet<String>,
    /// Whether something without a name was said after all that has one.
    after: bool,
    /// Final messages, where the program's end events hold them.
    results: Vec<String>,
    ended_well: Option<bool>,
    fatal: Option<Told>,
    last_error: Option<Told>,
}

/// An error as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What kind, where the program's events tell it.
    pub trouble: Option<Trouble>,
    /// In the program's words.
    pub message: String,
}

impl Told {
    fn is_wordless(&self) -> bool {
        self.trouble.is_none() && self.message.trim().is_empty()
    }
}

impl Account {
    /// Nothing yet.
    #[must_use]
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            spent: Spent::default(),
            directory: None,
            usage: Usage::default(),
            message: String::new(),
            closed: true,
            named: None,
            begun: BTreeSet::new(),
            after: false,
            last_name: None,
            results: Vec::new(),
            ended_well: None,
            fatal: None,
            last_error: None,
        }
    }

    /// Everything that a program printed.
    #[must_use]
    pub fn of(stream: Stream, output: &[u8]) -> Self {
        let mut account = Self::new(stream);
        for text in String::from_utf8_lossy(output).lines() {
            for event in line(stream, text) {
                account.fold(event);
            }
        }
        account
    }

    /// Takes an event in.
    pub fn fold(&mut self, event: Event) {
        match event {
            Event::Session {
                id,
                model,
                version,
                directory,
            } => {
                self.spent.session = Some(id);
                self.directory = directory.or_else(|| self.directory.take());
                self.spent.model = model.or_else(|| self.spent.model.take());
                self.spent.version = version.or_else(|| self.spent.version.take());
            }
            Event::Version { version } => self.spent.version = Some(version),
            Event::Models { names } => self.spent.model = Some(names),
            Event::Message { text, goes_on } => self.say(&text, goes_on),
            Event::Piece { of: None, text } => {
                self.say(&text, true);
                self.after = true;
            }
            Event::Piece {
                of: Some(name),
                text,
            } => self.say_of(name, &text),
            Event::Asked => {
                self.message.clear();
                self.closed = true;
                self.named = None;
                self.last_name = None;
                self.begun.clear();
                self.after = false;
            }
            Event::Turn => self.ended_well = None,
            Event::ToolStart { .. } => self.used_a_tool(true),
            Event::ToolEnd { .. } => self.used_a_tool(false),
            Event::Denied { .. } => self.spent.denied += 1,
            Event::Used { usage, more } => {
                self.usage = if more { self.usage.plus(usage) } else { usage };
            }
            Event::Cost { micro_usd, more } => {
                let before = self.spent.cost_micro_usd.filter(|_| more).unwrap_or(0);
                self.spent.cost_micro_usd = Some(before.saturating_add(micro_usd));
            }
            Event::Error {
                trouble,
                message,
                fatal,
            } => {
                let told = Told { trouble, message };
                // It gave up on what it told of before.
                let before = self.last_error.take();
                let told = before
                    .filter(|_| fatal && told.is_wordless())
                    .unwrap_or(told);
                // The first one says why, if it says anything.
                if fatal && self.fatal.as_ref().is_none_or(Told::is_wordless) {
                    self.fatal = Some(told.clone());
                }
                self.last_error = Some(told);
            }
            Event::Result { success, text } => {
                self.ended_well = Some(success);
                self.results.extend(text);
            }
            Event::Reset { reset } => self.spent.reset = Some(reset),
            Event::Torn => self.fold(Event::Error {
                trouble: None,
                message: "a line that it printed is no whole event".to_owned(),
                fatal: true,
            }),
            Event::Raw { .. } => {}
        }
    }

    /// Nothing that was said before a tool is the rest of what is said after it. With some programs it
    /// is no answer either, should nothing follow; by the protocol the end of a tool may come late.
    fn used_a_tool(&mut self, begins: bool) {
        self.closed = true;
        let is_past = match self.stream {
            Stream::Gemini => true,
            Stream::Acp => begins,
            Stream::Codex
            | Stream::Claude
            | Stream::Opencode
            | Stream::Copilot
            | Stream::Aider
            | Stream::Text => false,
        };
        if is_past {
            self.message.clear();
        }
    }

    /// Takes in what the model said: the rest of the message that is being said, or a new one.
    fn say(&mut self, text: &str, goes_on: bool) {
        if self.closed || !goes_on {
            self.message.clear();
        }
        self.closed = false;
        self.message.push_str(text);
    }

    /// The same of a message with a name: it goes on whatever came between its pieces. What is still
    /// said of an earlier one is no part of the last.
    fn say_of(&mut self, name: String, text: &str) {
        self.closed = true;
        self.after = false;
        if self.begun.insert(name.clone()) {
            self.named = Some(String::new());
            self.last_name = Some(name);
        } else if self.last_name.as_ref() != Some(&name) {
            return;
        }
        self.named.get_or_insert_default().push_str(text);
    }

    /// Whether the program said that it was done, and nothing that speaks against it. Plain text
    /// says neither.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let said = match self.stream {
            Stream::Text => true,
            Stream::Codex
            | Stream::Claude
            | Stream::Gemini
            | Stream::Opencode
            | Stream::Copilot
            | Stream::Acp
            | Stream::Aider => self.ended_well == Some(true),
        };
        said && self.fatal.is_none()
    }

    /// The folder that it says it works in.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// The error that ended it; else the last one that it told of.
    #[must_use]
    pub fn error(&self) -> Option<&Told> {
        self.fatal.as_ref().or(self.last_error.as_ref())
    }

    /// The final message. Of several, all of them: what one of them claims must not vanish.
    #[must_use]
    pub fn final_message(&self) -> Option<String> {
        // Where messages have names, what has none before or within them is beside them: a warning. What
        // is said after the last one stands before it: a warning does no harm there, and a second
        // verdict is one.
        let all = match (self.results.is_empty(), &self.named) {
            (false, _) => self.results.join("\n\n"),
            (true, Some(named)) if self.after => format!("{}\n\n{named}", self.message),
            (true, Some(named)) => named.clone(),
            (true, None) => self.message.clone(),
        };
        (!all.trim().is_empty()).then_some(all)
    }

    /// What it used. A count of nothing at all is no count, and neither is a cost of nothing
    /// without one.
    #[must_use]
    pub fn spent(&self) -> Spent {
        let usage = (!self.usage.is_unknown()).then_some(self.usage);
        let cost = self.spent.cost_micro_usd;
        Spent {
            usage,
            cost_micro_usd: cost.filter(|cost| *cost > 0 || usage.is_some()),
            ..self.spent.clone()
        }
    }
}
