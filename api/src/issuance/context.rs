//! What the journal keeps of a request, so that its record can be made without our memory.
//!
//! Stored for ever in the signer's journal: a field is never renamed or given another meaning; a
//! new one has a default.

use chancery_shared::id::{CertIssuerId, CertificateId, CsrId, LocalCaId, RowId, TeamId, UserId};
use chancery_shared::wire::{Context, MAX_CONTEXT};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

/// Everything of a record that does not stand in certificate or CSR. Ids are chosen before the
/// signer is asked, so that reconciliation makes the very record that the request would have made.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct IssuanceContext {
    /// By which one certificate is traced from the HTTP call to the token.
    pub request_id: String,
    /// When the request was drafted; the record's `created_at`.
    #[serde(with = "time::serde::timestamp::milliseconds")]
    pub requested_at: OffsetDateTime,
    /// Who asked.
    pub actor_user_id: UserId,
    /// That user's name.
    pub actor_username: String,
    /// Whose the certificate will be.
    pub owner_user_id: UserId,
    /// That user's name.
    pub owner_username: String,
    /// Which team's it will be.
    pub team_id: TeamId,
    /// Through which issuer; absent for CA certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_issuer_id: Option<CertIssuerId>,
    /// The Local CA that signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_ca_id: Option<LocalCaId>,
    /// Record of the issuer's certificate; of a self-signed one its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer_certificate_id: Option<CertificateId>,
    /// The Local CA that gets the certificate, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certified_local_ca_id: Option<LocalCaId>,
    /// The record's id.
    pub certificate_id: CertificateId,
    /// Id of the stored CSR, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csr_id: Option<CsrId>,
    /// Row of the history's `created` entry.
    pub history_id: RowId,
    /// Name of the CSR Generator, where the service made the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csr_generator_name: Option<String>,
    /// The certificate that is being renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renews_certificate_id: Option<CertificateId>,
    /// The text that came with the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_info: Option<String>,
    /// Who else gets mail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_emails: Vec<String>,
    /// Whether reminders are sent.
    #[serde(default = "yes")]
    pub track_expiry: bool,
    /// Where the certificate is not what was asked for: a clause each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<String>,
}

/// Why there is no context.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// Over [`MAX_CONTEXT`] as JSON.
    #[error("what the journal keeps of a request takes more than {MAX_CONTEXT} bytes")]
    TooLarge,
    /// Not one that this service wrote.
    #[error("the journal's context is not one of an issuance")]
    Malformed(#[source] serde_json::Error),
}

impl IssuanceContext {
    /// As it goes over the wire.
    ///
    /// # Errors
    ///
    /// [`ContextError::TooLarge`].
    pub fn to_wire(&self) -> Result<Context, ContextError> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => {
                let context = Context::from(fields);
                let fits = context.encoded_len() <= MAX_CONTEXT;
                if fits { Ok(context) } else { Err(ContextError::TooLarge) }
            }
            Ok(_) => Err(ContextError::TooLarge),
            Err(error) => Err(ContextError::Malformed(error)),
        }
    }

    /// As it comes back from the journal. Fields that are not known are passed over: a newer
    /// version may have written it.
    ///
    /// # Errors
    ///
    /// [`ContextError::Malformed`].
    pub fn from_wire(context: &Context) -> Result<Self, ContextError> {
        serde_json::from_value(Value::Object(context.fields().clone()))
            .map_err(ContextError::Malformed)
    }

    /// The sentence of the `created` entry.
    pub fn created_details(&self) -> String {
        let user = &self.actor_username;
        let clauses = self.departures.iter().map(|clause| format!("; {clause}"));
        let told: String = clauses.collect();
        match (&self.csr_generator_name, self.csr_id) {
            (Some(generator), _) => format!(
                "User {user} created the certificate; CSR Generator {generator} made the key{told}"
            ),
            (None, Some(_)) => {
                format!("User {user} created the certificate; a CSR was provided{told}")
            }
            (None, None) => format!("User {user} created the certificate for a key in the token"),
        }
    }

    /// The sentence of the `recovered` entry.
    pub fn recovered_details(&self) -> String {
        let lost = match self.csr_generator_name {
            Some(_) => "; its private key is lost, because it had not been stored yet",
            None => "",
        };
        format!("The record was made from the signer's journal{lost}")
    }
}

fn yes() -> bool {
    true
}

#[cfg(test)]
pub(crate) mod tests {
    use chancery_shared::id::Id;
    use time::macros::datetime;

    use super::*;

    pub(crate) fn context() -> IssuanceContext {
        IssuanceContext {
            request_id: "r-1".into(),
            requested_at: datetime!(2026-11-28 12:00:00.123 UTC),
            actor_user_id: Id::from_bytes([1; 12]),
            actor_username: "alice".into(),
            owner_user_id: Id::from_bytes([1; 12]),
            owner_username: "alice".into(),
            team_id: Id::from_bytes([2; 12]),
            cert_issuer_id: Some(Id::from_bytes([3; 12])),
            local_ca_id: Some(Id::from_bytes([4; 12])),
            issuer_certificate_id: Some(Id::from_bytes([5; 12])),
            certified_local_ca_id: None,
            certificate_id: Id::from_bytes([6; 12]),
            csr_id: Some(Id::from_bytes([7; 12])),
            history_id: Id::from_bytes([8; 12]),
            csr_generator_name: None,
            renews_certificate_id: None,
            extra_info: Some("rack 12".into()),
            extra_emails: vec!["ops@example.test".into()],
            track_expiry: true,
            departures: vec!["keyUsage of the CSR was not taken".into()],
        }
    }

    #[test]
    fn a_context_comes_back_from_the_journal_as_it_went() {
        let wire = context().to_wire().unwrap();

        assert_eq!(IssuanceContext::from_wire(&wire).unwrap(), context());
        assert_eq!(wire.request_id(), Some("r-1"));
    }

    #[test]
    fn the_journal_is_for_ever_so_the_names_of_the_fields_are() {
        let wire = serde_json::to_value(context().to_wire().unwrap()).unwrap();

        let expected = serde_json::json!({
            "requestId": "r-1",
            "requestedAt": 1_795_867_200_123_i64,
            "actorUserId": "010101010101010101010101",
            "actorUsername": "alice",
            "ownerUserId": "010101010101010101010101",
            "ownerUsername": "alice",
            "teamId": "020202020202020202020202",
            "certIssuerId": "030303030303030303030303",
            "localCaId": "040404040404040404040404",
            "issuerCertificateId": "050505050505050505050505",
            "certificateId": "060606060606060606060606",
            "csrId": "070707070707070707070707",
            "historyId": "080808080808080808080808",
            "extraInfo": "rack 12",
            "extraEmails": ["ops@example.test"],
            "trackExpiry": true,
            "departures": ["keyUsage of the CSR was not taken"],
        });
        assert_eq!(wire, expected);
    }

    #[test]
    fn a_context_over_the_limit_is_refused_before_the_signer_does() {
        let large = IssuanceContext { extra_info: Some("x".repeat(MAX_CONTEXT)), ..context() };

        assert!(matches!(large.to_wire(), Err(ContextError::TooLarge)));
    }
}
