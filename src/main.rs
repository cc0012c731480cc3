//! The `run-loop` program: hands over to the library.

use std::process::ExitCode;

use run_loop::agent::acp;
use run_loop::process::{self, guard};

fn main() -> ExitCode {
    process::outlive_file_size_limits();
    let argv: Vec<_> = std::env::args_os().collect();
    // Not a command: it has no command line, no environment and nothing to print.
    if guard::program::is_asked(&argv) {
        return guard::main();
    }
    if acp::is_asked(&argv) {
        return acp::main(&argv);
    }
    process::hide_own_environment();
    ExitCode::from(run_loop::cli::run(argv).code())
}
