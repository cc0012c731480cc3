//! Agents of kind `human`: a person who answers at a terminal.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::agent::dispatched::Dispatched;
use crate::agent::handed_over::HandedOver;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::domain::slot::SlotName;
use crate::domain::verdict::Verdict;

mod console;

pub use console::Console;

/// Where a person reads and answers.
pub trait Terminal: Send {
    /// Whether a person is there.
    fn is_interactive(&self) -> bool;
    /// Shows a text.
    fn show(&mut self, text: &str) -> io::Result<()>;
    /// Reads a line without its end; `None` at the end of input.
    fn line(&mut self) -> io::Result<Option<String>>;
}

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The slot, which is typed to confirm.
    pub slot: SlotName,
    /// The nonce of the job: goes into the report, so that the person need not copy it.
    pub nonce: String,
    /// The tree under review.
    pub tree: PathBuf,
    /// The evidence folder.
    pub evidence: PathBuf,
    /// The prompt.
    pub prompt: PathBuf,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    Report(Vec<u8>),
    NoTerminal,
    /// Input ended, or the verdict was not confirmed.
    None,
}

/// Asks a person, within a budget. A thread waits for the person: a terminal cannot be asked to
/// give up, and must hold neither the run nor its end.
pub async fn dispatch(
    question: Question,
    mut terminal: Box<dyn Terminal>,
    budget: Duration,
    stop: CancellationToken,
) -> Dispatched {
    let slot = question.slot.clone();
    let internal = |error: io::Error| {
        let message = format!("slot {slot} could not be asked: {error}");
        Dispatched::not_started(Failure::new(Code::Internal, message))
    };
    let (sender, receiver) = oneshot::channel();
    let asking = std::thread::Builder::new()
        .name("run-loop-ask".to_owned())
        .spawn(move || sender.send(ask(&question, terminal.as_mut())).ok());
    if let Err(error) = asking {
        return internal(error);
    }
    let answer = tokio::select! {
        biased;
        () = stop.cancelled() => return Dispatched::empty(Ended::Stopped),
        () = sleep(budget) => return Dispatched::empty(Ended::TimedOut),
        answer = receiver => answer,
    };
    match answer {
        Ok(Ok(Answer::Report(report))) => Dispatched {
            report: Some(HandedOver::new(report)),
            ..Dispatched::empty(Ended::Exited { code: 0 })
        },
        Ok(Ok(Answer::None)) => Dispatched::empty(Ended::Exited { code: 1 }),
        Ok(Ok(Answer::NoTerminal)) => {
            let message = format!("slot {slot} is answered by a person, and no terminal is here");
            Dispatched::not_started(Failure::new(Code::AgentNotRunnable, message))
        }
        Ok(Err(error)) => internal(error),
        Err(_) => Dispatched::empty(Ended::Lost),
    }
}

/// Asks until there is a verdict that is confirmed, or input ends.
fn ask(question: &Question, terminal: &mut dyn Terminal) -> io::Result<Answer> {
    if !terminal.is_interactive() {
        return Ok(Answer::NoTerminal);
    }
    terminal.show(&format!(
        "\nSlot {} is yours to review.\n  tree      {}\n  evidence  {}\n  prompt    {}\n\
         Type notes, then one line `VERDICT: PASS` or `VERDICT: NOT PASS`.\n",
        question.slot,
        question.tree.display(),
        question.evidence.display(),
        question.prompt.display(),
    ))?;
    let mut notes = Vec::new();
    let verdict = loop {
        let Some(line) = terminal.line()? else {
            return Ok(Answer::None);
        };
        match line.trim() {
            "VERDICT: PASS" => break Verdict::Pass,
            "VERDICT: NOT PASS" => break Verdict::NotPass,
            other if other.to_ascii_uppercase().starts_with("VERDICT") => {
                terminal.show("Not a verdict: type `VERDICT: PASS` or `VERDICT: NOT PASS`.\n")?;
            }
            _ => notes.push(line),
        }
    };
    terminal.show(&format!(
        "Type the slot's name, {}, to confirm {verdict}: ",
        question.slot
    ))?;
    let confirmed = terminal.line()?;
    if confirmed.as_deref().map(str::trim) != Some(question.slot.as_str()) {
        terminal.show("Not confirmed: no verdict was given.\n")?;
        return Ok(Answer::None);
    }
    Ok(Answer::Report(report(&question.nonce, verdict, &notes)))
}

/// The report in the line form. Notes are quoted: no line of them counts.
fn report(nonce: &str, verdict: Verdict, notes: &[String]) -> Vec<u8> {
    let mut quoted = String::new();
    for note in notes {
        quoted.push_str("> ");
        quoted.extend(note.chars().filter(|c| !c.is_control()));
        quoted.push('\n');
    }
    format!("# Review by a person\n\n{quoted}\nNonce: {nonce}\nVERDICT: {verdict}\n").into_bytes()
}

#[cfg(test)]
mod tests;
