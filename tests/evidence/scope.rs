//! What reviewers do not see is said (scenario V06, design section 6 "Scope first").

use std::os::unix::fs::PermissionsExt as _;

use run_loop::domain::evidence::{FileStatus, UnreviewedKind};
use run_loop::domain::path::RepoPath;
use run_loop::report::scope::scope_lines;

use crate::fixture::{changed, make};
use crate::support::repo::Repo;

const LONG: &str = "line one\nline two\nline three\nline four\nline five\n";

#[test]
fn excluded_files_are_listed_and_not_shown() {
    let (repo, _) = changed(
        |r| r.write("docs/old.md", LONG),
        |r| {
            r.write("docs/a.md", "secret words\n");
            r.write("docs/run.sh", "#!/bin/sh\n");
            let run = r.root().join("docs/run.sh");
            std::fs::set_permissions(run, std::fs::Permissions::from_mode(0o755)).unwrap();
            r.write("src/new.rs", "shown\n");
            r.git(&["mv", "docs/old.md", "docs/new.md"]);
        },
    );
    let made = make(&repo, &["docs/**"]);
    assert_eq!(
        made.paths(),
        ["docs/a.md", "docs/new.md", "docs/run.sh", "src/new.rs"]
    );
    assert!(made.text().contains("shown\n"));
    assert!(!made.text().contains("docs"));
    assert_eq!(made.evidence.unreviewed().count(), 3);
    let moved = made.file("docs/new.md");
    assert_eq!(moved.unreviewed, Some(UnreviewedKind::Excluded));
    assert_eq!(moved.old_path, Some(RepoPath::from("docs/old.md")));
    assert_eq!(made.file("docs/a.md").added, Some(1));
    assert_eq!(made.file("docs/a.md").changed_lines, [(1, u32::MAX)]);
    insta::assert_snapshot!(scope_lines(&made.evidence).join("\n"), @"
    4 files changed: reviewers see 1, 3 not shown
    the diff: 1 part, 244 bytes, all in the prompt
    not shown, excluded by review.exclude: 3
      docs/a.md (mode 000000 to 100644)
      docs/new.md (from docs/old.md) (mode 100644)
      docs/run.sh (mode 000000 to 100755, executable)
    ");
}

/// A file cannot come out of an excluded folder unseen.
#[test]
fn a_move_across_the_border_shows_both_sides() {
    let (repo, _) = changed(
        |r| {
            r.write("docs/payload.md", LONG);
            r.write("src/seen.rs", LONG.to_uppercase());
        },
        |r| {
            r.git(&["mv", "docs/payload.md", "src/payload.rs"]);
            r.git(&["mv", "src/seen.rs", "docs/hidden.md"]);
        },
    );
    let made = make(&repo, &["docs/**"]);
    let status = |path: &str| (made.file(path).status, made.file(path).unreviewed);
    let hidden = Some(UnreviewedKind::Excluded);
    assert_eq!(status("docs/payload.md"), (FileStatus::Deleted, hidden));
    assert_eq!(status("src/payload.rs"), (FileStatus::Added, None));
    assert_eq!(status("src/seen.rs"), (FileStatus::Deleted, None));
    assert_eq!(status("docs/hidden.md"), (FileStatus::Added, hidden));
    assert!(
        made.text().contains("+line one\n"),
        "every byte that comes out is shown"
    );
    assert!(made.text().contains("-LINE ONE\n"));
}

#[test]
fn everything_excluded_is_still_named() {
    let (repo, _) = changed(|_| {}, |r| r.write("docs/a.md", "a\n"));
    let made = make(&repo, &["**"]);
    assert_eq!(made.paths(), ["docs/a.md"]);
    assert_eq!(made.evidence.parts, []);
    assert_eq!(made.evidence.unreviewed().count(), 1);
}

#[test]
fn files_that_instruct_agents_and_executables_are_always_named() {
    let (repo, _) = changed(
        |_| {},
        |r: &Repo| {
            for n in 0..30 {
                r.write(&format!("gen/{n:02}.txt"), "x\n");
            }
            r.write("gen/zz.sh", "x\n");
            let run = r.root().join("gen/zz.sh");
            std::fs::set_permissions(run, std::fs::Permissions::from_mode(0o755)).unwrap();
            r.write("CLAUDE.md", "obey\n");
            r.write("gen/.claude/settings.json", "{}\n");
        },
    );
    let lines = scope_lines(&make(&repo, &["gen/**"]).evidence);
    assert!(lines.contains(&"  gen/zz.sh (mode 000000 to 100755, executable)".to_owned()));
    assert!(
        lines.contains(&"  and 11 more, all in files.json".to_owned()),
        "{lines:?}"
    );
    assert!(lines.contains(&"instructs agents: 2".to_owned()));
    assert!(lines.contains(&"  CLAUDE.md (mode 000000 to 100644)".to_owned()));
}
