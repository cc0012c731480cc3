//! What this version cannot do yet.

use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// A command of a later version.
pub(crate) fn command<'a>(name: &str, instead: impl IntoIterator<Item = &'a str>) -> Failure {
    Failure::new(
        Code::NotBuilt,
        format!("this version of run-loop does not have `{name}` yet"),
    )
    .next(instead)
}
