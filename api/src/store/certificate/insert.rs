//! Recording certificates, each once.

use std::sync::Arc;

use chancery_shared::id::{CertificateId, RowId};
use chancery_shared::wire::JournalHead;

use super::rows::{History, KeptKey};
use super::{Certificate, HistoryEntry, NewCertificate, TABLE, search};
use crate::certificate::history::HistoryEvent;
use crate::store::row::At;
use crate::store::{Store, StoreError, Write};

statements! {
    KEEP = "
        UPDATE certificate SET has_key_data = 1 WHERE certificate_id = $1 AND has_key_data = 0";
    /// The record of a certificate that was not signed here.
    FROM_ELSEWHERE = "
        SELECT certificate_id FROM certificate
         WHERE signer_id IS NULL AND issuer_key = $1 AND serial_number = $2";
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
    pub async fn insert_certificate(
        &self,
        new: impl Into<Arc<NewCertificate>>,
    ) -> Result<Inserted, StoreError> {
        self.writer().insert(new.into()).await
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
        let id: Option<String> = sqlx::query_scalar(search::id_by_serial(self.engine()))
            .bind(issuer_key)
            .bind(serial_number)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        At { table: TABLE, row: serial_number }.parse_option("certificate_id", id.as_deref())
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
        if self.insert_certificate_rows(&[new]).await? == 0 {
            let id: String = sqlx::query_scalar(search::id_by_serial(self.engine()))
                .bind(&certificate.issuer_key)
                .bind(&certificate.serial_number)
                .fetch_one(self.connection())
                .await
                .map_err(StoreError::of(TABLE))?;
            let id = At { table: TABLE, row: &id }.parse("certificate_id", &id)?;
            self.keep_after_all(id, new).await?;
            return Ok(Inserted::AlreadyThere(id));
        }
        self.insert_beside(&[new]).await?;
        Ok(Inserted::New(certificate.id))
    }

    /// Whether the certificate has a record that its entry in the journal does not tell of.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub(super) async fn is_recorded(
        &mut self,
        certificate: &Certificate,
    ) -> Result<bool, StoreError> {
        let sql = if certificate.names_its_entry() {
            FROM_ELSEWHERE
        } else {
            search::id_by_serial(self.engine())
        };
        let found: Option<String> = sqlx::query_scalar(sql)
            .bind(&certificate.issuer_key)
            .bind(&certificate.serial_number)
            .fetch_optional(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(found.is_some())
    }

    /// A request that comes after reconciliation brings the key that was held to be lost.
    async fn keep_after_all(
        &mut self,
        id: CertificateId,
        new: &NewCertificate,
    ) -> Result<(), StoreError> {
        let Some(kept) = &new.key_data else { return Ok(()) };
        let held = sqlx::query(KEEP).bind(id.to_string()).execute(self.connection()).await;
        if held.map_err(StoreError::of(TABLE))?.rows_affected() == 0 {
            // It was offered before, and the connection broke.
            return Ok(());
        }
        self.insert_kept_key(KeptKey { certificate_id: id, data: kept }).await?;
        let entry = HistoryEntry {
            // There is one such entry at most, so the certificate's own id is free for it.
            id: RowId::from_bytes(*id.as_bytes()),
            happened_at: kept.kept_at,
            event: HistoryEvent::Recovered,
            details: "The request came to its end after all: its private key is kept".to_owned(),
        };
        self.insert_history(id, &entry).await
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
        self.insert_history_row(History { certificate_id: id, entry }).await
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
