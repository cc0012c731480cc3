//! Unit and property tests of the secret rules. Samples are put together at run time, so that no
//! scanner takes this file for a leak.

use proptest::prelude::*;

use super::stream::SecretStream;
use super::*;
use crate::checks::blob::PIECE;

const ALNUM: &str = "a8Kd03mZq1WxY7vBn5RtG2hJ6sLpC4eQ9uFoTiNyAbVcXzMkPwErDgSjHl8f3U";

fn alnum(length: usize) -> String {
    ALNUM.chars().cycle().take(length).collect()
}

fn digits16(length: usize) -> String {
    "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

/// One secret of every rule: its name, and a text that holds one.
#[expect(clippy::too_many_lines, reason = "a list with an entry for each rule")]
fn samples() -> Vec<(&'static str, String)> {
    let pem = format!(
        "-----BEGIN RSA {} KEY-----\n{}\n{}\n-----END RSA {} KEY-----",
        "PRIVATE",
        alnum(64),
        alnum(64),
        "PRIVATE"
    );
    vec![
        ("private-key", pem),
        (
            "putty-private-key",
            format!(
                "PuTTY-User-Key-File-{}: ssh-rsa\nEncryption: none\nPublic-Lines: 6\n{}",
                2,
                alnum(64)
            ),
        ),
        (
            "age-secret-key",
            format!(
                "AGE-SECRET-{}-1{}",
                "KEY", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"
            ),
        ),
        ("aws-access-key", ["AK", "IA2345ABCDEFGHIJKL"].concat()),
        (
            "aws-secret-key",
            format!("aws_secret_{} = {}", "access_key", alnum(40)),
        ),
        ("github-token", format!("gh{}_{}", "p", alnum(36))),
        (
            "github-fine-grained-token",
            format!("github_{}_{}_{}", "pat", alnum(22), alnum(59)),
        ),
        ("gitlab-token", format!("gl{}-{}", "pat", alnum(20))),
        (
            "slack-token",
            format!("xox{}-1234567890-{}", "b", alnum(24)),
        ),
        (
            "slack-webhook",
            format!(
                "https://hooks.{}.com/services/T0AB{}/B12/{}",
                "slack",
                alnum(8),
                alnum(40)
            ),
        ),
        ("google-api-key", format!("AI{}{}", "za", alnum(35))),
        ("google-oauth-secret", format!("GOC{}-{}", "SPX", alnum(28))),
        ("stripe-key", format!("sk_{}_{}", "live", alnum(24))),
        (
            "stripe-webhook-secret",
            format!("wh{}_{}", "sec", alnum(32)),
        ),
        ("npm-token", format!("np{}_{}", "m", alnum(36))),
        (
            "pypi-token",
            format!("py{}-AgEIcHlwaS5vcmc{}", "pi", alnum(60)),
        ),
        ("crates-io-token", format!("ci{}{}", "o", alnum(32))),
        ("rubygems-key", format!("ruby{}_{}", "gems", digits16(48))),
        ("docker-token", format!("dckr_{}_{}", "pat", alnum(27))),
        ("anthropic-key", format!("sk-{}-api03-{}", "ant", alnum(95))),
        ("openai-key", format!("sk-{}-{}", "proj", alnum(64))),
        ("openrouter-key", format!("sk-{}-v1-{}", "or", digits16(64))),
        ("huggingface-token", format!("h{}_{}", "f", alnum(34))),
        ("vault-token", format!("hv{}.{}", "s", alnum(30))),
        (
            "terraform-token",
            format!("{}.atlas{}.{}", alnum(14), "v1", alnum(64)),
        ),
        (
            "digitalocean-token",
            format!("do{}_v1_{}", "p", digits16(64)),
        ),
        (
            "sendgrid-key",
            format!("S{}.{}.{}", "G", alnum(22), alnum(43)),
        ),
        ("shopify-token", format!("shp{}_{}", "at", digits16(32))),
        ("databricks-token", format!("da{}{}", "pi", digits16(32))),
        (
            "azure-storage-key",
            format!("Account{}={}==", "Key", alnum(86)),
        ),
        (
            "grafana-token",
            format!("gl{}_{}_{}", "sa", alnum(32), digits16(8)),
        ),
        ("linear-key", format!("lin_{}_{}", "api", alnum(40))),
        ("atlassian-token", format!("ATA{}{}", "TT3", alnum(186))),
        (
            "postman-key",
            format!("PM{}-{}-{}", "AK", digits16(24), digits16(34)),
        ),
        ("telegram-token", format!("123456789:{}{}", "AA", alnum(33))),
        (
            "json-web-token",
            format!(
                "ey{}.ey{}.{}",
                ["J", &alnum(30)].concat(),
                ["J", &alnum(40)].concat(),
                alnum(43)
            ),
        ),
        (
            "url-password",
            format!("postgres://ann:{}@db.example.org/x", alnum(12)),
        ),
    ]
}

fn names(text: &str) -> Vec<&'static str> {
    let rules = SecretRules::embedded().unwrap();
    rules
        .find(text.as_bytes())
        .iter()
        .map(|hit| rules.rule(hit.rule).unwrap().id)
        .collect()
}

#[test]
fn every_rule_finds_its_sample_and_only_that() {
    for (name, sample) in samples() {
        assert_eq!(names(&format!("x = \"{sample}\"\n")), [name], "{sample}");
    }
}

#[test]
fn every_rule_has_a_sample_and_its_keywords_stand_in_it() {
    let rules = SecretRules::embedded().unwrap();
    let samples = samples();
    for rule in &rules.rules {
        let sample = samples.iter().find(|(name, _)| *name == rule.entry.id);
        let (_, text) = sample.unwrap_or_else(|| panic!("no sample for {}", rule.entry.id));
        let known = rule.entry.keywords.iter().any(|word| text.contains(word));
        assert!(known, "{}", rule.entry.id);
    }
    assert_eq!(rules.rules.len(), samples.len());
}

#[test]
fn documented_dummies_and_placeholders_are_no_secrets() {
    for text in [
        ["AK", "IAIOSFODNN7EXAMPLE"].concat(),
        ["AK", "IAXXXXXXXXXXXXXXXX"].concat(),
        format!("gh{}_{}", "p", "x".repeat(36)),
        format!(
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY{}",
            "EXAMPLEKEY"
        ),
        format!("-----BEGIN {} KEY-----", "PRIVATE"),
        format!(
            "if line == \"-----BEGIN RSA {} KEY-----\" {{ return Ok(()) }}",
            "PRIVATE"
        ),
        "a task-force of risk-takers on the disk-array".to_owned(),
        "https://ann:${PASSWORD}@example.org/".to_owned(),
        "see https://example.org:8080/a@b".to_owned(),
    ] {
        assert_eq!(names(&text), [] as [&str; 0], "{text}");
    }
}

#[test]
fn an_assigned_value_must_look_random() {
    let random = alnum(24);
    for line in [
        format!("api_key = \"{random}\""),
        format!("\"clientSecret\": '{random}',"),
        format!("export DB_PASSWORD={random}"),
        format!("config['auth_key'] => `{random}`"),
    ] {
        let range = assigned::find(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(&line[range], random);
        assert!(!assigned::redact(&line).contains(&random));
    }
    for line in [
        "token = \"the quick brown fox\"",
        "password: \"aaaaaaaaaaaaaaaa1111\"",
        "let secret = get_secret_from_environment();",
        "api_key = \"${API_KEY_FROM_VAULT_1}\"",
        "password = \"short1\"",
    ] {
        assert_eq!(assigned::find(line.as_bytes()), None, "{line}");
    }
}

/// Feeds a text in pieces of the given sizes.
fn streamed(text: &[u8], sizes: &[usize]) -> Vec<(u32, u32)> {
    let mut stream = SecretStream::new(SecretRules::embedded().unwrap());
    let (mut rest, mut found) = (text, Vec::new());
    let mut sizes = sizes.iter().copied().cycle();
    loop {
        let (piece, after) = rest.split_at(
            sizes
                .next()
                .unwrap()
                .clamp(1, rest.len().max(1))
                .min(rest.len()),
        );
        rest = after;
        found.extend(stream.feed(piece, rest.is_empty()));
        if rest.is_empty() {
            return found.iter().map(|l| (l.line, l.end_line)).collect();
        }
    }
}

#[test]
fn a_secret_across_two_pieces_is_found_once() {
    let secret = format!("gh{}_{}", "p", alnum(36));
    for before in [PIECE - 50, PIECE - 20, PIECE - 1, PIECE, PIECE + 1] {
        let mut text = "x\n".repeat(before / 2).into_bytes();
        let line = u32::try_from(before / 2 + 1).unwrap();
        text.extend_from_slice(secret.as_bytes());
        text.extend_from_slice(&b" y\n".repeat(20_000));
        assert_eq!(streamed(&text, &[PIECE]), [(line, line)], "{before}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_panics_on_any_bytes(text in prop::collection::vec(any::<u8>(), 0..3000)) {
        let rules = SecretRules::embedded().unwrap();
        rules.find(&text);
        for line in text.split(|byte| *byte == b'\n') {
            assigned::find(line);
        }
        rules.redact(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn a_planted_secret_is_found_and_hidden_wherever_it_stands(
        index in 0..37_usize,
        before in "[ -~\n]{0,200}",
        after in "[ -~\n]{0,200}",
        cut in 1..400_usize,
    ) {
        let (_, secret) = &samples()[index];
        // Quotes around it: a secret glued to other letters is another word.
        let text = format!("{before}\n\"{secret}\"\n{after}");
        prop_assert!(!names(&text).is_empty());
        prop_assert!(!streamed(text.as_bytes(), &[cut]).is_empty());
        let canary = secret
            .rsplit(['\n', '=', ':', '/'])
            .find(|part| part.len() > 20 && !part.contains("KEY"));
        if let Some(canary) = canary {
            let hidden = SecretRules::embedded().unwrap().redact(&text);
            prop_assert!(!hidden.contains(canary), "{}", hidden);
        }
    }
}
