//! Known programs as they are installed: which of their files is started, and what is told of them.

use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::profiled::{JSON, Profiled};
use crate::support::agents::{ScriptedAgent, executable};
use crate::support::bench::{Bench, Ran};

/// What `run-loop agents` says of a program.
fn told(world: &Profiled, name: &str) -> Value {
    let ran = Ran::of(
        &world
            .command(&["agents", "--format", "json"])
            .output()
            .unwrap(),
    );
    let all: Value = serde_json::from_str(&ran.ends(0).stdout).unwrap();
    let mut agents = all["agents"].as_array().unwrap().iter();
    agents.find(|agent| agent["name"] == name).unwrap().clone()
}

/// Launchers outlive what they start, ignore signals, or are placeholders: the binary that a package brings is
/// started itself, wherever `npm` put it.
#[test]
fn a_native_binary_is_preferred_over_its_launcher() {
    let native = ScriptedAgent::with_script(format!(
        r#"[ "${{1:-}}" != --version ] || {{ echo '2.1.332 (Claude Code)'; exit 0; }}
{JSON}
printf '{{"type":"result","subtype":"success","is_error":false,"result":%s}}\n' "$REPORT""#
    ));
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let package = "lib/node_modules/@anthropic-ai/claude-code";
    for (launcher, beside) in [
        ("bin/claude.exe", "lib/node_modules/@anthropic-ai"),
        ("cli.js", "lib/node_modules/@anthropic-ai"),
        (
            "bin/claude.exe",
            "lib/node_modules/@anthropic-ai/claude-code/node_modules/@anthropic-ai",
        ),
    ] {
        let world = Profiled::new(&[]);
        let installed = world.bench.repo.beside("installed");
        let launcher = installed.join(package).join(launcher);
        let native_folder = installed
            .join(beside)
            .join(format!("claude-code-linux-{arch}"));
        for folder in [launcher.parent().unwrap(), &native_folder] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let name = launcher.file_name().unwrap().to_str().unwrap();
        let placeholder = "#!/bin/sh\necho 'not installed' >&2\nexit 1\n";
        executable(launcher.parent().unwrap(), name, placeholder);
        symlink(&launcher, world.bench.repo.beside("bin/claude")).unwrap();
        // Without it there is the launcher.
        assert_eq!(told(&world, "claude")["standing"], "unknown-version");
        let native = native.install(&native_folder, "claude");
        let claude = told(&world, "claude");
        assert_eq!(
            claude["program"].as_str(),
            native.canonicalize().unwrap().to_str()
        );
        assert_eq!(claude["standing"], "tested");
        world.run(&["claude"]).ends(0);
    }
}

/// What is here and what is not, whether somebody drove just that version, and what it cannot switch off.
#[test]
fn what_is_known_of_a_program_is_listed() {
    let says = |line: &str| ScriptedAgent::with_script(line);
    let (tested, other) = (says("echo 2.1.332"), says("echo codex-cli 0.0.1"));
    let (silent, own) = (says("exit 3"), says("echo 0.61.0"));
    let bench = Bench::new().ready();
    let (bin, profiles) = (
        bench.repo.beside("bin"),
        bench.repo.beside("home/.config/run-loop/profiles"),
    );
    for folder in [&bin, &profiles] {
        std::fs::create_dir_all(folder).unwrap();
    }
    for (name, program) in [
        ("claude", &tested),
        ("codex", &other),
        ("qwen", &silent),
        ("gemini", &own),
    ] {
        program.install(&bin, name);
    }
    let replaced = include_str!("../../profiles/gemini.yaml");
    std::fs::write(profiles.join("gemini.yaml"), replaced).unwrap();
    let agents = |format: &[&str]| {
        let path = format!("{}:{}", bin.display(), bench.environment()["PATH"]);
        let line = [&["agents"], format].concat();
        let output = bench.command(&line).env("PATH", path).output().unwrap();
        Ran::of(&output)
    };
    let all: Value = serde_json::from_str(&agents(&["--format", "json"]).ends(0).stdout).unwrap();
    let of = |name: &str| {
        let mut all = all["agents"].as_array().unwrap().iter();
        all.find(|agent| agent["name"] == name).unwrap()
    };
    for (name, standing, version) in [
        ("claude", "tested", Some("2.1.332")),
        ("codex", "other-version", Some("0.0.1")),
        ("qwen", "unknown-version", None),
        // Nobody drove a profile of the user's own, whatever its program is.
        ("gemini", "untested", Some("0.61.0")),
        ("opencode", "missing", None),
    ] {
        let agent = of(name);
        assert_eq!(agent["standing"], standing, "{agent}");
        assert_eq!(agent["version"].as_str(), version, "{agent}");
        assert_eq!(agent["program"].is_null(), standing == "missing", "{agent}");
        assert_eq!(agent["replaced"], name == "gemini", "{agent}");
    }
    let cannot = "settings that an administrator manages hold for it";
    assert!(
        of("claude")["cannot"]
            .as_array()
            .unwrap()
            .contains(&cannot.into())
    );
    let ran = agents(&[]);
    ran.ends(0)
        .says("another version than tested")
        .says("not on PATH")
        .says(&format!("what claude cannot switch off\n  its key is in the environment of the model's shell commands, in a creator\n  {cannot}\n"));
    // Nobody is told what one cannot that is not here.
    assert!(!ran.stdout.contains("what opencode cannot"), "{ran:?}");
}

/// Several that start at once where none ever ran may fail while each makes its database: who did is asked
/// once more, and nothing is lost.
#[test]
fn one_that_fails_at_its_first_start_is_asked_again() {
    let opencode = ScriptedAgent::with_script(format!(
        r#"{JSON}
MADE="$HOME/.local/share/opencode/made"
if [ ! -e "$MADE" ]; then echo x > "$MADE"; echo 'Error: database is locked' >&2; exit 1; fi
printf '{{"type":"text","sessionID":"s","part":{{"text":%s}}}}\n' "$REPORT"
echo '{{"type":"step_finish","sessionID":"s","part":{{"reason":"stop","tokens":{{"input":1,"output":1}},"cost":0}}}}'"#
    ));
    let world = Profiled::new(&[("opencode", &opencode)]);
    world
        .run(&["opencode"])
        .ends(0)
        .says("tried once more: exited with 1: Error: database is locked");
    assert_eq!(world.bench.sidecar("opencode")["attempt"], 2);
}
