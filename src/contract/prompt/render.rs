//! The templates, and how one is rendered: no code in them, and no name may be missing.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};

use crate::contract::prompt::Error;

macro_rules! templates {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../templates/", $name))),)*]
    };
}

const TEMPLATES: &[(&str, &str)] = templates! {
    "review.md",
    "context.md",
    "re-ask.md",
    "contract-json.md",
    "contract-line.md",
    "plan.md",
    "challenge.md",
    "refine.md",
    "implement.md",
    "correct.md",
    "comply.md",
    "readjudicate.md",
    "arbitrate.md",
    "quoted.md",
    "task.md",
    "findings.md",
    "writes.md",
    "answers.md",
    "rulings.md",
    "re-ask-reply.md",
};

pub(super) fn render(name: &str, values: Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    Ok(environment.get_template(name)?.render(values)?)
}
