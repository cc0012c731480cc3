//! Diagnostics for developers, on standard error: `RUN_LOOP_LOG`. Facts go to the journal.

use tracing_subscriber::EnvFilter;

use crate::cli::environment::{Environment, LOG};
use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// Starts writing diagnostics where the variable asks for them.
///
/// # Errors
/// When the variable holds no filter.
pub(crate) fn start(environment: &Environment) -> Result<(), Failure> {
    let Some(filter) = environment.text(LOG)? else {
        return Ok(());
    };
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        let message = format!("the variable {} holds no filter: {error}", LOG.name);
        Failure::new(Code::BadValue, message).next(LOG.unset())
    })?;
    // A second start in one process keeps the first: nothing is lost by it.
    drop(
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .try_init(),
    );
    Ok(())
}
