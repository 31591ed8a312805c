//! Deleting a record for good; a tombstone keeps it from coming back.

use chancery_shared::id::{CertificateId, LocalCaId};
use time::OffsetDateTime;

use crate::app::AppState;
use crate::auth::Administrator;
use crate::certificate;
use crate::echo::cut;
use crate::error::{ApiError, Code, Dependant};
use crate::store::Unaudited;
use crate::store::certificate::{StoredCertificate, Tombstone};
use crate::timestamp;

/// Deletes the record `id` with its history and its CSR, and answers it as it was. Links of other
/// records to it are cleared; what was said of it there stays in their histories.
///
/// # Errors
///
/// [`Code::NotFound`], [`Code::InUse`] where a Local CA has it, [`Code::WrongState`] while the
/// certificate is valid and not revoked. Nothing was deleted then.
pub async fn remove(
    state: &AppState,
    by: &Administrator,
    id: CertificateId,
) -> Result<StoredCertificate, ApiError> {
    let now = state.clock.now();
    let mut write = state.store.begin().await?;
    let held = write.hold_certificate(id).await?;
    let local_ca = write.local_ca_of(id).await?;
    let stored = match removable(held, local_ca, now) {
        Ok(stored) => stored,
        Err(refused) => {
            write.commit_unaudited(Unaudited::Nothing).await?;
            return Err(refused);
        }
    };
    let row = &stored.certificate;
    let tombstone = Tombstone {
        issuer_key: row.issuer_key.clone(),
        serial_number: row.serial_number.clone(),
        local_ca_id: row.local_ca_id,
        not_after: Some(row.not_after),
        revoked_at: row.revoked_at.filter(|_| row.revoked),
        revocation_reason: row.revocation_reason.clone().filter(|_| row.revoked),
        deleted_at: now,
        deleted_by: by.username().to_owned(),
    };
    write.delete_certificate(row).await?;
    write.insert_tombstone(&tombstone).await?;
    write.commit_beside_inventory(state.audited("delete", "certs").removed(row)).await?;
    tracing::info!(
        certificate.id = %id, administrator = by.username(), subject = cut(&row.subject_dn),
        serial_number = row.serial_number, "deleted a record"
    );
    Ok(stored)
}

/// A certificate that works must have a record: by it people find it, and revoke it. A CA's own is
/// what its chain stands on.
fn removable(
    held: Option<StoredCertificate>,
    local_ca: Option<(LocalCaId, String)>,
    now: OffsetDateTime,
) -> Result<StoredCertificate, ApiError> {
    let stored = held.ok_or_else(|| ApiError::not_found("certificate"))?;
    if let Some((ca, name)) = local_ca {
        return Err(in_use(ca.to_string(), name));
    }
    let row = &stored.certificate;
    if row.revoked || certificate::is_over(row.not_after, now) {
        return Ok(stored);
    }
    let until = timestamp::plain(row.not_after);
    Err(ApiError::refused(
        Code::WrongState,
        format!(
            "the certificate is valid until {until} and not revoked; its record can be deleted once \
             it is revoked or expired"
        ),
    ))
}

fn in_use(id: String, name: String) -> ApiError {
    let message = format!(
        "it is the certificate of the Local CA {name}; its record can be deleted once that CA is \
         deleted and purged"
    );
    let dependant = Dependant { kind: "localca".to_owned(), id, name };
    ApiError::refused(Code::InUse, message).with_dependants(vec![dependant])
}
