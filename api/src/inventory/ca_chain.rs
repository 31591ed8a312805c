//! From a certificate up to its root.

use chancery_shared::id::CertificateId;

use crate::app::AppState;
use crate::error::ApiError;
use crate::store::certificate::Certificate;
use crate::store::local_ca::LocalCa;
use crate::store::{Store, StoreError};

/// The certificates of `ca` and of the CAs above it, its own first, as far as there are records.
/// Empty while the CA has no certificate.
///
/// # Errors
///
/// Only if the database fails.
pub async fn of(state: &AppState, ca: &LocalCa) -> Result<Vec<Certificate>, ApiError> {
    let Some(id) = ca.certificate_id else { return Ok(Vec::new()) };
    from(state, id).await
}

/// The certificate of this record and those of the CAs above it, its own first, as far as there are
/// records. Empty where there is no such record.
///
/// # Errors
///
/// Only if the database fails.
pub async fn from(state: &AppState, first: CertificateId) -> Result<Vec<Certificate>, ApiError> {
    Ok(chain(&state.store, first).await?)
}

/// The same as DER.
///
/// # Errors
///
/// Only if the database fails.
pub async fn ders(store: &Store, first: CertificateId) -> Result<Vec<Vec<u8>>, ApiError> {
    Ok(chain(store, first).await?.into_iter().map(|certificate| certificate.der).collect())
}

async fn chain(store: &Store, first: CertificateId) -> Result<Vec<Certificate>, StoreError> {
    let mut chain: Vec<Certificate> = Vec::new();
    let mut next = Some(first);
    while let Some(id) = next {
        // A root's record names itself as its issuer.
        if chain.len() >= LONGEST || chain.iter().any(|certificate| certificate.id == id) {
            break;
        }
        let Some(stored) = store.certificate(id).await? else { break };
        next = stored.certificate.issuer_certificate_id;
        chain.push(stored.certificate);
    }
    Ok(chain)
}

/// More CAs than anyone has above each other.
const LONGEST: usize = 16;
