//! What a Local CA is to be, beyond name, subject and place.

use chancery_shared::bytes::Bytes;
use chancery_shared::certificate::assemble;
use chancery_shared::id::{CertificateId, UserId};
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::policy::Policy;
use serde::{Deserialize, Serialize};

use crate::app::AppState;
use crate::certificate::{CertificatePolicy, RecordedFacts};
use crate::error::ApiError;
use crate::issuance::context::IssuanceContext;
use crate::issuance::extensions::Pointers;
use crate::issuance::name_constraints::NameConstraintsText;
use crate::store::local_ca::LocalCa;

/// The rest of a Local CA. Stored as JSON in `local_ca.definition`: a new field has a default, no
/// field is renamed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalCaDefinition {
    /// Kind of its key.
    pub key_algorithm: KeyAlgorithm,
    /// How it signs.
    pub signature_algorithm: SignatureAlgorithm,
    /// How long its certificate lasts.
    pub lifetime_in_days: u32,
    /// How many CAs may stand below it; `None`: any number.
    #[serde(default)]
    pub path_length: Option<u8>,
    /// Which names it may certify.
    #[serde(default)]
    pub name_constraints: Option<NameConstraintsText>,
    /// Under which policies it certifies.
    #[serde(default)]
    pub policies: Vec<CertificatePolicy>,
    /// URLs of its CRL.
    #[serde(default)]
    pub cdps: Vec<String>,
    /// URLs of its OCSP responders.
    #[serde(default)]
    pub aia_ocsp_urls: Vec<String>,
    /// URLs of its certificate.
    #[serde(default)]
    pub aia_issuer_urls: Vec<String>,
    /// What its key may sign; `None`: the operator's ceiling when the key was made.
    #[serde(default)]
    pub policy: Option<Policy>,
    /// Who asked for it.
    pub maker_user_id: UserId,
    /// Where the signer's journal stood before its key was asked for.
    #[serde(default)]
    pub begun_after: Option<JournalHead>,
    /// The draft of its certificate, from the moment before the signer is asked until it is live.
    #[serde(default)]
    pub awaiting: Option<Awaiting>,
}

/// The certificate that a CA waits for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Awaiting {
    /// DER of the TBSCertificate.
    pub tbs: Bytes,
    /// What the signer was told.
    pub context: IssuanceContext,
}

impl LocalCaDefinition {
    /// As stored with the CA.
    ///
    /// # Errors
    ///
    /// The row holds something that this service never writes.
    pub fn of(ca: &LocalCa) -> Result<Self, ApiError> {
        serde_json::from_str(&ca.definition).map_err(ApiError::internal)
    }

    /// As it is stored.
    ///
    /// # Errors
    ///
    /// None that can be provoked: every part has a JSON form.
    pub fn to_text(&self) -> Result<String, ApiError> {
        serde_json::to_string(self).map_err(ApiError::internal)
    }

    /// The record of the certificate that the CA waits for, once there is one, whoever made it and
    /// under whichever id.
    ///
    /// # Errors
    ///
    /// The database failed, or the row holds a draft that is none.
    pub async fn recorded(&self, state: &AppState) -> Result<Option<CertificateId>, ApiError> {
        let Some(awaiting) = &self.awaiting else { return Ok(None) };
        // As the certificate will be, but for its signature.
        let unsigned = assemble(&awaiting.tbs.0, &[]).map_err(ApiError::internal)?;
        let facts = RecordedFacts::read(&unsigned).map_err(ApiError::internal)?;
        let store = &state.store;
        Ok(store.certificate_id_by_serial(&facts.issuer_key, &facts.serial_number).await?)
    }

    /// What its certificates tell clients.
    pub fn pointers(&self) -> Pointers {
        Pointers {
            cdps: self.cdps.clone(),
            aia_ocsp_urls: self.aia_ocsp_urls.clone(),
            aia_issuer_urls: self.aia_issuer_urls.clone(),
        }
    }
}
