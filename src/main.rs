//! The `run-loop` program: hands over to the library.
fn main() {}
