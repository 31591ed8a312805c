//! `POST /certs/request`: a certificate for a DN, with a key that is made here.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderName, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tracing::Instrument as _;

use super::super::json::certificate_request::{self, DnRequest};
use super::super::json::preview::DnRequestAnswer;
use super::super::record::AsOf;
use super::admitted::{Admitted, Asked};
use super::asking::{Parameters, new_ids, previewed, requester, told};
use crate::app::AppState;
use crate::audit;
use crate::auth::Actor;
use crate::error::{ApiError, Code, JsonError};
use crate::inventory::view::{InventoryView, Look};
use crate::issuance::csr_issuance::Issuer;
use crate::issuance::dn_issuance::{DnIssuance, DnRequestBody, IssuedWithKey};
use crate::issuance::issue_dn::{Package, Workshop, issue_for_dn};
use crate::issuance::preview;
use crate::issuance::under_way::Since;
use crate::issuer_choice::{self, IssuerChoice, Permitted};
use crate::json::Json;
use crate::packaging::Closing;
use crate::reference::{Field, agreed};
use crate::request::{Query, RequestId, Told};
use crate::settings::Retention;
use crate::store::csr_generator::CsrGenerator;
use crate::team::{self, TeamChoice};

/// The answer holds a private key: nothing on its way may keep it.
const NO_STORE: (HeaderName, HeaderValue) = (CACHE_CONTROL, HeaderValue::from_static("no-store"));

/// Makes a key pair, issues a certificate for it, and answers both as PKCS #12. A request that was
/// accepted goes on to its end even if the client goes away. With `?preview=true` no key is made
/// and nothing is issued: the answer is what would be, and why.
#[utoipa::path(
    post, path = "/certs/request", tag = "Certificates", request_body = DnRequest,
    params(("preview" = Option<bool>, Query, description = "whether nothing is to be issued")),
    responses(
        (status = 200, body = DnRequestAnswer), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn request_dn(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    request_id: RequestId,
    Query(parameters): Query<Parameters>,
    Json(mut body): Json<DnRequest>,
) -> Result<
    ([(HeaderName, HeaderValue); 1], Option<Extension<Told>>, Json<DnRequestAnswer>),
    ApiError,
> {
    let is_preview = parameters.is_preview()?;
    // 1. Who, and for which team. As it is now: the body may have taken its time.
    let since = look.since();
    let inventory = look.again(&state.inventory, &state.store).await?;
    let team = TeamChoice { name: body.team_name.take(), id: body.team_id.take() };
    let member = team::resolve(&inventory, actor, &team).await?;

    // 2. May they: the issuer, whether this team may use it, and the CSR Generator.
    let choice = IssuerChoice {
        ca_name: body.ca_name.take(),
        issuer_name: body.issuer_name.take(),
        issuer_id: body.issuer_id.take(),
    };
    let permitted = issuer_choice::resolve(&inventory, member, &choice).await?;
    permitted.check_takes_dns()?;
    let generator = generator(&inventory, &body).await?;
    permitted.check_generator(&generator)?;
    let issuer = inventory.issuer(permitted.issuer().id).await?;
    let closing = closing(&state, &mut body)?;

    let retention = inventory.settings().await?.retention;
    let request = Accepted { permitted, since, issuer, generator, request_id, body, retention };
    if is_preview {
        audit::only_reads();
        return request.preview(&state).map(|preview| ([NO_STORE], None, Json(preview)));
    }

    // Without a token that can seal it, a key that is to be kept is not made.
    let keep_under = if retention.period.is_nothing() {
        None
    } else {
        Some(state.vault.newest(&state, &request.issuer.token).await?)
    };
    let package = Package { closing, keep_under };

    // 3. to 8. In a task of their own: once the signer is asked, the record must follow.
    let done = tokio::spawn(audit::carried(request.issue(state, package)).in_current_span()).await;
    let (IssuedWithKey { certificate_id, pem, p12 }, told) = done.map_err(ApiError::internal)??;
    let id = certificate_id.to_string();
    let answer = certificate_request::IssuedWithKey {
        cert_id: id.clone(),
        id,
        pem_cert: pem,
        p12_data: STANDARD.encode(p12),
    };
    Ok(([NO_STORE], Some(Extension(told)), Json(DnRequestAnswer::Issued(answer))))
}

async fn generator(inventory: &InventoryView, body: &DnRequest) -> Result<CsrGenerator, ApiError> {
    let fields = [
        Field::Either("csrGeneratorName", body.csr_generator_name.as_deref()),
        Field::Id("csrGeneratorId", body.csr_generator_id.as_deref()),
    ];
    let found = agreed(inventory, Code::UnknownGenerator, &fields).await?;
    let (_, generator) = found.ok_or_else(|| {
        ApiError::invalid_field("csrGeneratorName", "is missing; name the CSR Generator")
    })?;
    Ok(generator)
}

fn closing(state: &AppState, body: &mut DnRequest) -> Result<Closing, ApiError> {
    let password = body.p12_password.take().ok_or_else(|| {
        let message = "is missing; send 1 to 1024 printable ASCII characters, which will open the \
                       PKCS #12 file";
        ApiError::invalid_field("p12Password", message)
    })?;
    Ok(Closing {
        password,
        profile: body.p12_profile.unwrap_or_default(),
        iterations: state.config.p12_iterations,
    })
}

/// A request that may be made.
struct Accepted {
    permitted: Permitted,
    since: Since,
    issuer: Arc<Issuer>,
    generator: CsrGenerator,
    request_id: RequestId,
    body: DnRequest,
    retention: Retention,
}

impl Accepted {
    async fn issue(
        self,
        state: AppState,
        package: Package,
    ) -> Result<(IssuedWithKey, Told), ApiError> {
        let workshop = Workshop { keys: state.keys.clone(), random: Arc::clone(&state.random) };
        let issuance = self.issuance(&state);
        let asked = Asked::Dn(&self.generator);
        let signing = Admitted::new(&state, &self.permitted, asked, self.since);
        let issued = issue_for_dn(issuance, package, &workshop, &signing, &state.store).await?;
        let told = told(&self.permitted, issued.certificate_id);
        Ok((issued, told))
    }

    /// 3. and 4. alone, without a key.
    fn preview(&self, state: &AppState) -> Result<DnRequestAnswer, ApiError> {
        let issuance = self.issuance(state);
        let mut preview = preview::preview_for_dn(&issuance)?;
        preview.certificate.has_key_data = true;
        let as_of = AsOf { now: issuance.now, retention: self.retention };
        let preview = previewed(&self.permitted, preview, as_of)?;
        Ok(DnRequestAnswer::Preview(Box::new(preview)))
    }

    fn issuance<'a>(&'a self, state: &AppState) -> DnIssuance<'a> {
        let Self { permitted, since: _, issuer, generator, request_id, body, retention: _ } = self;
        DnIssuance {
            requester: requester(permitted, request_id),
            issuer,
            generator,
            request: DnRequestBody {
                dn: body.dn.as_deref().unwrap_or_default(),
                subject_alt_names: &body.subject_alt_names,
                add_cn_as_dns_san: body.add_cn_as_dns_san.unwrap_or_default(),
                extra_info: body.extra_info.as_deref(),
                extra_emails: &body.extra_emails,
            },
            ids: new_ids(state),
            now: state.clock.now(),
        }
    }
}
