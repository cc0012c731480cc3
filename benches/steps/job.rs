//! What a job costs beside its agent: folder, guard and report, against a shell that starts it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use run_loop::agent::command::{Dispatch, dispatch};
use run_loop::agent::job_folder::JobFolder;
use run_loop::agent::redact::Secrets;
use run_loop::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, PromptChannel, ReportChannel,
};
use run_loop::domain::digest::Digest;
use run_loop::domain::id::{JobId, LoopId, RoundNumber};
use run_loop::domain::isolation::EvidenceKind;
use run_loop::domain::job::{AttemptReason, Ended, Job, Role};
use run_loop::domain::slot::SlotName;
use run_loop::domain::time::Timestamp;
use run_loop::process::guard::GuardProgram;
use tokio_util::sync::CancellationToken;

use crate::corpus::Corpus;
use crate::programs::PROGRAM;
use crate::sample::{Technique, Watch, round_robin};
use crate::source::LOOP;
use crate::table::Table;

const JOB: &str = "01890a5d-ac96-774b-bcce-b302099a8058";
/// An agent that ends at once.
const AGENT: &str = "/bin/true";

pub fn measure(corpus: &Corpus, samples: usize, table: &mut Table) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let cache = corpus.scratch().join("job");
    let tree = corpus.scratch();
    let techniques = vec![
        Technique::new("sh -c true", |watch: &mut Watch| {
            watch.time(|| {
                let status = Command::new("/bin/sh").args(["-c", AGENT]).status();
                assert!(status.expect("a shell").success());
            });
        }),
        Technique::new("a job", |watch: &mut Watch| {
            watch.time(|| runtime.block_on(job(&cache, &tree)));
        }),
    ];
    let taken = round_robin(samples * 5, techniques, || {});
    table.row(
        "a job whose agent ends at once",
        &taken[1],
        &taken[0],
        1.0,
        None,
    );
    table.absolute(
        "overhead of a job",
        taken[1].median() - taken[0].median(),
        10.0,
    );
}

async fn job(cache: &Path, tree: &Path) {
    let command = CommandAgent {
        program: AGENT.to_owned(),
        args: Vec::new(),
        prompt: PromptChannel::Stdin,
        report: ReportChannel::Stdout,
        env: Vec::new(),
        confine: false,
    };
    let agent = Agent {
        name: "bot".to_owned(),
        kind: AgentKind::Command(command.clone()),
        remote: false,
        family: "bot".to_owned(),
        timeout: None,
        contract: Contract::Json,
        definition: Digest::of(b"bot"),
    };
    let job = Job {
        id: JobId::parse(JOB).expect("an id"),
        role: Role::Review,
        round: RoundNumber(2),
        slot: SlotName::parse("bot").expect("a slot's name"),
        rank: 0,
        reason: AttemptReason::First,
        attempt: 1,
        nonce: "00112233445566778899aabbccddeeff".to_owned(),
        evidence: EvidenceKind::ReviewTree,
        deadline: Timestamp::from_millis(0),
        budget: 600,
        session: run_loop::domain::job::SessionUse::New,
    };
    let id = LoopId::parse(LOOP).expect("an id");
    let folder = JobFolder::create(cache, id, job.id, b"Review this.\n", None).expect("a folder");
    let environment: BTreeMap<_, _> = [("PATH", "/usr/bin:/bin"), ("HOME", "/nonexistent")]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let guard = GuardProgram::at(PROGRAM);
    let request = Dispatch {
        agent: &agent,
        command: &command,
        job: (&job).into(),
        folder: &folder,
        prompt: b"Review this.\n",
        tree: Some(tree),
        environment: &environment,
        budget: Duration::from_mins(10),
        run_left: None,
        guard: &guard,
        confine: None,
        secrets: &Secrets::default(),
    };
    let done = dispatch(&request, CancellationToken::new()).await;
    assert_eq!(done.ended, Ended::Exited { code: 0 }, "{done:?}");
    assert_eq!(folder.remove(), Vec::<String>::new());
}
