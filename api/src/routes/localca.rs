//! `/admin/localca`.

mod change;
mod life;
mod policy;

use axum::extract::State;
use chancery_shared::id::kind;
use chancery_shared::wire::policy::Policy;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::local_ca::{LocalCaItem, NewLocalCaBody};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::certificate::CertificatePolicy;
use crate::error::{ApiError, Code, JsonError};
use crate::inventory::keep_first;
use crate::inventory::local_ca::{
    self, LocalCaDefinition, Maker, NewLocalCa, algorithm, hash_and_pss,
};
use crate::issuance::name_constraints::NameConstraintsText;
use crate::json::Json;
use crate::name::{DistinguishedName, dn_text};
use crate::packaging::pem;
use crate::reference::{Field, agreed};
use crate::request::{PathId, RequestId};
use crate::signer_client::SignerError;
use crate::store::key_store::KeyStore;
use crate::store::local_ca::{LocalCa, LocalCaStatus};
use crate::store::retention::Transition;
use crate::timestamp;

/// Local CAs, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(one))
        .merge(change::routes())
        .merge(life::routes())
}

/// The Local CAs, by name.
#[utoipa::path(
    get, path = "/admin/localca", tag = "Local CAs",
    responses((status = 200, body = Vec<LocalCaItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<LocalCaItem>>, ApiError> {
    let mut items = Vec::new();
    for ca in state.store.local_cas().await? {
        items.push(item(&state, ca).await?);
    }
    Ok(Json(items))
}

/// One Local CA.
#[utoipa::path(
    get, path = "/admin/localca/{id}", tag = "Local CAs", params(("id" = String, Path)),
    responses((status = 200, body = LocalCaItem), (status = "default", body = JsonError)),
)]
async fn one(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(id): PathId<kind::LocalCa>,
) -> Result<Json<LocalCaItem>, ApiError> {
    let ca = state.store.local_ca(id).await?.filter(|ca| ca.deleted_at.is_none());
    let ca = ca.ok_or_else(|| ApiError::not_found("Local CA"))?;
    item(&state, ca).await.map(Json)
}

/// Makes a Local CA: key, certificate and record.
#[utoipa::path(
    post, path = "/admin/localca", tag = "Local CAs", request_body = NewLocalCaBody,
    responses((status = 200, body = LocalCaItem), (status = "default", body = JsonError)),
)]
async fn create(
    State(state): State<AppState>,
    by: Administrator,
    request_id: RequestId,
    Json(body): Json<NewLocalCaBody>,
) -> Result<Json<LocalCaItem>, ApiError> {
    let maker = Maker {
        user_id: by.actor().user_id(),
        username: by.username().to_owned(),
        request_id: request_id.as_str().to_owned(),
    };
    let new = understand(&state, &maker, body).await?;
    let ca = local_ca::create(&state, maker, new).await?;
    tracing::info!(administrator = by.username(), local_ca.id = %ca.id, "made a Local CA");
    item(&state, ca).await.map(Json)
}

async fn understand(
    state: &AppState,
    maker: &Maker,
    mut body: NewLocalCaBody,
) -> Result<NewLocalCa, ApiError> {
    for list in
        [&mut body.policies, &mut body.cdps, &mut body.aia_ocsp_urls, &mut body.aia_issuer_urls]
    {
        keep_first(list);
    }
    let ceiling = state.signer.state().ceiling().cloned().ok_or(SignerError::Unreachable)?;
    let mut faults = Faults::default();
    faults.check_name("name", &body.name, 100);
    let longest = longest_life(&ceiling)?;
    let lifetime_in_days = body.lifetime_in_days.between(1, longest).unwrap_or_else(|| {
        faults.add("lifetimeInDays", format!("must be a whole number from 1 to {longest}"));
        longest
    });
    refuse_later_fields(&body, &mut faults);
    let subject = subject(&body.subject_dn, &mut faults);
    let signing = algorithms(&body, &mut faults);
    let policies = policies(&body.policies, &mut faults);
    if let Some(Err(problem)) = body.name_constraints.as_ref().map(NameConstraintsText::parse) {
        faults.add("nameConstraints", problem.to_string());
    }
    for (field, urls) in [
        ("cdps", &body.cdps),
        ("aiaOcspUrls", &body.aia_ocsp_urls),
        ("aiaIssuerUrls", &body.aia_issuer_urls),
    ] {
        check_urls(field, urls, &mut faults);
    }
    let policy = body.policy.and_then(|narrowed| policy::read(&ceiling, narrowed, &mut faults));
    let parents = [
        Field::Id("parentLocalCaId", body.parent_local_ca_id.as_deref()),
        Field::Either("parentLocalCaName", body.parent_local_ca_name.as_deref()),
    ];
    match (body.root_ca, parents.iter().any(Field::is_given)) {
        (Some(true), true) => faults.add("rootCa", "a root CA has no parent; give one of both"),
        (None | Some(false), false) => faults.add(
            "parentLocalCaId",
            "must name the Local CA that certifies this one, unless rootCa is true",
        ),
        _ => {}
    }
    let stores = [
        Field::Id("keyStoreId", body.key_store_id.as_deref()),
        Field::Either("keyStoreName", body.key_store_name.as_deref()),
    ];
    if !stores.iter().any(Field::is_given) {
        faults.add("keyStoreId", "must name the Key Store of the new key");
    }
    faults.finish()?;
    let (Some(subject), Some((key_algorithm, signature_algorithm))) = (subject, signing) else {
        return Err(ApiError::invalid_field("subjectDn", "is missing"));
    };
    let key_store: Option<(_, KeyStore)> =
        agreed(&state.store, Code::UnknownReference, &stores).await?;
    let (_, key_store) =
        key_store.ok_or_else(|| ApiError::invalid_field("keyStoreId", "is missing"))?;
    let parent = agreed(&state.store, Code::UnknownReference, &parents).await?.map(|(_, ca)| ca);
    Ok(NewLocalCa {
        name: body.name,
        key_store_id: key_store.id,
        token: key_store.token,
        parent,
        subject_dn: subject.to_string(),
        subject,
        definition: LocalCaDefinition {
            key_algorithm,
            signature_algorithm,
            lifetime_in_days,
            path_length: body.path_length,
            name_constraints: body.name_constraints,
            policies,
            cdps: body.cdps,
            aia_ocsp_urls: body.aia_ocsp_urls,
            aia_issuer_urls: body.aia_issuer_urls,
            policy,
            maker_user_id: maker.user_id,
            begun_after: None,
            awaiting: None,
        },
    })
}

/// Of a CA, in days: what the signer's operator allows.
fn longest_life(ceiling: &Policy) -> Result<u32, ApiError> {
    let certify_cas = ceiling.certify_cas.as_ref().ok_or_else(|| {
        let message = "the signer's operator allows no key to certify CAs (certifyCas of the \
                       ceiling), so no Local CA can be made";
        ApiError::refused(Code::PolicyViolation, message)
    })?;
    Ok(certify_cas.max_validity_days)
}

fn refuse_later_fields(body: &NewLocalCaBody, faults: &mut Faults) {
    let later = "is not available in this version; leave it out";
    if body.external == Some(true) {
        faults.add("external", later);
    }
    if body.crl_lifetime_minutes.is_some() {
        faults.add("crlLifetimeMinutes", later);
    }
    if body.crl_generation_minutes.is_some() {
        faults.add("crlGenerationMinutes", later);
    }
}

fn subject(text: &str, faults: &mut Faults) -> Option<DistinguishedName> {
    match dn_text::parse(text) {
        Ok(name) if name.is_empty() => faults.add("subjectDn", "must not be empty"),
        Ok(name) => return Some(name),
        Err(problem) => faults.add("subjectDn", problem.to_string()),
    }
    None
}

fn algorithms(
    body: &NewLocalCaBody,
    faults: &mut Faults,
) -> Option<(
    chancery_shared::wire::algorithm::KeyAlgorithm,
    chancery_shared::wire::algorithm::SignatureAlgorithm,
)> {
    let Some(key) = algorithm::key_algorithm(&body.key_algorithm) else {
        faults.add("keyAlgorithm", format!("must be one of {}", algorithm::key_names()));
        return None;
    };
    let is_pss = body.rsa_pss.unwrap_or_default();
    let signing = algorithm::signature_algorithm(key, body.hash_algorithm.as_deref(), is_pss);
    if signing.is_none() {
        faults.add(
            "hashAlgorithm",
            "must be SHA-256, SHA-384 or SHA-512, absent for Ed25519; rsaPss is for RSA alone",
        );
    }
    signing.map(|signing| (key, signing))
}

fn policies(texts: &[String], faults: &mut Faults) -> Vec<CertificatePolicy> {
    let parsed: Result<Vec<_>, _> = texts.iter().map(|text| text.parse()).collect();
    parsed
        .map_err(|error: crate::certificate::certificate_policy::NotAPolicy| {
            faults.add("policies", error.to_string());
        })
        .unwrap_or_default()
}

fn check_urls(field: &str, urls: &[String], faults: &mut Faults) {
    if urls.len() > 8 {
        faults.add(field, "must have at most 8 URLs");
    }
    for (index, url) in urls.iter().enumerate() {
        // Clients fetch these before they trust TLS: RFC 5280, section 8.
        if crate::name::uri::check(url).is_err() || !url.starts_with("http://") {
            faults.add(&format!("{field}[{index}]"), "must be an absolute URL with http://");
        }
    }
}

async fn item(state: &AppState, ca: LocalCa) -> Result<LocalCaItem, ApiError> {
    let definition = LocalCaDefinition::of(&ca)?;
    let certificate = match ca.certificate_id {
        Some(id) => state.store.certificate(id).await?,
        None => None,
    };
    let (hash_algorithm, rsa_pss) = hash_and_pss(definition.signature_algorithm);
    let status = match ca.status {
        _ if ca.transition.is_some() => ca.transition.map_or("", Transition::as_str),
        _ if ca.deleted_at.is_some() => "deleted",
        LocalCaStatus::Live => "live",
        LocalCaStatus::Offline => "offline",
        LocalCaStatus::AwaitingCertificate => "awaiting certificate",
        LocalCaStatus::AwaitingApproval => "awaiting approval",
        LocalCaStatus::Removing => "removing",
        LocalCaStatus::Revoked => "revoked",
    };
    Ok(LocalCaItem {
        id: ca.id,
        name: ca.name,
        key_store_id: ca.key_store_id,
        root_ca: ca.parent_local_ca_id.is_none(),
        parent_local_ca_id: ca.parent_local_ca_id,
        external: false,
        subject_dn: ca.subject_dn,
        lifetime_in_days: definition.lifetime_in_days,
        key_algorithm: algorithm::key_name(definition.key_algorithm).to_owned(),
        hash_algorithm: hash_algorithm.to_owned(),
        rsa_pss,
        path_length: definition.path_length,
        name_constraints: definition.name_constraints,
        policy: definition.policy,
        policies: definition.policies,
        cdps: definition.cdps,
        aia_ocsp_urls: definition.aia_ocsp_urls,
        aia_issuer_urls: definition.aia_issuer_urls,
        status: status.to_owned(),
        ca_certificate: certificate.map(|stored| pem::certificate(&stored.certificate.der)),
        cert_id: ca.certificate_id,
        created: timestamp::with_offset(ca.created_at),
        created_by: ca.created_by,
    })
}
