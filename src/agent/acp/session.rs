//! The talk with an agent: one session, one prompt, one answer.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Sender, error::TrySendError};
use tokio::time::{Instant, sleep_until};

use crate::agent::acp::order::Order;
use crate::agent::acp::permission::{self, Policy};
use crate::agent::acp::protocol::{self, Ask, Can, NO_LOGIN, Outcome, PERMISSION, Place};
use crate::agent::acp::record::Record;
use crate::agent::acp::wire::{self, Heard, Message, Unreadable};
use crate::domain::trouble::Trouble;

/// How long an agent may take to cancel its turn; the guard's grace is a little longer.
const CANCELLING: Duration = Duration::from_secs(3);

/// How long an agent may take until it can be asked: it waits for no model yet.
const READY: Duration = Duration::from_mins(2);

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Over {
    /// The agent said why, and it is taken down.
    Told,
    /// Something that the client says.
    Failed {
        /// What kind of failure.
        trouble: Option<Trouble>,
        /// In words.
        message: String,
    },
    /// The agent says nothing more.
    Gone,
    /// We were told to stop.
    Terminated,
}

/// How an agent ended whose turn had.
#[derive(Debug)]
pub(super) struct End {
    /// With what; `None` where it did not end in time, or we were told to stop.
    pub(super) status: Option<ExitStatus>,
    /// Why not all that it said was heard: what is lost might have taken its answer back.
    pub(super) torn: Option<String>,
}

/// A talk that goes on.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    order: &'a Order,
    record: &'a mut Record,
    /// What is said; `None` once everything was.
    to: Option<Sender<Value>>,
    /// Whether it asked so much without reading an answer that we say nothing more.
    is_deaf: bool,
    from: Heard,
    stop: [Signal; 3],
    /// The id of the last request.
    last: i64,
    /// The session that was asked; what an old one is made of again is none of this talk.
    asked: Option<String>,
    /// Until when the turn may be cancelled.
    until: Option<Instant>,
    /// How long it may take until it can be asked, and until when that is.
    ready: Duration,
    ready_until: Instant,
}

impl<'a> Talk<'a> {
    /// With an agent that was just started.
    pub(super) fn new(
        to: ChildStdin,
        from: ChildStdout,
        order: &'a Order,
        record: &'a mut Record,
    ) -> std::io::Result<Self> {
        let ready = order.ready_within.map_or(READY, Duration::from_secs);
        Ok(Self {
            order,
            record,
            to: Some(wire::speak(to)),
            is_deaf: false,
            ready,
            ready_until: Instant::now() + ready,
            from: wire::hear(from),
            stop: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::hangup())?,
            ],
            last: 0,
            asked: None,
            until: None,
        })
    }

    /// The whole talk; all is well where it ends without an error.
    pub(super) async fn whole(&mut self, directory: &Path, prompt: &str) -> Result<(), Over> {
        let can = self.initialize().await?;
        let session = self.session(can, directory).await?;
        self.record.session(&session);
        if let Some(mode) = &self.order.mode {
            let answer = self.ask(Ask::Mode(&session, mode)).await?;
            let what = format!("the mode {mode:?}");
            self.taken(answer, &what, Trouble::Usage)?;
        }
        if let Some((option, model)) = &self.order.model {
            let answer = self.ask(Ask::Option(&session, option, model)).await?;
            let what = format!("the model {model:?}");
            self.taken(answer, &what, Trouble::Model)?;
        }
        self.asked = Some(session.clone());
        let answer = self.ask(Ask::Prompt(&session, prompt)).await?;
        let answer = self.told(answer)?;
        if self.until.is_some() {
            return Err(Over::Terminated);
        }
        match answer.get("stopReason").and_then(Value::as_str) {
            Some("end_turn") => Ok(()),
            // Taken down, and read there.
            Some(_) => Err(Over::Told),
            None => Err(unreadable("the end of its turn")),
        }
    }

    /// What the agent can.
    async fn initialize(&mut self) -> Result<Can, Over> {
        let answer = self.ask(Ask::Initialize).await?;
        let answer = self.told(answer)?;
        Can::of(&answer).map_err(|version| match version {
            Some(version) => Over::Failed {
                trouble: Some(Trouble::Usage),
                message: format!(
                    "it speaks version {version} of the protocol, and this client version {}",
                    protocol::VERSION
                ),
            },
            None => unreadable("what it says that it can"),
        })
    }

    /// The session that goes on, or a new one.
    async fn session(&mut self, can: Can, cwd: &Path) -> Result<String, Over> {
        let order = self.order;
        let besides = if can.reads_besides {
            &order.directories[..]
        } else {
            &[]
        };
        let place = Place {
            cwd,
            besides,
            meta: order.meta.as_ref(),
        };
        let Some(old) = &order.resume else {
            let answer = self.ask(Ask::New(place)).await?;
            let answer = self.told(answer)?;
            let id = answer.get("sessionId").and_then(Value::as_str);
            return id
                .map(str::to_owned)
                .ok_or_else(|| unreadable("its new session"));
        };
        let answer = if can.resumes {
            self.ask(Ask::Resume(old, place)).await?
        } else if can.loads {
            self.ask(Ask::Load(old, place)).await?
        } else {
            return Err(Over::Failed {
                trouble: Some(Trouble::Session),
                message: "it does not continue sessions".to_owned(),
            });
        };
        self.taken(answer, &format!("the session {old}"), Trouble::Session)?;
        Ok(old.clone())
    }

    /// Asks, and does what is to be done until the answer comes.
    async fn ask(&mut self, ask: Ask<'_>) -> Result<Result<Value, Value>, Over> {
        self.last += 1;
        self.say(ask.request(self.last));
        let wanted = json!(self.last);
        loop {
            if self.is_deaf {
                return Err(Over::Failed {
                    trouble: Some(Trouble::Unfinished),
                    message: "it asks on and on, and reads no answer".to_owned(),
                });
            }
            let in_time = at(self.until);
            let is_ready = at(self.asked.is_none().then_some(self.ready_until));
            let [terminate, interrupt, hang_up] = &mut self.stop;
            let heard = tokio::select! {
                biased;
                Some(()) = terminate.recv() => None,
                Some(()) = interrupt.recv() => None,
                Some(()) = hang_up.recv() => None,
                () = in_time => return Err(Over::Terminated),
                () = is_ready => return Err(self.not_ready(ask)),
                heard = self.from.next.recv() => Some(heard),
            };
            match heard {
                None => self.cancel()?,
                Some(None) => return Err(Over::Gone),
                Some(Some(Err(Unreadable { message, .. }))) => {
                    let trouble = Some(Trouble::Unfinished);
                    return Err(Over::Failed { trouble, message });
                }
                Some(Some(Ok(Message::Response { id, answer }))) if id == wanted => {
                    return Ok(answer);
                }
                Some(Some(Ok(message))) => self.hear(message),
            }
        }
    }

    /// Hears on after the turn, until the agent says nothing more and has ended: some say the rest then.
    pub(super) async fn listen_to_the_end(&mut self, child: &mut Child, limit: Duration) -> End {
        self.to = None;
        let mut torn = None;
        let status = self.listen(child, limit, &mut torn).await;
        self.from.enough.cancel();
        while let Some(heard) = self.from.next.recv().await {
            self.hear_after(heard, &mut torn);
        }
        End { status, torn }
    }

    async fn listen(
        &mut self,
        child: &mut Child,
        limit: Duration,
        torn: &mut Option<String>,
    ) -> Option<ExitStatus> {
        let until = Instant::now() + limit;
        let mut is_heard = true;
        loop {
            let [terminate, interrupt, hang_up] = &mut self.stop;
            let heard = tokio::select! {
                biased;
                Some(()) = terminate.recv() => return None,
                Some(()) = interrupt.recv() => return None,
                Some(()) = hang_up.recv() => return None,
                () = sleep_until(until) => return None,
                heard = self.from.next.recv(), if is_heard => heard,
                status = child.wait(), if !is_heard => return status.ok(),
            };
            match heard {
                None => is_heard = false,
                Some(heard) => self.hear_after(heard, torn),
            }
        }
    }

    /// What is said after the turn.
    fn hear_after(&mut self, heard: Result<Message, Unreadable>, torn: &mut Option<String>) {
        match heard {
            Ok(message) => self.hear(message),
            Err(Unreadable {
                is_torn: true,
                message,
            }) => {
                torn.get_or_insert(message);
            }
            // Words for people, now that it is asked nothing more.
            Err(Unreadable { is_torn: false, .. }) => {}
        }
    }

    /// What is neither the answer nor wrong.
    fn hear(&mut self, message: Message) {
        match message {
            Message::Notification(message) => {
                let session = message.pointer("/params/sessionId").and_then(Value::as_str);
                if self.asked.is_some() && session == self.asked.as_deref() {
                    self.record.agent(message);
                }
            }
            Message::Request { id, method, params } => {
                let outcome = if method == PERMISSION {
                    self.permission(&params)
                } else {
                    self.record.unknown(&method);
                    Outcome::Unknown
                };
                self.say(protocol::answer(&id, &outcome));
            }
            // A second answer to the prompt takes back the first.
            Message::Response { id, answer } if self.to.is_none() && id == json!(self.last) => {
                drop(self.told(answer));
            }
            // The answer to nothing that was asked.
            Message::Response { .. } => {}
        }
    }

    fn permission(&mut self, params: &Value) -> Outcome {
        let is_over = self.until.is_some() || self.to.is_none();
        let policy = match (is_over, self.order.may_write) {
            (true, _) => Policy::Cancelled,
            (false, true) => Policy::AllowOnce,
            (false, false) => Policy::Reject,
        };
        let (outcome, told) = permission::answer(params, policy);
        let title = params.pointer("/toolCall/title").and_then(Value::as_str);
        self.record.permission(title.unwrap_or_default(), told);
        outcome
    }

    /// Tells the agent to stop; one that was not asked yet needs not be told.
    fn cancel(&mut self) -> Result<(), Over> {
        let Some(session) = &self.asked else {
            return Err(Over::Terminated);
        };
        if self.until.is_none() {
            self.say(protocol::cancel(session));
            self.until = Some(Instant::now() + CANCELLING);
        }
        Ok(())
    }

    /// The result of an answer, which is taken down, as an error is.
    fn told(&mut self, answer: Result<Value, Value>) -> Result<Value, Over> {
        let (key, value) = match &answer {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        let mut message = json!({"id": self.last});
        message[key] = value.clone();
        self.record.agent(message);
        answer.map_err(|_| Over::Told)
    }

    /// Whether something was taken by the agent; where it was not, what that means.
    fn taken(
        &mut self,
        answer: Result<Value, Value>,
        what: &str,
        trouble: Trouble,
    ) -> Result<(), Over> {
        if let Err(error) = &answer
            // No fault of what was asked for.
            && error.get("code").and_then(Value::as_i64) != Some(NO_LOGIN)
        {
            let words = error.get("message").and_then(Value::as_str);
            let words = words.unwrap_or("without a reason");
            self.record
                .failed(Some(trouble), &format!("{what} was refused: {words}"));
        }
        self.told(answer).map(drop)
    }

    fn say(&mut self, message: Value) {
        let Some(to) = &self.to else {
            return;
        };
        match to.try_send(message) {
            // One that does not listen any more is ending.
            Ok(()) | Err(TrySendError::Closed(_)) => {}
            Err(TrySendError::Full(_)) => self.is_deaf = true,
        }
    }

    fn not_ready(&self, ask: Ask<'_>) -> Over {
        let (seconds, method) = (self.ready.as_secs(), ask.method());
        Over::Failed {
            trouble: Some(Trouble::Unfinished),
            message: format!(
                "it was not ready for its prompt within {seconds} s: no answer to {method}"
            ),
        }
    }
}

/// At this moment; never where there is none.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn unreadable(what: &str) -> Over {
    Over::Failed {
        trouble: Some(Trouble::Unfinished),
        message: format!("{what} does not read"),
    }
}
