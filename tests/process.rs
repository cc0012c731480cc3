//! Processes and agents: supervision, job folders, dispatch.

mod support;
