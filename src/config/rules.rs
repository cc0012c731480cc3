//! Settings to the domain's rules: policy, review, checks, reports.

use crate::config::layer::Layer;
use crate::config::load::Config;
use crate::config::settings::PolicyEntry;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::glob::Glob;
use crate::domain::isolation::Isolation;
use crate::domain::limits::Limits;
use crate::domain::policy::{Attest, Carry, Policy};
use crate::domain::price::{Price, parse_usd};
use crate::domain::run_spec::{CheckSpec, ReviewSpec};
use crate::domain::slot::SlotName;

/// What an approval must fulfil.
///
/// # Errors
/// `ConfigInvalid` or `NotBuilt`.
pub fn policy(config: &Config) -> Result<Policy, Failure> {
    let entry: &PolicyEntry = &config.settings.policy;
    let attest = match entry.attest.as_str() {
        "journal" => Attest::Journal,
        "files" => Attest::Files,
        other => return Err(not_built(config, "attest", other, "`journal` and `files`")),
    };
    let carry = match entry.carry.as_str() {
        "identity" => Carry::Identity,
        "none" => Carry::None,
        other => return Err(not_built(config, "carry", other, "`identity` and `none`")),
    };
    let mut require: Vec<SlotName> = Vec::new();
    for name in &entry.require {
        let path = ["policy", "require"];
        let slot = SlotName::parse(name).ok_or_else(|| {
            config.invalid(
                &path,
                &format!("`policy.require` names {name:?}, which is no slot name"),
            )
        })?;
        if !require.contains(&slot) {
            require.push(slot);
        }
    }
    for paths in entry.allow_unreviewed.iter().map(|allow| &allow.paths) {
        glob(config, &["policy", "allow-unreviewed"], paths)?;
    }
    for paths in entry.allow_findings.iter().map(|allow| &allow.paths) {
        glob(config, &["policy", "allow-findings"], paths)?;
    }
    Ok(Policy {
        require,
        attest,
        carry,
        up_to_date: entry.up_to_date,
        families: entry.families,
        allow_unreviewed: entry.allow_unreviewed.clone(),
        allow_findings: entry.allow_findings.clone(),
    })
}

/// The rules of the review. Isolation and remote review are not read from any file: a run lowers
/// them by option only, and what the base asks of isolation is kept beside it.
///
/// # Errors
/// `ConfigInvalid`.
pub fn review(
    config: &Config,
    isolation: Option<Isolation>,
    remote_diff_only: bool,
) -> Result<ReviewSpec, Failure> {
    let review = &config.settings.review;
    for pattern in &review.exclude {
        glob(config, &["review", "exclude"], pattern)?;
    }
    let rounds = config.origin(&["review", "max-rounds"]);
    Ok(ReviewSpec {
        max_rounds: review.max_rounds,
        rounds_scale: rounds.is_none_or(|origin| origin.layer == Layer::Default),
        fail_on: review.fail_on,
        fail_on_at_base: None,
        quorum: review.quorum,
        isolation: isolation.unwrap_or_default(),
        isolation_at_base: review.isolation,
        remote_diff_only,
        max_parallel: review.max_parallel,
        diff_cap: review.diff_cap,
        exclude: review.exclude.clone(),
    })
}

/// The commands of `checks`.
///
/// # Errors
/// `ConfigInvalid` when two have one name.
pub fn checks(config: &Config) -> Result<Vec<CheckSpec>, Failure> {
    let entries = &config.settings.checks;
    for (i, entry) in entries.iter().enumerate() {
        if entries[..i]
            .iter()
            .any(|earlier| earlier.name == entry.name)
        {
            return Err(config.invalid(
                &["checks"],
                &format!("two checks are named {:?}", entry.name),
            ));
        }
    }
    Ok(entries
        .iter()
        .map(|entry| CheckSpec {
            name: entry.name.clone(),
            run: entry.run.clone(),
            timeout: entry.timeout,
        })
        .collect())
}

/// What the run may spend, and whether it waits for limits of providers, which is said by option only.
#[must_use]
pub fn limits(config: &Config, wait: bool) -> Limits {
    let limits = &config.settings.limits;
    Limits {
        max_wall: limits.max_wall,
        max_cost_micro_usd: limits.max_cost.map(micro_usd),
        phases: limits.phases.clone(),
        wait,
        job_wait: limits.job_wait,
        prices: prices(config),
    }
}

/// What tokens cost. The form of each price was checked when it was read.
#[must_use]
pub fn prices(config: &Config) -> Vec<Price> {
    let entries = config.settings.prices.iter();
    let priced = entries.filter_map(|entry| {
        let optional = |text: &Option<String>| text.as_deref().and_then(parse_usd);
        Some(Price {
            model: entry.model.clone(),
            input: parse_usd(&entry.input)?,
            output: parse_usd(&entry.output)?,
            cached: optional(&entry.cached),
            cache_write: optional(&entry.cache_write),
        })
    });
    priced.collect()
}

/// Dollars in millionths; what is above zero is not taken for nothing.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and no amount is below zero"
)]
pub fn micro_usd(dollars: f64) -> u64 {
    ((dollars * 1e6).round() as u64).max(1)
}

/// The folders that the tree of `checks` keeps.
///
/// # Errors
/// `ConfigInvalid` for one that is not a plain path below the tree.
pub fn cache(config: &Config) -> Result<Vec<String>, Failure> {
    for path in &config.settings.cache {
        plain(config, &["cache"], path)?;
    }
    Ok(config.settings.cache.clone())
}

/// Where promoted evidence lies.
///
/// # Errors
/// `ConfigInvalid` for a path that is not plain.
pub fn reports(config: &Config) -> Result<String, Failure> {
    plain(config, &["reports"], &config.settings.reports)?;
    Ok(config.settings.reports.clone())
}

fn not_built(config: &Config, key: &str, value: &str, works: &str) -> Failure {
    let place = config
        .origin(&["policy", key])
        .map_or_else(String::new, |origin| format!(" ({origin})"));
    Failure::new(
        Code::NotBuilt,
        format!("this version of run-loop does not have `policy.{key}: {value}` yet{place}; {works} work"),
    )
    .next(["run-loop", "config", "show", "--origin"])
}

fn glob(config: &Config, path: &[&str], pattern: &str) -> Result<(), Failure> {
    match Glob::parse(pattern) {
        Ok(_) => Ok(()),
        Err(error) => Err(config.invalid(
            path,
            &format!("`{}` has {pattern:?}: {error}", path.join(".")),
        )),
    }
}

/// Relative, without `.` and `..`, not in `.git`: what is read or written there lies there.
pub(crate) fn plain(config: &Config, key: &[&str], path: &str) -> Result<(), Failure> {
    let fits = |part: &str| {
        !matches!(part, "" | "." | "..")
            && !part.eq_ignore_ascii_case(".git")
            && !part.contains(|c: char| c.is_control() || c == '\\')
    };
    if path.split('/').all(fits) {
        return Ok(());
    }
    let key_path = key.join(".");
    let message =
        format!("`{key_path}` has {path:?}, which is not a plain path below the repository's root");
    Err(config.invalid(key, &message))
}
