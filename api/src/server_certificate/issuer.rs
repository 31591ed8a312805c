//! Through which Certificate Issuer the service gets its HTTPS certificate.

use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::retention::Items;
use crate::store::cert_issuer::CertIssuer;
use crate::store::retention::{ItemId, Retained};

/// Its name.
const ISSUER: &str = "Chancery Issuer";

/// The live issuer of that name.
///
/// # Errors
///
/// [`Code::UnknownIssuer`], or the database fails.
pub(super) async fn find(state: &AppState) -> Result<CertIssuer, ApiError> {
    let issuer = state.store.live_cert_issuer_named(ISSUER).await?;
    issuer.ok_or_else(|| {
        let message = format!(
            "there is no live Certificate Issuer {ISSUER}, by which the service gets its HTTPS \
             certificate; restore it, or make one of that name"
        );
        ApiError::refused(Code::UnknownIssuer, message)
    })
}

/// What to think of before the item goes, where the service gets its HTTPS certificate by it.
pub fn warning(items: &Items, id: ItemId) -> Option<String> {
    let is_issuer =
        |item: &Retained| matches!(item.id, ItemId::CertIssuer(_)) && item.name == ISSUER;
    let going = items.below(id).into_iter().chain(items.get(id).ok());
    let going: Vec<_> = going.filter(|item| is_issuer(item)).map(|item| item.id).collect();
    let mut live = items.all().filter(|item| is_issuer(item) && item.deleted.is_none());
    if going.is_empty() || live.any(|item| !going.contains(&item.id)) {
        return None;
    }
    Some(format!(
        "the service gets its own HTTPS certificate by the Certificate Issuer {ISSUER}: without it that \
         is not renewed, and a new installation of it gets none; restore it, or make a Certificate \
         Issuer of that name, before the certificate expires"
    ))
}
