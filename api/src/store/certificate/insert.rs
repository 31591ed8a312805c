//! Recording certificates: each once, by issuer and serial number.

use chancery_shared::id::CertificateId;
use chancery_shared::wire::JournalHead;
use time::OffsetDateTime;

use super::{Certificate, HISTORY, HistoryEntry, NewCertificate, TABLE};
use crate::store::row::{At, signed};
use crate::store::{Store, StoreError, Write};
use crate::timestamp::to_millis;

statements! {
    INSERT = "
        INSERT INTO certificate (
            certificate_id, issuer_key, serial_number, der, thumbprint, common_name, subject_dn,
            issuer_dn, not_before, not_after, is_ca, cert_issuer_id, local_ca_id,
            issuer_certificate_id, csr_id, owner_user_id, owner_username, team_id, extra_details,
            extra_emails, track_expiry, renewed, renewed_by_certificate_id, renews_certificate_id,
            revoked, revoked_at, revocation_reason, has_key_data, imported_at, ms_template_name,
            signer_id, journal_seq, journal_hash, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34)
        ON CONFLICT (issuer_key, serial_number) DO NOTHING";
    ID_BY_SERIAL = "
        SELECT certificate_id FROM certificate WHERE issuer_key = $1 AND serial_number = $2";
    INSERT_CSR = "INSERT INTO csr (csr_id, der) VALUES ($1, $2)";
    INSERT_HISTORY = "
        INSERT INTO history (history_id, certificate_id, happened_at, event, details)
        VALUES ($1, $2, $3, $4, $5)";
    IS_TOMBSTONED = "
        SELECT COUNT(*)
          FROM certificate_tombstone
         WHERE issuer_key = $1 AND serial_number = $2";
    INSERT_TOMBSTONE = "
        INSERT INTO certificate_tombstone (issuer_key, serial_number, deleted_at, deleted_by)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (issuer_key, serial_number) DO NOTHING";
}

/// What came of recording a certificate. Both mean that it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// By this call.
    New(CertificateId),
    /// By an earlier one, under this id: a late request and reconciliation can't both win.
    AlreadyThere(CertificateId),
}

impl Inserted {
    /// The id of the record that there is now.
    pub fn id(self) -> CertificateId {
        match self {
            Self::New(id) | Self::AlreadyThere(id) => id,
        }
    }
}

impl Store {
    /// Records `new` with its request and history, and raises the known head of the journal, in
    /// one transaction. Concurrent calls share transactions.
    ///
    /// # Errors
    ///
    /// Only if the database fails. Then nothing is recorded, or, where the connection broke during
    /// the commit, everything: calling again finds out.
    pub async fn insert_certificate(&self, new: NewCertificate) -> Result<Inserted, StoreError> {
        self.writer().insert(new).await
    }

    /// The record of the certificate with this issuer and serial number.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn certificate_id_by_serial(
        &self,
        issuer_key: &str,
        serial_number: &str,
    ) -> Result<Option<CertificateId>, StoreError> {
        let id: Option<String> = sqlx::query_scalar(ID_BY_SERIAL)
            .bind(issuer_key)
            .bind(serial_number)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        At { table: TABLE, row: serial_number }.parse_option("certificate_id", id.as_deref())
    }

    /// Whether an administrator deleted the record of this certificate: then it stays deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn is_tombstoned(
        &self,
        issuer_key: &str,
        serial_number: &str,
    ) -> Result<bool, StoreError> {
        let rows: i64 = sqlx::query_scalar(IS_TOMBSTONED)
            .bind(issuer_key)
            .bind(serial_number)
            .fetch_one(self.pool())
            .await
            .map_err(StoreError::of("certificate_tombstone"))?;
        Ok(rows > 0)
    }
}

impl Write {
    /// Records `new` as part of this transaction, the journal's head excepted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn insert_certificate(
        &mut self,
        new: &NewCertificate,
    ) -> Result<Inserted, StoreError> {
        let certificate = &new.certificate;
        if !self.insert_row(certificate).await? {
            let id: String = sqlx::query_scalar(ID_BY_SERIAL)
                .bind(&certificate.issuer_key)
                .bind(&certificate.serial_number)
                .fetch_one(self.connection())
                .await
                .map_err(StoreError::of(TABLE))?;
            let id = At { table: TABLE, row: &id }.parse("certificate_id", &id)?;
            return Ok(Inserted::AlreadyThere(id));
        }
        if let (Some(id), Some(der)) = (certificate.csr_id, &new.csr) {
            let query = sqlx::query(INSERT_CSR).bind(id.to_string()).bind(der);
            query.execute(self.connection()).await.map_err(StoreError::of("csr"))?;
        }
        for entry in &new.history {
            self.insert_history(certificate.id, entry).await?;
        }
        Ok(Inserted::New(certificate.id))
    }

    /// Adds an entry to the history of the certificate `id`.
    ///
    /// # Errors
    ///
    /// Only if the database fails, or there is no such certificate.
    pub async fn insert_history(
        &mut self,
        id: CertificateId,
        entry: &HistoryEntry,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT_HISTORY)
            .bind(entry.id.to_string())
            .bind(id.to_string())
            .bind(to_millis(entry.happened_at))
            .bind(entry.event.to_string())
            .bind(&entry.details)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(HISTORY))
    }

    /// Remembers that the record of this certificate was deleted on purpose.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn insert_tombstone(
        &mut self,
        issuer_key: &str,
        serial_number: &str,
        deleted_at: OffsetDateTime,
        deleted_by: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT_TOMBSTONE)
            .bind(issuer_key)
            .bind(serial_number)
            .bind(to_millis(deleted_at))
            .bind(deleted_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of("certificate_tombstone"))
    }

    /// Inserts the row; says whether it was not there before.
    async fn insert_row(&mut self, certificate: &Certificate) -> Result<bool, StoreError> {
        let emails =
            certificate.extra_emails.as_ref().map(|list| serde_json::json!(list).to_string());
        let journal = certificate.journal.as_ref();
        let done = sqlx::query(INSERT)
            .bind(certificate.id.to_string())
            .bind(&certificate.issuer_key)
            .bind(&certificate.serial_number)
            .bind(&certificate.der)
            .bind(&certificate.thumbprint)
            .bind(&certificate.common_name)
            .bind(&certificate.subject_dn)
            .bind(&certificate.issuer_dn)
            .bind(to_millis(certificate.not_before))
            .bind(to_millis(certificate.not_after))
            .bind(i16::from(certificate.is_ca))
            .bind(text(certificate.cert_issuer_id))
            .bind(text(certificate.local_ca_id))
            .bind(text(certificate.issuer_certificate_id))
            .bind(text(certificate.csr_id))
            .bind(certificate.owner_user_id.to_string())
            .bind(&certificate.owner_username)
            .bind(certificate.team_id.to_string())
            .bind(certificate.extra_details.as_deref())
            .bind(emails)
            .bind(i16::from(certificate.track_expiry))
            .bind(i16::from(certificate.renewed))
            .bind(text(certificate.renewed_by_certificate_id))
            .bind(text(certificate.renews_certificate_id))
            .bind(i16::from(certificate.revoked))
            .bind(certificate.revoked_at.map(to_millis))
            .bind(certificate.revocation_reason.as_deref())
            .bind(i16::from(certificate.has_key_data))
            .bind(certificate.imported_at.map(to_millis))
            .bind(certificate.ms_template_name.as_deref())
            .bind(journal.map(|entry| entry.signer_id.to_string()))
            .bind(journal.map(|entry| signed(entry.seq)))
            .bind(journal.map(|entry| entry.hash.to_string()))
            .bind(to_millis(certificate.created_at))
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }
}

/// The highest entry of each signer among `heads`.
pub(super) fn highest<'a>(heads: impl Iterator<Item = &'a JournalHead>) -> Vec<JournalHead> {
    let mut highest: Vec<JournalHead> = Vec::new();
    for head in heads {
        match highest.iter_mut().find(|known| known.signer_id == head.signer_id) {
            Some(known) if known.seq < head.seq => *known = *head,
            Some(_) => {}
            None => highest.push(*head),
        }
    }
    // One order for all processes, so that two of them never wait for each other.
    highest.sort_by_key(|head| head.signer_id);
    highest
}

fn text<Kind>(id: Option<chancery_shared::id::Id<Kind>>) -> Option<String> {
    id.map(|id| id.to_string())
}
