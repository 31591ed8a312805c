//! `PATCH /certs/{id}`: what of a record may change.

use axum::extract::State;
use chancery_shared::id::kind;

use super::super::json::certificate::CertificateRecord;
use super::super::json::certificate_change::CertificateChange;
use super::super::record::AsOf;
use crate::app::AppState;
use crate::auth::Actor;
use crate::error::{ApiError, JsonError};
use crate::inventory::view::InventoryView;
use crate::issuance::extra::{self, ExtraProblem};
use crate::json::Json;
use crate::records::details::{self, Change};
use crate::records::permission::{Caller, NewOwner, team_named};
use crate::records::visibility::Sight;
use crate::request::PathId;

/// Changes details, owner and team of a certificate, for its owner, the members of its team and
/// administrators. Administrators give it to any enabled user and any team; others to a team of
/// theirs, and to a member of the certificate's team.
#[utoipa::path(
    patch, path = "/certs/{id}", tag = "Certificates", params(("id" = String, Path)),
    request_body = CertificateChange,
    responses(
        (status = 200, body = CertificateRecord), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn change(
    State(state): State<AppState>,
    actor: Actor,
    PathId(id): PathId<kind::Certificate>,
    Json(body): Json<CertificateChange>,
) -> Result<Json<CertificateRecord>, ApiError> {
    let inventory = state.inventory.now(&state.store).await?;
    // What one may change and not see is not there.
    Sight::of(&inventory, &actor).await?.seen(state.store.certificate(id).await?)?;
    let caller = Caller::new(&inventory, actor).await?;
    let change = understand(&state, &inventory, body).await?;
    let as_of = AsOf::now(&state, &inventory).await?;
    let changed = details::change(&state, &caller, id, change).await?;
    CertificateRecord::new(&changed, as_of).map(Json).map_err(ApiError::internal)
}

async fn understand(
    state: &AppState,
    inventory: &InventoryView,
    body: CertificateChange,
) -> Result<Change, ApiError> {
    let CertificateChange {
        extra_details,
        extra_emails,
        track_expiry,
        renewed,
        owner_user_id,
        team_id,
    } = body;
    let info = extra_details.iter().flatten().next();
    extra::check_info("extraDetails", info.map_or("", String::as_str)).map_err(invalid)?;
    extra::check_emails(extra_emails.iter().flatten().next().map_or(&[], Vec::as_slice))
        .map_err(invalid)?;
    let owner = match owner_user_id {
        Some(id) => Some(NewOwner::named(state, inventory, &id).await?),
        None => None,
    };
    let team = match team_id {
        Some(id) => Some(team_named(inventory, &id).await?),
        None => None,
    };
    Ok(Change { extra_details, extra_emails, track_expiry, renewed, owner, team })
}

#[expect(clippy::needless_pass_by_value, reason = "the closure gives it away")]
fn invalid(problem: ExtraProblem) -> ApiError {
    ApiError::invalid_field(problem.field(), problem.to_string())
}
