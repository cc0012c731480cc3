use crate::git::config::GitConfig;
use crate::git::filter::Forbidden;

fn forbidden(text: &[(&str, &str)], allowed: &[&str]) -> Vec<Vec<u8>> {
    let text = text.iter().map(|(name, value)| (name.as_bytes(), *value));
    forbidden_bytes(text, allowed)
}

fn forbidden_bytes<'a>(
    text: impl Iterator<Item = (&'a [u8], &'a str)>,
    allowed: &[&str],
) -> Vec<Vec<u8>> {
    let config = GitConfig::from_entries(text);
    let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
    Forbidden::of(&config, &allowed).names.into_iter().collect()
}

#[test]
fn only_lfs_as_git_lfs_installs_it_is_allowed_unasked() {
    let lfs = [
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.lfs.process", "git-lfs filter-process"),
        ("filter.lfs.required", "true"),
    ];
    assert!(forbidden(&lfs, &[]).is_empty());
    let posing = [("filter.lfs.clean", "touch /tmp/ran; git-lfs clean -- %f")];
    assert_eq!(forbidden(&posing, &[]), [b"lfs"]);
    assert!(forbidden(&posing, &["lfs"]).is_empty());
}

#[test]
fn a_driver_without_commands_is_harmless() {
    assert!(forbidden(&[("filter.x.required", "true")], &[]).is_empty());
    assert!(forbidden(&[("filter.x.clean", "")], &[]).is_empty());
    assert_eq!(forbidden(&[("filter.a=b.c.clean", "cat")], &[]), [b"a=b.c"]);
    assert_eq!(forbidden(&[("filter.x.smudge", "cat")], &["y"]), [b"x"]);
}

/// What stands for bytes that are no text allows none of them.
#[test]
fn names_are_bytes() {
    let one: (&[u8], _) = (b"filter.\xff.clean", "cat");
    let other: (&[u8], _) = (b"filter.\xfe.clean", "cat");
    let found = forbidden_bytes([one, other].into_iter(), &["\u{fffd}"]);
    assert_eq!(found, [b"\xfe", b"\xff"]);
}
