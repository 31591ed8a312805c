//! What a preview answers.

use serde::{Serialize, Serializer};
use serde_json::Value;
use utoipa::ToSchema;

use super::certificate::CertificateRecord;
use super::certificate_request::{IssuedCertificate, IssuedWithKey};
use crate::issuance::preview::{Ending, Part, Told};

/// The answer of a request: the certificate, or with `?preview=true` what it would be.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum RequestAnswer {
    /// It was issued.
    Issued(IssuedCertificate),
    /// Nothing was issued.
    Preview(Box<CertificatePreview>),
}

/// The answer of a DN request: certificate and key, or with `?preview=true` what would be.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum DnRequestAnswer {
    /// It was issued.
    Issued(IssuedWithKey),
    /// Nothing was issued.
    Preview(Box<CertificatePreview>),
}

/// The certificate that a request would get, and what would become of each part of the request.
#[derive(Debug, Serialize, ToSchema)]
pub struct CertificatePreview {
    /// Every field of the record; `id`, `csrId`, `pemCert`, `serialNumber` and `thumbprint`, which
    /// are not known before it is signed, are null.
    #[schema(value_type = CertificateRecord)]
    pub certificate: PreviewedRecord,
    /// Subject, names, extensions and end, each with the rule that decided on it.
    pub account: Vec<AccountEntry>,
}

/// A record whose certificate is not signed.
#[derive(Debug)]
pub struct PreviewedRecord(pub CertificateRecord);

impl Serialize for PreviewedRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serde_json::to_value(&self.0).map_err(serde::ser::Error::custom)?;
        for unknown in UNKNOWN {
            if let Some(field) = record.get_mut(unknown) {
                *field = Value::Null;
            }
        }
        record.serialize(serializer)
    }
}

const UNKNOWN: [&str; 5] = ["id", "csrId", "pemCert", "serialNumber", "thumbprint"];

/// What would become of one part of the request.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccountEntry {
    /// Which part.
    pub part: AccountPart,
    /// What was asked for; null for what nobody asked for.
    pub requested: Option<String>,
    /// Whether the certificate has it.
    pub outcome: AccountOutcome,
    /// What the certificate has in its place, or on its own.
    pub becomes: Option<String>,
    /// By which rule: a field of the profile or of the request, `subject`, `dn`,
    /// `stringTypes`, `duplicates`, `profile`, `unknownExtension`, `attributes` or `caCertificate`.
    pub rule: &'static str,
    /// The same in one sentence.
    pub message: &'static str,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AccountPart {
    /// An attribute of the subject, or the order of all.
    Subject,
    /// A subject alternative name.
    SubjectAlternativeName,
    /// An extension.
    Extension,
    /// An attribute of the request beside the extensions, such as a challenge password.
    Attribute,
    /// The end of its life.
    Validity,
}

/// What becomes of a part.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AccountOutcome {
    /// As it was asked for.
    Kept,
    /// In another form, or with another value.
    Changed,
    /// Not at all.
    Dropped,
    /// Though nobody asked for it.
    Added,
}

impl From<Told> for AccountEntry {
    fn from(told: Told) -> Self {
        let Told { part, requested, ending, becomes, rule, sentence } = told;
        Self {
            part: match part {
                Part::Subject => AccountPart::Subject,
                Part::AlternativeName => AccountPart::SubjectAlternativeName,
                Part::Extension => AccountPart::Extension,
                Part::Attribute => AccountPart::Attribute,
                Part::Validity => AccountPart::Validity,
            },
            requested,
            outcome: match ending {
                Ending::Kept => AccountOutcome::Kept,
                Ending::Changed => AccountOutcome::Changed,
                Ending::Dropped => AccountOutcome::Dropped,
                Ending::Added => AccountOutcome::Added,
            },
            becomes,
            rule,
            message: sentence,
        }
    }
}
