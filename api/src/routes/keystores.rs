//! `/admin/keystores`.

mod life;

use axum::extract::State;
use chancery_shared::id::kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::key_store::{KeyStoreChangeBody, KeyStoreItem, NewKeyStoreBody, TokenItem};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::inventory::key_store::{self, NewKeyStore};
use crate::json::Json;
use crate::request::PathId;
use crate::signer_client::SignerError;

/// Key Stores, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(tokens))
        .routes(routes!(one, change))
        .merge(life::routes())
}

/// All Key Stores, by name.
#[utoipa::path(
    get, path = "/admin/keystores", tag = "Key Stores",
    responses((status = 200, body = Vec<KeyStoreItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<KeyStoreItem>>, ApiError> {
    let key_stores = state.store.key_stores().await?;
    let signer = state.signer.state();
    let item = |key_store| KeyStoreItem::new(key_store, &signer);
    Ok(Json(key_stores.into_iter().map(item).collect()))
}

/// One Key Store.
#[utoipa::path(
    get, path = "/admin/keystores/{id}", tag = "Key Stores", params(("id" = String, Path)),
    responses((status = 200, body = KeyStoreItem), (status = "default", body = JsonError)),
)]
async fn one(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(id): PathId<kind::KeyStore>,
) -> Result<Json<KeyStoreItem>, ApiError> {
    let found = state.store.key_store(id).await?.filter(|found| found.deleted_at.is_none());
    let key_store = found.ok_or_else(|| ApiError::not_found("Key Store"))?;
    Ok(Json(KeyStoreItem::new(key_store, &state.signer.state())))
}

/// Makes a Key Store.
#[utoipa::path(
    post, path = "/admin/keystores", tag = "Key Stores", request_body = NewKeyStoreBody,
    responses((status = 200, body = KeyStoreItem), (status = "default", body = JsonError)),
)]
async fn create(
    State(state): State<AppState>,
    by: Administrator,
    Json(new): Json<NewKeyStoreBody>,
) -> Result<Json<KeyStoreItem>, ApiError> {
    let mut faults = Faults::default();
    faults.check_name("name", &new.name, 100);
    faults.finish()?;
    let new = NewKeyStore { name: new.name, token: new.token };
    let key_store = key_store::create(&state, by.username(), new).await?;
    Ok(Json(KeyStoreItem::new(key_store, &state.signer.state())))
}

/// Gives a Key Store another name.
#[utoipa::path(
    put, path = "/admin/keystores/{id}", tag = "Key Stores", params(("id" = String, Path)),
    request_body = KeyStoreChangeBody,
    responses((status = 200, body = KeyStoreItem), (status = "default", body = JsonError)),
)]
async fn change(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::KeyStore>,
    Json(body): Json<KeyStoreChangeBody>,
) -> Result<Json<KeyStoreItem>, ApiError> {
    let mut faults = Faults::default();
    faults.check_name("name", &body.name, 100);
    faults.finish()?;
    let key_store = key_store::rename(&state, by.username(), id, body.name).await?;
    Ok(Json(KeyStoreItem::new(key_store, &state.signer.state())))
}

/// The tokens that the signer offers.
#[utoipa::path(
    get, path = "/admin/keystores/tokens", tag = "Key Stores",
    responses((status = 200, body = Vec<TokenItem>), (status = "default", body = JsonError)),
)]
async fn tokens(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<TokenItem>>, ApiError> {
    let signer = state.signer.state();
    if !signer.is_reachable() {
        return Err(SignerError::Unreachable.into());
    }
    Ok(Json(signer.tokens().iter().map(|token| TokenItem::new(token, &signer)).collect()))
}
