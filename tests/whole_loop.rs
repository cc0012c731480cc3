//! The whole loop through the built program: a creator, reviewers, a planner and an arbiter, all of
//! them executables. One file for each path through it.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "whole_loop/cancelled.rs"]
mod cancelled;
#[path = "whole_loop/cannot_start.rs"]
mod cannot_start;
#[path = "whole_loop/complied.rs"]
mod complied;
#[path = "whole_loop/escalation.rs"]
mod escalation;
#[path = "whole_loop/implement.rs"]
mod implement;
#[path = "whole_loop/ledger.rs"]
mod ledger;
#[path = "whole_loop/limits.rs"]
mod limits;
#[path = "whole_loop/no_arbiter.rs"]
mod no_arbiter;
#[path = "whole_loop/no_progress.rs"]
mod no_progress;
#[path = "whole_loop/overruled.rs"]
mod overruled;
#[path = "whole_loop/own_writing.rs"]
mod own_writing;
#[path = "whole_loop/plan_file.rs"]
mod plan_file;
#[path = "whole_loop/planned.rs"]
mod planned;
#[path = "whole_loop/put_aside.rs"]
mod put_aside;
#[path = "whole_loop/reserve.rs"]
mod reserve;
#[path = "whole_loop/rounds.rs"]
mod rounds;
#[path = "whole_loop/self_review.rs"]
mod self_review;
#[path = "whole_loop/silence.rs"]
mod silence;
#[path = "whole_loop/stage.rs"]
mod stage;
#[path = "whole_loop/stale.rs"]
mod stale;
#[path = "whole_loop/templates.rs"]
mod templates;
#[path = "whole_loop/thrown_away.rs"]
mod thrown_away;
#[path = "whole_loop/told.rs"]
mod told;
#[path = "whole_loop/withdrawn.rs"]
mod withdrawn;
#[path = "whole_loop/words.rs"]
mod words;
