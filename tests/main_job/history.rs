//! A repository with a real history of hundreds of commits, not only toys.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;
use crate::support::repo::{Repo, git_command};

/// Hundreds of commits on two lines of history with merges, made by one `fast-import`.
fn history(commits: usize) -> Repo {
    let repo = Repo::new();
    let mut stream = String::new();
    for n in 0..commits {
        let (branch, from) = if n % 7 == 3 {
            ("side", "refs/heads/main^0")
        } else {
            ("main", "")
        };
        writeln!(stream, "commit refs/heads/{branch}").unwrap();
        writeln!(stream, "mark :{}", n + 1).unwrap();
        writeln!(
            stream,
            "committer Ann <ann@example.org> {} +0000",
            1_767_000_000 + n
        )
        .unwrap();
        let message = format!("change {n}");
        writeln!(stream, "data {}\n{message}", message.len()).unwrap();
        if branch == "side" || n == 0 {
            let from = if from.is_empty() {
                "refs/heads/main^0"
            } else {
                from
            };
            writeln!(stream, "from {from}").unwrap();
        } else if n % 7 == 5 && n > 7 {
            writeln!(stream, "merge :{}", n - 1).unwrap();
        }
        let content = format!("line {n}\n").repeat(1 + n % 40);
        writeln!(stream, "M 100644 inline dir{}/file{}.txt", n % 13, n % 101).unwrap();
        writeln!(stream, "data {}\n{content}", content.len()).unwrap();
    }
    let mut import = git_command(repo.root())
        .args(["fast-import", "--quiet", "--force"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    import
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    assert!(import.wait().unwrap().success());
    repo.git(&["reset", "-q", "--hard", "main"]);
    repo
}

/// Issue 2: the main job on a real history; renames, deletions, modes, binary policy and all.
#[test]
fn a_branch_of_forty_commits_over_six_hundred() {
    let repo = history(600);
    let bench = Bench::around(repo)
        .reviewer("ann", &ScriptedAgent::passing())
        .also("checks")
        .ready();
    for n in 0..40 {
        bench.repo.write(
            &format!("dir{}/new{n}.txt", n % 5),
            format!("new {n}\n").repeat(20),
        );
        if n % 4 == 0 {
            let listed = bench.repo.git(&["ls-files", "dir*/file*"]);
            let from = listed.lines().nth(n % 40).unwrap();
            bench.repo.git(&["mv", from, &format!("moved{n}.txt")]);
        }
        bench.repo.commit(&format!("step {n}"));
    }
    bench.review().ends(0);
    let sidecar = bench.sidecar("ann");
    assert_eq!(
        sidecar["tree"],
        bench.repo.git(&["rev-parse", "feature^{tree}"])
    );
    assert_eq!(
        sidecar["base"],
        bench.repo.git(&["merge-base", "main", "feature"])
    );
    bench.gate().ends(0);
    bench.repo.git(&["fsck", "--strict"]);
}
