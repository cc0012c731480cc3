//! Ways in which a diff hides a file from its reader, and where each one shows.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use run_loop::domain::evidence::{FileStatus, UnreviewedKind};
use run_loop::domain::path::RepoPath;

use crate::fixture::{Made, changed, make};
use crate::support::repo::{Repo, git};

/// Every path that plain git names between the two commits, in order.
fn named_by_git(repo: &Repo) -> Vec<String> {
    let all = repo.git(&[
        "-c",
        "diff.ignoreSubmodules=none",
        "diff-tree",
        "-r",
        "--no-renames",
        "--ignore-submodules=none",
        "--name-only",
        "base",
        "HEAD",
    ]);
    let mut all: Vec<String> = all.lines().map(str::to_owned).collect();
    all.sort();
    all
}

/// List and diff name exactly what plain git names.
#[track_caller]
fn complete(repo: &Repo, made: &Made) {
    let mut listed: Vec<String> = Vec::new();
    for file in &made.evidence.files {
        listed.push(file.path.to_string());
        listed.extend(file.old_path.iter().map(ToString::to_string));
    }
    listed.sort();
    assert_eq!(listed, named_by_git(repo));
    let headers = made.diff();
    let headers = String::from_utf8_lossy(&headers)
        .lines()
        .filter(|line| line.starts_with("diff --git "))
        .count();
    assert_eq!(headers, made.evidence.files.len());
}

/// Text that becomes binary, or was it: the side with a NUL makes the whole file unseen.
#[test]
fn a_nul_on_either_side() {
    let (repo, made) = changed(
        |r| {
            r.write("was-binary.rs", b"\0fn a() {}\n");
            r.write("is-binary.rs", "fn a() {}\n");
            r.write("stays.rs", b"fn a() {}\0\n");
        },
        |r| {
            r.write("was-binary.rs", "fn evil() {}\n");
            r.write("is-binary.rs", b"fn evil() {}\n\0");
            r.write("stays.rs", b"fn b() {}\0\n");
        },
    );
    complete(&repo, &made);
    for name in ["was-binary.rs", "is-binary.rs", "stays.rs"] {
        let file = made.file(name);
        assert_eq!(file.unreviewed, Some(UnreviewedKind::Binary), "{name}");
        assert_eq!(file.changed_lines, [(1, u32::MAX)], "{name}");
    }
}

#[test]
fn submodules_that_come_go_and_turn_into_files() {
    let repo = Repo::new();
    let commit = "1".repeat(40);
    let enter = |path: &str| {
        let commit = if path == "gone" {
            &commit
        } else {
            &"2".repeat(40)
        };
        let entry = format!("160000,{commit},{path}");
        repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    };
    let modules: String =
        ["gone", "file", "new", "was-file"]
            .iter()
            .fold(String::new(), |mut text, name| {
                writeln!(
                    text,
                    "[submodule \"{name}\"]\n\tpath = {name}\n\tignore = all"
                )
                .unwrap();
                text
            });
    repo.write(".gitmodules", modules);
    repo.write("was-file", "text\n");
    repo.git(&["add", "-A"]);
    enter("gone");
    enter("file");
    repo.git(&["commit", "-q", "-m", "base"]);
    repo.git(&["tag", "base"]);
    repo.git(&["rm", "-q", "--cached", "gone", "file", "was-file"]);
    std::fs::remove_file(repo.root().join("was-file")).unwrap();
    repo.write("file", "text now\n");
    repo.git(&["add", "file"]);
    enter("new");
    enter("was-file");
    repo.git(&["commit", "-q", "-m", "changed"]);
    for name in ["gone", "file", "new", "was-file"] {
        repo.git(&["config", &format!("submodule.{name}.ignore"), "all"]);
    }
    repo.git(&["config", "diff.ignoreSubmodules", "all"]);
    let made = make(&repo, &[]);
    let mut listed: Vec<String> = made.paths();
    listed.dedup();
    assert_eq!(listed, ["file", "gone", "new", "was-file"]);
    assert_eq!(made.file("new").unreviewed, Some(UnreviewedKind::Submodule));
    assert_eq!(
        made.file("was-file").unreviewed,
        Some(UnreviewedKind::Submodule)
    );
    assert_eq!(made.file("gone").status, FileStatus::Deleted);
    assert!(made.text().contains("+text now\n"));
    assert!(
        made.text()
            .contains(&format!("-Subproject commit {commit}\n"))
    );
}

/// An excluded file that moves out and changes on the way is new where it arrives.
#[test]
fn a_move_out_of_an_excluded_folder_with_an_edit_and_a_mode() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
    let (repo, _) = changed(
        |r| r.write("vendor/tool.sh", text),
        |r| {
            r.git(&["mv", "vendor/tool.sh", "src/tool.sh"]);
            r.write("src/tool.sh", text.replace("six", "evil"));
            let file = r.root().join("src/tool.sh");
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
        },
    );
    let made = make(&repo, &["vendor/**"]);
    let file = made.file("src/tool.sh");
    assert_eq!((file.status, file.unreviewed), (FileStatus::Added, None));
    assert_eq!(file.new_mode, "100755");
    for line in ["+one\n", "+evil\n", "new file mode 100755\n"] {
        assert!(made.text().contains(line), "{line}");
    }
    // The same move where nothing is excluded: mode and edit are told beside the rename.
    let made = make(&repo, &[]);
    complete(&repo, &made);
    let file = made.file("src/tool.sh");
    assert_eq!(file.status, FileStatus::Renamed);
    assert_eq!(file.old_path, Some(RepoPath::from("vendor/tool.sh")));
    for line in ["old mode 100644\nnew mode 100755\n", "+evil\n"] {
        assert!(made.text().contains(line), "{line}");
    }
}

#[test]
fn a_mode_alone_on_text_binary_and_link_like_files() {
    let (repo, made) = changed(
        |r| {
            r.write("text.sh", "true\n");
            r.write("binary.bin", b"\0\x01");
            r.write("empty", "");
        },
        |r| {
            for name in ["text.sh", "binary.bin", "empty"] {
                let file = r.root().join(name);
                std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        },
    );
    complete(&repo, &made);
    for name in ["text.sh", "binary.bin", "empty"] {
        assert_eq!(made.file(name).status, FileStatus::ModeChanged, "{name}");
    }
    assert_eq!(made.text().matches("new mode 100755\n").count(), 3);
}

/// Drivers, hunk headers, encodings and merges by attributes of the tree, the base's and the new.
#[test]
fn attributes_of_every_kind() {
    let attributes = "* diff=evil -text binary -diff\n*.rs diff=rust encoding=none\n\
                      *.md working-tree-encoding=ISO-8859-1 ident\n* linguist-generated export-ignore\n\
                      * conflict-marker-size=1 whitespace=-trailing-space\n";
    let (repo, made) = changed(
        |r| {
            r.write(".gitattributes", attributes);
            r.write("src/.gitattributes", "lib.rs binary\n");
            r.git(&["config", "diff.evil.xfuncname", "^(hidden"]);
            r.git(&["config", "diff.evil.binary", "true"]);
            r.git(&["config", "diff.evil.textconv", "true"]);
        },
        |r| {
            r.write("src/lib.rs", "pub fn evil() {}\n");
            r.write("generated.lock", "evil\n");
            r.write(".gitattributes", format!("{attributes}* -diff\n"));
        },
    );
    complete(&repo, &made);
    assert!(made.evidence.unreviewed().next().is_none());
    assert!(made.text().contains("+pub fn evil() {}\n"));
    assert!(made.text().contains("+evil\n"));
}

/// Settings of the user that come from where only git looks for them.
#[test]
fn settings_of_the_user_from_included_files() {
    let (repo, plain) = changed(|_| {}, |r| r.write("src/lib.rs", "pub fn evil() {}\n"));
    let home = repo.beside("home");
    std::fs::create_dir_all(home.join(".config/git")).unwrap();
    std::fs::write(
        home.join(".config/git/config"),
        "[include]\n\tpath = more\n[diff]\n\texternal = true\n",
    )
    .unwrap();
    std::fs::write(
        home.join(".config/git/more"),
        "[diff]\n\tignoreSubmodules = all\n\tnoprefix = true\n\tcontext = 0\n\tstatGraphWidth = 1\n\
         [core]\n\tattributesFile = ~/attributes\n\twhitespace = -blank-at-eol\n\
         [filter \"x\"]\n\tclean = false\n[textconv]\n\tcache = true\n",
    )
    .unwrap();
    std::fs::write(home.join(".config/git/attributes"), "* -diff binary\n").unwrap();
    std::fs::write(home.join("attributes"), "* -diff binary\n").unwrap();
    assert_eq!(make(&repo, &[]).evidence, plain.evidence);
}

/// Lines that look like a diff's own are content, and names that look like options are names.
#[test]
fn content_and_names_that_look_like_a_diff() {
    let text = "diff --git a/x b/x\nindex 0..1\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n\
                Binary files a/x and b/x differ\nrename from a\nreceipt 001 00\n";
    let (repo, made) = changed(
        |r| r.write("-p", "old\n"),
        |r| {
            r.write("-p", text);
            r.write("b/b b/b", text);
            r.write("dev/null", text);
        },
    );
    let listed = made.paths();
    assert_eq!(listed, ["-p", "b/b b/b", "dev/null"]);
    let copy = repo.beside("copy");
    git(repo.root(), &["clone", "-q", ".", copy.to_str().unwrap()]);
    git(&copy, &["checkout", "-q", "base"]);
    let diff = made.folder.join("diff.patch");
    git(&copy, &["apply", "--index", diff.to_str().unwrap()]);
    assert_eq!(
        git(&copy, &["write-tree"]),
        repo.git(&["rev-parse", "HEAD^{tree}"])
    );
}

/// Many files of the same content: each is named once, whatever pairs git makes of them.
#[test]
fn many_moves_of_the_same_content() {
    let (repo, made) = changed(
        |r| {
            for n in 0..60 {
                r.write(&format!("old/{n}"), "same\nbytes\n");
            }
        },
        |r| {
            r.git(&["rm", "-q", "-r", "old"]);
            for n in 0..80 {
                r.write(&format!("new/{n}"), "same\nbytes\n");
            }
        },
    );
    complete(&repo, &made);
}

#[test]
fn fifty_thousand_lines_of_one_file() {
    let lines = |word: &str| {
        (0..25_000).fold(String::new(), |mut text, n| {
            writeln!(text, "{word} {n}").unwrap();
            text
        })
    };
    let (repo, made) = changed(
        |r| r.write("big.txt", lines("old")),
        |r| r.write("big.txt", lines("new")),
    );
    complete(&repo, &made);
    let file = made.file("big.txt");
    assert_eq!((file.added, file.removed), (Some(25_000), Some(25_000)));
    assert_eq!(file.changed_lines, [(1, 25_000)]);
    assert!(made.text().contains("+new 24999\n"));
}
