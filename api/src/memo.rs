//! What was found out once and serves again, for as long as whoever keeps it says.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// So much of a kind is kept. Tokens come and go while nothing else changes.
pub(crate) const MOST: usize = 10_000;

/// What was read, by what it was asked for. What was not found is not kept: anyone can ask for
/// anything. Reading is boxed: it is rare, and every request would carry the room for it.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> Memo<K, V> {
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// What was kept under `key`.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps `value` under `key`; where there is no room, everything else goes.
    pub(crate) fn keep(&self, key: K, value: V) -> Arc<V> {
        let value = Arc::new(value);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&value));
        value
    }

    /// What was kept, or what `load` finds out.
    pub(crate) async fn get_or<E, F>(&self, key: K, load: impl FnOnce() -> F) -> Result<Arc<V>, E>
    where
        F: Future<Output = Result<V, E>>,
    {
        match self.get(&key) {
            Some(value) => Ok(value),
            None => Ok(self.keep(key, Box::pin(load()).await?)),
        }
    }

    /// The same for what may not be there.
    pub(crate) async fn find<E, F>(&self, key: K, load: impl FnOnce() -> F) -> Result<Option<V>, E>
    where
        V: Clone,
        F: Future<Output = Result<Option<V>, E>>,
    {
        if let Some(value) = self.get(&key) {
            return Ok(Some(V::clone(&value)));
        }
        let Some(value) = Box::pin(load()).await? else { return Ok(None) };
        Ok(Some(V::clone(&self.keep(key, value))))
    }
}
