//! A repository with a reviewed branch, its journals, and rounds made by hand.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, Outcome, Promotion};
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, RoundResult, Settlement};
use run_loop::domain::failure::Failure;
use run_loop::domain::id::{EffectId, JobId, LoopId, RoundNumber};
use run_loop::domain::identity::{Identity, Pin, Remeasured, Tripwire};
use run_loop::domain::isolation::EvidenceKind;
use run_loop::domain::job::{AttemptReason, Ended, Job, JobOutcome, Reading, Review, Role, Stored};
use run_loop::domain::oid::Oid;
use run_loop::domain::slot::Slot;
use run_loop::domain::spent::Spent;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::domain::verdict::{Coverage, PassedBy, Verdict};
use run_loop::gate::{Approval, GatePolicy, GateRequest};
use run_loop::git::{Git, GitEnvironment, Repository};
use run_loop::promote::{ApprovedRound, EndedJob, Permit, SettledSlot};
use run_loop::store::{Attestations, Index, Journal, RunLock, StateFolder, attestations};

use crate::sample::{checks, evidence, reader, rules, spec};
use crate::support::repo::{Repo, git_command, git_program};

/// Stands wherever a run keeps something of its machine; no promoted file may hold it.
pub(crate) const CANARY: &str = "canary-7d1c";

/// What the reviewer wrote.
pub(crate) const REPORT: &str = "# Review\n\nAll read.\n";

/// `main` with one commit, and `feature` (checked out) with one more.
pub(crate) struct World {
    pub(crate) repo: Repo,
    pub(crate) git: Git,
    pub(crate) repository: Repository,
    pub(crate) state: StateFolder,
    pub(crate) artifacts: RefCell<BTreeMap<Digest, Vec<u8>>>,
    pub(crate) clock: Cell<u8>,
}

impl World {
    pub(crate) fn new() -> Self {
        let repo = Repo::new();
        repo.git(&["switch", "-q", "-c", "feature"]);
        repo.write("src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n");
        repo.commit("a feature");
        let git = Git::find_in(&GitEnvironment {
            program: Some(git_program()),
            no_system_config: true,
            ..GitEnvironment::new(std::env::var_os("PATH").unwrap())
        })
        .unwrap();
        let repository = Repository::discover(&git, repo.root()).unwrap();
        let state = StateFolder::open(&repository.common_dir).unwrap();
        Self {
            repo,
            git,
            repository,
            state,
            artifacts: RefCell::default(),
            clock: Cell::new(0),
        }
    }
    pub(crate) fn stamp(&self) -> Stamp {
        let number = self.clock.get() + 1;
        self.clock.set(number);
        Stamp {
            at: Timestamp::from_millis(1_796_000_000_000 + i64::from(number) * 1000),
            seed: [number; 32],
        }
    }
    pub(crate) fn rev(&self, rev: &str) -> Oid {
        Oid::parse(&self.repo.git(&["rev-parse", rev])).unwrap()
    }
    /// A path below the control root's reports folder.
    pub(crate) fn reports(&self, below: &str) -> PathBuf {
        self.repo.root().join(".agents/reports").join(below)
    }
    /// HEAD's tree without the reports folder, computed by git alone.
    fn content(&self) -> Oid {
        let index = self.repo.beside("content.index");
        let run = |args: &[&str]| {
            let mut command = git_command(self.repo.root());
            let output = command
                .env("GIT_INDEX_FILE", &index)
                .args(args)
                .output()
                .unwrap();
            assert!(output.status.success(), "{args:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        run(&["read-tree", "HEAD"]);
        run(&[
            "rm",
            "-r",
            "-q",
            "-f",
            "--cached",
            "--ignore-unmatch",
            ".agents/reports",
        ]);
        Oid::parse(&run(&["write-tree"])).unwrap()
    }
    fn pin(&self) -> Pin {
        let head = self.rev("HEAD");
        Pin {
            identity: Identity {
                base: Oid::parse(&self.repo.git(&["merge-base", "main", "HEAD"])).unwrap(),
                head: head.clone(),
                tree: self.rev("HEAD^{tree}"),
                content_tree: self.content(),
            },
            snapshot: head.clone(),
            base_tip: Some(self.rev("main")),
            base_content_tree: self.rev("main^{tree}"),
            branch: Some("refs/heads/feature".to_owned()),
            commits: 1,
            behind: 0,
            dirty: false,
            only_evidence: false,
            alone: None,
            tripwire: Tripwire {
                head_ref: "refs/heads/feature".to_owned(),
                branch_tip: head,
                config: Digest::of(b"1"),
                hooks: Digest::of(b"2"),
                info: Digest::of(b"3"),
                index: Digest::of(b"4"),
                manifests: Digest::of(b"5"),
                parts: Box::default(),
            },
            notices: Vec::new(),
        }
    }
    pub(crate) fn stored(&self, bytes: &str) -> Stored {
        let sha256 = Digest::of(bytes.as_bytes());
        self.artifacts
            .borrow_mut()
            .insert(sha256.clone(), bytes.as_bytes().to_vec());
        Stored {
            sha256,
            bytes: bytes.len() as u64,
        }
    }
    pub(crate) fn settled(&self, slot: &Slot, stamp: &Stamp, by: PassedBy) -> SettledSlot {
        let id = JobId::mint(stamp, slot.name.as_str());
        let job = Job {
            id,
            role: Role::Review,
            round: RoundNumber(1),
            slot: slot.name.clone(),
            rank: 0,
            reason: AttemptReason::First,
            attempt: 1,
            nonce: CANARY.to_owned(),
            evidence: EvidenceKind::ReviewTree,
            deadline: stamp.at,
            budget: 3600,
            session: run_loop::domain::job::SessionUse::New,
        };
        let outcome = JobOutcome {
            ended: Ended::Exited { code: 0 },
            report: Some(self.stored(&format!("{REPORT}By {}.\n", slot.name))),
            prompt: (by != PassedBy::Checks).then(|| self.stored("Review this.")),
            stderr: None,
            reading: Reading::Review(Review {
                verdict: Verdict::Pass,
                summary: "All read.".to_owned(),
                findings: Vec::new(),
                prior: Vec::new(),
                plan: Vec::new(),
                unanswered: Vec::new(),
                coverage: Coverage::Full,
                receipts: 1,
            }),
            spent: Spent::default(),
            confinement: run_loop::domain::confinement::Confinement::None,
            started_at: stamp.at,
            ended_at: stamp.at,
            outlived: Vec::new(),
        };
        SettledSlot {
            slot: slot.name.clone(),
            settlement: Settlement::Passed { by, job: id },
            jobs: vec![EndedJob {
                job,
                outcome,
                content: Some(self.content()),
            }],
        }
    }
    /// A round on HEAD that every slot passed: the reader `security`, and `checks`.
    pub(crate) fn round(&self) -> ApprovedRound {
        let stamp = self.stamp();
        let pin = self.pin();
        let later = Remeasured {
            pin: pin.clone(),
            moved_paths: Vec::new(),
            base_rewound: false,
            head_descends: true,
            lost: Vec::new(),
            unstaged: Vec::new(),
            unmerged: Vec::new(),
            own: Vec::new(),
            kept: None,
            elsewhere: Vec::new(),
            unknown: Vec::new(),
            anew: None,
        };
        let panel = vec![reader("security"), checks()];
        let slots = vec![
            self.settled(&panel[0], &stamp, PassedBy::Reviewer),
            self.settled(&panel[1], &stamp, PassedBy::Checks),
        ];
        ApprovedRound {
            spec: spec(LoopId::mint(&stamp, "run"), &self.rev("main"), panel),
            started_at: stamp.at,
            round: RoundNumber(1),
            pinned: pin,
            sealed: later.clone(),
            before_promotion: later,
            evidence: evidence(),
            slots,
            findings: Vec::new(),
            since: Vec::new(),
            ledger: Vec::new(),
            reviews: Vec::new(),
            rounds: Vec::new(),
            passed: BTreeSet::new(),
            void: BTreeSet::new(),
            words: BTreeMap::new(),
            answers: Vec::new(),
            plans: BTreeMap::new(),
            rulings: Vec::new(),
            plan: None,
        }
    }
    pub(crate) fn lock(&self, run: LoopId) -> RunLock {
        RunLock::acquire(&self.state, self.repo.root(), run).unwrap()
    }
    /// Publishes a round; the control root is the repository itself.
    pub(crate) fn publish(&self, round: &ApprovedRound) -> Result<Promotion, Failure> {
        let lock = self.lock(round.spec.loop_id);
        let permit = Permit::grant(round.clone(), lock.proof())?;
        let mut artifact = |sha256: &Digest| {
            let found = self.artifacts.borrow().get(sha256).cloned();
            found.ok_or_else(|| Failure::new(Code::JournalFailed, format!("no artifact {sha256}")))
        };
        run_loop::promote::publish(&permit, self.repo.root(), &mut artifact, self.stamp().at)
    }
    /// Writes the journal of a run that judged this round.
    pub(crate) fn journal(
        &self,
        round: &ApprovedRound,
        result: RoundResult,
        end: End,
        promotion: Option<Promotion>,
    ) {
        let number = round.round;
        let mut events = vec![
            Event::RunStarted {
                stamp: self.stamp(),
                spec: Box::new(round.spec.clone()),
            },
            Event::RoundOpened { round: number },
            Event::EffectRequested {
                id: EffectId(1),
                effect: Box::new(Effect::Pin {
                    round: number,
                    work: None,
                }),
            },
            Event::EffectDone {
                stamp: self.stamp(),
                effect: EffectId(1),
                outcome: Box::new(Outcome::Pinned {
                    result: Done::Ok(round.pinned.clone()),
                }),
            },
        ];
        if let Some(promotion) = promotion {
            events.push(Event::EffectRequested {
                id: EffectId(2),
                effect: Box::new(Effect::Promote { round: number }),
            });
            events.push(Event::EffectDone {
                stamp: self.stamp(),
                effect: EffectId(2),
                outcome: Box::new(Outcome::Promoted {
                    result: Done::Ok(promotion),
                }),
            });
        }
        events.push(Event::RoundClosed {
            round: number,
            result,
        });
        events.push(Event::RunEnded { end });
        let mut journal = Journal::create(&self.state, round.spec.loop_id).unwrap();
        journal.append(&events).unwrap();
    }
    /// A whole run that approved HEAD: published, and attested by its journal.
    pub(crate) fn approve(&self) -> ApprovedRound {
        self.approve_as(|_| {})
    }
    pub(crate) fn approve_as(&self, change: impl FnOnce(&mut ApprovedRound)) -> ApprovedRound {
        let mut round = self.round();
        change(&mut round);
        let promotion = self.publish(&round).unwrap();
        let readers = u32::try_from(round.spec.readers()).unwrap();
        self.journal(
            &round,
            RoundResult::Passed,
            End::Approved { readers },
            Some(promotion),
        );
        round
    }
    /// A whole run on HEAD that ended NOT PASS.
    pub(crate) fn reject(&self) -> ApprovedRound {
        let round = self.round();
        let failure = Failure::new(Code::FindingsStand, "finding F-1 stands");
        self.journal(
            &round,
            RoundResult::NotPassed {
                tripped: Vec::new(),
            },
            End::Failed { failure },
            None,
        );
        round
    }

    /// Lets the index take in every run, as an engine does at the end of its own.
    pub(crate) fn list(&self) {
        Index::open(&self.state).list(&self.state).unwrap();
    }

    /// The gate's answer where the state tells something else.
    pub(crate) fn gate_on(&self, change: impl Fn(&mut Attestations)) -> Result<Approval, Failure> {
        self.judge_on(Some("main"), None, None, &rules(), &change)
    }
    /// The gate's answer on `main` and HEAD under the built-in policy.
    pub(crate) fn gate(&self) -> Result<Approval, Failure> {
        self.gate_of(Some("main"), None, None)
    }
    pub(crate) fn gate_of(
        &self,
        base: Option<&str>,
        head: Option<&str>,
        expect_head: Option<&str>,
    ) -> Result<Approval, Failure> {
        self.judge(base, head, expect_head, &rules())
    }
    pub(crate) fn gate_by(&self, rules: &GatePolicy) -> Result<Approval, Failure> {
        self.judge(Some("main"), None, None, rules)
    }
    pub(crate) fn judge(
        &self,
        base: Option<&str>,
        head: Option<&str>,
        expect_head: Option<&str>,
        rules: &GatePolicy,
    ) -> Result<Approval, Failure> {
        self.judge_on(base, head, expect_head, rules, &|_| {})
    }
    fn judge_on(
        &self,
        base: Option<&str>,
        head: Option<&str>,
        expect_head: Option<&str>,
        rules: &GatePolicy,
        change: &dyn Fn(&mut Attestations),
    ) -> Result<Approval, Failure> {
        run_loop::gate::judge(&GateRequest {
            git: &self.git,
            repository: &self.repository,
            store: None,
            base,
            head,
            expect_head,
            policy_at: &|_| Ok(rules.clone()),
            attestations: &|| {
                let mut state = attestations(&self.state)?;
                change(&mut state);
                Ok(state)
            },
        })
    }
}

/// The code of a refusal.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, Failure>) -> Code {
    result.unwrap_err().code
}
