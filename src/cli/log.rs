//! `run-loop log [RUN]`: a run's events, also while it goes on.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use crate::cli::activity::Activities;
use crate::cli::args::Format;
use crate::cli::environment::Environment;
use crate::cli::history::{History, ReadRun, write};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::domain::summary::RunState;
use crate::report::follow::Follower;
use crate::report::live::Activity;
use crate::report::public::{PublicEvent, VERSION};
use crate::report::{human, ndjson, text, time};
use crate::runtime::clock;

/// How often a run is read that is followed.
const PAUSE: Duration = Duration::from_millis(500);

/// Prints the events so far; as one document when there are no more. Followed, where what jobs say is read by
/// the keys of this environment, it goes on until the run ends, or until nobody drives it any more.
pub fn run(
    named: Option<&str>,
    follow: Option<&Environment>,
    history: &History<'_>,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    if let Some(environment) = follow {
        return followed(named, environment, history, out);
    }
    let read = history.read(history.choose(named)?)?;
    let mut printer = Printer::new(read.run, history.format);
    printer.events(&read, out)?;
    printer.end(&read, out)?;
    Ok(Exit::Approved)
}

/// Prints events until the run stands still.
fn followed(
    run: Option<&str>,
    environment: &Environment,
    history: &History<'_>,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    let run = history.choose(run)?;
    let mut printer = Printer::new(run, history.format);
    let clockwork = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| Failure::new(Code::Internal, format!("no runtime: {error}")))?;
    let mut activities = None;
    loop {
        let read = history.read(run)?;
        printer.events(&read, out)?;
        if read.state != RunState::Running {
            printer.end(&read, out)?;
            return Ok(Exit::Approved);
        }
        if history.format == Format::Human {
            let cache = environment.cache_root()?;
            let known =
                activities.get_or_insert_with(|| Activities::new(&cache, environment.variables()));
            printer.activities(&read, &known.look(&read.summary), out);
        }
        clockwork.block_on(async { tokio::time::sleep(PAUSE).await });
    }
}

/// What was printed of a run so far.
struct Printer {
    run: LoopId,
    format: Format,
    follower: Follower,
    printed: usize,
    told: BTreeMap<JobId, String>,
    /// The events of a document that is printed at the end.
    events: Vec<PublicEvent>,
}

/// The events of a run.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    run: LoopId,
    events: &'a [PublicEvent],
}

impl Printer {
    fn new(run: LoopId, format: Format) -> Self {
        Self {
            run,
            format,
            follower: Follower::new(run),
            printed: 0,
            told: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    /// Prints what is new.
    fn events(&mut self, read: &ReadRun, out: &mut dyn Write) -> Result<(), Failure> {
        let start = read.summary.started_at;
        for entry in read.entries.iter().skip(self.printed) {
            let event = self.follower.next(entry.at, &entry.event);
            let text = match self.format {
                Format::Json => {
                    self.events.push(event);
                    continue;
                }
                Format::Ndjson => ndjson::line(&event)?,
                Format::Human => {
                    let Some(lines) = human::lines(&event) else {
                        continue;
                    };
                    let elapsed = time::span(start.unwrap_or(entry.at), entry.at);
                    format!("{elapsed:>7}  {}\n", lines.replace('\n', "\n         "))
                }
            };
            write(out, &text);
        }
        self.printed = read.entries.len();
        Ok(())
    }

    /// Prints what each job does, when that is something else than before.
    fn activities(
        &mut self,
        read: &ReadRun,
        activities: &BTreeMap<JobId, Activity>,
        out: &mut dyn Write,
    ) {
        let start = read.summary.started_at;
        let own = read.summary.jobs();
        let own = own.map(|record| (record.job.id, record.job.slot.to_string()));
        let delegated = read.summary.delegates.keys();
        let delegated = delegated.map(|job| (*job, format!("job {job}")));
        for (job, name) in own.chain(delegated) {
            let activity = activities.get(&job);
            let Some(what) = activity.and_then(|one| one.what.as_ref()) else {
                continue;
            };
            if self.told.get(&job) == Some(what) {
                continue;
            }
            let now = clock::now();
            let elapsed = time::span(start.unwrap_or(now), now);
            let line = text::line(what);
            write(out, &format!("{elapsed:>7}  {name}: {line}\n"));
            self.told.insert(job, what.clone());
        }
    }

    /// Says how the run stands.
    fn end(&self, read: &ReadRun, out: &mut dyn Write) -> Result<(), Failure> {
        match self.format {
            Format::Ndjson => return Ok(()),
            Format::Json => {
                let document = Document {
                    version: VERSION,
                    run: self.run,
                    events: &self.events,
                };
                write(out, &ndjson::document(&document)?);
                return Ok(());
            }
            Format::Human => {}
        }
        let report = read.report();
        let text = match read.state {
            RunState::Running => format!("         {}\n", report.standing()),
            RunState::Ended => format!("\n{}", report.human("log")),
            // Put aside in good order, which is told.
            RunState::Interrupted if read.summary.suspended.is_some() => {
                format!("\n{}", report.human("log"))
            }
            RunState::Interrupted => format!(
                "\n{}\ninterrupted: nobody drives the run any more\nnext: run-loop resume {}\n",
                report.human("log"),
                self.run
            ),
        };
        write(out, &text);
        Ok(())
    }
}
