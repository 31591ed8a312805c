//! Data keys: made here, sealed by a token, open only in memory. Each day has one of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chancery_shared::bytes::Bytes;
use chancery_shared::id::RowId;
use chancery_shared::wire::Context;
use chancery_shared::wire::v1::{Seal, Unseal};
use time::{Duration, OffsetDateTime};
use zeroize::Zeroizing;

use super::DataKey;
use crate::app::AppState;
use crate::error::ApiError;
use crate::store::key_data::SealedKey;

/// How long new packages are sealed under one key.
pub(super) const ROTATE_AFTER: Duration = Duration::days(1);

/// The data keys that are open. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Vault(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    open: Mutex<Open>,
    /// Held while the signer is asked for a new key: who comes meanwhile wants the same one.
    making: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Open {
    keys: HashMap<RowId, Arc<DataKey>>,
    /// Of each token, and when it was made.
    newest: HashMap<String, (RowId, OffsetDateTime)>,
}

impl Open {
    fn newest(&self, token: &str, now: OffsetDateTime) -> Option<Arc<DataKey>> {
        let (id, made_at) = self.newest.get(token)?;
        let is_of_today = *made_at > now - ROTATE_AFTER && *made_at <= now;
        self.keys.get(id).filter(|_| is_of_today).map(Arc::clone)
    }
}

impl Vault {
    /// The key under which packages are sealed now, by `token`.
    ///
    /// # Errors
    ///
    /// The token or the database is away; nothing may be kept then.
    pub async fn newest(&self, state: &AppState, token: &str) -> Result<Arc<DataKey>, ApiError> {
        let now = state.clock.now();
        if let Some(key) = self.open().newest(token, now) {
            return Ok(key);
        }
        // What is known to be away is not waited for, least of all by many in a row.
        state.signer.state().check_token(token)?;
        let _alone = self.0.making.lock().await;
        if let Some(key) = self.open().newest(token, now) {
            return Ok(key);
        }
        let found = state.store.newest_data_key(token, now - ROTATE_AFTER).await?;
        let (key, made_at) = match found.filter(|sealed| sealed.created_at <= now) {
            Some(sealed) => (unsealed(state, &sealed).await?, sealed.created_at),
            None => (made(state, token).await?, now),
        };
        let mut open = self.open();
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
        let open = self.open().keys.get(&id).map(Arc::clone);
        if let Some(key) = open {
            return Ok(key);
        }
        let sealed = state.store.data_key(id).await?;
        let sealed = sealed.ok_or_else(|| ApiError::internal(format!("no data key {id}")))?;
        let key = unsealed(state, &sealed).await?;
        self.open().keys.insert(id, Arc::clone(&key));
        Ok(key)
    }

    /// Opens every key that rows need, so that downloads go on while the token is away, and forgets
    /// those that no row needs any more.
    ///
    /// # Errors
    ///
    /// The token or the database is away; those that were opened stay open.
    pub async fn open_all(&self, state: &AppState) -> Result<(), ApiError> {
        let ids = state.store.data_key_ids().await?;
        {
            let mut open = self.open();
            let newest: Vec<_> = open.newest.values().map(|(id, _)| *id).collect();
            open.keys.retain(|id, _| ids.contains(id) || newest.contains(id));
        }
        // One that no token opens any more must not keep the others closed.
        let mut outcome = Ok(());
        for id in ids {
            if let Err(error) = self.key(state, id).await {
                outcome = Err(error);
            }
        }
        outcome
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
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
    fields.into_iter().collect()
}
