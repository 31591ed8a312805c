//! `/certs`: certificates, requested and read, and their records.

mod admitted;
mod asking;
mod change;
mod delete;
mod download;
mod filters;
mod import;
mod key_download;
mod list;
mod request_csr;
mod request_dn;
mod search;

use axum::extract::State;
use chancery_shared::id::{CertificateId, kind};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::certificate::CertificateRecord;
use super::record::AsOf;
use crate::app::AppState;
use crate::auth::Actor;
use crate::error::{ApiError, JsonError};
use crate::inventory::view::{InventoryView, Look};
use crate::json::Json;
use crate::records::visibility::Sight;
use crate::request::PathId;
use crate::store::certificate::StoredCertificate;

/// Certificates, for any user.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(request_csr::request_csr))
        .routes(routes!(request_dn::request_dn))
        .routes(routes!(list::list))
        .routes(routes!(import::import))
        .routes(routes!(one, change::change, delete::delete))
        .routes(routes!(download::cer))
        .routes(routes!(download::pem_cert))
        .routes(routes!(download::chain))
        .routes(routes!(download::p7b))
        .routes(routes!(download::csr))
        .routes(routes!(search::search))
        .routes(routes!(key_download::p12))
        .routes(routes!(key_download::jks))
        .routes(routes!(key_download::pem))
}

/// One certificate.
#[utoipa::path(
    get, path = "/certs/{id}", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, body = CertificateRecord), (status = "default", body = JsonError),
    ),
)]
async fn one(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
) -> Result<Json<CertificateRecord>, ApiError> {
    let inventory = look.again(&state.inventory, &state.store).await?;
    let stored = seen_in(&state, &inventory, &actor, id).await?;
    let as_of = AsOf::now(&state, &inventory).await?;
    CertificateRecord::new(&stored, as_of).map(Json).map_err(ApiError::internal)
}

/// The certificate of this id, if the user sees it.
async fn seen(
    state: &AppState,
    actor: &Actor,
    look: Look,
    id: CertificateId,
) -> Result<StoredCertificate, ApiError> {
    let inventory = look.again(&state.inventory, &state.store).await?;
    seen_in(state, &inventory, actor, id).await
}

async fn seen_in(
    state: &AppState,
    inventory: &InventoryView,
    actor: &Actor,
    id: CertificateId,
) -> Result<StoredCertificate, ApiError> {
    let sight = Sight::of(inventory, actor).await?;
    sight.seen(state.store.certificate(id).await?)
}
