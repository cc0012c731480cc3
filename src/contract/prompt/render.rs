//! The templates, and how one is rendered: no code in them, and no name may be missing.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};

use crate::contract::prompt::Error;
use crate::domain::template::Template;

macro_rules! templates {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../templates/", $name))),)*]
    };
}

/// Every template of the prompts themselves, by its name.
pub(super) const TEMPLATES: &[(&str, &str)] = templates! {
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
    "seen.md",
    "altered.md",
    "writes.md",
    "answers.md",
    "rulings.md",
    "re-ask-reply.md",
};

/// Renders a template; one of the base's own stands for the built-in one of its name.
pub(super) fn render(own: &[Template], name: &str, values: Value) -> Result<String, Error> {
    Ok(environment(own)?.get_template(name)?.render(values)?)
}

/// How every template is parsed: blocks stand on lines of their own.
pub(in crate::contract) fn in_blocks<'a>() -> Result<Environment<'a>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    Ok(environment)
}

/// All templates, as they include each other.
pub(super) fn environment(own: &[Template]) -> Result<Environment<'_>, minijinja::Error> {
    let mut environment = in_blocks()?;
    let built_in = |name: &str| TEMPLATES.iter().any(|(known, _)| *known == name);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    for template in own.iter().filter(|template| built_in(&template.name)) {
        environment.add_template(&template.name, &template.text)?;
    }
    Ok(environment)
}
