//! `POST /certs/import`: a certificate from elsewhere.

use axum::extract::State;

use super::super::json::certificate::CertificateRecord;
use super::super::json::certificate_import::CertificateImport;
use super::super::record::AsOf;
use crate::app::AppState;
use crate::auth::Actor;
use crate::error::{ApiError, JsonError};
use crate::json::{Json, LargeJson};
use crate::records::import::{self, Import, RevocationFields};
use crate::records::permission::Caller;

/// Puts a certificate on record, whoever signed it. It belongs to a Local CA where its signature
/// verifies under that CA's key, and is foreign otherwise. One that is here already is a 409 whose
/// `certId` names it, unless it comes with a newer revocation and you may revoke it.
#[utoipa::path(
    post, path = "/certs/import", tag = "Certificates", request_body = CertificateImport,
    responses(
        (status = 200, body = CertificateRecord), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn import(
    State(state): State<AppState>,
    actor: Actor,
    LargeJson(body): LargeJson<CertificateImport>,
) -> Result<Json<CertificateRecord>, ApiError> {
    let inventory = state.inventory.now(&state.store).await?;
    let caller = Caller::new(&inventory, actor).await?;
    let revocation = RevocationFields {
        revoked: body.revoked,
        time: body.revocation_time.as_deref(),
        reason: body.revocation_reason.as_deref(),
    };
    let import = Import {
        certificate: body.cert_data.as_deref().unwrap_or_default(),
        csr: body.csr_data.as_deref(),
        owner: body.owner_user_id.as_deref(),
        team: body.team_id.as_deref(),
        issuer: body.cert_issuer_id.as_deref(),
        extra_info: body.extra_info.as_deref(),
        revocation: revocation.read(state.clock.now())?,
        ms_template_name: body.ms_template_name.as_deref(),
    };
    let as_of = AsOf::now(&state, &inventory).await?;
    let imported = import::import(&state, &inventory, &caller, &import).await?;
    CertificateRecord::new(&imported, as_of).map(Json).map_err(ApiError::internal)
}
