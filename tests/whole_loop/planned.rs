//! Plan, challenge, refinement: what is agreed is built, shown to reviewers and promoted.

use crate::stage::{Stage, by_role, implements, looks_for};
use crate::support::agents::{finding, quote};

const PLAN: &str = "echo '# Plan one'; echo; echo '## Acceptance'; echo; echo '1. A sum is there.'";
const REFINED: &str =
    "echo '# Plan two'; echo; echo '## Acceptance'; echo; echo '1. A sum is there, and tested.'";

fn stage(objections: &str, refine: &str) -> Stage {
    let planner = by_role(&[
        ("plan", &format!("{{ {PLAN}; }} | deliver")),
        ("refine", refine),
    ]);
    let creator = by_role(&[
        ("challenge", &format!("objections '{objections}' | deliver")),
        ("implement", &implements("// sum")),
    ]);
    let reviewer = looks_for("sum");
    Stage::new()
        .agent("pam", &planner)
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready()
}

/// How a deviation of the second item is told.
const DEVIATED: &str = "item 2 of the plan, deviated (bob, round 1): I looked for a test.";

const LINE: [&str; 7] = [
    "--plan",
    "--planner",
    "pam",
    "--creator",
    "ann",
    "--reviewer",
    "bob",
];

fn plan_of(stage: &Stage) -> String {
    let promoted = stage.bench().promoted();
    let plan = promoted
        .iter()
        .find(|path| path.starts_with("planner/plan-"))
        .unwrap_or_else(|| unreachable!("no plan in {promoted:?}"));
    let root = stage.bench().repo.root();
    std::fs::read_to_string(root.join(".agents/reports").join(plan)).unwrap()
}

#[test]
fn a_plan_is_challenged_and_refined_before_it_is_built() {
    let stage = stage(
        r#"["nothing says that it is tested"]"#,
        &format!("{{ {REFINED}; }} | deliver"),
    );
    let ran = stage.run(&LINE);
    assert!(!ran.ends(0).stderr.contains(KEPT), "{}", ran.stderr);
    assert_eq!(
        stage.asked(),
        [
            "plan pam",
            "challenge ann",
            "refine pam",
            "implement ann",
            "review bob",
        ]
    );
    assert!(stage.prompt("challenge", "ann").contains("# Plan one"));
    let refine = stage.prompt("refine", "pam");
    assert!(refine.contains("# Plan one"), "{refine}");
    assert!(
        refine.contains("nothing says that it is tested"),
        "{refine}"
    );
    for (role, who) in [("implement", "ann"), ("review", "bob")] {
        let prompt = stage.prompt(role, who);
        assert!(prompt.contains("# Plan two"), "{prompt}");
        assert!(!prompt.contains("# Plan one"), "{prompt}");
    }
    // The creator's contract is the same with a plan and without (M-046).
    assert!(
        stage
            .prompt("implement", "ann")
            .starts_with("Implement the plan below. It is agreed")
    );
    assert!(plan_of(&stage).starts_with("# Plan two"));
    let shown = stage.bench().run(&["show", "--plan"]);
    shown.ends(0);
    for words in [
        "plan 1, by pam",
        "objection to plan 1: nothing says that it is tested",
        "-1. A sum is there.\n+1. A sum is there, and tested.\n",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    stage.gate_ends(0);
    let root = stage.bench().repo.root().to_owned();
    let plan = stage.bench().promoted();
    let plan = plan
        .iter()
        .find(|path| path.starts_with("planner/"))
        .unwrap();
    std::fs::write(root.join(".agents/reports").join(plan), "# Another plan\n").unwrap();
    stage.bench().gate().ends(5).with("RL0908");
}

/// How it is told that a refinement gave no plan.
pub(crate) const KEPT: &str = "the refinement gave no plan: the plan in hand stays as it is";

/// M-001, M-002: a planner, a creator and a reviewer, one after the other.
#[test]
fn a_plan_without_objections_is_built_as_it_is() {
    let stage = stage("[]", "echo never | deliver");
    stage.run(&LINE).ends(0);
    assert_eq!(
        stage.asked(),
        ["plan pam", "challenge ann", "implement ann", "review bob"]
    );
    assert!(plan_of(&stage).starts_with("# Plan one"));
}

/// M-044, T-040: an empty refinement keeps the plan in hand, and that is told.
#[test]
fn an_empty_refinement_keeps_the_plan() {
    let stage = stage(r#"["too short"]"#, "true");
    stage.run(&LINE).ends(0).says(KEPT);
    assert!(plan_of(&stage).starts_with("# Plan one"));
    warned_in_show_and_events(&stage, 1);
    // What was objected stands with the plan that it was objected to, whatever came of it.
    let shown = stage.bench().run(&["show", "--plan"]);
    let shown = &shown.ends(0).stdout;
    let (plan, objection) = (
        shown.find("plan 1, by pam"),
        shown.find("objection to plan 1: too short\n"),
    );
    assert!(plan < objection, "{shown}");
}

/// What is told on standard error stands in `show`, its JSON and the events, too (M-044).
pub(crate) fn warned_in_show_and_events(stage: &Stage, round: u32) {
    let shows = |args: &[&str]| stage.bench().run(args).ends(0).stdout.clone();
    let line = format!("round {round} refine of planner: {KEPT}");
    let shown = shows(&["show"]);
    assert!(shown.contains(&line), "{shown}");
    let shown: serde_json::Value =
        serde_json::from_str(&shows(&["show", "--format", "json"])).unwrap();
    let warnings = shown["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        (&warnings[0]["said"], &warnings[0]["round"]),
        (&KEPT.into(), &round.into())
    );
    let events = shows(&["events"]);
    let told = events.lines().filter(|line| line.contains(KEPT));
    let told: Vec<serde_json::Value> = told
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(told.len(), 1, "{events}");
    assert_eq!(told[0]["event"]["warning"], KEPT);
}

/// M-044, T-039: an empty first plan ends the run; nobody plans in the planner's place.
#[test]
fn an_empty_plan_ends_the_run() {
    let stage = Stage::new()
        .agent("pam", "echo '   ' | deliver")
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    stage.run(&LINE).ends(6).with("RL0");
    assert!(
        !stage
            .asked()
            .iter()
            .any(|asked| asked.starts_with("implement"))
    );
    stage.promoted_nothing();
}

/// A planner works in a detached tree: what it writes there is nowhere else.
#[test]
fn a_planner_cannot_write_into_the_source_by_its_tree() {
    let stage = Stage::new()
        .agent(
            "pam",
            &format!("echo broken > src/lib.rs; {{ {PLAN}; }} | deliver"),
        )
        .agent(
            "ann",
            &by_role(&[
                ("challenge", "objections '[]' | deliver"),
                ("implement", &implements("// sum")),
            ]),
        )
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    stage.run(&LINE).ends(0);
    let source = std::fs::read_to_string(stage.bench().repo.root().join("src/lib.rs")).unwrap();
    assert!(
        source.contains("pub fn one") && !source.contains("broken"),
        "{source}"
    );
}

/// What is to be known of a plan that numbers no items.
pub(crate) const UNNUMBERED: &str = "the plan has no numbered acceptance items";

/// Issue 1.7: nobody is asked about the items of a plan that only has bullets, which is told once, and in
/// `show --plan`.
#[test]
fn a_plan_without_numbered_items_is_told() {
    let plan = "printf '# Plan\\n\\n## Acceptance\\n\\n- It holds.\\n' | deliver";
    let stage = Stage::new()
        .agent("pam", &by_role(&[("plan", plan)]))
        .agent(
            "ann",
            &by_role(&[
                ("challenge", "objections '[]' | deliver"),
                ("implement", &implements("// sum")),
            ]),
        )
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let ran = stage.run(&LINE);
    ran.ends(0);
    assert_eq!(ran.stderr.matches(UNNUMBERED).count(), 1, "{}", ran.stderr);
    let shown = stage.bench().run(&["show", "--plan"]);
    shown.ends(0).says(UNNUMBERED);
    assert!(!shown.stdout.contains(UNNUMBERED), "{}", shown.stdout);
}

/// Issue 1.8: what changed in the source while a job ran that may only read is named by its path.
#[test]
fn a_planner_that_writes_into_the_source_by_path_is_told() {
    let stage = Stage::new();
    let source = stage.bench().repo.root().join("src/lib.rs");
    let writes = format!(
        "echo '// by the planner' >> {}",
        quote(source.to_str().unwrap())
    );
    let stage = stage
        .agent(
            "pam",
            &by_role(&[("plan", &format!("{writes}; {{ {PLAN}; }} | deliver"))]),
        )
        .agent(
            "ann",
            &by_role(&[
                ("challenge", "objections '[]' | deliver"),
                ("implement", &implements("// sum")),
            ]),
        )
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let ran = stage.run(&LINE);
    let told =
        "the source changed while the plan job of the planner ran, which may only read: src/lib.rs";
    ran.ends(0).says(told);
    assert_eq!(
        ran.stderr.matches("may only read").count(),
        1,
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains(UNNUMBERED), "{}", ran.stderr);
}

/// A plan of two items; what the reviewer says of the second in each round.
fn answered(states: &[(&str, &str)]) -> Stage {
    use std::fmt::Write as _;
    let plan = "printf '# Plan\\n\\n## Acceptance\\n\\n1. A sum is there.\\n2. It is tested.\\n'";
    let planner = by_role(&[("plan", &format!("{plan} | deliver"))]);
    let creator = by_role(&[
        ("challenge", "objections '[]' | deliver"),
        ("implement", &implements("// sum")),
        (
            "correct",
            "echo '// tested' >> src/lib.rs; answers fixed | deliver",
        ),
    ]);
    let mut review = String::from("case $RUN_LOOP_JOB_ROUND in\n");
    for (nth, (verdict, state)) in states.iter().enumerate() {
        let plan = format!(
            r#", "plan": [{{"item": 1, "state": "met"}}, {{"item": 2, "state": "{state}", "note": "I looked for a test."}}], "prior": []"#
        );
        let plan = quote(&plan);
        writeln!(
            review,
            "{})\nEXTRA={plan}; verdict '{verdict}' '[]' | deliver\n;;",
            nth + 1
        )
        .unwrap();
    }
    review.push_str("esac");
    Stage::new()
        .agent("pam", &planner)
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &review)]))
        .ready()
}

/// An acceptance item that is not met is a finding like any other: the creator is asked about it.
#[test]
fn an_item_that_is_not_met_is_corrected() {
    let stage = answered(&[("NOT PASS", "not met"), ("PASS", "met")]);
    stage.run(&LINE).ends(0);
    let correct = stage.prompt("correct", "ann");
    for said in [
        "acceptance item 2 of the plan is not met",
        "I looked for a test.",
    ] {
        assert!(correct.contains(said), "{correct}");
    }
    stage.gate_ends(0);
}

/// Who passes a change and leaves an acceptance item out is asked once more, and has not passed it then
/// either: nobody knows whether the item holds.
#[test]
fn a_pass_that_leaves_an_item_out_is_none() {
    let planner = by_role(&[("plan", &format!("{{ {PLAN}; }} | deliver"))]);
    let creator = by_role(&[
        ("challenge", "objections '[]' | deliver"),
        ("implement", &implements("// sum")),
    ]);
    let silent = "EXTRA=', \"plan\": []'; verdict PASS '[]' | deliver";
    let stage = Stage::new()
        .agent("pam", &planner)
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", silent)]))
        .ready();
    let ran = stage.run(&LINE);
    ran.ends(5).says("`plan` does not answer acceptance item 1");
    assert_eq!(
        stage
            .asked()
            .iter()
            .filter(|asked| *asked == "review bob")
            .count(),
        2
    );
    assert_eq!(stage.bench().promoted(), Vec::<String>::new());
}

/// The word NOT PASS beside findings that do not block passes, and not where an item is left out.
#[test]
fn a_not_pass_that_leaves_an_item_out_passes_by_nothing() {
    let planner = by_role(&[("plan", &format!("{{ {PLAN}; }} | deliver"))]);
    let creator = by_role(&[
        ("challenge", "objections '[]' | deliver"),
        ("implement", &implements("// sum")),
    ]);
    let low = finding("a wish", "low", "src/lib.rs", 1);
    for (extra, code) in [(r#", "plan": []"#, 1), ("", 0)] {
        let extra = if code == 1 {
            format!("EXTRA={}; ", quote(extra))
        } else {
            String::new()
        };
        let review = format!("{extra}verdict 'NOT PASS' '[{low}]' | deliver");
        let stage = Stage::new()
            .agent("pam", &planner)
            .agent("ann", &creator)
            .agent("bob", &by_role(&[("review", &review)]))
            .ready();
        let ran = stage.run(&[&LINE[..], &["--max-rounds", "1"]].concat());
        ran.ends(code);
        assert_eq!(stage.bench().promoted().is_empty(), code != 0);
    }
}

/// What deviates for a reason does not block; what is not met does, beside a PASS too, also when the
/// reviewer is asked again.
#[test]
fn a_pass_with_an_item_that_is_not_met_is_none() {
    // A deviation is told with its reason, in the summary, the ledger and the sidecar.
    let stage = answered(&[("PASS", "deviated")]);
    let ran = stage.run(&LINE);
    assert!(ran.ends(0).stdout.contains(DEVIATED), "{}", ran.stdout);
    let shown = stage.bench().run(&["show", "--findings"]);
    assert!(shown.ends(0).stdout.contains(DEVIATED), "{}", shown.stdout);
    let shown = stage
        .bench()
        .run(&["show", "--findings", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.ends(0).stdout).unwrap();
    assert_eq!(shown["deviations"][0]["item"], 2);
    let sidecar = stage.bench().sidecar("bob");
    assert_eq!(sidecar["deviations"][0]["item"], 2);
    let stage = answered(&[("PASS", "not met")]);
    let line = [&LINE[..], &["--max-rounds", "1"]].concat();
    let ran = stage.run(&line);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    stage.promoted_nothing();
}
