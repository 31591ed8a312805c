//! `DELETE /certs/{id}`: a record goes for good.

use axum::extract::State;
use chancery_shared::id::kind;

use super::super::json::certificate::CertificateRecord;
use super::super::record::AsOf;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::records::removal;
use crate::request::PathId;

/// Deletes the record of a certificate that is revoked or expired, for administrators; answers it as
/// it was.
#[utoipa::path(
    delete, path = "/certs/{id}", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, body = CertificateRecord), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::Certificate>,
) -> Result<Json<CertificateRecord>, ApiError> {
    let as_of = AsOf::now(&state, &state.inventory.now(&state.store).await?).await?;
    let removed = removal::remove(&state, &by, id).await?;
    CertificateRecord::new(&removed, as_of).map(Json).map_err(ApiError::internal)
}
