//! A run that is put aside in the middle of a writing step and taken up again is measured from before the
//! step's first job, as if it had never been interrupted.

use crate::implement::{COMMIT, LINE};
use crate::stage::{Stage, adds, by_role};
use crate::support::agents::quote;
use crate::thrown_away::{restored, told};

/// A creator that meets a limit at first, and does this when it is asked again.
fn limited_then(does: &str) -> Stage {
    let stage = Stage::new();
    let met = stage.bench().repo.beside("met");
    let met = quote(met.to_str().unwrap());
    let implement = format!(
        "if [ ! -e {met} ]; then : > {met}; echo 'retry after 7200 s' >&2; exit 75; fi; {does}; \
         echo Done. | deliver"
    );
    stage
        .agent("ann", &by_role(&[("implement", &implement)]))
        .agent(
            "bob",
            &by_role(&[("review", "verdict PASS '[]' | deliver")]),
        )
        .ready()
}

/// Issue 5, item 2: what the creator commits elsewhere after the interruption is never taken for nothing.
#[test]
fn work_on_another_branch_is_told_after_a_resume() {
    let stage = limited_then(&format!(
        "git switch -q -c elsewhere; {}; {COMMIT}; git switch -q feature",
        adds("// sum")
    ));
    stage.run(&LINE).ends(75);
    let ran = stage.bench().run(&["resume"]);
    ran.ends(6).with("RL0508").says("to elsewhere");
    assert!(!ran.stderr.contains("is not known"), "{}", ran.stderr);
    stage.promoted_nothing();
}

/// What was staged alone before the interruption is named with what prints it, and nothing stays behind
/// when the run is over.
#[test]
fn staged_work_is_told_after_a_resume() {
    let stage = limited_then(&format!(
        "git reset -q; git checkout -q -- src/lib.rs; {}",
        adds("// sum")
    ));
    let repo = &stage.bench().repo;
    let committed = repo.git(&["show", "HEAD:src/lib.rs"]) + "\n";
    repo.write("src/lib.rs", "// staged alone\n");
    repo.git(&["add", "src/lib.rs"]);
    repo.write("src/lib.rs", &committed);
    stage.run(&LINE).ends(75);
    // Also nobody who cleans up between the two takes it away.
    stage.bench().run(&["cleanup"]).ends(0);
    let ran = stage.bench().run(&["resume"]);
    ran.ends(0);
    assert!(!ran.stderr.contains("is not known"), "{}", ran.stderr);
    let command = told(&ran, "only staged of src/lib.rs");
    let shown = std::process::Command::new("sh")
        .args(["-c", &command])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(shown.stdout).unwrap(),
        "// staged alone\n"
    );
    let evidence = stage.bench().left_in_cache(&["evidence"]);
    assert_eq!(evidence, Vec::<String>::new());
}

/// Issue 5, item 2: what people edit while a run lies aside is as safe as what they had edited before it.
#[test]
fn edits_made_while_a_run_lies_aside_are_told_when_they_are_lost() {
    let stage = limited_then(&format!("git checkout -q -- README; {}", adds("// sum")));
    let repo = &stage.bench().repo;
    repo.write("README", "readme\n");
    repo.git(&["add", "README"]);
    repo.git(&["commit", "-q", "-m", "readme"]);
    stage.run(&LINE).ends(75);
    repo.write("README", "// edited while it lay aside\n");
    let ran = stage.bench().run(&["resume"]);
    let shown = restored(&stage, &ran, "README");
    assert_eq!(shown, "// edited while it lay aside\n");
}

/// And each time anew: what the creator threw away that was asked in between, whoever was told so then, is told by
/// the end of the step, and it is still there.
#[test]
fn edits_made_before_a_run_was_taken_up_twice_are_told_when_they_are_lost() {
    let again = "[ -e ../met-again ] || { : > ../met-again; git checkout -q -- README; exit 75; }";
    let stage = limited_then(&format!("{again}; {}", adds("// sum")));
    let repo = &stage.bench().repo;
    repo.write("README", "readme\n");
    repo.git(&["add", "README"]);
    repo.git(&["commit", "-q", "-m", "readme"]);
    stage.run(&LINE).ends(75);
    repo.write("README", "// edited while it lay aside\n");
    stage.bench().run(&["resume"]).ends(75);
    let ran = stage.bench().run(&["resume"]);
    let shown = restored(&stage, &ran, "README");
    assert_eq!(shown, "// edited while it lay aside\n");
}

/// What cannot be kept of them is a doubt that is told, and no silence: with a repository among it that belongs to
/// nobody, the source is no snapshot when the creator is asked again.
#[test]
fn edits_that_could_not_be_kept_are_a_doubt() {
    let stage = limited_then(&format!(
        "rm -rf nested; git checkout -q -- README; {}",
        adds("// sum")
    ));
    let repo = &stage.bench().repo;
    repo.write("README", "readme\n");
    repo.git(&["add", "README"]);
    repo.git(&["commit", "-q", "-m", "readme"]);
    stage.run(&LINE).ends(75);
    repo.write("README", "// edited while it lay aside\n");
    repo.git(&["init", "-q", "nested"]);
    let ran = stage.bench().run(&["resume"]);
    let doubt = "the implement job may have thrown away uncommitted edits that were there right before it, which is not known";
    let line = ran.stderr.lines().find(|line| line.contains(doubt));
    let line = line.unwrap_or_else(|| unreachable!("{}", ran.stderr));
    assert!(
        line.contains("nested") && line.contains("status --short"),
        "{line}"
    );
}
