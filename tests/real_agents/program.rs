//! A real program on a bench of its own.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::model::Model;
use crate::record;
use crate::support::bench::{Bench, Ran};
use crate::support::skipped;

/// What every provider asks for; it opens nothing.
const KEY: &str = "dummy-key-of-the-tests-0123";

/// The programs, by profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Codex,
    Claude,
    Gemini,
    Opencode,
    /// Gemini over the Agent Client Protocol.
    GeminiAcp,
    /// opencode over the Agent Client Protocol.
    OpencodeAcp,
    Qwen,
    Copilot,
    /// Qwen Code over the Agent Client Protocol.
    QwenAcp,
    /// Copilot over the Agent Client Protocol.
    CopilotAcp,
    /// Claude Code behind an adapter to that protocol.
    ClaudeAcp,
    /// Codex behind an adapter to that protocol.
    CodexAcp,
}

/// What a program is, whichever way it is driven: its tools and its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Codex,
    Claude,
    Gemini,
    Opencode,
    Qwen,
    Copilot,
}

/// A list of packages that `.ci/real-agents` installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    /// `package.json`.
    Usual,
    /// `more.json`, with `--more`.
    More,
}

/// The programs' home, a repository, and a model.
pub(crate) struct Trial {
    pub(crate) bench: Bench,
    pub(crate) model: Model,
    bin: PathBuf,
}

/// Where `.ci/real-agents` has installed a list.
fn folder() -> Option<PathBuf> {
    std::env::var_os("RUN_LOOP_REAL_AGENTS").map(PathBuf::from)
}

impl List {
    pub(crate) const ALL: [Self; 2] = [Self::Usual, Self::More];
    /// Its text.
    fn text(self) -> &'static str {
        match self {
            Self::Usual => include_str!("package.json"),
            Self::More => include_str!("more.json"),
        }
    }
    /// Its programs.
    pub(crate) fn programs(self) -> impl Iterator<Item = Program> {
        let of = move |program: &Program| program.list() == self;
        Program::ALL.into_iter().filter(of)
    }
    /// Whether it is what `.ci/real-agents` installed, in just these versions.
    pub(crate) fn is_installed(self) -> bool {
        let list = folder().map(|folder| std::fs::read_to_string(folder.join("installed.json")));
        list.is_some_and(|list| list.is_ok_and(|list| list == self.text()))
    }
    /// The folder where it is installed; `None` says that the test was skipped.
    fn installed(self) -> Option<PathBuf> {
        if !self.is_installed() {
            skipped(match self {
                Self::Usual => "the real agent programs: run .ci/real-agents",
                Self::More => "more of the real agent programs: run .ci/real-agents --more",
            });
            return None;
        }
        // A real key must never be near: nothing leads out of here.
        let devices = std::fs::read_to_string("/proc/net/dev").unwrap();
        let ways_out = devices
            .lines()
            .skip(2)
            .filter(|line| !line.trim_start().starts_with("lo:"));
        assert_eq!(
            ways_out.count(),
            0,
            "this network leads out: run .ci/real-agents"
        );
        folder()
    }
}

impl Program {
    const ALL: [Self; 12] = [
        Self::Codex,
        Self::Claude,
        Self::Gemini,
        Self::Opencode,
        Self::GeminiAcp,
        Self::OpencodeAcp,
        Self::Qwen,
        Self::Copilot,
        Self::QwenAcp,
        Self::CopilotAcp,
        Self::ClaudeAcp,
        Self::CodexAcp,
    ];
    /// How it is named on the command line; a stated model keeps gemini from asking another one
    /// which to take.
    pub(crate) fn agent(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini:gemini-2.5-pro",
            Self::Opencode => "opencode:stub/stub-model",
            Self::GeminiAcp => "gemini-acp:gemini-2.5-pro",
            Self::OpencodeAcp => "opencode-acp:stub/stub-model",
            Self::Qwen => "qwen:stub-model",
            Self::Copilot => "copilot:stub-model",
            Self::QwenAcp => "qwen-acp:stub-model",
            Self::CopilotAcp => "copilot-acp:stub-model",
            Self::ClaudeAcp => "claude-acp",
            Self::CodexAcp => "codex-acp",
        }
    }
    /// The name of its profile.
    pub(crate) fn profile(self) -> &'static str {
        let agent = self.agent();
        agent.split_once(':').map_or(agent, |(profile, _)| profile)
    }
    /// The name of its slot.
    pub(crate) fn slot(self) -> String {
        self.agent().replace([':', '/'], "-")
    }
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Codex | Self::CodexAcp => Kind::Codex,
            Self::Claude | Self::ClaudeAcp => Kind::Claude,
            Self::Gemini | Self::GeminiAcp => Kind::Gemini,
            Self::Opencode | Self::OpencodeAcp => Kind::Opencode,
            Self::Qwen | Self::QwenAcp => Kind::Qwen,
            Self::Copilot | Self::CopilotAcp => Kind::Copilot,
        }
    }
    /// Whether it goes on in a session of its own.
    pub(crate) fn remembers(self) -> bool {
        self != Self::GeminiAcp
    }
    /// Seconds in which it has begun to work, on a machine that is not busy.
    pub(crate) fn starts_within(self) -> u32 {
        match self.kind() {
            Kind::Codex | Kind::Claude | Kind::Gemini | Kind::Qwen => 8,
            // It unpacks itself first.
            Kind::Opencode | Kind::Copilot => 16,
        }
    }
    /// The package that it comes in.
    fn package(self) -> &'static str {
        match self {
            Self::Codex => "@openai/codex",
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Gemini | Self::GeminiAcp => "@google/gemini-cli",
            Self::Opencode | Self::OpencodeAcp => "opencode-ai",
            Self::Qwen | Self::QwenAcp => "@qwen-code/qwen-code",
            Self::Copilot | Self::CopilotAcp => "@github/copilot",
            Self::ClaudeAcp => "@agentclientprotocol/claude-agent-acp",
            Self::CodexAcp => "@agentclientprotocol/codex-acp",
        }
    }
    /// The list that its package is in.
    pub(crate) fn list(self) -> List {
        match self {
            Self::Codex
            | Self::Claude
            | Self::Gemini
            | Self::Opencode
            | Self::GeminiAcp
            | Self::OpencodeAcp => List::Usual,
            Self::Qwen
            | Self::Copilot
            | Self::QwenAcp
            | Self::CopilotAcp
            | Self::ClaudeAcp
            | Self::CodexAcp => List::More,
        }
    }
    /// The version that is installed.
    pub(crate) fn version(self) -> Value {
        let pinned: Value = serde_json::from_str(self.list().text()).unwrap();
        pinned["dependencies"][self.package()].clone()
    }
    /// The protocol that it speaks with its model.
    pub(crate) fn api(self) -> &'static str {
        match self.kind() {
            Kind::Codex => "responses",
            Kind::Claude => "messages",
            Kind::Gemini => "gemini",
            Kind::Opencode | Kind::Qwen | Kind::Copilot => "chat",
        }
    }
    /// A call of its own tool that writes a file.
    pub(crate) fn writing(self, path: &str) -> Value {
        let call = |name: &str, args: Value| json!({"tool": {"name": name, "args": args}});
        let text = "written\n";
        match self.kind() {
            Kind::Codex => json!({"shell": format!("echo written > '{path}'")}),
            Kind::Claude => call("Write", json!({"file_path": path, "content": text})),
            Kind::Gemini | Kind::Qwen => {
                call("write_file", json!({"file_path": path, "content": text}))
            }
            Kind::Opencode => call("write", json!({"filePath": path, "content": text})),
            Kind::Copilot => call("create", json!({"path": path, "file_text": text})),
        }
    }
    /// A call of its own tool that reads a file.
    pub(crate) fn reading(self, path: &str) -> Value {
        let call = |name: &str, args: Value| json!({"tool": {"name": name, "args": args}});
        match self.kind() {
            Kind::Codex => json!({"shell": format!("cat '{path}'")}),
            Kind::Claude => call("Read", json!({"file_path": path})),
            Kind::Gemini | Kind::Qwen => call("read_file", json!({"file_path": path})),
            Kind::Opencode => call("read", json!({"filePath": path})),
            Kind::Copilot => call("view", json!({"path": path})),
        }
    }
}

impl Trial {
    /// A trial with what the model answers, in order or in the order of each protocol, side calls
    /// aside; `None` where the programs are not here.
    pub(crate) fn new(program: Program, bench: Bench, replies: &Value) -> Option<Self> {
        let installed = program.list().installed()?;
        record::drives();
        // Titles and the like are asked for without our prompt, which ends with this.
        let script = json!({
            "rules": [
                {"match": {"lacks": "run-loop job submit"}, "text": "A title"},
                // opencode asks for a title of the prompt itself.
                {"match": {"api": "chat", "tools": false}, "text": "A title"},
                // claude does so in an adapter.
                {"match": {"contains": "Write the title in the predominant"}, "text": "A title"},
                // qwen asks what the user may say next.
                {"match": {"contains": "Reply with ONLY the suggestion"}, "text": ""},
                // And, once a creator's turn is over, what of it to remember.
                {"match": {"contains": "managed memory extraction subagent"}, "text": "Nothing."},
            ],
            "replies": replies,
        });
        let model = Model::start(&bench.repo.beside("model"), &script);
        let trial = Self {
            bench,
            model,
            bin: installed.join("node_modules/.bin"),
        };
        trial.set_up();
        Some(trial)
    }

    /// The user's own configuration of each program: where the model is.
    fn set_up(&self) {
        let home = self.bench.repo.beside("home");
        let port = self.model.port;
        let write = |path: &str, text: String| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".codex/config.toml",
            format!(
                "model = \"stub-model\"\nmodel_provider = \"stub\"\n[analytics]\nenabled = false\n\
                 [model_providers.stub]\nname = \"stub\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n\
                 env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n"
            ),
        );
        write(".gemini/settings.json", gemini_that_tries(2));
        write(
            ".config/opencode/opencode.json",
            json!({"provider": {"stub": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": KEY},
                "models": {"stub-model": {"name": "stub", "limit": {"context": 400_000, "output": 8000}}},
            }}})
            .to_string(),
        );
    }

    /// gemini tries for longer than its job has, as it does of itself: elsewhere it gives up soon.
    pub(crate) fn keeps_trying(&self) {
        let home = self.bench.repo.beside("home");
        std::fs::write(home.join(".gemini/settings.json"), gemini_that_tries(10)).unwrap();
    }

    /// Lets a program review the change.
    pub(crate) fn review(&self, program: Program, seconds: u32) -> Ran {
        self.run(seconds, &["--review-only", "--reviewer", program.agent()])
    }

    /// A run against `main`, with a cleared environment and a home of its own.
    pub(crate) fn run(&self, seconds: u32, args: &[&str]) -> Ran {
        let seconds = seconds.to_string();
        self.call(&[&["--base", "main", "--job-timeout", &seconds][..], args].concat())
    }

    /// The program with any arguments, in the same environment.
    pub(crate) fn call(&self, line: &[&str]) -> Ran {
        let path = &self.bench.environment()["PATH"];
        let url = format!("http://127.0.0.1:{}", self.model.port);
        let output = self
            .bench
            .command(line)
            .env("PATH", format!("{}:{path}", self.bin.display()))
            .env("LANG", "C.UTF-8")
            .env("ANTHROPIC_API_KEY", KEY)
            .env("ANTHROPIC_BASE_URL", &url)
            .env("OPENAI_API_KEY", KEY)
            .env("GEMINI_API_KEY", KEY)
            .env("GOOGLE_GEMINI_BASE_URL", &url)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .env("OPENAI_BASE_URL", format!("{url}/v1"))
            .env("OPENAI_MODEL", "stub-model")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"))
            .env("COPILOT_PROVIDER_API_KEY", KEY)
            .env("COPILOT_MODEL", "stub-model")
            .env("COPILOT_OFFLINE", "true")
            .output()
            .unwrap();
        let ran = Ran::of(&output);
        record::tell_slow(&self.bench, &ran);
        assert!(
            !ran.stdout.contains(KEY) && !ran.stderr.contains(KEY),
            "{ran:?}"
        );
        ran
    }
}

/// The settings of a gemini that asks its provider as often.
fn gemini_that_tries(attempts: u32) -> String {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false, "maxAttempts": attempts},
    })
    .to_string()
}

/// A test of each case with each program.
macro_rules! each {
    ($($case:ident),+) => {$(
        mod $case {
            use crate::program::Program;
            use crate::record::passed;
            #[test]
            fn codex() { of(Program::Codex); }
            #[test]
            fn claude() { of(Program::Claude); }
            #[test]
            fn gemini() { of(Program::Gemini); }
            #[test]
            fn opencode() { of(Program::Opencode); }
            #[test]
            fn gemini_acp() { of(Program::GeminiAcp); }
            #[test]
            fn opencode_acp() { of(Program::OpencodeAcp); }
            mod more {
                use super::{Program, of};
                #[test]
                fn qwen() { of(Program::Qwen); }
                #[test]
                fn copilot() { of(Program::Copilot); }
                #[test]
                fn qwen_acp() { of(Program::QwenAcp); }
                #[test]
                fn copilot_acp() { of(Program::CopilotAcp); }
                #[test]
                fn claude_acp() { of(Program::ClaudeAcp); }
                #[test]
                fn codex_acp() { of(Program::CodexAcp); }
            }
            fn of(program: Program) {
                super::$case(program);
                passed(program, stringify!($case));
            }
        }
    )+};
}
pub(crate) use each;
