//! What the loop's command line alone says, and what of it does not fit together. Nothing is asked
//! of the repository here.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::json;

use crate::cli::args::review::LoopArgs;
use crate::cli::environment::{Environment, JOB_ID, MAX_ROUNDS, TIMEOUT, Variable};
use crate::cli::task;
use crate::config::layer::Layer;
use crate::config::sources::Override;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::isolation::Isolation;

/// The loop's options, found to fit together.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The task, where it stands on the command line.
    pub(crate) task: Option<String>,
    /// A file that holds it.
    pub(crate) task_file: Option<PathBuf>,
    /// Where the plan comes from.
    pub(crate) plan: PlanOption,
    /// What the change is judged against; HEAD at the start where it is not given.
    pub(crate) base: Option<String>,
    /// The agent that writes, where it stands on the command line.
    pub(crate) creator: Option<String>,
    /// Whether the arbiter stands on the command line.
    pub(crate) arbiter_named: bool,
    /// Values for the configuration.
    pub(crate) overrides: Vec<Override>,
    /// How reviewers are kept apart.
    pub(crate) isolation: Option<Isolation>,
    /// Whether remote reviewers may judge by the diff.
    pub(crate) remote_diff_only: bool,
    /// The command line, program first.
    pub(crate) argv: Vec<String>,
    /// Things to tell.
    pub(crate) notices: Vec<String>,
}

/// Where the plan comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlanOption {
    /// Nothing is said: none is loaded (row M-040).
    Nobody,
    /// `--plan`.
    Planner,
    /// `--plan-file`.
    File(PathBuf),
}

/// Reads the options.
///
/// # Errors
/// `InsideJob`, `NotATask`, `BadArguments`, `BadValue`, `OptionsConflict`, `ReviewOnlyNeedsBase`.
pub(crate) fn read(
    args: &LoopArgs,
    argv: &[OsString],
    environment: &Environment,
) -> Result<Options, Failure> {
    if let Some(job) = environment.get(JOB_ID.name) {
        return Err(Failure::new(
            Code::InsideJob,
            format!(
                "this is job {} of a run; a job starts no loop",
                job.to_string_lossy()
            ),
        )
        .next(["run-loop", "status"]));
    }
    let line = line(argv);
    let task = task::single(args, argv)?;
    conflicts(args, task.is_some(), &line)?;
    let overrides = overrides(args, environment)?;
    if args.review_only && args.base.is_none() {
        return Err(Failure::new(
            Code::ReviewOnlyNeedsBase,
            "--review-only needs --base: what the change is judged against is never guessed",
        )
        .next(with(&line, &["--base", "main"])));
    }
    nothing_to_do(args, task.is_some() || args.task_file.is_some(), &line)?;
    Ok(Options {
        task,
        task_file: args.task_file.clone(),
        plan: plan(args),
        base: args.base.clone(),
        creator: args.creator.clone(),
        arbiter_named: args.arbiter.is_some(),
        overrides,
        isolation: args.review_isolation.map(Isolation::from),
        remote_diff_only: args.remote_review.is_some(),
        argv: line,
        notices: notices(args, environment),
    })
}

/// Refuses a line that names no work.
fn nothing_to_do(args: &LoopArgs, task: bool, line: &[String]) -> Result<(), Failure> {
    if args.review_only || task || args.plan_file.is_some() {
        return Ok(());
    }
    if args.plan {
        return Err(Failure::new(
            Code::BadArguments,
            "--plan needs a task that the planner plans for",
        )
        .next(["run-loop", "--help"]));
    }
    let missing: &[&str] = match args.base {
        Some(_) => &["--review-only"],
        None => &["--base", "main", "--review-only"],
    };
    Err(Failure::new(
        Code::BadArguments,
        "there is nothing to do: neither a task, nor --plan-file, nor --review-only",
    )
    .next(with(line, missing)))
}

/// With `--review-only` nothing is implemented, so that no plan is loaded.
fn plan(args: &LoopArgs) -> PlanOption {
    match &args.plan_file {
        Some(path) if !args.review_only => PlanOption::File(path.clone()),
        None if args.plan => PlanOption::Planner,
        Some(_) | None => PlanOption::Nobody,
    }
}

fn conflicts(args: &LoopArgs, task: bool, line: &[String]) -> Result<(), Failure> {
    let conflict = |message: &str, without: &str| {
        Err(Failure::new(Code::OptionsConflict, message).next(without_option(line, without)))
    };
    if task && args.task_file.is_some() {
        return conflict(
            "the task stands on the command line and in --task-file",
            "--task-file",
        );
    }
    if args.review_only && args.plan {
        return conflict(
            "--review-only with --plan: a review writes no plan",
            "--plan",
        );
    }
    let answers = args.creator.is_some() || !args.review_only;
    let idle = [
        ("--planner", args.planner.is_some()),
        ("--arbiter", args.arbiter.is_some()),
    ];
    if let Some((option, _)) = idle.into_iter().find(|(_, given)| *given && !answers) {
        let message = format!(
            "--review-only with {option} and without --creator: nobody answers findings, so that \
             nothing is planned and nothing disputed"
        );
        return conflict(&message, option);
    }
    if args.plan && args.plan_file.is_some() {
        return conflict(
            "--plan with --plan-file: one writes the plan, the other brings it",
            "--plan",
        );
    }
    Ok(())
}

fn overrides(args: &LoopArgs, environment: &Environment) -> Result<Vec<Override>, Failure> {
    let value = |layer, name, section, key, value| Override {
        layer,
        name,
        section,
        key,
        value,
    };
    let mut all = numbers(
        environment,
        &[
            (MAX_ROUNDS, "review", "max-rounds"),
            (TIMEOUT, "limits", "job-timeout"),
        ],
    )?;
    if let Some(rounds) = args.max_rounds {
        all.push(value(
            Layer::Flag,
            "--max-rounds",
            "review",
            "max-rounds",
            json!(rounds),
        ));
    }
    for (flag, key, seconds) in [
        ("--job-timeout", "job-timeout", args.job_timeout),
        ("--job-wait", "job-wait", args.job_wait),
        ("--max-wall", "max-wall", args.max_wall),
    ] {
        let seconds = seconds.map(|seconds| json!(seconds));
        all.extend(seconds.map(|it| value(Layer::Flag, flag, "limits", key, it)));
    }
    if let Some(usd) = args.max_cost {
        let usd = json!(usd);
        all.push(value(Layer::Flag, "--max-cost", "limits", "max-cost", usd));
    }
    if let Some(severity) = args.fail_on {
        all.push(value(
            Layer::Flag,
            "--fail-on",
            "review",
            "fail-on",
            json!(severity),
        ));
    }
    if !args.reviewer.is_empty() {
        all.push(value(
            Layer::Flag,
            "--reviewer",
            "roles",
            "reviewers",
            json!(args.reviewer),
        ));
    }
    for (name, key, agent) in [
        ("--creator", "creator", &args.creator),
        ("--planner", "planner", &args.planner),
        ("--arbiter", "arbiter", &args.arbiter),
    ] {
        if let Some(agent) = agent {
            all.push(value(Layer::Flag, name, "roles", key, json!(agent)));
        }
    }
    Ok(all)
}

/// The command line as it can be run again.
pub(crate) fn line(argv: &[OsString]) -> Vec<String> {
    let given = argv.iter().skip(1);
    let given = given.map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once("run-loop".to_owned())
        .chain(given)
        .collect()
}

/// The options that variables with a number stand for.
///
/// # Errors
/// When one holds no whole number.
pub(crate) fn numbers(
    environment: &Environment,
    variables: &[(Variable, &'static str, &'static str)],
) -> Result<Vec<Override>, Failure> {
    let mut all = Vec::new();
    for (variable, section, key) in variables {
        if let Some(number) = number(environment, *variable)? {
            all.push(Override {
                layer: Layer::Environment,
                name: variable.name,
                section,
                key,
                value: json!(number),
            });
        }
    }
    Ok(all)
}

fn number(environment: &Environment, variable: Variable) -> Result<Option<u32>, Failure> {
    let Some(text) = environment.text(variable)? else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        Failure::new(
            Code::BadValue,
            format!(
                "the variable {} is {text:?}, not a whole number",
                variable.name
            ),
        )
        .next(variable.unset())
    })
}

fn notices(args: &LoopArgs, environment: &Environment) -> Vec<String> {
    let mut notices: Vec<String> = environment
        .ignored()
        .into_iter()
        .map(|name| format!("the variable {name} is set and not read: this is an option only"))
        .collect();
    if args.plan_file.is_some() && args.review_only {
        notices
            .push("--plan-file is ignored: with --review-only nothing is implemented".to_owned());
    }
    notices
}

/// The line with options added right behind the program: at the end they might follow `--`.
pub(crate) fn with(line: &[String], options: &[&str]) -> Vec<String> {
    let (program, rest) = line.split_at(line.len().min(1));
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    [program, &options, rest].concat()
}

/// The line with another value of an option that it has.
pub(crate) fn with_value(line: &[String], option: &str, value: &str) -> Vec<String> {
    let joined = format!("{option}=");
    let mut changed = line.to_vec();
    let options = before_words(line);
    if let Some(place) = options.iter().position(|word| word.starts_with(&joined)) {
        changed[place] = format!("{joined}{value}");
    } else if let Some(place) = options.iter().position(|word| word == option)
        && let Some(old) = changed.get_mut(place + 1)
    {
        value.clone_into(old);
    }
    changed
}

/// The line without an option and its value.
fn without_option(line: &[String], option: &str) -> Vec<String> {
    let takes_value = !matches!(option, "--plan" | "--wait-open-jobs" | "--wait-for-limits");
    let mut kept = Vec::new();
    let options = before_words(line);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if word == option {
            if takes_value {
                words.next();
            }
        } else if !word.starts_with(&format!("{option}=")) {
            kept.push(word.clone());
        }
    }
    kept.extend_from_slice(&line[options.len()..]);
    kept
}

/// The part of a line in which options stand: what follows `--` is a task, whatever it looks like.
fn before_words(line: &[String]) -> &[String] {
    let end = line.iter().position(|word| word == "--");
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_line_keeps_the_rest() {
        let line: Vec<String> = [
            "run-loop",
            "--plan",
            "--planner",
            "a b",
            "--max-cost=3",
            "--",
            "x",
        ]
        .map(str::to_owned)
        .into();
        assert_eq!(without_option(&line, "--plan")[1..], line[2..]);
        assert_eq!(
            without_option(&line, "--planner").join(" "),
            "run-loop --plan --max-cost=3 -- x"
        );
        assert_eq!(
            without_option(&line, "--max-cost").join(" "),
            "run-loop --plan --planner a b -- x"
        );
        let changed = [
            with_value(&line, "--planner", "c"),
            with_value(&line, "--max-cost", "4"),
        ];
        assert_eq!(
            changed.map(|line| line.join(" ")),
            [
                "run-loop --plan --planner c --max-cost=3 -- x",
                "run-loop --plan --planner a b --max-cost=4 -- x"
            ]
        );
        let task = ["run-loop", "--", "--planner", "a"].map(str::to_owned);
        assert_eq!(with_value(&task, "--planner", "c"), task);
        assert_eq!(without_option(&task, "--planner"), task);
        assert_eq!(
            with(&line, &["--base", "main"])[..4].join(" "),
            "run-loop --base main --plan"
        );
    }
}
