//! Who signed a certificate from elsewhere, as far as its signature proves it.

use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::hexadecimal;
use chancery_shared::id::{CertificateId, LocalCaId};
use chancery_shared::signature;

use crate::certificate::RecordedFacts;
use crate::certificate::fields::CertificateFields;
use crate::store::{Store, StoreError};

/// Where a certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The Local CA under whose key its signature verifies; `None`: it is foreign.
    pub(super) local_ca_id: Option<LocalCaId>,
    /// The record of the certificate whose key signed it, where there is one.
    pub(super) issuer_certificate_id: Option<CertificateId>,
    /// For the unique place of its record, beside the serial number.
    pub(super) issuer_key: String,
}

/// Finds the signer of `fields` among the Local CAs, then among the CA certificates on record. A
/// name alone proves nothing: only a signature that verifies counts. `own_id` is the record that the
/// certificate will have, which a self-signed one names as its issuer's.
///
/// # Errors
///
/// Only if the database fails.
pub(super) async fn find(
    store: &Store,
    fields: &CertificateFields<'_>,
    facts: &RecordedFacts,
    der: &[u8],
    own_id: CertificateId,
) -> Result<Origin, StoreError> {
    for ca in store.local_cas_certified_as(&facts.issuer_dn).await? {
        if is_signed_by(fields, &ca.record.der) {
            return Ok(Origin {
                local_ca_id: Some(ca.local_ca_id),
                issuer_certificate_id: Some(ca.record.certificate_id),
                issuer_key: facts.issuer_key.clone(),
            });
        }
    }
    let issuer_certificate_id = if is_signed_by(fields, der) {
        Some(own_id)
    } else {
        let cas = store.cas_named(&facts.issuer_dn).await?;
        let signer = cas.into_iter().find(|ca| is_signed_by(fields, &ca.der));
        signer.map(|ca| ca.certificate_id)
    };
    Ok(Origin { local_ca_id: None, issuer_certificate_id, issuer_key: foreign_key(der) })
}

/// Whether `signer` (DER of a certificate) has the issuer's name, and its key signed `fields`.
fn is_signed_by(fields: &CertificateFields<'_>, signer: &[u8]) -> bool {
    let Ok(signer) = CertificateFields::read(signer) else { return false };
    signer.subject == fields.issuer
        && fields.tbs_signature_algorithm == fields.signature_algorithm
        && signature::verify(signer.spki, fields.signature_algorithm, fields.tbs, fields.signature)
            .is_ok()
}

/// What stands in the place of the issuer's key for a certificate that no Local CA signed: a hash
/// of the certificate itself. So each has a place of its own, and one that only claims to be of a
/// Local CA never takes the place (issuer, serial number) of that CA's own record.
///
/// The key of a Local CA's certificates is a hash of what begins with a SEQUENCE (a Name), this one
/// of what begins with a word: they can't be equal.
fn foreign_key(der: &[u8]) -> String {
    hexadecimal::encode(digest(&SHA256, &[b"foreign certificate ", der].concat()))
}
