//! `/admin/ca`: deleted, restored, removed for good.

use axum::extract::State;
use chancery_shared::id::kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::json::retained::{CertIssuerWas, DeletedItem, DeletionAnswer, Was};
use super::super::retained::{self, DeleteParameters, ForceParameters, RestoreParameters};
use super::{CertIssuerItem, item};
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::request::{PathId, Query, RequestId};
use crate::store::retention::ItemId;

/// The life of Certificate Issuers, for administrators.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(delete))
        .routes(routes!(force))
        .routes(routes!(deleted))
        .routes(routes!(restore))
}

/// Deletes a Certificate Issuer: it can be restored while it is kept.
#[utoipa::path(
    delete, path = "/admin/ca/{id}", tag = "Certificate Issuers",
    params(
        ("id" = String, Path),
        ("rehearse" = Option<bool>, Query, description = "whether nothing is to be done"),
    ),
    responses(
        (status = 200, body = DeletionAnswer<CertIssuerItem>), (status = "default", body = JsonError),
    ),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::CertIssuer>,
    Query(parameters): Query<DeleteParameters>,
) -> Result<Json<DeletionAnswer<CertIssuerItem>>, ApiError> {
    let found = (ItemId::CertIssuer(id), shown(&state, id).await?);
    retained::delete(&state, &by, &request_id, found, &parameters).await.map(Json)
}

/// Removes a Certificate Issuer for good, live or deleted.
#[utoipa::path(
    delete, path = "/admin/ca/{id}/force", tag = "Certificate Issuers",
    params(
        ("id" = String, Path),
        ("withDependants" = Option<bool>, Query,
         description = "whether deleted items that stand on it go along"),
        ("rehearse" = Option<bool>, Query, description = "whether nothing is to be done"),
    ),
    responses(
        (status = 200, body = DeletionAnswer<CertIssuerItem>), (status = "default", body = JsonError),
    ),
)]
async fn force(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::CertIssuer>,
    Query(parameters): Query<ForceParameters>,
) -> Result<Json<DeletionAnswer<CertIssuerItem>>, ApiError> {
    let found = (ItemId::CertIssuer(id), shown(&state, id).await?);
    retained::force(&state, &by, &request_id, found, &parameters).await.map(Json)
}

/// The deleted Certificate Issuers that are not purged yet, the latest first.
#[utoipa::path(
    get, path = "/admin/ca/deleted", tag = "Certificate Issuers",
    responses(
        (status = 200, body = Vec<DeletedItem>), (status = "default", body = JsonError),
    ),
)]
async fn deleted(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<DeletedItem>>, ApiError> {
    let mut items = Vec::new();
    for (id, item) in retained::deleted(&state, |id| matches!(id, ItemId::CertIssuer(_))).await? {
        let ItemId::CertIssuer(id) = id else { continue };
        // It may have been purged since.
        let Some(row) = state.store.cert_issuer(id).await? else { continue };
        let was = Was::CertIssuer(CertIssuerWas {
            ca_name: row.name,
            local_ca_id: row.local_ca_id,
            cert_profile_id: row.profile_id,
        });
        items.push(DeletedItem { item, was });
    }
    Ok(Json(items))
}

/// Restores a deleted Certificate Issuer.
#[utoipa::path(
    post, path = "/admin/ca/restore/{id}", tag = "Certificate Issuers",
    params(
        ("id" = String, Path),
        ("withDependencies" = Option<bool>, Query,
         description = "whether what it stands on is restored before it"),
    ),
    responses((status = 200, body = CertIssuerItem), (status = "default", body = JsonError)),
)]
async fn restore(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::CertIssuer>,
    Query(parameters): Query<RestoreParameters>,
) -> Result<Json<CertIssuerItem>, ApiError> {
    retained::restore(&state, &by, &request_id, ItemId::CertIssuer(id), &parameters).await?;
    shown(&state, id).await.map(Json)
}

/// As it is now, live or deleted.
async fn shown(
    state: &AppState,
    id: chancery_shared::id::CertIssuerId,
) -> Result<CertIssuerItem, ApiError> {
    let row = state.store.cert_issuer(id).await?;
    let row = row.ok_or_else(|| ApiError::not_found("Certificate Issuer"))?;
    item(state, row).await
}
