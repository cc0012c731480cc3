//! What agents write down themselves of their calls. No engine and no guard writes it, so what nobody
//! journaled is counted as well.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::processes::{MARK, lives};
use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;

/// The ledger of a bench's agents.
pub struct Ledger {
    path: PathBuf,
    mark: String,
    known: RefCell<Known>,
}

/// What is known of calls of engines that were killed.
#[derive(Default)]
struct Known {
    /// They had ended, with everything handed over, before their engine was killed.
    finished: BTreeSet<String>,
    /// They had not: their reports may have been used, or not.
    cut: BTreeSet<String>,
}

/// The calls that an undisturbed run makes, by agent, role and round.
pub type Calls = &'static [(&'static str, usize)];

impl Ledger {
    pub fn of(bench: &Bench) -> Self {
        let path = bench.repo.beside("ledger");
        std::fs::write(&path, "").unwrap();
        Self {
            path,
            mark: bench.repo.beside("").display().to_string(),
            known: RefCell::default(),
        }
    }
    /// The agent, which writes down that it begins and, once it has handed everything over, that it ends.
    /// It leaves a process that has nothing to do with it any more but a mark in its environment. Its
    /// script knows the call as `$CALL`, and its calls of this kind that have ended as `$ENDED`.
    pub fn agent(&self, name: &str, agent: &ScriptedAgent) -> ScriptedAgent {
        self.written(name, agent, "")
    }
    /// One that is asked by another agent, which gave its own call as the first line of the prompt.
    pub fn asked_by_a_call(&self, name: &str, agent: &ScriptedAgent) -> ScriptedAgent {
        self.written(name, agent, "read -r ASKED; KEY=$KEY/$ASKED")
    }
    fn written(&self, name: &str, agent: &ScriptedAgent, more: &str) -> ScriptedAgent {
        let (path, mark) = (self.path.display(), &self.mark);
        let begins = format!(
            "export {MARK}='{mark}'; CALL=$$-${{EPOCHREALTIME//[^0-9]/}}\n\
             KEY={name}-$RUN_LOOP_JOB_ROLE-${{RUN_LOOP_JOB_ROUND:-0}}; {more}\n\
             ENDED=$(grep -c \"^ended .* $KEY\\$\" '{path}')\n\
             echo \"begun $CALL $KEY\" >> '{path}'; (setsid sleep 1000 > /dev/null 2>&1 &)"
        );
        let ends = format!(
            "STATUS=$?; [ $STATUS = 0 ] || exit $STATUS; echo \"ended $CALL $KEY\" >> '{path}'"
        );
        agent.clone().after(&begins).and_then(&ends)
    }

    /// The calls of a kind of line, each with its key.
    fn lines(&self, kind: &str) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let words = text.lines().map(|line| line.split(' '));
        words
            .filter_map(|mut words| {
                let is_kind = words.next() == Some(kind);
                let (call, key) = (words.next()?, words.next()?);
                is_kind.then(|| (call.to_owned(), key.to_owned()))
            })
            .collect()
    }
    /// Notes which calls are finished right now, while the engine lives.
    pub fn before_the_kill(&self) {
        let mut known = self.known.borrow_mut();
        for call in self.lines("ended").into_keys() {
            let pid = call.split('-').next().unwrap();
            if !known.cut.contains(&call) && !lives(pid) {
                known.finished.insert(call);
            }
        }
    }
    /// Notes which calls were cut: all others that have begun.
    pub fn after_the_kill(&self) {
        let mut known = self.known.borrow_mut();
        for call in self.lines("begun").into_keys() {
            if !known.finished.contains(&call) {
                known.cut.insert(call);
            }
        }
    }
    /// A report that was finished was bought once, whether or not anybody journaled it, and none is
    /// missing: of those that were cut, one that was handed over may have been used. `is_whole` where the
    /// run came to its own end.
    pub fn is_right(&self, calls: Calls, is_whole: bool, why: &str) {
        let known = self.known.borrow();
        let mut count: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (call, key) in self.lines("ended") {
            let (finished, perhaps) = count.entry(key).or_default();
            if known.cut.contains(&call) {
                *perhaps += 1;
            } else {
                *finished += 1;
            }
        }
        let ledger = || std::fs::read_to_string(&self.path).unwrap_or_default();
        for (key, (finished, _)) in &count {
            let base = key.split('/').next().unwrap();
            let most = calls.iter().find(|(known, _)| *known == base);
            let (_, most) =
                most.unwrap_or_else(|| unreachable!("{why}: nobody asks {key}\n{}", ledger()));
            assert!(
                finished <= most,
                "{why}: {key} was bought again\n{}",
                ledger()
            );
        }
        for (base, least) in calls.iter().filter(|_| is_whole) {
            let of_it = count
                .iter()
                .filter(|(key, _)| key.split('/').next() == Some(base));
            let all: usize = of_it
                .map(|(_, (finished, perhaps))| finished + perhaps)
                .sum();
            assert!(all >= *least, "{why}: {base} was not asked\n{}", ledger());
        }
    }
}
