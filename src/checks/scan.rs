//! The rules on blobs: everything that is known without running anything of the change.
//!
//! Three git processes, whatever the size: the changed entries, the new blobs, and one stream of
//! their bytes. Changed files are read for all rules; blobs that only stand in the history of
//! `base..snapshot` for secrets and size, since a secret that was committed and removed is out.

use std::collections::btree_map;
use std::collections::{BTreeMap, BTreeSet};

use tokio_util::sync::CancellationToken;

use crate::checks::blob::{self, Sink};
use crate::checks::changed::Changed;
use crate::checks::entry::goes_up_again;
use crate::checks::error::Error;
use crate::checks::finding::{Findings, Found};
use crate::checks::git::{self, Entry, Layout};
use crate::checks::rule;
use crate::checks::secret::SecretRules;
use crate::checks::secret::stream::{Located, SecretStream};
use crate::checks::text::FileScan;
use crate::domain::digest::Digest;
use crate::domain::evidence::{ChangedFile, Evidence};
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::process::command::Command;

const LARGE: u64 = 5 << 20;
const VERY_LARGE: u64 = 50 << 20;

/// A link's target is a path; anything longer leads nowhere.
const LONGEST_TARGET: usize = 4096;

/// What the scan saw, beside its findings.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// Changed entries of the two trees.
    pub(crate) entries: Vec<Entry>,
    /// Targets of changed links, by path.
    pub(crate) links: BTreeMap<RepoPath, Vec<u8>>,
    /// Targets of links that were there before and go up from something they name, where the change has
    /// links; by path.
    pub(crate) old_links: BTreeMap<RepoPath, Vec<u8>>,
    /// Every folder of the snapshot, where the change has links.
    pub(crate) folders: BTreeSet<Vec<u8>>,
    /// Blobs read.
    pub(crate) blobs: usize,
    /// Of those, blobs that the final tree does not hold.
    pub(crate) history: usize,
    /// Bytes read.
    pub(crate) bytes: u64,
}

/// Reads the change and reports what the rules find.
///
/// # Errors
/// When git fails or answers oddly, the evidence names other files than git does, or the token is
/// cancelled. What was found before stays in `findings`.
pub(crate) fn scan(
    base: &Command,
    pin: &Pin,
    evidence: &Evidence,
    stop: &CancellationToken,
    findings: &mut Findings,
) -> Result<Scanned, Error> {
    let rules = SecretRules::embedded()?;
    let entries = git::changed_entries(base, pin)?;
    let files = agreed(&entries, evidence)?;
    let mut targets = final_blobs(&entries, &files);
    let finals = targets.len();
    for (oid, path) in git::new_blobs(base, pin)? {
        if let btree_map::Entry::Vacant(vacant) = targets.entry(oid) {
            let blob = vacant.key().clone();
            vacant.insert(Target::History { path, blob });
        }
    }
    let (blobs, targets): (Vec<Oid>, Vec<Target>) = targets.into_iter().unzip();
    let mut scanner = Scanner::new(rules, targets, findings);
    blob::read(base, &blobs, stop, &mut scanner)?;
    let mut scanned = Scanned {
        links: std::mem::take(&mut scanner.links),
        blobs: blobs.len(),
        history: blobs.len() - finals,
        bytes: scanner.bytes,
        entries,
        folders: BTreeSet::new(),
        old_links: BTreeMap::new(),
    };
    let secrets = std::mem::take(&mut scanner.secrets_seen);
    history_secrets(base, pin, rules, secrets, stop, findings)?;
    scanned
        .links
        .retain(|_, target| target.len() <= LONGEST_TARGET);
    if !scanned.links.is_empty() {
        let Layout { folders, links } = git::layout(base, pin)?;
        scanned.folders = folders;
        scanned.old_links = old_links(base, links, &scanned.entries, stop)?;
    }
    Ok(scanned)
}

/// The links that the change leaves alone and that go up from something they name.
fn old_links(
    base: &Command,
    links: Vec<(RepoPath, Oid)>,
    entries: &[Entry],
    stop: &CancellationToken,
) -> Result<BTreeMap<RepoPath, Vec<u8>>, Error> {
    let changed: BTreeSet<&RepoPath> = entries.iter().map(|entry| &entry.path).collect();
    let links = links.into_iter();
    let (paths, blobs): (Vec<RepoPath>, Vec<Oid>) =
        links.filter(|(path, _)| !changed.contains(path)).unzip();
    let mut read = Targets {
        current: 0,
        targets: vec![Vec::new(); paths.len()],
    };
    blob::read(base, &blobs, stop, &mut read)?;
    let all = paths.into_iter().zip(read.targets);
    Ok(all.filter(|(_, target)| goes_up_again(target)).collect())
}

/// Collects the targets of links.
struct Targets {
    current: usize,
    targets: Vec<Vec<u8>>,
}

impl Sink for Targets {
    fn begin(&mut self, index: usize, _size: u64) {
        self.current = index;
    }
    fn piece(&mut self, bytes: &[u8], _last: bool) {
        if let Some(target) = self.targets.get_mut(self.current)
            && target.len() <= LONGEST_TARGET
        {
            target.extend_from_slice(bytes);
        }
    }
}

/// The evidence by path, if it names exactly the entries that git names.
fn agreed<'e>(
    entries: &[Entry],
    evidence: &'e Evidence,
) -> Result<BTreeMap<&'e RepoPath, &'e ChangedFile>, Error> {
    let files: BTreeMap<_, _> = evidence.files.iter().map(|f| (&f.path, f)).collect();
    let sources: BTreeSet<_> = evidence
        .files
        .iter()
        .filter_map(|file| file.old_path.as_ref())
        .collect();
    let named: BTreeSet<_> = entries.iter().map(|entry| &entry.path).collect();
    let differs = |path: &RepoPath| Error::Evidence {
        path: path.to_string(),
    };
    if let Some(path) = files.keys().find(|path| !named.contains(**path)) {
        return Err(differs(path));
    }
    let unknown = |path: &&&RepoPath| !files.contains_key(**path) && !sources.contains(**path);
    if let Some(path) = named.iter().find(unknown) {
        return Err(differs(path));
    }
    Ok(files)
}

/// What a blob is read for.
#[derive(Debug)]
enum Target {
    /// It stands in the final tree: as files, as links.
    Final {
        files: Vec<FileScan>,
        links: Vec<RepoPath>,
    },
    /// It stands in commits of the change only; once under this path.
    History { path: RepoPath, blob: Oid },
}

fn final_blobs(
    entries: &[Entry],
    files: &BTreeMap<&RepoPath, &ChangedFile>,
) -> BTreeMap<Oid, Target> {
    let before: BTreeMap<&RepoPath, &Oid> = entries
        .iter()
        .map(|entry| (&entry.path, &entry.old))
        .collect();
    let mut targets = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.is_blob()) {
        let target = targets
            .entry(entry.new.clone())
            .or_insert_with(|| Target::Final {
                files: Vec::new(),
                links: Vec::new(),
            });
        let Target::Final {
            files: scans,
            links,
        } = target
        else {
            continue;
        };
        if entry.new_mode == git::LINK {
            links.push(entry.path.clone());
        } else {
            let changed = files.get(&entry.path).map_or(Changed::All, |file| {
                let source = file.old_path.as_ref().unwrap_or(&file.path);
                if before.get(source) == Some(&&entry.new) {
                    // Moved, or another mode: no byte of it is new.
                    Changed::Ranges(Vec::new())
                } else {
                    Changed::of(file)
                }
            });
            scans.push(FileScan::new(entry.path.clone(), changed));
        }
    }
    targets
}

/// The secrets seen so far, without the secrets.
#[derive(Debug, Default)]
struct Seen {
    /// Of the history; perhaps the base already holds them.
    suspects: Vec<(RepoPath, Oid, Located)>,
    /// Of the final files, by path and hash.
    reported: BTreeSet<(RepoPath, Digest)>,
}

/// Feeds the rules with the stream of blobs.
struct Scanner<'a> {
    rules: &'static SecretRules,
    targets: Vec<Target>,
    current: usize,
    secrets: SecretStream<'static>,
    findings: &'a mut Findings,
    links: BTreeMap<RepoPath, Vec<u8>>,
    secrets_seen: Seen,
    bytes: u64,
}

impl<'a> Scanner<'a> {
    fn new(rules: &'static SecretRules, targets: Vec<Target>, findings: &'a mut Findings) -> Self {
        Self {
            rules,
            targets,
            current: 0,
            secrets: SecretStream::new(rules),
            findings,
            links: BTreeMap::new(),
            secrets_seen: Seen::default(),
            bytes: 0,
        }
    }
}

impl Sink for Scanner<'_> {
    fn begin(&mut self, index: usize, size: u64) {
        self.current = index;
        self.bytes = self.bytes.saturating_add(size);
        self.secrets = SecretStream::new(self.rules);
        let rule = if size > VERY_LARGE {
            rule::VERY_LARGE
        } else if size > LARGE {
            rule::LARGE
        } else {
            return;
        };
        let paths: Vec<(RepoPath, &str)> = match self.targets.get(index) {
            Some(Target::Final { files, .. }) => {
                files.iter().map(|file| (file.path().clone(), "")).collect()
            }
            Some(Target::History { path, .. }) => {
                vec![(path.clone(), ", in the history of the change only")]
            }
            None => Vec::new(),
        };
        for (path, place) in paths {
            let detail = format!("{size} bytes{place}");
            self.findings.push(Found::file(rule, &path, detail));
        }
    }

    fn piece(&mut self, bytes: &[u8], last: bool) {
        let located = self.secrets.feed(bytes, last);
        match self.targets.get_mut(self.current) {
            Some(Target::Final { files, links }) => {
                for file in files {
                    file.piece(bytes, last, self.findings);
                    for secret in &located {
                        final_secret(self.rules, file, secret, self.findings);
                        self.secrets_seen
                            .reported
                            .insert((file.path().clone(), secret.digest.clone()));
                    }
                }
                for path in links {
                    let target = self.links.entry(path.clone()).or_default();
                    if target.len() <= LONGEST_TARGET {
                        target.extend_from_slice(bytes);
                    }
                }
            }
            Some(Target::History { path, blob }) => {
                let (path, blob) = (path.clone(), blob.clone());
                self.secrets_seen.suspects.extend(
                    located
                        .into_iter()
                        .map(|secret| (path.clone(), blob.clone(), secret)),
                );
            }
            None => {}
        }
    }
}

fn final_secret(
    rules: &'static SecretRules,
    file: &FileScan,
    secret: &Located,
    findings: &mut Findings,
) {
    let Some(rule) = rules.rule(secret.rule) else {
        return;
    };
    findings.push(Found {
        rule,
        path: Some(file.path().clone()),
        lines: Some((secret.line, secret.end_line)),
        detail: format!("{} bytes, not shown here", secret.bytes),
        more: String::new(),
        pre_existing: !file.changed().touches(secret.line, secret.end_line),
    });
}

/// Reports the secrets of the history, except those that the same path already held at the base
/// or that were reported there.
fn history_secrets(
    base: &Command,
    pin: &Pin,
    rules: &'static SecretRules,
    mut seen: Seen,
    stop: &CancellationToken,
    findings: &mut Findings,
) -> Result<(), Error> {
    if seen.suspects.is_empty() {
        return Ok(());
    }
    let paths: BTreeSet<RepoPath> = seen
        .suspects
        .iter()
        .map(|(path, ..)| path.clone())
        .collect();
    let (paths, blobs): (Vec<RepoPath>, Vec<Oid>) =
        git::base_blobs(base, pin, &paths)?.into_iter().unzip();
    let mut known = Known {
        paths,
        current: 0,
        secrets: SecretStream::new(rules),
        rules,
        found: BTreeSet::new(),
    };
    blob::read(base, &blobs, stop, &mut known)?;
    for (path, blob, secret) in seen.suspects {
        let Some(rule) = rules.rule(secret.rule) else {
            continue;
        };
        let key = (path.clone(), secret.digest.clone());
        if known.found.contains(&key) || !seen.reported.insert(key) {
            continue;
        }
        findings.push(Found {
            rule,
            path: Some(path),
            lines: Some((secret.line, secret.end_line)),
            detail: format!(
                "{} bytes, not shown here; in the history of the change only (`git log \
                 --find-object={blob}`): revoke it, and rewrite the commits",
                secret.bytes
            ),
            more: String::new(),
            pre_existing: false,
        });
    }
    Ok(())
}

/// Collects the secrets of the base's files.
struct Known {
    paths: Vec<RepoPath>,
    current: usize,
    secrets: SecretStream<'static>,
    rules: &'static SecretRules,
    found: BTreeSet<(RepoPath, Digest)>,
}

impl Sink for Known {
    fn begin(&mut self, index: usize, _size: u64) {
        self.current = index;
        self.secrets = SecretStream::new(self.rules);
    }
    fn piece(&mut self, bytes: &[u8], last: bool) {
        let Some(path) = self.paths.get(self.current) else {
            return;
        };
        for secret in self.secrets.feed(bytes, last) {
            self.found.insert((path.clone(), secret.digest));
        }
    }
}
