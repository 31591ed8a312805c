//! Deleted items, and what becomes of one that is deleted.

use chancery_shared::id::{CertificateId, KeyStoreId, LocalCaId, ProfileId};
use serde::Serialize;
use utoipa::ToSchema;

use super::key_store::KeyStoreType;
use crate::error::Dependant;

/// What became, or would become, of an item that was to be deleted: the item as it was, and more.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletionAnswer<T> {
    /// As it was.
    #[serde(flatten)]
    pub item: T,
    /// `deleted`: it can be restored; `gone`: it can't.
    #[schema(value_type = String)]
    pub outcome: &'static str,
    /// Whether nothing was done: the answer is what would be.
    pub rehearsal: bool,
    /// Of a Local CA: `disabled` or `destroyed`; `disabled` although the CA is gone where the signer's
    /// operator decides on the destruction, then `warnings` names the approval.
    #[schema(value_type = Option<String>)]
    pub key: Option<&'static str>,
    /// When it was deleted.
    pub deleted_at: Option<String>,
    /// Who deleted it.
    pub deleted_by: Option<String>,
    /// When it can't be restored any more.
    pub purge_at: Option<String>,
    /// Deleted items that go along.
    pub dependants: Vec<Dependant>,
    /// Certificates that it issued, and that are neither expired nor revoked.
    pub unexpired_certificates: u64,
    /// What to think of, one sentence each.
    pub warnings: Vec<String>,
}

/// A deleted item that is not purged yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedItem {
    /// What all kinds have.
    #[serde(flatten)]
    pub item: DeletedHead,
    /// By what this kind is known.
    #[serde(flatten)]
    pub was: Was,
}

/// By what a deleted item is known.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Was {
    /// Of a Key Store.
    KeyStore(KeyStoreWas),
    /// Of a Local CA.
    LocalCa(LocalCaWas),
    /// Of a Certificate Issuer.
    CertIssuer(CertIssuerWas),
}

/// What all kinds of deleted items have.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedHead {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// As in the path: `localca`, `keystores` or `ca`.
    pub kind: String,
    /// When it was deleted.
    pub deleted_at: String,
    /// Who deleted it.
    pub deleted_by: String,
    /// When it can't be restored any more.
    pub purge_at: String,
}

/// By what a Key Store is known.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyStoreWas {
    /// What keeps its keys.
    pub key_store_type: KeyStoreType,
    /// Name of its token in the signer.
    pub token: String,
}

/// By what a Local CA is known.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalCaWas {
    /// Its subject (RFC 4514).
    pub subject_dn: String,
    /// Where its key is.
    #[schema(value_type = String)]
    pub key_store_id: KeyStoreId,
    /// The Local CA that certified it.
    #[schema(value_type = Option<String>)]
    pub parent_local_ca_id: Option<LocalCaId>,
    /// The record of its certificate.
    #[schema(value_type = Option<String>)]
    pub cert_id: Option<CertificateId>,
    /// `deleted`, `restoring` or `removing`.
    #[schema(value_type = String)]
    pub status: &'static str,
}

/// By what a Certificate Issuer is known.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertIssuerWas {
    /// Its name.
    pub ca_name: String,
    /// The Local CA that signed for it.
    #[schema(value_type = String)]
    pub local_ca_id: LocalCaId,
    /// The profile of its certificates.
    #[schema(value_type = String)]
    pub cert_profile_id: ProfileId,
}
