//! Stand-in.

use chancery_shared::id::CertIssuerId;

use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::issuance::csr_issuance::Issuer;

/// Stand-in.
///
/// # Errors
///
/// Always.
pub async fn issuing(_state: &AppState, _id: CertIssuerId) -> Result<Issuer, ApiError> {
    Err(ApiError::refused(Code::CaNotLive, "stand-in"))
}
