//! From a Local CA's certificate up to its root.

use crate::app::AppState;
use crate::error::ApiError;
use crate::store::certificate::Certificate;
use crate::store::local_ca::LocalCa;

/// The certificates of `ca` and of the CAs above it, its own first, as far as there are records.
/// Empty while the CA has no certificate.
///
/// # Errors
///
/// Only if the database fails.
pub async fn of(state: &AppState, ca: &LocalCa) -> Result<Vec<Certificate>, ApiError> {
    let mut chain: Vec<Certificate> = Vec::new();
    let mut next = ca.certificate_id;
    while let Some(id) = next {
        // A root's record names itself as its issuer.
        if chain.len() >= LONGEST || chain.iter().any(|certificate| certificate.id == id) {
            break;
        }
        let Some(stored) = state.store.certificate(id).await? else { break };
        next = stored.certificate.issuer_certificate_id;
        chain.push(stored.certificate);
    }
    Ok(chain)
}

/// More CAs than anyone has above each other.
const LONGEST: usize = 16;
