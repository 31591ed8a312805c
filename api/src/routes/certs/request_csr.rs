//! `POST /certs/requestp10`: a certificate for a CSR.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use tracing::Instrument as _;

use super::super::json::certificate_request::{CsrRequest, IssuedCertificate};
use super::super::json::preview::RequestAnswer;
use super::super::record::AsOf;
use super::admitted::{Admitted, Asked};
use super::asking::{Parameters, new_ids, previewed, requester, told};
use crate::app::AppState;
use crate::audit;
use crate::auth::Actor;
use crate::error::{ApiError, JsonError};
use crate::inventory::view::Look;
use crate::issuance::csr_issuance::{CsrIssuance, CsrRequestBody, Issued, Issuer};
use crate::issuance::issue::issue;
use crate::issuance::preview;
use crate::issuance::under_way::Since;
use crate::issuer_choice::{self, IssuerChoice, Permitted};
use crate::json::Json;
use crate::request::{Query, RequestId, Told};
use crate::team::{self, TeamChoice};

/// Issues a certificate for a CSR. A request that was accepted goes on to its end even if the
/// client goes away. With `?preview=true` nothing is issued: the answer is what would be, and why.
#[utoipa::path(
    post, path = "/certs/requestp10", tag = "Certificates", request_body = CsrRequest,
    params(("preview" = Option<bool>, Query, description = "whether nothing is to be issued")),
    responses(
        (status = 200, body = RequestAnswer), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn request_csr(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    request_id: RequestId,
    Query(parameters): Query<Parameters>,
    Json(body): Json<CsrRequest>,
) -> Result<(Option<Extension<Told>>, Json<RequestAnswer>), ApiError> {
    let is_preview = parameters.is_preview()?;
    // 1. Who, and for which team. As it is now: the body may have taken its time.
    let since = look.since();
    let inventory = look.again(&state.inventory, &state.store).await?;
    let team = TeamChoice { name: body.team_name.clone(), id: body.team_id.clone() };
    let member = team::resolve(&inventory, actor, &team).await?;

    // 2. May they: the issuer, and whether this team may use it.
    let choice = IssuerChoice {
        ca_name: body.ca_name.clone(),
        issuer_name: body.issuer_name.clone(),
        issuer_id: body.issuer_id.clone(),
    };
    let permitted = issuer_choice::resolve(&inventory, member, &choice).await?;
    permitted.check_takes_csrs()?;
    let issuer = inventory.issuer(permitted.issuer().id).await?;

    let request = Accepted { permitted, since, issuer, request_id, body };
    if is_preview {
        audit::only_reads();
        let as_of = AsOf::now(&state, &inventory).await?;
        return request.preview(&state, as_of).map(|preview| (None, Json(preview)));
    }

    // 3. to 8. In a task of their own: once the signer is asked, the record must follow.
    let done = tokio::spawn(audit::carried(request.issue(state)).in_current_span()).await;
    let (Issued { certificate_id, pem }, told) = done.map_err(ApiError::internal)??;
    let id = certificate_id.to_string();
    let answer = IssuedCertificate { cert_id: id.clone(), id, pem_cert: pem };
    Ok((Some(Extension(told)), Json(RequestAnswer::Issued(answer))))
}

/// A request that may be made.
struct Accepted {
    permitted: Permitted,
    since: Since,
    issuer: Arc<Issuer>,
    request_id: RequestId,
    body: CsrRequest,
}

impl Accepted {
    async fn issue(self, state: AppState) -> Result<(Issued, Told), ApiError> {
        let signing = Admitted::new(&state, &self.permitted, Asked::Csr, self.since);
        let issued = issue(self.issuance(&state), &signing, &state.store).await?;
        let told = told(&self.permitted, issued.certificate_id);
        Ok((issued, told))
    }

    /// 3. and 4. alone.
    fn preview(&self, state: &AppState, as_of: AsOf) -> Result<RequestAnswer, ApiError> {
        let issuance = self.issuance(state);
        let preview = preview::preview(&issuance)?;
        let preview = previewed(&self.permitted, preview, as_of)?;
        Ok(RequestAnswer::Preview(Box::new(preview)))
    }

    fn issuance<'a>(&'a self, state: &'a AppState) -> CsrIssuance<'a> {
        let Self { permitted, since: _, issuer, request_id, body } = self;
        CsrIssuance {
            requester: requester(permitted, request_id),
            issuer,
            request: CsrRequestBody {
                csr: body.csr.as_deref().unwrap_or_default().as_bytes(),
                subject_alt_names: &body.subject_alt_names,
                reverse_csr_dn: body.reverse_csr_dn.unwrap_or_default(),
                extra_info: body.extra_info.as_deref(),
                extra_emails: &body.extra_emails,
            },
            bad_keys: &state.config.bad_keys,
            ids: new_ids(state),
            now: state.clock.now(),
        }
    }
}
