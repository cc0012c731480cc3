//! Work that finds more work, done with all processors.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Threads at most: more only wait for the file system.
const THREADS: usize = 8;

/// Does a task and all that it leads to. Each thread has a state of its own; all of them are returned.
///
/// # Errors
/// What the first task fails with; the others are not begun then. `broken` where a thread broke off.
pub(crate) fn each<T: Send, S: Send, E: Send>(
    first: T,
    state: impl Fn() -> S + Sync,
    work: impl Fn(T, &mut S, &mut Vec<T>) -> Result<(), E> + Sync,
    broken: impl Fn() -> E,
) -> Result<Vec<S>, E> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let crew = Crew {
        open: Mutex::new(Open {
            tasks: vec![first],
            at_work: 0,
            waiting: 0,
            is_over: false,
        }),
        more: Condvar::new(),
    };
    let member = || {
        let mut state = state();
        let mut found = Vec::new();
        while let Some(task) = crew.next() {
            let mut at_work = AtWork(Some(&crew));
            work(task, &mut state, &mut found)?;
            at_work.0 = None;
            crew.done(Some(&mut found));
        }
        Ok(state)
    };
    let ended = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(THREADS))
            .map(|_| scope.spawn(member))
            .collect();
        let mut ended = vec![member()];
        for other in others {
            ended.push(other.join().unwrap_or_else(|_| Err(broken())));
        }
        ended
    });
    ended.into_iter().collect()
}

/// What is still to be done.
struct Open<T> {
    tasks: Vec<T>,
    /// Threads that may find more.
    at_work: usize,
    /// Threads that wait for more.
    waiting: usize,
    /// One of them failed: the others need not go on.
    is_over: bool,
}

struct Crew<T> {
    open: Mutex<Open<T>>,
    more: Condvar,
}

impl<T> Crew<T> {
    /// The next task; `None` when nobody can find another one.
    fn next(&self) -> Option<T> {
        let mut open = self.locked();
        loop {
            if open.is_over {
                return None;
            }
            // The last one that was found: so few folders are open at once.
            if let Some(task) = open.tasks.pop() {
                open.at_work += 1;
                return Some(task);
            }
            if open.at_work == 0 {
                return None;
            }
            open.waiting += 1;
            open = self.more.wait(open).unwrap_or_else(PoisonError::into_inner);
            open.waiting -= 1;
        }
    }

    /// A task is done, and led to these; `None` where it failed.
    fn done(&self, found: Option<&mut Vec<T>>) {
        let mut open = self.locked();
        open.at_work -= 1;
        match found {
            Some(found) => open.tasks.append(found),
            None => open.is_over = true,
        }
        let is_waited = open.waiting > 0;
        drop(open);
        if is_waited {
            self.more.notify_all();
        }
    }

    /// What a panicking thread left is whole: nothing under the lock can panic half way.
    fn locked(&self) -> MutexGuard<'_, Open<T>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that a thread gave up, should it fail or panic: the others would wait for it for ever.
struct AtWork<'a, T>(Option<&'a Crew<T>>);

impl<T> Drop for AtWork<'_, T> {
    fn drop(&mut self) {
        if let Some(crew) = self.0 {
            crew.done(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn all_that_a_task_leads_to_is_done() {
        let work = |number: u32, seen: &mut Vec<u32>, more: &mut Vec<u32>| {
            seen.push(number);
            more.extend(
                [2 * number, 2 * number + 1]
                    .into_iter()
                    .filter(|it| *it < 1_000),
            );
            Ok::<_, ()>(())
        };
        let seen = each(1, Vec::new, work, || ()).unwrap();
        let mut seen = seen.concat();
        seen.sort_unstable();
        assert_eq!(seen, (1..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_ends_all() {
        let work = |number: u32, (): &mut (), more: &mut Vec<u32>| {
            // Without an end, if nobody stopped the others.
            more.extend([number + 1, number + 1]);
            if number == 50 { Err("failed") } else { Ok(()) }
        };
        let ended = each(1, || (), work, || "broke off");
        assert_eq!(ended, Err("failed"));
    }
}
