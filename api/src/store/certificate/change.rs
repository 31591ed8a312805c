//! Changing what of a record may change.

use chancery_shared::id::CertificateId;
use time::OffsetDateTime;

use super::{Certificate, TABLE};
use crate::store::{StoreError, Write};
use crate::timestamp::to_millis;

statements! {
    UPDATE_DETAILS = "
        UPDATE certificate
           SET extra_details = $2, extra_emails = $3, track_expiry = $4, renewed = $5,
               owner_user_id = $6, owner_username = $7, team_id = $8
         WHERE certificate_id = $1";
    REVOKE = "
        UPDATE certificate
           SET revoked = 1, revoked_at = $2, revocation_reason = $3
         WHERE certificate_id = $1";
}

impl Write {
    /// Writes the details, the owner and the team of `certificate`, which this transaction holds.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn update_details(&mut self, certificate: &Certificate) -> Result<(), StoreError> {
        let emails = certificate.extra_emails.as_ref();
        let done = sqlx::query(UPDATE_DETAILS)
            .bind(certificate.id.to_string())
            .bind(certificate.extra_details.as_deref())
            .bind(emails.map(|list| serde_json::json!(list).to_string()))
            .bind(i16::from(certificate.track_expiry))
            .bind(i16::from(certificate.renewed))
            .bind(certificate.owner_user_id.to_string())
            .bind(&certificate.owner_username)
            .bind(certificate.team_id.to_string())
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Marks a certificate, which this transaction holds, as revoked.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn mark_revoked(
        &mut self,
        id: CertificateId,
        at: OffsetDateTime,
        reason: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(REVOKE)
            .bind(id.to_string())
            .bind(to_millis(at))
            .bind(reason)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
