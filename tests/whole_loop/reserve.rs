//! K07: a tenth of what a run may cost is kept for rulings where an arbiter is named.

use crate::stage::{MISSING, Stage, by_role, implements};
use crate::support::agents::{ScriptedAgent, finding, quote};
use crate::support::bench::Ran;

/// A program whose session has cost so much after its review and after its ruling.
const REVIEWER: &str = r#"
json_text() { printf '"'; sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/\\n/g' | tr -d '\n'; printf '"'; }
read_prompt
if [ "$RUN_LOOP_JOB_ROLE" = review ]; then
  COST=0.46; REPORT=$(verdict 'NOT PASS' "$FINDINGS" | json_text)
else
  COST=0.92; REPORT=$(rulings upheld 'That file is not called.' | json_text)
fi
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m-1"}'
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"s-1","total_cost_usd":%s,"usage":{"input_tokens":7,"output_tokens":3},"result":%s}\n' "$COST" "$REPORT"
"#;

/// A dispute in a run that may cost 1 USD, of which 0.92 are spent when the arbiter rules.
fn disputed(ruling: &str) -> (Stage, Ran) {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            "answers refuted 'It is in another file.' | deliver",
        ),
        ("comply", "answers fixed | deliver"),
    ]);
    let stage = Stage::new();
    let bin = stage.bench().repo.beside("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let findings = format!("[{}]", finding(MISSING, "high", "src/lib.rs", 1));
    let reviewer = format!("FINDINGS={}{REVIEWER}", quote(&findings));
    ScriptedAgent::with_script(reviewer).install(&bin, "claude");
    let stage = stage
        .agent("ann", &creator)
        .agent("eve", &format!("rulings {ruling} | deliver"))
        .ready();
    let line = [
        "--base",
        "main",
        "add a sum",
        "--creator",
        "ann",
        "--reviewer",
        "claude",
        "--arbiter",
        "eve",
        "--max-cost",
        "1",
    ];
    let bench = stage.bench();
    let path = format!("{}:{}", bin.display(), bench.environment()["PATH"]);
    let output = bench.command(&line).env("PATH", path).output().unwrap();
    let ran = Ran::of(&output);
    (stage, ran)
}

#[test]
fn a_dispute_is_ruled_on_with_what_is_kept_for_it() {
    let (stage, ran) = disputed("overruled");
    ran.ends(0);
    assert!(stage.asked().contains(&"arbitrate eve".to_owned()));
    assert_eq!(stage.bench().sidecar("claude")["by"], "arbitration");
}

/// Nobody else gets any of it: what was sustained waits for more.
#[test]
fn what_is_kept_for_rulings_pays_for_nothing_else() {
    let (stage, ran) = disputed("sustained");
    ran.ends(7).with("RL0705").says("are kept for rulings");
    let asked = ["implement ann", "correct ann", "arbitrate eve"];
    assert_eq!(stage.asked(), asked);
    stage.promoted_nothing();
}
