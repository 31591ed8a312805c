//! `/admin/localca`: deleted, restored, removed for good.

use axum::extract::State;
use chancery_shared::id::kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::json::retained::{DeletedItem, DeletionAnswer, LocalCaWas, Was};
use super::super::retained::{self, DeleteParameters, ForceParameters, RestoreParameters};
use super::{LocalCaItem, item};
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::request::{PathId, Query, RequestId};
use crate::store::retention::ItemId;
use crate::store::retention::Transition;

/// The life of Local CAs, for administrators.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(delete))
        .routes(routes!(force))
        .routes(routes!(deleted))
        .routes(routes!(restore))
}

/// Deletes a Local CA: it can be restored while it is kept.
#[utoipa::path(
    delete, path = "/admin/localca/{id}", tag = "Local CAs",
    params(
        ("id" = String, Path),
        ("rehearse" = Option<bool>, Query, description = "whether nothing is to be done"),
    ),
    responses(
        (status = 200, body = DeletionAnswer<LocalCaItem>), (status = "default", body = JsonError),
    ),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::LocalCa>,
    Query(parameters): Query<DeleteParameters>,
) -> Result<Json<DeletionAnswer<LocalCaItem>>, ApiError> {
    let found = (ItemId::LocalCa(id), shown(&state, id).await?);
    retained::delete(&state, &by, &request_id, found, &parameters).await.map(Json)
}

/// Removes a Local CA for good, live or deleted.
#[utoipa::path(
    delete, path = "/admin/localca/{id}/force", tag = "Local CAs",
    params(
        ("id" = String, Path),
        ("withDependants" = Option<bool>, Query,
         description = "whether deleted items that stand on it go along"),
        ("rehearse" = Option<bool>, Query, description = "whether nothing is to be done"),
    ),
    responses(
        (status = 200, body = DeletionAnswer<LocalCaItem>), (status = "default", body = JsonError),
    ),
)]
async fn force(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::LocalCa>,
    Query(parameters): Query<ForceParameters>,
) -> Result<Json<DeletionAnswer<LocalCaItem>>, ApiError> {
    let found = (ItemId::LocalCa(id), shown(&state, id).await?);
    retained::force(&state, &by, &request_id, found, &parameters).await.map(Json)
}

/// The deleted Local CAs that are not purged yet, the latest first.
#[utoipa::path(
    get, path = "/admin/localca/deleted", tag = "Local CAs",
    responses(
        (status = 200, body = Vec<DeletedItem>), (status = "default", body = JsonError),
    ),
)]
async fn deleted(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<DeletedItem>>, ApiError> {
    let mut items = Vec::new();
    for (id, item) in retained::deleted(&state, |id| matches!(id, ItemId::LocalCa(_))).await? {
        let ItemId::LocalCa(id) = id else { continue };
        // It may have been purged since.
        let Some(row) = state.store.local_ca(id).await? else { continue };
        let was = Was::LocalCa(LocalCaWas {
            subject_dn: row.subject_dn,
            key_store_id: row.key_store_id,
            parent_local_ca_id: row.parent_local_ca_id,
            cert_id: row.certificate_id,
            status: row.transition.map_or("deleted", Transition::as_str),
        });
        items.push(DeletedItem { item, was });
    }
    Ok(Json(items))
}

/// Restores a deleted Local CA.
#[utoipa::path(
    post, path = "/admin/localca/restore/{id}", tag = "Local CAs",
    params(
        ("id" = String, Path),
        ("withDependencies" = Option<bool>, Query,
         description = "whether what it stands on is restored before it"),
    ),
    responses((status = 200, body = LocalCaItem), (status = "default", body = JsonError)),
)]
async fn restore(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::LocalCa>,
    Query(parameters): Query<RestoreParameters>,
) -> Result<Json<LocalCaItem>, ApiError> {
    retained::restore(&state, &by, &request_id, ItemId::LocalCa(id), &parameters).await?;
    shown(&state, id).await.map(Json)
}

/// As it is now, live or deleted.
async fn shown(
    state: &AppState,
    id: chancery_shared::id::LocalCaId,
) -> Result<LocalCaItem, ApiError> {
    let row = state.store.local_ca(id).await?;
    let row = row.ok_or_else(|| ApiError::not_found("Local CA"))?;
    item(state, row).await
}
