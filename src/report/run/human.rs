//! A whole run as text for people.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::restoring::LeftByWork;
use crate::report::deviation::Deviation;
use crate::report::human::finding_line;
use crate::report::run::{FindingReport, RunReport, SlotReport, Warning};
use crate::report::table::table;
use crate::report::text;

impl RunReport {
    /// One word for how it stands.
    #[must_use]
    pub fn standing(&self) -> String {
        let cancelled = |failure: &Failure| failure.code == Code::Cancelled;
        if self.failure.as_ref().is_some_and(cancelled) {
            return "cancelled".to_owned();
        }
        match (self.exit, self.readers) {
            (Some(0), Some(0)) => "PASS (checks only: nobody read this change)".to_owned(),
            (Some(0), Some(_)) => "PASS".to_owned(),
            // A run of one job: nothing was reviewed.
            (Some(0), None) => "completed".to_owned(),
            (Some(1), _) => "NOT PASS".to_owned(),
            (Some(4), _) => "STALE".to_owned(),
            (Some(5), _) => "INCONCLUSIVE".to_owned(),
            (Some(7), _) => "stopped at a limit".to_owned(),
            (Some(8), _) => "a human must decide".to_owned(),
            (Some(75), _) => match &self.parked_until {
                Some(until) => format!("parked on a limit until {until}"),
                None => "parked on a limit".to_owned(),
            },
            (Some(130), _) => "interrupted".to_owned(),
            (Some(143), _) => "interrupted (terminated)".to_owned(),
            (Some(exit), _) => format!("failed (exit {exit})"),
            (None, _) if self.state == "interrupted" => {
                "interrupted: its engine died, nothing was approved".to_owned()
            }
            (None, _) => self.state.to_owned(),
        }
    }
    /// What is under review, line by line.
    #[must_use]
    pub fn identity_lines(&self) -> String {
        let mut rows = Vec::new();
        let mut row = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
        if let Some(task) = &self.task {
            row("task", text::line(task));
        }
        if let Some(source) = &self.source {
            row("source", text::line(source));
        }
        let given = self.base_given.as_deref().map(text::line);
        match &self.identity {
            Some(identity) => {
                let given = given.map_or_else(String::new, |given| format!(" ({given})"));
                row("base", format!("{}{given}", identity.base));
                row("head", identity.head.to_string());
                row("tree", identity.tree.to_string());
                row("content", identity.content_tree.to_string());
            }
            None => {
                if let Some(given) = given {
                    row("base", given);
                }
            }
        }
        if let (Some(started), Some(elapsed)) = (&self.started_at, &self.elapsed) {
            row("started", format!("{started} ({elapsed})"));
        }
        table(&rows)
    }
    /// Slots against rounds.
    #[must_use]
    pub fn matrix(&self) -> String {
        let Some(last) = self.rounds.last() else {
            return String::new();
        };
        let mut head = vec!["slot".to_owned(), "agent".to_owned()];
        head.extend(self.rounds.iter().map(|r| format!("round {}", r.round)));
        let mut rows = vec![head];
        for (index, slot) in last.slots.iter().enumerate() {
            let mut row = vec![slot.slot.to_string(), text::line(&slot.agent)];
            let cells = self.rounds.iter().map(|round| round.slots.get(index));
            row.extend(cells.map(|cell| cell.map_or_else(String::new, SlotReport::cell)));
            rows.push(row);
        }
        let mut foot = vec!["round".to_owned(), String::new()];
        foot.extend(self.rounds.iter().map(|round| {
            let result = round.result.unwrap_or("open");
            result
                .replace('_', " ")
                .to_uppercase()
                .replace("PASSED", "PASS")
        }));
        rows.push(foot);
        table(&rows)
    }
    /// The whole run as text for people, by the command that shows it: what leads to that very command
    /// leads on from there.
    #[must_use]
    pub fn human(&self, shown_by: &str) -> String {
        let mut said = self.without_end();
        if let Some(failure) = &self.failure {
            // Each line of its own: some end with a command.
            let message = text::block(&failure.to_string());
            let message = listed(message.lines().map(str::to_owned));
            let looked = matches!(
                &failure.next.0[..],
                [program, command, ..] if program == "run-loop" && command == shown_by
            );
            let again = self.again.as_ref().filter(|_| looked);
            let next = text::line(&again.unwrap_or(&failure.next).to_string());
            let lines = format!("\nend\n{message}  next: {next}\n");
            said.push_str(&lines);
        }
        said
    }
    /// The same without why it failed, for a command that says so itself.
    #[must_use]
    pub fn without_end(&self) -> String {
        let mut said = format!(
            "run {}: {}\n{}",
            self.run,
            self.standing(),
            self.identity_lines()
        );
        let mut section = |title: &str, body: &str| {
            if !body.is_empty() {
                let line = format!("\n{title}\n{body}");
                said.push_str(&line);
            }
        };
        section("verdicts", &self.matrix());
        section("why", &self.reasons());
        section("findings", &self.finding_lines());
        section(
            "deviations",
            &listed(self.deviations.iter().map(Deviation::line)),
        );
        section("warnings", &listed(self.warnings.iter().map(warning_line)));
        section(
            "left by work",
            &listed(self.left_by_work.iter().map(left_line)),
        );
        section(
            "published",
            &listed(self.promoted.iter().map(ToString::to_string)),
        );
        section(
            "not given back",
            &listed(self.left.iter().map(|item| text::line(item))),
        );
        section("files", &self.places());
        if let Some(next) = &self.next {
            let why = self
                .next_why
                .map_or_else(String::new, |why| format!("{why}\n"));
            let line = format!("\n{why}next: {}\n", text::line(&next.to_string()));
            said.push_str(&line);
        }
        said
    }

    fn reasons(&self) -> String {
        let mut rows = Vec::new();
        for round in &self.rounds {
            if let Some(reason) = &round.reason {
                rows.push(format!("round {}: {}", round.round, text::line(reason)));
            }
            for slot in &round.slots {
                if let Some(reason) = &slot.reason {
                    let reason = text::line(reason);
                    rows.push(format!("round {} {}: {reason}", round.round, slot.slot));
                }
            }
        }
        listed(rows)
    }
    fn finding_lines(&self) -> String {
        let mut said = String::new();
        for FindingReport {
            slot,
            round,
            finding,
        } in &self.findings
        {
            let line = format!("  {} ({slot}, round {round})\n", finding_line(finding));
            said.push_str(&line);
            for line in text::block(&finding.body).lines() {
                let line = format!("      {line}\n");
                said.push_str(&line);
            }
        }
        said
    }
    fn places(&self) -> String {
        let mut rows = vec![vec!["run".to_owned(), text::line(&self.folder)]];
        for round in &self.rounds {
            for slot in &round.slots {
                if let Some(report) = &slot.report {
                    let name = format!("round {} {}", round.round, slot.slot);
                    rows.push(vec![name, text::line(report)]);
                }
            }
        }
        for left in &self.printed {
            let name = format!("round {} {} {}", left.round, left.slot, left.role.as_str());
            rows.push(vec![
                format!("{name} {}", left.what),
                text::line(&left.file),
            ]);
        }
        table(&rows)
    }
}

fn warning_line(warning: &Warning) -> String {
    let (round, role, slot) = (warning.round, warning.role.as_str(), &warning.slot);
    format!("round {round} {role} of {slot}: {}", warning.said)
}

/// What is left, with the command that brings it: as it stands it can be run.
fn left_line(left: &LeftByWork) -> String {
    let LeftByWork {
        round,
        role,
        slot,
        restoring,
        gone,
    } = left;
    let role = role.as_str();
    if *gone {
        let what = restoring.said.rsplit_once("; ").map(|it| it.0);
        let what = text::line(what.unwrap_or(&restoring.said));
        return format!(
            "round {round} {role} of {slot}: it {what}; nothing holds it any more, since the review store made room"
        );
    }
    let said = text::line(&restoring.said);
    let command = text::line(&restoring.command.to_string());
    format!("round {round} {role} of {slot}: it {said}: {command}")
}

fn listed(items: impl IntoIterator<Item = String>) -> String {
    let lines = items.into_iter().map(|item| format!("  {item}\n"));
    lines.collect::<Vec<_>>().concat()
}
