//! `/admin/keystores`: deleted, restored, removed for good.

use axum::extract::State;
use chancery_shared::id::kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::json::key_store::KeyStoreType;
use super::super::json::retained::{DeletedItem, DeletionAnswer, KeyStoreWas, Was};
use super::super::retained::{self, DeleteParameters, ForceParameters, RestoreParameters};
use super::KeyStoreItem;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::request::{PathId, Query, RequestId};
use crate::store::retention::ItemId;

/// The life of Key Stores, for administrators.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(delete))
        .routes(routes!(force))
        .routes(routes!(deleted))
        .routes(routes!(restore))
}

/// Deletes a Key Store: it can be restored while it is kept.
#[utoipa::path(
    delete, path = "/admin/keystores/{id}", tag = "Key Stores",
    params(
        ("id" = String, Path),
        ("rehearse" = Option<bool>, Query, description = "whether nothing is to be done"),
    ),
    responses(
        (status = 200, body = DeletionAnswer<KeyStoreItem>), (status = "default", body = JsonError),
    ),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::KeyStore>,
    Query(parameters): Query<DeleteParameters>,
) -> Result<Json<DeletionAnswer<KeyStoreItem>>, ApiError> {
    let found = (ItemId::KeyStore(id), shown(&state, id).await?);
    retained::delete(&state, &by, &request_id, found, &parameters).await.map(Json)
}

/// Removes a Key Store for good, live or deleted.
#[utoipa::path(
    delete, path = "/admin/keystores/{id}/force", tag = "Key Stores",
    params(
        ("id" = String, Path),
        ("withDependants" = Option<bool>, Query,
         description = "whether deleted items that stand on it go along"),
        ("rehearse" = Option<bool>, Query, description = "whether nothing is to be done"),
    ),
    responses(
        (status = 200, body = DeletionAnswer<KeyStoreItem>), (status = "default", body = JsonError),
    ),
)]
async fn force(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::KeyStore>,
    Query(parameters): Query<ForceParameters>,
) -> Result<Json<DeletionAnswer<KeyStoreItem>>, ApiError> {
    let found = (ItemId::KeyStore(id), shown(&state, id).await?);
    retained::force(&state, &by, &request_id, found, &parameters).await.map(Json)
}

/// The deleted Key Stores that are not purged yet, the latest first.
#[utoipa::path(
    get, path = "/admin/keystores/deleted", tag = "Key Stores",
    responses(
        (status = 200, body = Vec<DeletedItem>), (status = "default", body = JsonError),
    ),
)]
async fn deleted(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<DeletedItem>>, ApiError> {
    let mut items = Vec::new();
    for (id, item) in retained::deleted(&state, |id| matches!(id, ItemId::KeyStore(_))).await? {
        let ItemId::KeyStore(id) = id else { continue };
        // It may have been purged since.
        let Some(row) = state.store.key_store(id).await? else { continue };
        let was =
            Was::KeyStore(KeyStoreWas { key_store_type: KeyStoreType::Pkcs11, token: row.token });
        items.push(DeletedItem { item, was });
    }
    Ok(Json(items))
}

/// Restores a deleted Key Store.
#[utoipa::path(
    post, path = "/admin/keystores/restore/{id}", tag = "Key Stores",
    params(
        ("id" = String, Path),
        ("withDependencies" = Option<bool>, Query,
         description = "whether what it stands on is restored before it"),
    ),
    responses((status = 200, body = KeyStoreItem), (status = "default", body = JsonError)),
)]
async fn restore(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::KeyStore>,
    Query(parameters): Query<RestoreParameters>,
) -> Result<Json<KeyStoreItem>, ApiError> {
    retained::restore(&state, &by, &request_id, ItemId::KeyStore(id), &parameters).await?;
    shown(&state, id).await.map(Json)
}

/// As it is now, live or deleted.
async fn shown(
    state: &AppState,
    id: chancery_shared::id::KeyStoreId,
) -> Result<KeyStoreItem, ApiError> {
    let row = state.store.key_store(id).await?;
    let row = row.ok_or_else(|| ApiError::not_found("Key Store"))?;
    Ok(KeyStoreItem::new(row, &state.signer.state()))
}
