//! Configuration files: read or refused with a code of ours, the same each time.

use run_loop::config::load;
use run_loop::config::sources::{File, Sources};
use run_loop::domain::exit::Exit;

use super::Target;

pub const TARGET: Target = Target {
    name: "config",
    seeds,
    words: &[
        "version: 1\n",
        "agents:\n",
        "  a: {kind: command, command: [x]}\n",
        "roles:\n",
        "  reviewers: [a, checks]\n",
        "policy: {require: [a]}\n",
        "review: {max-rounds: 5}\n",
        "&a ",
        "*a",
        "<<: *a\n",
        "!!binary ",
        "? ",
        "|\n",
        "---\n",
    ],
    run,
};

fn seeds() -> Vec<Vec<u8>> {
    vec![
        b"version: 1\nagents:\n  a: {kind: command, command: [/bin/cat], report: file}\nroles:\n  \
          reviewers: [a, {agent: a, name: b, fallback: [checks]}]\nreview: {max-rounds: 3, fail-on: \
          high, exclude: ['*.lock']}\nchecks:\n  - {name: test, run: 'true', timeout: 5}\nlimits: \
          {job-timeout: 60}\npolicy: {require: [a], attest: journal}\nreports: .agents/reports\n"
            .to_vec(),
        b"version: 1\n".to_vec(),
    ]
}

fn run(input: &[u8]) {
    let file = File {
        name: "run-loop.yaml".to_owned(),
        bytes: input.to_vec(),
    };
    let sources = Sources {
        base_file: Some(file),
        ..Sources::default()
    };
    match (load(&sources), load(&sources)) {
        (Ok(one), Ok(two)) => {
            assert_eq!(one.sha256, two.sha256);
            assert!(!one.rows().is_empty());
        }
        (Err(one), Err(two)) => {
            assert_eq!(one, two);
            assert_eq!(one.code.exit(), Exit::Usage, "{one}");
        }
        (one, two) => panic!("{:?} and {:?}", one.err(), two.err()),
    }
}
