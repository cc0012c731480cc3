//! Processes and agents: supervision, job folders, dispatch.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the world without the product's adapters"
)]

mod support;

#[path = "process/bench.rs"]
mod bench;
#[path = "process/dispatch.rs"]
mod dispatch;
#[path = "process/job.rs"]
mod job;
#[path = "process/job_folder.rs"]
mod job_folder;
#[path = "process/refusal.rs"]
mod refusal;
#[path = "process/report_file.rs"]
mod report_file;
#[path = "process/supervise.rs"]
mod supervise;
