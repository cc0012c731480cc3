//! Where HEAD of one linked working tree has been, read from its reflog's file: it tells trees apart that are
//! on the same branch now. A file that is not there or not as git writes it tells nothing.

use std::path::Path;

use crate::domain::oid::Oid;
use crate::domain::time::Timestamp;

/// One step of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// Where it was before; nowhere, in the first step of all.
    from: Oid,
    to: Oid,
    at: Timestamp,
    /// Whether another branch or commit was checked out, and not a commit made.
    switched: bool,
}

/// All steps that are known, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadLog(Vec<Step>);

impl HeadLog {
    /// The log of a git directory; `None` where nothing is known.
    pub(crate) fn read(admin: &Path) -> Option<Self> {
        let text = fs_err::read(admin.join("logs/HEAD")).ok()?;
        let lines = text.split(|byte| *byte == b'\n');
        let steps: Option<Vec<Step>> = lines
            .filter(|line| !line.is_empty())
            .map(|line| step(&String::from_utf8_lossy(line)))
            .collect();
        steps.filter(|steps| !steps.is_empty()).map(Self)
    }
    /// Whether HEAD may have been at this commit: what git expired of the log is not known.
    pub(crate) fn may_have(&self, commit: &Oid) -> bool {
        let is_first = |step: &Step| step.from.as_str().bytes().all(|digit| digit == b'0');
        let is_whole = self.0.first().is_some_and(is_first);
        !is_whole || self.0.iter().any(|step| step.to == *commit)
    }
    /// Whether what is checked out was so before this moment, and ever since.
    pub(crate) fn stands_since(&self, moment: Timestamp) -> bool {
        let before = |step: &&Step| step.at < moment;
        let mut later = self.0.iter().skip_while(before);
        self.0.first().is_some_and(|step| step.at < moment) && !later.any(|step| step.switched)
    }
}

/// A line: two ids, who, seconds and zone, a tab, what was done.
fn step(line: &str) -> Option<Step> {
    let (head, message) = line.split_once('\t').unwrap_or((line, ""));
    let mut ids = head.split(' ').map(Oid::parse);
    let (from, to) = (ids.next()??, ids.next()??);
    let seconds: i64 = head.rsplit(' ').nth(1)?.parse().ok()?;
    Some(Step {
        from,
        to,
        at: Timestamp::from_millis(seconds.checked_mul(1000)?),
        switched: message.starts_with("checkout:"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
0000000000000000000000000000000000000000 1111111111111111111111111111111111111111 Ann <ann@example.org> 100 +0100
1111111111111111111111111111111111111111 2222222222222222222222222222222222222222 Ann B <a> 200 +0100\tcommit: two
2222222222222222222222222222222222222222 3333333333333333333333333333333333333333 Ann <a> 300 -0100\tcheckout: moving from a to b
3333333333333333333333333333333333333333 4444444444444444444444444444444444444444 Ann <a> 400 +0000\tcommit: four
";

    fn log(text: &str) -> Option<HeadLog> {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("logs")).unwrap();
        fs_err::write(folder.path().join("logs/HEAD"), text).unwrap();
        HeadLog::read(folder.path())
    }

    #[test]
    fn it_tells_where_head_was_and_since_when_it_stands() {
        let log = log(LOG).unwrap();
        let id = |digit: &str| Oid::parse(&digit.repeat(40)).unwrap();
        assert_eq!(
            ["1", "4", "5"].map(|it| log.may_have(&id(it))),
            [true, true, false]
        );
        let since = |seconds: i64| log.stands_since(Timestamp::from_millis(seconds * 1000));
        // Not known so long, switched later, not switched since.
        assert_eq!(
            [50, 250, 300, 350, 500].map(since),
            [false, false, false, true, true]
        );
    }

    #[test]
    fn a_log_that_git_shortened_may_have_had_anything() {
        let (_, rest) = LOG.split_once('\n').unwrap();
        assert!(
            log(rest)
                .unwrap()
                .may_have(&Oid::parse(&"5".repeat(40)).unwrap())
        );
    }

    #[test]
    fn what_git_does_not_write_tells_nothing() {
        for text in ["", "\n", "words\n", &LOG.replace(" 200 ", " then ")] {
            assert_eq!(log(text), None, "{text}");
        }
        assert_eq!(HeadLog::read(Path::new("/nowhere")), None);
    }
}
