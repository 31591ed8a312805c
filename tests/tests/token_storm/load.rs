//! Clients that never stop asking.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;

/// Threads that ask until they are told to stop.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<anyhow::Result<Seen>>>,
}

/// What the clients saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How often each answer came.
    pub(crate) answers: BTreeMap<String, u32>,
    pub(crate) slowest: Duration,
}

impl Load {
    /// Each of these gives one answer a call.
    pub(crate) fn of(
        clients: impl IntoIterator<Item = impl FnMut() -> anyhow::Result<String> + Send + 'static>,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ask_on = |mut ask: Box<dyn FnMut() -> anyhow::Result<String> + Send>| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                let mut seen = Seen::default();
                while !stop.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    *seen.answers.entry(ask()?).or_default() += 1;
                    seen.slowest = seen.slowest.max(began.elapsed());
                }
                Ok(seen)
            })
        };
        let clients = clients.into_iter().map(|ask| ask_on(Box::new(ask))).collect();
        Self { stop, clients }
    }

    /// Ends them.
    pub(crate) fn end(self) -> anyhow::Result<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Seen::default();
        for client in self.clients {
            let seen = client.join().ok().context("a client panicked")??;
            for (answer, times) in seen.answers {
                *all.answers.entry(answer).or_default() += times;
            }
            all.slowest = all.slowest.max(seen.slowest);
        }
        Ok(all)
    }
}
