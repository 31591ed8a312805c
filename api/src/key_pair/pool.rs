//! RSA keys that are ready: finding their primes takes longer than all else of a request together.
//!
//! A size that was asked for once is in use, and a thread of low priority keeps some of its keys
//! ready. They live in locked memory alone, and are wiped when they leave it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chancery_shared::wire::algorithm::KeyAlgorithm;

use super::KeyPair;
use super::locked_page::LockedPage;
use crate::inventory::local_ca::algorithm::key_name;

/// How many keys are ready, and how fast they come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSize {
    /// Of each size in use; 0: none.
    pub keys: usize,
    /// Keys made in a minute at most.
    pub per_minute: u32,
}

/// The keys. Clones share them; the thread ends with the last one.
#[derive(Clone, Debug)]
pub(super) struct Pool(Arc<Owner>);

#[derive(Debug)]
struct Owner(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    size: PoolSize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ready: BTreeMap<KeyAlgorithm, Vec<LockedPage>>,
    /// Pages that keys have left.
    free: Vec<LockedPage>,
    is_running: bool,
    is_over: bool,
}

impl Pool {
    pub(super) fn new(size: PoolSize) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Owner(Arc::new(Shared { size, state, changed }))))
    }

    /// A key that is ready. Asking puts its size in use.
    pub(super) fn take(&self, algorithm: KeyAlgorithm) -> Option<KeyPair> {
        let shared = &self.0.0;
        if !is_pooled(algorithm) || shared.size.keys == 0 {
            return None;
        }
        let mut state = shared.lock();
        let ready = state.ready.entry(algorithm).or_default();
        let page = ready.pop();
        gauge(algorithm, ready.len());
        if !state.is_running {
            state.is_running = shared.start();
        }
        drop(state);
        shared.changed.notify_all();
        let key = page.and_then(|page| shared.leave(algorithm, page));
        let outcome = if key.is_some() { "hit" } else { "miss" };
        metrics::counter!(
            "chancery_key_pool_requests_total", "key" => key_name(algorithm), "outcome" => outcome
        )
        .increment(1);
        key
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of a page, which can hold another one then.
    fn leave(&self, algorithm: KeyAlgorithm, mut page: LockedPage) -> Option<KeyPair> {
        let key = KeyPair::from_pkcs8(algorithm, page.key());
        page.wipe();
        self.lock().free.push(page);
        key.inspect_err(|error| tracing::error!(%error, "a key that was ready can't be read")).ok()
    }

    /// A page for a key.
    fn page(&self) -> LockedPage {
        if let Some(free) = self.lock().free.pop() {
            return free;
        }
        let (page, locked) = LockedPage::new();
        if let Err(error) = locked {
            tracing::warn!(%error, "keys that are ready may be written to swap: see LimitMEMLOCK");
        }
        page
    }

    /// Starts the thread; says whether there is one.
    fn start(self: &Arc<Self>) -> bool {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("key-pool".to_owned());
        match thread.spawn(move || shared.fill()) {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(%error, "no thread keeps RSA keys ready; they are made when asked for");
                false
            }
        }
    }

    fn fill(&self) {
        let own = rustix::thread::gettid();
        if let Err(error) = rustix::process::setpriority_process(Some(own), LOW) {
            tracing::warn!(%error, "RSA keys are made ready at the priority of requests");
        }
        let pause = Duration::from_mins(1) / self.size.per_minute.max(1);
        while let Some(algorithm) = self.next() {
            let made = KeyPair::generate(algorithm).and_then(|key| key.to_pkcs8());
            match made {
                Ok(key) => self.put(algorithm, &key),
                Err(error) => tracing::error!(%error, "the crypto library made no key"),
            }
            let state = self.lock();
            let wait = |state: &mut State| !state.is_over;
            let _ = self.changed.wait_timeout_while(state, pause, wait);
        }
    }

    /// The next size that lacks a key, the one with the fewest first: one that is asked for faster
    /// than keys are made must not keep the others waiting for ever. Waits while none lacks any.
    fn next(&self) -> Option<KeyAlgorithm> {
        let lacking = |state: &State| {
            let sizes = state.ready.iter().filter(|(_, keys)| keys.len() < self.size.keys);
            sizes.min_by_key(|(_, keys)| keys.len()).map(|(size, _)| *size)
        };
        let is_idle = |state: &mut State| !state.is_over && lacking(state).is_none();
        let state = self.changed.wait_while(self.lock(), is_idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_over { None } else { lacking(&state) }
    }

    fn put(&self, algorithm: KeyAlgorithm, key: &[u8]) {
        let mut page = self.page();
        let is_held = page.hold(key);
        let mut state = self.lock();
        if !is_held {
            tracing::error!(length = key.len(), "a key is larger than a page");
            state.free.push(page);
            return;
        }
        let ready = state.ready.entry(algorithm).or_default();
        ready.push(page);
        gauge(algorithm, ready.len());
        drop(state);
        self.changed.notify_all();
    }
}

/// Whether keys of this kind take so long that they are made in advance.
pub(super) fn is_pooled(algorithm: KeyAlgorithm) -> bool {
    matches!(algorithm, KeyAlgorithm::Rsa2048 | KeyAlgorithm::Rsa3072 | KeyAlgorithm::Rsa4096)
}

fn gauge(algorithm: KeyAlgorithm, ready: usize) {
    let ready = u32::try_from(ready).unwrap_or(u32::MAX);
    metrics::gauge!("chancery_key_pool_ready", "key" => key_name(algorithm)).set(f64::from(ready));
}

/// Of `nice`: requests go first.
const LOW: i32 = 15;

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits until `keys` of this size are ready.
    fn wait_for(pool: &Pool, algorithm: KeyAlgorithm, keys: usize) {
        let shared = &pool.0.0;
        let lacks = |state: &mut State| state.ready.get(&algorithm).map_or(0, Vec::len) < keys;
        drop(shared.changed.wait_while(shared.lock(), lacks).unwrap());
    }

    #[test]
    fn a_size_that_was_asked_for_is_ready_from_then_on_each_key_once() {
        let pool = Pool::new(PoolSize { keys: 2, per_minute: 60_000 });

        assert!(pool.take(KeyAlgorithm::Rsa2048).is_none());
        wait_for(&pool, KeyAlgorithm::Rsa2048, 2);
        let first = pool.take(KeyAlgorithm::Rsa2048).unwrap();
        let second = pool.take(KeyAlgorithm::Rsa2048).unwrap();
        wait_for(&pool, KeyAlgorithm::Rsa2048, 2);

        assert_ne!(first.spki(), second.spki());
        let sizes: Vec<_> = pool.0.0.lock().ready.keys().copied().collect();
        assert_eq!(sizes, [KeyAlgorithm::Rsa2048]);
    }

    #[test]
    fn other_kinds_of_keys_and_a_pool_of_0_keep_nothing_ready() {
        let pool = Pool::new(PoolSize { keys: 2, per_minute: 60_000 });
        let none = Pool::new(PoolSize { keys: 0, per_minute: 60_000 });

        assert!(pool.take(KeyAlgorithm::EcdsaP256).is_none());
        assert!(none.take(KeyAlgorithm::Rsa2048).is_none());

        assert!(pool.0.0.lock().ready.is_empty() && none.0.0.lock().ready.is_empty());
        assert!(!pool.0.0.lock().is_running && !none.0.0.lock().is_running);
    }
}
