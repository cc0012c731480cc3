//! The `run-loop` program: hands over to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(run_loop::cli::run(std::env::args_os()).code())
}
