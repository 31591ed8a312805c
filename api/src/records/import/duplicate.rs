//! A certificate that is here already and comes again.

use chancery_shared::id::CertificateId;

use super::{Revocation, for_administrators};
use crate::app::AppState;
use crate::audit;
use crate::certificate::history::HistoryEvent;
use crate::error::{ApiError, Code};
use crate::records::permission::Caller;
use crate::records::visibility::Sight;
use crate::store::certificate::{Certificate, HistoryEntry, StoredCertificate};
use crate::store::{Unaudited, Write};

/// Revokes the record `known` where `revocation` says more than it and `caller` may do that; else
/// names the record.
///
/// # Errors
///
/// [`Code::DuplicateCertificate`], or for who does not see the record what who may not import gets;
/// nothing has changed then.
pub(super) async fn revoke_or_refuse(
    state: &AppState,
    caller: &Caller,
    sight: &Sight,
    revocation: Option<Revocation>,
    known: CertificateId,
) -> Result<StoredCertificate, ApiError> {
    let stored = state.store.certificate(known).await?;
    // Deleted a moment ago: the same request finds no duplicate any more.
    let stored = stored.ok_or_else(|| ApiError::not_found("certificate"))?;
    if !sight.includes(&stored.certificate) {
        // The audit names it, for the administrator who is asked next.
        audit::name_subject(&stored.certificate.id, &stored.certificate.common_name);
        return Err(for_administrators());
    }
    let Some(revocation) = revocation.filter(|new| applies(*new, caller, &stored)) else {
        return Err(is_present(&stored.certificate));
    };
    let mut write = state.store.begin().await?;
    let stored = write.hold_certificate(known).await?;
    let stored = stored.ok_or_else(|| ApiError::not_found("certificate"))?;
    // A CA is revoked where it stops signing too, not by its record alone.
    let is_of_ca = write.local_ca_of(known).await?.is_some();
    if is_of_ca || !applies(revocation, caller, &stored) {
        write.commit_unaudited(Unaudited::Nothing).await?;
        return Err(is_present(&stored.certificate));
    }
    revoke(state, &mut write, caller, known, revocation).await?;
    let before = stored.certificate;
    let after = Certificate {
        revoked: true,
        revoked_at: Some(revocation.at),
        revocation_reason: Some(revocation.reason.to_string()),
        ..before.clone()
    };
    write
        .commit_beside_inventory(state.audited("import", "certs").changed(&before, &after))
        .await?;
    let revoked = state.store.certificate(known).await?;
    revoked.ok_or_else(|| ApiError::not_found("certificate"))
}

fn applies(revocation: Revocation, caller: &Caller, stored: &StoredCertificate) -> bool {
    revocation.is_newer_than(stored) && caller.may_change(&stored.certificate)
}

async fn revoke(
    state: &AppState,
    write: &mut Write,
    caller: &Caller,
    id: CertificateId,
    revocation: Revocation,
) -> Result<(), ApiError> {
    write.mark_revoked(id, revocation.at, &revocation.reason.to_string()).await?;
    let user = caller.actor().username();
    let entry = HistoryEntry {
        id: state.new_id(),
        happened_at: state.clock.now(),
        event: HistoryEvent::Revoked,
        details: format!("User {user} imported it again, {}", revocation.clause()),
    };
    write.insert_history(id, &entry).await?;
    tracing::info!(certificate.id = %id, user, "an import brought a revocation");
    Ok(())
}

/// Deployed scripts read this sentence.
fn is_present(known: &Certificate) -> ApiError {
    let Certificate { id, owner_username, team_id, .. } = known;
    ApiError::refused(
        Code::DuplicateCertificate,
        format!(
            "The certificate is already present in the system. Details: id: {id}, owner: \
             {owner_username}, team id: {team_id}"
        ),
    )
    .with_certificate(*id)
}
