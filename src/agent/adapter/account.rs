//! What a program's events come to.

use std::collections::BTreeSet;

use crate::agent::adapter::{Event, events};
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
    /// The messages without a name since the last tool, and whether the next piece begins another one.
    messages: Vec<String>,
    closed: bool,
    /// Those with a name, each with it, the one that was begun last at the end.
    named: Vec<(String, String)>,
    /// The name of the one that was begun last.
    last_name: Option<String>,
    /// The names of all that were begun.
    begun: BTreeSet<String>,
    /// Whether something without a name was said after all that has one.
    after: bool,
    /// The last piece, as it came: some give up with one of a form of its own.
    last_piece: String,
    /// Final messages, where the program's end events hold them.
    results: Vec<String>,
    /// Tools that began and did not end.
    begun_tools: usize,
    ended_well: Option<bool>,
    fatal: Option<Told>,
    last_error: Option<Told>,
    /// The last error, while nothing was said or done after it.
    tries_again: Option<Told>,
    /// Whether its model ever answered anything.
    was_answered: bool,
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
    /// Whether it says no more than that something ended: so does one that we end, and what it was at
    /// until then is another matter.
    fn is_of_the_end(&self) -> bool {
        matches!(self.trouble, Some(Trouble::Aborted | Trouble::Unfinished))
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
            messages: Vec::new(),
            closed: true,
            named: Vec::new(),
            begun: BTreeSet::new(),
            after: false,
            last_piece: String::new(),
            last_name: None,
            results: Vec::new(),
            begun_tools: 0,
            ended_well: None,
            fatal: None,
            last_error: None,
            tries_again: None,
            was_answered: false,
        }
    }

    /// Everything that a program printed.
    #[must_use]
    pub fn of(stream: Stream, output: &[u8]) -> Self {
        let mut account = Self::new(stream);
        for event in events(stream, output) {
            account.fold(event);
        }
        account
    }

    /// Takes an event in.
    pub fn fold(&mut self, event: Event) {
        if self.is_answer(&event) {
            self.tries_again = None;
            self.was_answered = true;
        }
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
                self.is_last_piece(text);
            }
            Event::Piece {
                of: Some(name),
                text,
            } => {
                self.say_of(name, &text);
                self.is_last_piece(text);
            }
            Event::Asked => {
                self.is_past();
                self.last_name = None;
                self.begun.clear();
                self.last_piece.clear();
            }
            Event::Turn => self.ended_well = None,
            Event::ToolStart { by_another, .. } => self.begins_a_tool(by_another),
            Event::ToolEnd { .. } => self.ends_a_tool(),
            Event::Denied { .. } => self.spent.denied += 1,
            Event::DeniedInAll { count } => self.spent.denied = self.spent.denied.max(count),
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
            } => self.errs(Told { trouble, message }, fatal),
            Event::Result { success, text } => {
                self.ended_well = Some(success);
                if let Some(text) = text {
                    let beside = self.beside(std::slice::from_ref(&text));
                    self.is_past();
                    self.results.extend(beside);
                    self.results.push(text);
                }
            }
            Event::Reset { reset } => self.spent.reset = Some(reset),
            Event::Torn => self.fold(Event::Error {
                trouble: Some(Trouble::Unfinished),
                message: "a line that it printed is no whole event".to_owned(),
                fatal: true,
            }),
            Event::Thought | Event::Raw { .. } => {}
        }
    }

    /// An error was told, and whether it gave up.
    fn errs(&mut self, told: Told, fatal: bool) {
        // It gave up on what it told of before.
        let before = self.last_error.take();
        let told = before
            .filter(|_| fatal && told.is_wordless())
            .unwrap_or(told);
        // The first one says why, if it says anything.
        if fatal && self.fatal.as_ref().is_none_or(Told::is_wordless) {
            self.fatal = Some(told.clone());
        }
        if !told.is_of_the_end() {
            self.tries_again = Some(told.clone());
        }
        self.last_error = Some(told);
    }

    /// Nothing that was said so far is the answer, should nothing follow, or a part of one.
    fn is_past(&mut self) {
        self.messages.clear();
        self.closed = true;
        self.named.clear();
        self.after = false;
    }

    /// Something goes on: an end that was told before it is none. Those that print text tell of their end
    /// before their last words.
    fn goes_on(&mut self) {
        match self.stream {
            Stream::Text | Stream::Aider => {}
            Stream::Codex
            | Stream::Claude
            | Stream::Gemini
            | Stream::Opencode
            | Stream::Copilot
            | Stream::Acp => self.ended_well = self.ended_well.filter(|well| !well),
        }
    }

    /// Messages without a name that stand in none of these results.
    fn beside(&self, results: &[String]) -> Vec<String> {
        let stands = |said: &str| results.iter().any(|result| result.contains(said.trim()));
        let said = self.messages.iter().filter(|said| !stands(said));
        said.cloned().collect()
    }

    /// What was said before a tool is no answer: it did not know yet what the tool would tell. A tool of
    /// another agent that this one asked may begin whenever that one likes.
    fn begins_a_tool(&mut self, by_another: bool) {
        self.begun_tools = self.begun_tools.saturating_add(1);
        if !by_another {
            self.is_past();
            self.goes_on();
        }
    }

    /// The end of a tool may come late, while the answer is said already; of some tools the end alone is
    /// told.
    fn ends_a_tool(&mut self) {
        let was_told = self.begun_tools > 0;
        self.begun_tools = self.begun_tools.saturating_sub(1);
        let is_past = match self.stream {
            // It goes on only with what all tools told.
            Stream::Gemini => true,
            // It tells of each tool when it begins.
            Stream::Acp => false,
            Stream::Codex
            | Stream::Claude
            | Stream::Opencode
            | Stream::Copilot
            | Stream::Aider
            | Stream::Text => !was_told,
        };
        if is_past {
            self.is_past();
        }
        self.closed = true;
    }

    /// Takes in what the model said: the rest of the message that is being said, or a new one. Those before
    /// it stay, up to the last tool: what one of them claims must not vanish.
    fn say(&mut self, text: &str, goes_on: bool) {
        self.goes_on();
        let last = self.messages.last_mut();
        match last.filter(|_| goes_on && !self.closed) {
            Some(last) => last.push_str(text),
            None => self.messages.push(text.to_owned()),
        }
        self.closed = false;
    }

    /// The same of a message with a name: it goes on whatever came between its pieces, but for a tool.
    /// What is still said of one that began before that is no part of the last, and may be a claim.
    fn say_of(&mut self, name: String, text: &str) {
        self.goes_on();
        self.closed = true;
        let is_new = self.begun.insert(name.clone());
        let is_last = is_new || self.last_name.as_ref() == Some(&name);
        if is_last {
            self.after = false;
            self.messages.clear();
        }
        match self.named.iter_mut().find(|(of, _)| *of == name) {
            Some((_, said)) => said.push_str(text),
            None if is_last => self.named.push((name.clone(), text.to_owned())),
            None => self.named.insert(0, (name.clone(), text.to_owned())),
        }
        if is_new {
            self.last_name = Some(name);
        }
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

    /// The error that it gave up on, or after which it neither said nor did anything: what it was about
    /// when it was ended.
    #[must_use]
    pub fn was_at(&self) -> Option<&Told> {
        let gave_up = self.fatal.as_ref().filter(|told| !told.is_of_the_end());
        gave_up.or(self.tries_again.as_ref())
    }

    /// Whether its model ever answered anything.
    #[must_use]
    pub fn was_answered(&self) -> bool {
        self.was_answered
    }

    /// What was said last, in a piece that begins so.
    #[must_use]
    pub fn ends_with_piece(&self, beginning: &str) -> Option<&str> {
        Some(&*self.last_piece).filter(|piece| piece.starts_with(beginning))
    }

    fn is_last_piece(&mut self, piece: String) {
        if !piece.trim().is_empty() {
            self.last_piece = piece;
        }
    }

    /// The final message: all that was said after the last tool. Of several, all of them: what one of them claims must not vanish.
    #[must_use]
    pub fn final_message(&self) -> Option<String> {
        // Where messages have names, what has none before or within them is beside them: a warning. What
        // is said after the last one began stands before it: a warning does no harm there, and a second
        // verdict is one.
        let is_beside = self.after || self.named.is_empty();
        let beside = if is_beside {
            self.beside(&self.results)
        } else {
            Vec::new()
        };
        let named = self.named.iter().map(|(_, said)| said.clone());
        let said = self.results.iter().cloned().chain(beside).chain(named);
        let said: Vec<String> = said.filter(|said| !said.is_empty()).collect();
        let all = said.join("\n\n");
        (!all.trim().is_empty()).then_some(all)
    }

    /// The last of the messages alone: of an answer in a form that was asked for, what is said before it is
    /// no part.
    #[must_use]
    pub fn last_message(&self) -> Option<String> {
        let named = self.named.last().map(|(_, said)| said);
        let last = self
            .results
            .last()
            .or(named)
            .or_else(|| self.messages.last());
        last.filter(|said| !said.trim().is_empty()).cloned()
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

    /// Whether this tells of a model that answers, or of what it does.
    fn is_answer(&self, event: &Event) -> bool {
        match event {
            Event::Message { text, .. } | Event::Piece { text, .. } => {
                // What that prints is its own words as well.
                self.stream != Stream::Aider && !text.trim().is_empty()
            }
            Event::Thought
            | Event::ToolStart { .. }
            | Event::ToolEnd { .. }
            | Event::Denied { .. }
            | Event::Result { success: true, .. } => true,
            Event::Session { .. }
            | Event::Version { .. }
            | Event::Models { .. }
            | Event::DeniedInAll { .. }
            | Event::Asked
            | Event::Turn
            | Event::Used { .. }
            | Event::Cost { .. }
            | Event::Error { .. }
            | Event::Reset { .. }
            | Event::Result { success: false, .. }
            | Event::Torn
            | Event::Raw { .. } => false,
        }
    }
}
