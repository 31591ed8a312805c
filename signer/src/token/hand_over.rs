//! Calls on their way from the one thread that reads them to those that perform them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A bounded queue that wakes one thread at a time: whoever was woken wakes the next if there is
/// more to do. Calls that come together, and are over sooner than a thread can be woken, are done by
/// few threads; calls that take long, by all.
pub(super) struct HandOver<Call> {
    state: Mutex<State<Call>>,
    more: Condvar,
    /// Calls that may wait.
    most: usize,
}

struct State<Call> {
    calls: VecDeque<Call>,
    /// Threads that wait, one that is woken and has not come yet among them.
    idle: usize,
    /// One of the idle is woken and has not come yet. It comes for certain, sees whatever was put
    /// here meanwhile, and wakes the next: so nobody else needs to be woken before that.
    is_waking: bool,
    is_closed: bool,
}

/// There is no room.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl<Call> HandOver<Call> {
    /// For `most` calls that nobody has taken yet.
    pub(super) fn new(most: usize) -> Self {
        let calls = VecDeque::with_capacity(most);
        let state = State { calls, idle: 0, is_waking: false, is_closed: false };
        Self { state: Mutex::new(state), more: Condvar::new(), most }
    }

    /// Puts a call behind the others.
    pub(super) fn put(&self, call: Call) -> Result<(), Full> {
        let mut state = self.state();
        if state.calls.len() >= self.most {
            return Err(Full);
        }
        state.calls.push_back(call);
        self.wake_one(state);
        Ok(())
    }

    /// The next call, as soon as there is one; `None` after the last.
    pub(super) fn take(&self) -> Option<Call> {
        let mut state = self.state();
        loop {
            if let Some(call) = state.calls.pop_front() {
                self.wake_one(state);
                return Some(call);
            }
            if state.is_closed {
                return None;
            }
            state.idle += 1;
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            state.is_waking = false;
        }
    }

    /// No more calls come.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.more.notify_all();
    }

    fn wake_one(&self, mut state: MutexGuard<'_, State<Call>>) {
        if state.calls.is_empty() || state.idle == 0 || state.is_waking {
            return;
        }
        state.is_waking = true;
        drop(state);
        self.more.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State<Call>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_call_is_taken_once_in_order_and_the_end_comes_after_the_last() {
        let calls = HandOver::new(1000);
        for call in 0..1000 {
            calls.put(call).unwrap();
        }
        assert_eq!(calls.put(1000), Err(Full));
        calls.close();

        let taken: Vec<Vec<u32>> = thread::scope(|scope| {
            let take = || std::iter::from_fn(|| calls.take()).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });

        assert!(taken.iter().all(|of_one| of_one.is_sorted()), "{taken:?}");
        let mut all = taken.concat();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn calls_that_wait_for_each_other_are_all_performed_at_once() {
        const THREADS: usize = 8;
        in_time(|| {
            let calls = HandOver::new(THREADS);
            let together = Barrier::new(THREADS);
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        while calls.take().is_some() {
                            together.wait();
                        }
                    });
                }
                for round in 0..500 {
                    for _ in 0..THREADS {
                        // Whoever is still in the last round leaves its place free soon.
                        while calls.put(round).is_err() {
                            thread::yield_now();
                        }
                    }
                }
                calls.close();
            });
        });
    }

    #[test]
    fn a_thread_that_waits_takes_what_comes_one_by_one() {
        in_time(|| {
            let calls = HandOver::new(1);
            let (said, heard) = flume::bounded(0);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        while let Some(call) = calls.take() {
                            said.send(call).unwrap();
                        }
                    });
                }
                for call in 0..500 {
                    calls.put(call).unwrap();
                    assert_eq!(heard.recv(), Ok(call));
                }
                calls.close();
            });
        });
    }

    /// A thread that nobody wakes is a failure and no test without an end.
    fn in_time(act: impl FnOnce() + Send + 'static) {
        let (done, is_done) = flume::bounded(1);
        thread::spawn(move || {
            act();
            done.send(()).unwrap();
        });
        assert_eq!(is_done.recv_timeout(Duration::from_mins(1)), Ok(()));
    }
}
