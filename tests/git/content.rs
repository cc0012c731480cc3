//! The content tree leaves out promoted evidence and nothing else (design, section 7).

use std::os::unix::fs::PermissionsExt as _;

use run_loop::domain::code::Code;
use run_loop::domain::oid::Oid;
use run_loop::git::content::content_tree;

use crate::support::repo::Repo;
use crate::support::source::git;

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn tree(repo: &Repo) -> Oid {
    repo.commit("state");
    Oid::parse(&repo.git(&["rev-parse", "HEAD^{tree}"])).unwrap()
}

fn content(repo: &Repo, tree: &Oid) -> Oid {
    content_tree(&git(), &repo.root().join(".git"), tree, ".agents/reports").unwrap()
}

#[test]
fn a_tree_without_evidence_is_its_own_content() {
    let repo = Repo::new();
    let plain = tree(&repo);
    assert_eq!(content(&repo, &plain), plain);
    repo.write(".agents/reports", "a file where the folder would be");
    let odd = tree(&repo);
    assert_eq!(content(&repo, &odd), odd);
}

#[test]
fn evidence_is_left_out_and_empty_folders_go_with_it() {
    let repo = Repo::new();
    let plain = tree(&repo);
    for name in [
        format!("security/report-{ID}.md"),
        format!("security/report-{ID}.identity.json"),
        format!("codex/report-{ID}.md"),
        format!("planner/plan-{ID}.md"),
        format!("approvals/{ID}.json"),
    ] {
        repo.write(&format!(".agents/reports/{name}"), "evidence");
    }
    let before = objects(&repo);
    let with = tree(&repo);
    let written = objects(&repo);
    assert_ne!(with, plain);
    assert_ne!(before, written);
    assert_eq!(content(&repo, &with), plain);
    assert_eq!(
        objects(&repo),
        written,
        "nothing is written to the user's objects"
    );
}

#[test]
fn everything_else_under_the_reports_folder_is_content() {
    let repo = Repo::new();
    let report = format!(".agents/reports/security/report-{ID}.md");
    repo.write(".agents/reports/README.md", "kept");
    repo.write(".agents/reports/security/notes.md", "kept");
    repo.write(".agents/zz/last.md", "kept");
    repo.write(".agents/reports/approvals/run.sh", "kept");
    repo.write(&format!(".agents/reports/deep/er/report-{ID}.md"), "kept");
    let kept = tree(&repo);
    assert_eq!(content(&repo, &kept), kept);

    repo.write(&report, "evidence");
    let with = tree(&repo);
    assert_eq!(content(&repo, &with), kept);

    let file = repo.root().join(&report);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let executable = tree(&repo);
    assert_eq!(
        content(&repo, &executable),
        executable,
        "an executable is content"
    );

    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("notes.md", &file).unwrap();
    let link = tree(&repo);
    assert_eq!(content(&repo, &link), link, "a link is content");

    std::fs::remove_file(&file).unwrap();
    repo.write(&report, vec![b'x'; 1024 * 1024 + 1]);
    let large = tree(&repo);
    assert_eq!(content(&repo, &large), large, "more than 1 MiB is content");
}

#[test]
fn a_reports_folder_that_is_no_plain_path_is_refused() {
    let repo = Repo::new();
    let plain = tree(&repo);
    for reports in ["", "/abs", "../up", "a//b", "a/../b", ".git/x", "a\nb"] {
        let failure = content_tree(&git(), &repo.root().join(".git"), &plain, reports).unwrap_err();
        assert_eq!(failure.code, Code::ReportsUnsafe, "{reports:?}");
    }
}

fn objects(repo: &Repo) -> String {
    repo.git(&["count-objects", "-v"])
}
