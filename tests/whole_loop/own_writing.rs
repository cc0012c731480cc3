//! Whose the edits are that a creator takes away: yours are told, its own are not (A5-19).

use crate::implement::LINE;
use crate::stage::{Stage, by_role, implements, looks_for};
use crate::support::agents::{Point, quote};
use crate::support::crash::Engine;
use crate::thrown_away::restored;

const LOST: &str = "lost the uncommitted edits of src/lib.rs";

/// Takes the file back to what HEAD has, and adds another line.
fn rewrites(line: &str) -> String {
    format!(
        "git show HEAD:src/lib.rs > src/lib.rs; echo {} >> src/lib.rs; answers fixed | deliver",
        quote(line)
    )
}

/// A creator that writes `// one`, and `// two` in its place when its reviewer wants that. The reviewer does this
/// in the folder of the source, before it answers.
fn stage(besides: &str) -> Stage {
    let stage = Stage::new();
    let root = quote(stage.bench().repo.root().to_str().unwrap());
    let creator = by_role(&[
        ("implement", &implements("// one")),
        ("correct", &rewrites("// two")),
    ]);
    let review = format!("(cd {root}; {besides}); {}", looks_for("// two"));
    stage
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &review)]))
        .ready()
}

fn shown(stage: &Stage) -> String {
    stage.bench().run(&["show"]).ends(0).stdout.clone()
}

/// Nobody edited that file but the creator: there is nothing to tell, and what it held is kept all the same.
#[test]
fn a_creator_that_rewrites_its_own_lines_took_nothing_away() {
    let stage = stage(":");
    let ran = stage.run(&LINE);
    ran.ends(0);
    assert!(stage.asked().contains(&"correct ann".to_owned()));
    assert!(!ran.stderr.contains("lost the"), "{}", ran.stderr);
    let shown = shown(&stage);
    assert!(!shown.contains("lost"), "{shown}");
    let kept = stage.bench().run(&["cleanup", "--store-budget", "0"]);
    kept.ends(0)
        .says("which this may hold alone: git --git-dir=");
}

/// The user edits it between the two: that is told with what prints it, beside another file that is not.
#[test]
fn a_creator_that_rewrites_lines_of_yours_is_told() {
    let stage =
        stage("grep -q -e '// mine' -e '// two' src/lib.rs || echo '// mine' >> src/lib.rs");
    let ran = stage.run(&LINE);
    ran.ends(0);
    let was = restored(&stage, &ran, "src/lib.rs");
    assert!(was.ends_with("// one\n// mine\n"), "{was}");
    assert!(shown(&stage).contains(LOST));
}

/// The run lies aside between the two, and in the middle of the second one: what its jobs wrote is still theirs.
#[test]
fn a_run_that_lay_aside_knows_its_own_lines() {
    let stage = Stage::new();
    let met = |name: &str| {
        let met = quote(stage.bench().repo.beside(name).to_str().unwrap());
        format!("if [ ! -e {met} ]; then : > {met}; LIMITED; fi; ")
    };
    let limit = "echo 'retry after 7200 s' >&2; exit 75";
    let first = "git show HEAD:src/lib.rs > src/lib.rs; echo '// half' >> src/lib.rs; ";
    let corrects = met("half").replace("LIMITED", &format!("{first}{limit}")) + &rewrites("// two");
    let review = met("review").replace("LIMITED", limit) + &looks_for("// two");
    let creator = by_role(&[("implement", &implements("// one")), ("correct", &corrects)]);
    let stage = stage
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &review)]))
        .ready();
    let ran = [
        stage.run(&LINE).ends(75).stderr.clone(),
        stage.bench().run(&["resume"]).ends(75).stderr.clone(),
        stage.bench().run(&["resume"]).ends(0).stderr.clone(),
    ];
    assert_eq!(
        stage
            .asked()
            .iter()
            .filter(|it| *it == "correct ann")
            .count(),
        2
    );
    for said in ran {
        assert!(!said.contains("lost the"), "{said}");
    }
}

/// An engine that died while the creator wrote: who wrote what is not known any more, and it is told.
#[test]
fn what_was_written_while_an_engine_died_is_told() {
    let stage = Stage::new();
    let agents = stage.bench().repo.beside("agents");
    let (written, go) = (Point::new(&agents, "written"), Point::new(&agents, "go"));
    let begins = format!(
        "if ! grep -q '// one' src/lib.rs; then echo '// one' >> src/lib.rs; echo $$ > {}; read -r _ < {}; fi; \
         echo Done. | deliver",
        written.path().display(),
        go.path().display()
    );
    let creator = by_role(&[("implement", &begins), ("correct", &rewrites("// two"))]);
    let stage = stage
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for("// two"))]))
        .ready();
    let line = [
        &["--base", "main", "add a sum"],
        &LINE[..],
        &["--format", "ndjson"],
    ]
    .concat();
    let engine = Engine::start_with(stage.bench(), &line);
    written.reached();
    engine.kill();
    let ran = stage.bench().run(&["resume"]);
    ran.ends(0);
    assert!(ran.stderr.contains(LOST), "{}", ran.stderr);
}
