//! Silence: which dispatches have printed nothing for long, and which go on after it. It is told once
//! and ends nothing: only the budget closes a job, and a job that is alive may still make no progress.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::domain::id::JobId;
use crate::engine::{Blocked, InputKind, State};
use crate::runtime::messages::{ACTIVITY, under_way};
use crate::runtime::rim::Rim;

/// How long a silence is worth a word.
const SILENCE: Duration = Duration::from_mins(10);
/// How often is looked: a stat of three files for each dispatch.
const PAUSE: Duration = Duration::from_secs(10);

/// What a capture folder looked like.
type Mark = [Option<(u64, SystemTime)>; 3];

/// Watches the dispatches that are under way.
pub(super) struct Watch {
    rim: Arc<Rim>,
    next: Instant,
    seen: Looks,
}

/// What the last looks found, by the dispatch's folder.
#[derive(Default)]
struct Looks(BTreeMap<JobId, Seen>);

/// A dispatch that is under way.
struct Watched {
    job: JobId,
    folder: JobId,
    attempt: u32,
    /// The number of the question that it waits on.
    question: Option<u32>,
    capture: PathBuf,
}

/// What the last look at a dispatch found.
struct Seen {
    mark: Mark,
    since: Instant,
    question: Option<u32>,
}

/// What a look at a dispatch tells.
#[derive(Debug, PartialEq, Eq)]
enum Sign {
    /// It printed something since the last look, or said that it goes on: after which question, if it
    /// had one by then.
    Heard { question: Option<u32> },
    /// It has printed nothing for long.
    Silent,
    /// Neither.
    Quiet,
}

impl Watch {
    pub(super) fn new(rim: Arc<Rim>) -> Self {
        Self {
            rim,
            next: Instant::now() + PAUSE,
            seen: Looks::default(),
        }
    }
    /// The dispatches that were silent for long, and those that go on, each as an input; the engine
    /// tells what is news.
    pub(super) fn look(&mut self, state: &State, now: Instant) -> Vec<InputKind> {
        if now < self.next {
            return Vec::new();
        }
        self.next = now + PAUSE;
        let Some(run) = state.run.as_ref().map(|run| run.loop_id) else {
            return Vec::new();
        };
        let running = under_way(state).into_iter().filter_map(|(job, folder)| {
            Some(Watched {
                job,
                folder,
                attempt: state.fence_of(job)?.attempt,
                question: state.blocked_of(job).and_then(Blocked::number),
                capture: self.rim.capture_folder(run, folder),
            })
        });
        self.seen.look(&running.collect::<Vec<_>>(), now)
    }
}

impl Looks {
    fn look(&mut self, running: &[Watched], now: Instant) -> Vec<InputKind> {
        self.0
            .retain(|folder, _| running.iter().any(|it| it.folder == *folder));
        let mut inputs = Vec::new();
        for watched in running {
            let (job, attempt, question) = (watched.job, watched.attempt, watched.question);
            let mark = mark(&watched.capture);
            // A person, or `checks`, whose commands have folders of their own.
            if mark.iter().all(Option::is_none) {
                continue;
            }
            let seen = self
                .0
                .entry(watched.folder)
                .or_insert_with(|| Seen::new(mark, question, now));
            match seen.again(mark, question, now) {
                Sign::Heard { question } => inputs.push(InputKind::Heard {
                    job,
                    attempt,
                    question,
                }),
                Sign::Silent => inputs.push(InputKind::Silent { job, attempt }),
                Sign::Quiet => {}
            }
        }
        inputs
    }
}

impl Seen {
    fn new(mark: Mark, question: Option<u32>, now: Instant) -> Self {
        Self {
            mark,
            since: now,
            question,
        }
    }
    /// Looks again. The clock of silence stands still while the machine sleeps.
    fn again(&mut self, mark: Mark, question: Option<u32>, now: Instant) -> Sign {
        // Programs print while they wait, too: only what it says of itself shows that it goes on, and
        // that may have come before a question which came between two looks.
        let says = self.mark[2] != mark[2];
        let after = question.filter(|_| says && self.question == question);
        self.question = question;
        if self.mark != mark {
            (self.mark, self.since) = (mark, now);
            return Sign::Heard { question: after };
        }
        if now.duration_since(self.since) >= SILENCE {
            Sign::Silent
        } else {
            Sign::Quiet
        }
    }
}

fn mark(capture: &Path) -> Mark {
    ["stdout", "stderr", ACTIVITY].map(|name| {
        let file = fs_err::symlink_metadata(capture.join(name)).ok()?;
        Some((file.len(), file.modified().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{Stamp, Timestamp};

    /// Issue 4.6, on a capture folder: what a program prints on either channel, and what a job says of
    /// itself, is seen of each dispatch by itself; a folder without output is nobody's silence, and one
    /// of another dispatch begins anew.
    #[test]
    fn what_lies_in_a_capture_folder_is_looked_at() {
        let place = tempfile::tempdir().unwrap();
        let stamp = |millis| Stamp {
            at: Timestamp::from_millis(millis),
            seed: [0; 32],
        };
        let job = |millis| JobId::mint(&stamp(millis), "job");
        let watched = |millis: i64, question| {
            let folder = job(millis);
            let capture = place.path().join(format!("{folder}.capture"));
            fs_err::create_dir_all(&capture).unwrap();
            Watched {
                job: job(1),
                folder,
                attempt: u32::try_from(millis).unwrap(),
                question,
                capture,
            }
        };
        let start = Instant::now();
        let mut looks = Looks::default();
        let mut look = |watched: &Watched, seconds| {
            let now = start + Duration::from_secs(seconds);
            looks.look(std::slice::from_ref(watched), now)
        };
        let (job, attempt) = (job(1), 1);
        let silent = vec![InputKind::Silent { job, attempt }];
        let heard = |question| {
            vec![InputKind::Heard {
                job,
                attempt,
                question,
            }]
        };
        let put = |watched: &Watched, name: &str, text: &str| {
            fs_err::write(watched.capture.join(name), text).unwrap();
        };
        let first = watched(1, None);
        assert_eq!(look(&first, 0), []);
        assert_eq!(look(&first, 5_000), [], "nobody prints there");
        put(&first, "stdout", "a");
        assert_eq!(look(&first, 5_010), []);
        assert_eq!(look(&first, 5_609), []);
        assert_eq!(look(&first, 5_610), silent);
        put(&first, "stderr", "a warning");
        assert_eq!(look(&first, 5_620), heard(None));
        assert_eq!(look(&first, 6_219), []);
        assert_eq!(look(&first, 6_220), silent);
        // It asks, prints while it waits, and goes on.
        let asks = watched(1, Some(1));
        put(&asks, "stdout", "waiting");
        assert_eq!(look(&asks, 6_230), heard(None));
        put(&asks, ACTIVITY, "it goes on");
        assert_eq!(look(&asks, 6_240), heard(Some(1)));
        assert_eq!(look(&asks, 6_840), silent);
        // Dispatched once more, it has its own ten minutes.
        let second = watched(2, None);
        put(&second, "stdout", "");
        assert_eq!(look(&second, 6_850), []);
        let attempt = 2;
        assert_eq!(look(&second, 7_450), [InputKind::Silent { job, attempt }]);
    }

    fn printed(bytes: u64) -> Mark {
        [Some((bytes, SystemTime::UNIX_EPOCH)), None, None]
    }
    fn said(times: u64) -> Mark {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(times);
        [Some((1, SystemTime::UNIX_EPOCH)), None, Some((0, at))]
    }

    /// Issue 4.6: what is printed renews the clock of silence, and nothing else does.
    #[test]
    fn a_silence_is_told_from_ten_minutes_on() {
        let start = Instant::now();
        let mut seen = Seen::new(printed(1), None, start);
        let mut look = |bytes, seconds| {
            let now = start + Duration::from_secs(seconds);
            seen.again(printed(bytes), None, now)
        };
        let heard = || Sign::Heard { question: None };
        assert_eq!(look(1, 599), Sign::Quiet);
        assert_eq!(look(1, 600), Sign::Silent);
        assert_eq!(look(1, 610), Sign::Silent);
        assert_eq!(look(2, 620), heard());
        assert_eq!(look(2, 1219), Sign::Quiet);
        assert_eq!(look(2, 1220), Sign::Silent);
    }

    /// Issue 4.6: it goes on after a question where it says something of itself after the look that
    /// found the question; what its program prints while it waits is no answer.
    #[test]
    fn only_what_a_job_says_itself_follows_an_answer() {
        let now = Instant::now();
        let mut seen = Seen::new(said(1), None, now);
        let mut look = |times, question| seen.again(said(times), question, now);
        let heard = |question| Sign::Heard { question };
        assert_eq!(look(2, Some(1)), heard(None));
        assert_eq!(look(2, Some(1)), Sign::Quiet);
        assert_eq!(look(3, Some(1)), heard(Some(1)));
        // Another question meanwhile.
        assert_eq!(look(4, Some(2)), heard(None));
        assert_eq!(look(5, Some(2)), heard(Some(2)));
        assert_eq!(look(6, None), heard(None));
        let mut seen = Seen::new(printed(1), Some(1), now);
        assert_eq!(seen.again(printed(2), Some(1), now), heard(None));
    }
}
