//! What the jobs of a run do right now, read from what their programs have printed so far.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::agent::activity;
use crate::agent::environment::Variables;
use crate::agent::job_folder::secrets_note;
use crate::agent::redact::Secrets;
use crate::checks::secret::SecretRules;
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::effect::Effect;
use crate::domain::id::{JobId, LoopId};
use crate::domain::profile::Stream;
use crate::domain::summary::Summary;
use crate::domain::time::Timestamp;
use crate::report::live::Activity;
use crate::store::Folder;

/// How much of the end is read: lines of JSON may hold whole files.
const END: u64 = 64 * 1024;

/// Looks at the jobs of one run.
#[derive(Debug)]
pub(super) struct Activities {
    cache: PathBuf,
    environment: Variables,
}

impl Activities {
    /// Where captured output lies, and whose keys must not be shown.
    pub(super) fn new(cache: &Path, environment: &Variables) -> Self {
        Self {
            cache: cache.to_owned(),
            environment: environment.clone(),
        }
    }

    /// What each job does that goes on.
    pub(super) fn look(&self, summary: &Summary) -> BTreeMap<JobId, Activity> {
        let Some(spec) = &summary.spec else {
            return BTreeMap::new();
        };
        let agents = spec.agents().chain(summary.delegates.values());
        let secrets = Secrets::of(agents, &self.environment);
        let jobs = summary.open.values().filter_map(|effect| match effect {
            Effect::RunJob { job } => Some((job.id, job.id, spec.agent_of(job)?)),
            // What it prints lies by its dispatch.
            Effect::Delegate { dispatch } => {
                let agent = summary.delegates.get(&dispatch.job)?;
                Some((dispatch.job, dispatch.folder, agent))
            }
            Effect::Pin { .. }
            | Effect::MakeEvidence { .. }
            | Effect::OpenTree { .. }
            | Effect::Measure { .. }
            | Effect::AwaitJobs { .. }
            | Effect::Timer { .. }
            | Effect::Promote { .. }
            | Effect::Release => None,
        });
        jobs.filter_map(|(job, folder, agent)| {
            Some((job, self.of(spec.loop_id, folder, agent, &secrets)?))
        })
        .collect()
    }

    fn of(&self, run: LoopId, folder: JobId, agent: &Agent, secrets: &Secrets) -> Option<Activity> {
        let stream = match &agent.kind {
            AgentKind::Command(_) => Stream::Text,
            AgentKind::Profile(program) => program.profile.stream,
            // Their commands have folders of their own; a person prints nothing.
            AgentKind::Checks | AgentKind::Human => return None,
        };
        let path = format!("jobs/{run}/{folder}.capture");
        let capture = Folder::open(&self.cache)
            .and_then(|cache| cache.descend(Path::new(&path)))
            .ok()?;
        // The shell that looks may lack keys that the job's engine had.
        let note = secrets_note(capture.path());
        let may_say = note.is_some_and(|note| secrets.know(&note));
        let mut file = capture.open_file("stdout").ok()?;
        let seen = file.metadata().ok()?;
        let stderr = capture.open_file("stderr").ok();
        let stderr = stderr.and_then(|file| file.metadata().ok()?.modified().ok());
        let at = seen.modified().ok().max(stderr)?;
        let from = seen.len().saturating_sub(END);
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut end = Vec::new();
        file.take(END).read_to_end(&mut end).ok()?;
        // What begins in the middle may begin within a key, too.
        let whole = end.iter().position(|byte| *byte == b'\n');
        let whole = if from == 0 {
            0
        } else {
            whole.map_or(end.len(), |at| at + 1)
        };
        let what = activity::last(
            stream,
            &end[whole..],
            from > 0,
            |text, lacks_its_beginning| {
                if may_say {
                    shown(secrets, text, lacks_its_beginning)
                } else if text.is_empty() {
                    String::new()
                } else {
                    "…".to_owned()
                }
            },
        );
        Some(Activity {
            at: timestamp(at),
            what,
        })
    }
}

/// The text without keys: those that agents are given, and what looks like one.
fn shown(secrets: &Secrets, text: &str, lacks_its_beginning: bool) -> String {
    // It may go on: what a key begins with is no less a part of it.
    let bytes = text.as_bytes().to_vec();
    let text = secrets.taken_out_of_part(bytes, lacks_its_beginning, true);
    let text = String::from_utf8_lossy(&text);
    SecretRules::embedded().map_or_else(|_| String::new(), |rules| rules.redact(&text))
}

fn timestamp(at: SystemTime) -> Timestamp {
    let millis = at
        .duration_since(UNIX_EPOCH)
        .map_or(0, |span| span.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
