//! Data keys: made here, sealed by a token, open only in memory. Each day has one of its own.

use std::collections::HashMap;
use std::sync::Arc;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::RowId;
use chancery_shared::wire::Context;
use chancery_shared::wire::v1::{Seal, Unseal};
use time::{Duration, OffsetDateTime};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::DataKey;
use crate::app::AppState;
use crate::error::ApiError;
use crate::store::key_data::SealedKey;

/// How long new packages are sealed under one key.
pub(super) const ROTATE_AFTER: Duration = Duration::days(1);

/// The data keys that are open. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Vault(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    keys: HashMap<RowId, Arc<DataKey>>,
    /// Of each token, and when it was made.
    newest: HashMap<String, (RowId, OffsetDateTime)>,
}

impl Vault {
    /// The key under which packages are sealed now, by `token`.
    ///
    /// # Errors
    ///
    /// The token or the database is away; nothing may be kept then.
    pub async fn newest(&self, state: &AppState, token: &str) -> Result<Arc<DataKey>, ApiError> {
        // Held while the signer is asked: who comes meanwhile wants the same key.
        let mut open = self.0.lock().await;
        let now = state.clock.now();
        let after = now - ROTATE_AFTER;
        if let Some((id, made_at)) = open.newest.get(token)
            && *made_at > after
            && *made_at <= now
            && let Some(key) = open.keys.get(id)
        {
            return Ok(Arc::clone(key));
        }
        let found = state.store.newest_data_key(token, after).await?;
        let (key, made_at) = match found.filter(|sealed| sealed.created_at <= now) {
            Some(sealed) => (unsealed(state, &sealed).await?, sealed.created_at),
            None => (made(state, token).await?, now),
        };
        open.newest.insert(token.to_owned(), (key.id(), made_at));
        open.keys.insert(key.id(), Arc::clone(&key));
        Ok(key)
    }

    /// The key of this id.
    ///
    /// # Errors
    ///
    /// The token or the database is away, or there is no such key.
    pub async fn key(&self, state: &AppState, id: RowId) -> Result<Arc<DataKey>, ApiError> {
        let mut open = self.0.lock().await;
        if let Some(key) = open.keys.get(&id) {
            return Ok(Arc::clone(key));
        }
        let sealed = state.store.data_key(id).await?;
        let sealed = sealed.ok_or_else(|| ApiError::internal(format!("no data key {id}")))?;
        let key = unsealed(state, &sealed).await?;
        open.keys.insert(id, Arc::clone(&key));
        Ok(key)
    }
}

async fn made(state: &AppState, token: &str) -> Result<Arc<DataKey>, ApiError> {
    let mut bytes = Zeroizing::new([0; 32]);
    state.random.fill(&mut *bytes);
    let id = state.new_id();
    let token = token.to_owned();
    let request =
        Seal { token: token.clone(), bytes: bytes.to_vec().into(), context: context(state, id) };
    let sealed = state.signer.seal(request).await?.value.0;
    let row = SealedKey { id, token, sealed, created_at: state.clock.now() };
    let mut write = state.store.begin().await?;
    write.insert_data_key(&row).await?;
    let entry = state.audited("create", "datakeys").on(&id, &row.token);
    write.commit_beside_inventory(entry).await?;
    tracing::info!(data_key.id = %id, token = row.token, "made a data key for kept private keys");
    DataKey::new(id, &*bytes).map(Arc::new).map_err(ApiError::internal)
}

async fn unsealed(state: &AppState, sealed: &SealedKey) -> Result<Arc<DataKey>, ApiError> {
    let request = Unseal {
        token: sealed.token.clone(),
        blob: Bytes(sealed.sealed.clone()),
        context: context(state, sealed.id),
    };
    let bytes = state.signer.unseal(request).await?.value;
    DataKey::new(sealed.id, &bytes).map(Arc::new).map_err(ApiError::internal)
}

/// What the journal is told.
fn context(state: &AppState, id: RowId) -> Context {
    let request_id = format!("data-key-{}", state.new_id::<chancery_shared::id::kind::Row>());
    let fields = [("requestId", request_id), ("dataKeyId", id.to_string())];
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
    Context(fields.collect())
}
