//! What both kinds of request have in common.

use chancery_shared::id::CertificateId;
use serde::Deserialize;

use super::super::json::certificate::CertificateRecord;
use super::super::json::preview::{CertificatePreview, PreviewedRecord};
use super::super::record::AsOf;
use crate::app::AppState;
use crate::error::ApiError;
use crate::issuance::csr_issuance::{NewIds, Requester};
use crate::issuance::preview::Preview;
use crate::issuer_choice::Permitted;
use crate::request::{RequestId, Told};
use crate::store::certificate::StoredCertificate;

/// The parameters of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Parameters {
    preview: Option<String>,
}

impl Parameters {
    /// Whether nothing is to be issued.
    pub(super) fn is_preview(&self) -> Result<bool, ApiError> {
        match self.preview.as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(ApiError::invalid_field("preview", "must be true or false")),
        }
    }
}

/// Who asks, and for which team.
pub(super) fn requester<'a>(permitted: &'a Permitted, request_id: &'a RequestId) -> Requester<'a> {
    let member = permitted.member();
    Requester {
        request_id: request_id.as_str(),
        user_id: member.actor().user_id(),
        username: member.actor().username(),
        team_id: member.team().id,
    }
}

/// For the rows of a request.
pub(super) fn new_ids(state: &AppState) -> NewIds {
    NewIds { certificate_id: state.new_id(), csr_id: state.new_id(), history_id: state.new_id() }
}

/// For the line of the request in the log.
pub(super) fn told(permitted: &Permitted, certificate_id: CertificateId) -> Told {
    let member = permitted.member();
    Told {
        certificate_id,
        user: member.actor().username().to_owned(),
        team: member.team().name.clone(),
        issuer: permitted.issuer().name.clone(),
    }
}

/// What would be, as it is answered.
pub(super) fn previewed(
    permitted: &Permitted,
    preview: Preview,
    as_of: AsOf,
) -> Result<CertificatePreview, ApiError> {
    let stored = StoredCertificate {
        certificate: preview.certificate,
        team_name: Some(permitted.member().team().name.clone()),
        cert_issuer_name: Some(permitted.issuer().name.clone()),
        history: vec![preview.history],
    };
    let record = CertificateRecord::new(&stored, as_of).map_err(ApiError::internal)?;
    Ok(CertificatePreview {
        certificate: PreviewedRecord(record),
        account: preview.account.into_iter().map(Into::into).collect(),
    })
}
