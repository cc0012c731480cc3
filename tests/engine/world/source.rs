//! The source: what is pinned, measured and shown of it.

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::Done;
use run_loop::domain::evidence::Evidence;
use run_loop::domain::failure::Failure;
use run_loop::domain::identity::{Elsewhere, Identity, Kept, Pin, Remeasured, Site, Tripwire};
use run_loop::domain::lines::{FileSince, Region, Since};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;

use crate::world::oid;
use crate::world::script::Motion;

pub(super) fn pin(content: u8, trip: u8) -> Pin {
    let digest = Digest::of(&[trip]);
    Pin {
        identity: Identity {
            base: oid(200),
            head: oid(201),
            tree: oid(content),
            content_tree: oid(content),
        },
        snapshot: oid(content),
        base_tip: None,
        base_content_tree: oid(0),
        branch: None,
        commits: 1,
        behind: 0,
        dirty: false,
        only_evidence: false,
        alone: None,
        tripwire: Tripwire {
            head_ref: "refs/heads/feature".to_owned(),
            branch_tip: oid(201),
            config: digest,
            hooks: Digest::of(b""),
            info: Digest::of(b""),
            index: Digest::of(b""),
            manifests: Digest::of(b""),
            parts: Box::default(),
        },
        notices: Vec::new(),
    }
}

pub(super) fn measure(
    motion: Motion,
    loses: bool,
    mut now: Pin,
    content: &mut u8,
) -> Done<Remeasured> {
    let mut elsewhere = Vec::new();
    let head_descends = motion != Motion::Amended;
    match motion {
        Motion::Still => {}
        Motion::Elsewhere => elsewhere.push(Elsewhere {
            site: Site::Branch,
            branch: "elsewhere".to_owned(),
            from: None,
            to: oid(203),
        }),
        Motion::Content(next) => {
            *content = next;
            now = pin(next, 0);
        }
        Motion::Base => now.identity.base = oid(202),
        Motion::Rebased => {
            (now.identity.base, now.base_tip) = (oid(202), Some(oid(205)));
        }
        Motion::Amended => now.tripwire.branch_tip = oid(206),
        Motion::Switched => {
            "refs/heads/elsewhere".clone_into(&mut now.tripwire.head_ref);
        }
        Motion::Tripped => now.tripwire.hooks = Digest::of(b"a new hook"),
        Motion::Unholdable => {
            return Done::Err(Failure::new(Code::SourceMoved, "as scripted"));
        }
        Motion::GitFails => return Done::Err(Failure::new(Code::MeasureFailed, "as scripted")),
    }
    let lost = if loses {
        vec![RepoPath::from("notes.txt")]
    } else {
        Vec::new()
    };
    Done::Ok(Remeasured {
        pin: now,
        moved_paths: Vec::new(),
        base_rewound: false,
        head_descends,
        kept: loses.then(|| Kept {
            store: "/store".to_owned(),
            snapshot: oid(204),
            staged: None,
            unmerged: None,
        }),
        lost,
        unstaged: Vec::new(),
        unmerged: Vec::new(),
        own: Vec::new(),
        elsewhere,
        unknown: Vec::new(),
        anew: None,
    })
}

/// The source as it lies there, with nothing moved but its content.
pub fn look(content: u8) -> Box<Remeasured> {
    let mut same = content;
    match measure(Motion::Still, false, pin(content, 0), &mut same) {
        Done::Ok(found) => Box::new(found),
        Done::Err(failure) => panic!("{failure}"),
    }
}

/// Line 1 of the one file differs between an odd content and an even one.
pub fn is_same_line(one: u8, other: u8) -> bool {
    one % 2 == other % 2
}

pub(super) fn evidence(now: &Oid, since: &[Oid]) -> Evidence {
    let content = |tree: &Oid| {
        (0..=u8::MAX)
            .find(|content| oid(*content) == *tree)
            .unwrap()
    };
    let region = Region {
        old: 1,
        old_count: 1,
        new: 1,
        new_count: 1,
    };
    let of = |tree: &Oid| {
        let same = is_same_line(content(tree), content(now));
        Since {
            tree: tree.clone(),
            files: vec![FileSince {
                old: Some("src".into()),
                new: Some("src".into()),
                changed: Some(if same { Vec::new() } else { vec![region] }),
            }],
        }
    };
    Evidence {
        files: Vec::new(),
        parts: Vec::new(),
        diff_sha256: Digest::of(b""),
        files_sha256: Digest::of(b""),
        since: since.iter().map(of).collect(),
        folder: "/evidence".to_owned(),
    }
}
