//! Conversions by git itself: line ends, idents, encodings. Raw bytes would be silently wrong.

use run_loop::domain::code::Code;

use crate::support::reference::in_place;
use crate::support::repo::Repo;
use crate::support::source::Source;
use crate::trial::{moment, refused, remove, same, set_mtime};

fn with(settings: &[(&str, &str)], attributes: &str) -> Repo {
    let repo = Repo::new();
    for (name, value) in settings {
        repo.git(&["config", name, value]);
    }
    repo.write(".gitattributes", attributes);
    repo
}

#[test]
fn autocrlf_true() {
    let repo = with(&[("core.autocrlf", "true")], "");
    repo.write("crlf.txt", "a\r\nb\r\n");
    repo.write("lf.txt", "a\nb\n");
    repo.write("binary.bin", b"a\r\n\0b\r\n");
    same(&repo)
        .shows("crlf.txt", "a\nb\n")
        .shows("lf.txt", "a\nb\n")
        .shows("binary.bin", b"a\r\n\0b\r\n");
}

#[test]
fn autocrlf_input() {
    let repo = with(&[("core.autocrlf", "input")], "");
    repo.write("crlf.txt", "a\r\nb\r\n");
    same(&repo).shows("crlf.txt", "a\nb\n");
}

/// What was committed with CRLF stays so, by the index's own word.
#[test]
fn autocrlf_of_a_file_that_is_stored_with_crlf() {
    let repo = Repo::new();
    repo.write("crlf.txt", "a\r\nb\r\n");
    repo.commit("crlf");
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("crlf.txt", "a\r\nb\r\nc\r\n");
    same(&repo).shows("crlf.txt", "a\r\nb\r\nc\r\n");
}

/// It only warns or refuses in plain git: what it protects is the working tree, which stays.
#[test]
fn safecrlf_true() {
    let repo = with(&[("core.autocrlf", "input"), ("core.safecrlf", "true")], "");
    repo.write("crlf.txt", "a\r\nb\r\n");
    crate::trial::Trial::of(&repo)
        .careful("core.safecrlf=false")
        .same()
        .shows("crlf.txt", "a\nb\n");
}

#[test]
fn safecrlf_warn() {
    let repo = with(&[("core.autocrlf", "true"), ("core.safecrlf", "warn")], "");
    repo.write("lf.txt", "a\nb\n");
    same(&repo).shows("lf.txt", "a\nb\n");
}

#[test]
fn core_eol_crlf() {
    let repo = with(&[("core.eol", "crlf")], "*.txt text\n");
    repo.write("crlf.txt", "a\r\nb\r\n");
    same(&repo).shows("crlf.txt", "a\nb\n");
}

#[test]
fn eol_attribute() {
    let repo = with(&[], "*.bat text eol=crlf\n*.sh eol=lf\n*.raw -text\n");
    for name in ["x.bat", "x.sh", "x.raw"] {
        repo.write(name, "a\r\nb\r\n");
    }
    same(&repo)
        .shows("x.bat", "a\nb\n")
        .shows("x.sh", "a\nb\n")
        .shows("x.raw", "a\r\nb\r\n");
}

/// The file is the same and is converted in another way from now on. Git looks at it again when it
/// seems to be changed, and leaves the blob otherwise; so does a snapshot, which is what the user
/// would commit.
#[test]
fn attribute_that_came_after_the_entry() {
    let repo = Repo::new();
    repo.write("old.txt", "a\r\nb\r\n");
    set_mtime(&repo.root().join("old.txt"), moment());
    repo.commit("crlf");
    repo.write(".gitattributes", "*.txt text\n");
    let pin = Source::of(&repo, "HEAD").pin();
    assert_eq!(pin.identity.tree.as_str(), in_place(repo.root()));
    let later = moment() + std::time::Duration::from_secs(1);
    set_mtime(&repo.root().join("old.txt"), later);
    same(&repo);
    repo.git(&["add", "--renormalize", "."]);
    same(&repo).shows("old.txt", "a\nb\n");
}

/// Git goes on with what a file of attributes said that it takes away in the same command, once it has read it
/// for an entry before.
#[test]
fn attributes_that_are_taken_away() {
    let repo = with(&[], "*.txt text\n");
    repo.write(".editorconfig", "root = true\n");
    repo.commit("attributes");
    remove(&repo, ".gitattributes");
    repo.write(".editorconfig", "root = false\n");
    repo.write("b.txt", "new\r\n");
    same(&repo).lacks(".gitattributes");
}

#[test]
fn crlf_in_gitattributes_itself() {
    let repo = with(&[], "* text=auto\r\n*.bat eol=crlf\r\n");
    repo.write("x.bat", "a\r\nb\r\n");
    repo.write("x.txt", "a\r\nb\r\n");
    same(&repo)
        .shows("x.txt", "a\nb\n")
        .shows(".gitattributes", "* text=auto\n*.bat eol=crlf\n");
}

#[test]
fn attributes_of_every_level() {
    let repo = with(&[], "*.txt -text\n");
    let file = repo.beside("attributes");
    std::fs::write(&file, "*.far text\n").unwrap();
    repo.git(&["config", "core.attributesFile", file.to_str().unwrap()]);
    std::fs::create_dir_all(repo.root().join(".git/info")).unwrap();
    std::fs::write(repo.root().join(".git/info/attributes"), "*.own text\n").unwrap();
    repo.write("deep/.gitattributes", "*.txt text\n");
    for name in ["a.txt", "a.far", "a.own", "deep/a.txt"] {
        repo.write(name, "a\r\n");
    }
    same(&repo)
        .shows("a.txt", "a\r\n")
        .shows("a.far", "a\n")
        .shows("a.own", "a\n")
        .shows("deep/a.txt", "a\n");
}

#[test]
fn macro_attributes() {
    let repo = with(&[], "[attr]windows text eol=crlf\n*.txt windows\n");
    repo.write("x.txt", "a\r\n");
    same(&repo).shows("x.txt", "a\n");
}

#[test]
fn ident() {
    let repo = with(&[], "*.id ident\n");
    repo.write("x.id", "$Id: stale$\n");
    same(&repo).shows("x.id", "$Id$\n");
}

#[test]
fn utf_16le_bom() {
    let repo = with(&[], "*.u working-tree-encoding=UTF-16LE-BOM\n");
    repo.write("x.u", [0xff, 0xfe, b'a', 0, b'\n', 0]);
    same(&repo).shows("x.u", "a\n");
}

#[test]
fn utf_16_with_crlf() {
    let repo = with(&[], "*.u text working-tree-encoding=UTF-16 eol=crlf\n");
    let text = [0xfe, 0xff, 0, b'a', 0, b'\r', 0, b'\n'];
    repo.write("x.u", text);
    same(&repo).shows("x.u", "a\n");
}

#[test]
fn latin_1() {
    let repo = with(&[], "*.l working-tree-encoding=ISO-8859-1\n");
    repo.write("x.l", [b'a', 0xe9, b'\n']);
    same(&repo).shows("x.l", "aé\n");
}

/// Git cannot convert it, and a tree without it would be a smaller change.
#[test]
fn encoding_that_does_not_fit_is_refused() {
    let repo = with(&[], "*.u working-tree-encoding=UTF-16\n");
    repo.write("x.u", "no byte order mark\n");
    refused(&repo, Code::SnapshotRefused, "x.u");
}
