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
}

/// The programs' home, a repository, and a model.
pub(crate) struct Trial {
    pub(crate) bench: Bench,
    pub(crate) model: Model,
    bin: PathBuf,
}

/// The folder of the installed programs; `None` says that the test was skipped.
pub(crate) fn installed() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("RUN_LOOP_REAL_AGENTS") else {
        skipped("the real agent programs: run .ci/real-agents");
        return None;
    };
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
    Some(PathBuf::from(folder))
}

impl Program {
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
        }
    }
    /// The name of its profile.
    pub(crate) fn profile(self) -> &'static str {
        let agent = self.agent();
        agent.split_once(':').map_or(agent, |(profile, _)| profile)
    }
    /// The name of its slot.
    pub(crate) fn slot(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini-gemini-2.5-pro",
            Self::Opencode => "opencode-stub-stub-model",
            Self::GeminiAcp => "gemini-acp-gemini-2.5-pro",
            Self::OpencodeAcp => "opencode-acp-stub-stub-model",
        }
    }
    /// Seconds in which it has begun to work, on a machine that is not busy.
    pub(crate) fn starts_within(self) -> u32 {
        match self {
            Self::Codex | Self::Claude | Self::Gemini | Self::GeminiAcp => 8,
            Self::Opencode | Self::OpencodeAcp => 16,
        }
    }
    /// The version that is installed.
    pub(crate) fn version(self) -> Value {
        let package = match self {
            Self::Codex => "@openai/codex",
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Gemini | Self::GeminiAcp => "@google/gemini-cli",
            Self::Opencode | Self::OpencodeAcp => "opencode-ai",
        };
        let pinned: Value = serde_json::from_str(include_str!("package.json")).unwrap();
        pinned["dependencies"][package].clone()
    }
    /// The protocol that it speaks with its model.
    pub(crate) fn api(self) -> &'static str {
        match self {
            Self::Codex => "responses",
            Self::Claude => "messages",
            Self::Gemini | Self::GeminiAcp => "gemini",
            Self::Opencode | Self::OpencodeAcp => "chat",
        }
    }
    /// A call of its own tool that writes a file.
    pub(crate) fn writing(self, path: &str) -> Value {
        let call = |name: &str, args: Value| json!({"tool": {"name": name, "args": args}});
        match self {
            Self::Codex => json!({"shell": format!("echo written > '{path}'")}),
            Self::Claude => call("Write", json!({"file_path": path, "content": "written\n"})),
            Self::Gemini | Self::GeminiAcp => call(
                "write_file",
                json!({"file_path": path, "content": "written\n"}),
            ),
            Self::Opencode | Self::OpencodeAcp => {
                call("write", json!({"filePath": path, "content": "written\n"}))
            }
        }
    }
    /// A call of its own tool that reads a file.
    pub(crate) fn reading(self, path: &str) -> Value {
        let call = |name: &str, args: Value| json!({"tool": {"name": name, "args": args}});
        match self {
            Self::Codex => json!({"shell": format!("cat '{path}'")}),
            Self::Claude => call("Read", json!({"file_path": path})),
            Self::Gemini | Self::GeminiAcp => call("read_file", json!({"file_path": path})),
            Self::Opencode | Self::OpencodeAcp => call("read", json!({"filePath": path})),
        }
    }
}

impl Trial {
    /// A trial with what the model answers, in order or in the order of each protocol, side calls
    /// aside; `None` where the programs are not here.
    pub(crate) fn new(bench: Bench, replies: &Value) -> Option<Self> {
        let installed = installed()?;
        record::drives();
        // Titles and the like are asked for without our prompt, which ends with this.
        let script = json!({
            "rules": [
                {"match": {"lacks": "run-loop job submit"}, "text": "A title"},
                // opencode asks for a title of the prompt itself.
                {"match": {"api": "chat", "tools": false}, "text": "A title"},
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
        write(
            ".gemini/settings.json",
            json!({
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": false},
                "general": {"enableAutoUpdate": false, "maxAttempts": 2},
            })
            .to_string(),
        );
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
            fn of(program: Program) {
                super::$case(program);
                passed(program, stringify!($case));
            }
        }
    )+};
}
pub(crate) use each;
