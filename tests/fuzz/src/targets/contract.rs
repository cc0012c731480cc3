//! Reports: nothing is a verdict that does not carry the job's nonce and tree, and claims of an
//! invalid report are never softer than what it says.

use run_loop::contract::{Expect, TextFile, acceptance, review};
use run_loop::domain::agent::Contract;
use run_loop::domain::digest::Digest;
use run_loop::domain::evidence::{ChangedFile, DiffPart, Evidence, FileStatus};
use run_loop::domain::id::FindingId;
use run_loop::domain::job::Reading;
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::severity::Severity;
use run_loop::domain::verdict::Verdict;

use super::Target;

const NONCE: &str = "0123456789abcdef0123456789abcdef";
const TREE: &str = "1111111111111111111111111111111111111111";
const RECEIPT: &str = "fedcba98";

pub const TARGET: Target = Target {
    name: "contract",
    seeds,
    words: &[
        "```run-loop-verdict\n",
        "```\n",
        "~~~\n",
        "VERDICT: PASS\n",
        "VERDICT: NOT PASS\n",
        "Nonce: 0123456789abcdef0123456789abcdef\n",
        "\"verdict\": \"PASS\"",
        "\"verdict\": \"NOT PASS\"",
        "> ",
        "    ",
        "- ",
        "<!--",
        "\u{202e}",
    ],
    run,
};

fn seeds() -> Vec<Vec<u8>> {
    let block = |verdict: &str, findings: &str| {
        format!(
            "# Review\n\nI read it.\n\n```run-loop-verdict\n{{\"version\": 1, \"nonce\": \"{NONCE}\", \
             \"tree\": \"{TREE}\", \"verdict\": \"{verdict}\", \"summary\": \"s\", \"receipts\": \
             {{\"001\": \"{RECEIPT}\"}}, \"coverage\": [{{\"path\": \"src/a.rs\", \"how\": \
             \"read\"}}], \"findings\": {findings}}}\n```\n"
        )
    };
    let finding = "[{\"title\": \"t\", \"severity\": \"high\", \"path\": \"src/a.rs\", \"line\": 1, \
                   \"body\": \"b\"}]";
    [
        block("PASS", "[]"),
        block("NOT PASS", finding),
        block("PASS", finding),
        format!("Looked.\n\nNonce: {NONCE}\nVERDICT: PASS\n"),
        format!("Looked.\n\nNonce: {NONCE}\nVERDICT: NOT PASS\n"),
    ]
    .map(String::into_bytes)
    .into()
}

fn evidence() -> Evidence {
    Evidence {
        files: vec![ChangedFile {
            path: RepoPath::from("src/a.rs"),
            status: FileStatus::Modified,
            old_path: None,
            old_mode: "100644".to_owned(),
            new_mode: "100644".to_owned(),
            size: Some(10),
            added: Some(1),
            removed: Some(0),
            unreviewed: None,
            changed_lines: vec![(1, 1)],
        }],
        parts: vec![DiffPart {
            name: "001".to_owned(),
            receipt: RECEIPT.to_owned(),
            bytes: 10,
            in_prompt: true,
        }],
        diff_sha256: Digest::of(b"diff"),
        files_sha256: Digest::of(b"files"),
        since: Vec::new(),
        folder: "/evidence".to_owned(),
    }
}

fn run(input: &[u8]) {
    let evidence = evidence();
    let tree = Oid::parse(TREE).expect("an object id");
    // The same bytes as a plan: whatever its items are, nothing of it may fail.
    let items = acceptance::items(&String::from_utf8_lossy(input));
    let contains = |text: &str| input.windows(text.len()).any(|it| it == text.as_bytes());
    for contract in [Contract::Json, Contract::Line] {
        let expect = Expect {
            contract,
            nonce: NONCE,
            tree: &tree,
            evidence: &evidence,
            fail_on: Severity::Medium,
            items: &items,
            prior: &(1..=9).map(|id| (FindingId(id), None)).collect(),
            text_at: &|_| {
                Some(TextFile {
                    blob: tree.clone(),
                    lines: 3,
                })
            },
        };
        let reading = review::read(input, &expect);
        assert_eq!(reading, review::read(input, &expect), "two readings differ");
        if let Reading::Review(review) = reading {
            assert!(contains(NONCE), "a verdict without the nonce");
            if contract == Contract::Json {
                assert!(contains(TREE), "a verdict without the tree");
                // A NOT PASS needs none: nothing is promoted of it.
                let passed = review.verdict == Verdict::Pass;
                assert!(!passed || contains(RECEIPT), "a PASS without the receipt");
            }
        }
    }
}
