//! A Certificate Issuer with all that issuing through it needs.

use chancery_shared::id::CertIssuerId;

use super::check_live;
use crate::error::{ApiError, Code};
use crate::inventory::{ca_chain, local_ca};
use crate::issuance::csr_issuance::Issuer;
use crate::store::Store;

/// Issuer, profile, Local CA and the CA's certificate, as they stand now.
///
/// # Errors
///
/// [`Code::UnknownIssuer`] where the issuer does not exist or was deleted, [`Code::CaNotLive`]
/// where its CA can't sign.
pub async fn issuing(store: &Store, id: CertIssuerId) -> Result<Issuer, ApiError> {
    let issuer = store.cert_issuer(id).await?.filter(|issuer| issuer.deleted_at.is_none());
    let issuer = issuer.ok_or_else(|| {
        ApiError::refused(Code::UnknownIssuer, "there is no such Certificate Issuer")
    })?;
    let profile = store.profile(issuer.profile_id).await?;
    let ca = store.local_ca(issuer.local_ca_id).await?;
    // Neither goes while an issuer refers to it: the database says so.
    let (Some(profile), Some(ca)) = (profile, ca) else {
        return Err(ApiError::internal(format!("issuer {id} stands on nothing")));
    };
    check_live(&ca)?;
    let (Some(key_id), Some(issuer_certificate_id)) = (ca.key_id, ca.certificate_id) else {
        let message = format!("the Local CA {} can't sign: it has no certificate yet", ca.name);
        return Err(ApiError::refused(Code::CaNotLive, message));
    };
    let key_store = store.key_store(ca.key_store_id).await?;
    let key_store =
        key_store.ok_or_else(|| ApiError::internal(format!("issuer {id} has no Key Store")))?;
    Ok(Issuer {
        cert_issuer_id: issuer.id,
        local_ca_id: ca.id,
        key_id,
        token: key_store.token,
        issuer_certificate_id,
        ca: local_ca::issuing_ca(store, &ca).await?,
        chain: ca_chain::ders(store, issuer_certificate_id).await?,
        profile: profile.definition,
    })
}
