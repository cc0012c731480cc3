//! One job for one scripted agent, with everything it needs in a temporary folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use run_loop::agent::command::{Dispatch, dispatch};
use run_loop::agent::dispatched::Dispatched;
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
use tokio_util::sync::CancellationToken;

use crate::support::agents::ScriptedAgent;
use crate::support::guard;

pub(crate) const LOOP: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
pub(crate) const JOB: &str = "01890a5d-ac96-774b-bcce-b302099a8058";
pub(crate) const NONCE: &str = "00112233445566778899aabbccddeeff";
pub(crate) const TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// A temporary cache, a tree, evidence of one file and one part, and a prompt about them.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) prompt: Vec<u8>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) agent: Agent,
    pub(crate) command: CommandAgent,
    pub(crate) budget: Duration,
    pub(crate) run_left: Option<Duration>,
}

impl World {
    pub(crate) fn new(agent: &ScriptedAgent) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for made in ["tree", "evidence", "evidence/parts", "programs"] {
            std::fs::create_dir(root.join(made)).unwrap();
        }
        let files = r#"{"files": [{"path": "src/a.rs", "status": "modified"}]}"#;
        std::fs::write(root.join("evidence/files.json"), files).unwrap();
        let part = "diff --git a/src/a.rs b/src/a.rs\nreceipt 001 abcd\n";
        std::fs::write(root.join("evidence/parts/001.patch"), part).unwrap();
        let program = agent.install(&root.join("programs"), "agent");
        let command = CommandAgent {
            program: program.to_str().unwrap().to_owned(),
            args: Vec::new(),
            prompt: PromptChannel::Stdin,
            report: ReportChannel::Stdout,
            env: Vec::new(),
            confine: false,
        };
        Self {
            prompt: format!("Review this.\nNonce: {NONCE}\nTree: {TREE}\n").into_bytes(),
            environment: [("PATH", "/usr/bin:/bin"), ("HOME", "/nonexistent")]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            agent: Agent {
                name: "bot".to_owned(),
                kind: AgentKind::Command(command.clone()),
                remote: false,
                family: "bot".to_owned(),
                timeout: None,
                contract: Contract::Json,
                definition: Digest::of(b"bot"),
            },
            command,
            budget: Duration::from_mins(10),
            run_left: None,
            folder,
        }
    }
    pub(crate) fn script(bash: &str) -> Self {
        Self::new(&ScriptedAgent::with_script(bash))
    }
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }
    pub(crate) fn tree(&self) -> PathBuf {
        self.root().join("tree")
    }
    pub(crate) fn cache(&self) -> PathBuf {
        self.root().join("cache")
    }
    pub(crate) fn report_is_a_file(mut self) -> Self {
        self.command.report = ReportChannel::File;
        self
    }
    pub(crate) fn prompt_is_a_file(mut self) -> Self {
        self.command.prompt = PromptChannel::File;
        self
    }
    pub(crate) fn job_folder(&self) -> JobFolder {
        JobFolder::create(
            &self.cache(),
            LoopId::parse(LOOP).unwrap(),
            JobId::parse(JOB).unwrap(),
            &self.prompt,
            (!self.agent.remote)
                .then(|| self.root().join("evidence"))
                .as_deref(),
        )
        .unwrap()
    }
    pub(crate) async fn dispatch(&self) -> Dispatched {
        self.dispatch_in(&self.job_folder(), CancellationToken::new())
            .await
    }
    pub(crate) async fn dispatch_in(
        &self,
        folder: &JobFolder,
        stop: CancellationToken,
    ) -> Dispatched {
        let tree = self.tree();
        let secrets = Secrets::of([&self.agent], &self.environment);
        let request = Dispatch {
            agent: &self.agent,
            command: &self.command,
            job: (&job()).into(),
            folder,
            prompt: &self.prompt,
            tree: Some(&tree),
            environment: &self.environment,
            budget: self.budget,
            run_left: self.run_left,
            guard: &guard(),
            confine: None,
            secrets: &secrets,
        };
        dispatch(&request, stop).await
    }
}

fn job() -> Job {
    Job {
        id: JobId::parse(JOB).unwrap(),
        role: Role::Review,
        round: RoundNumber(2),
        slot: SlotName::parse("bot").unwrap(),
        rank: 0,
        reason: AttemptReason::First,
        attempt: 1,
        nonce: NONCE.to_owned(),
        evidence: EvidenceKind::ReviewTree,
        deadline: Timestamp::from_millis(0),
        budget: 600,
        session: run_loop::domain::job::SessionUse::New,
    }
}

/// The report as text; the job must have exited 0.
#[track_caller]
pub(crate) fn report(done: &Dispatched) -> String {
    assert_eq!(
        done.ended,
        Ended::Exited { code: 0 },
        "{}",
        done.stderr_tail
    );
    assert_eq!(done.unusable, None);
    String::from_utf8(done.report.as_ref().unwrap().as_came().to_vec()).unwrap()
}
