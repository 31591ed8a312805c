//! Reading one certificate with its names and its history.

use chancery_shared::id::{CertificateId, CsrId, TeamId};
use chancery_shared::wire::JournalHead;

use super::{Certificate, HISTORY, HistoryEntry, StoredCertificate, TABLE};
use crate::store::row::At;
use crate::store::{Store, StoreError, Write};
use crate::timestamp::from_millis;

statements! {
    BY_ID = select!(certificate "WHERE certificate.certificate_id = $1");
    HISTORY_OF = select!(history "WHERE certificate_id = $1 ORDER BY happened_at, history_id");
    FIRST_OF_TEAM = "
        SELECT certificate_id, common_name
          FROM certificate
         WHERE team_id = $1
         ORDER BY record_no
         LIMIT 10";
    CSR = "SELECT der FROM csr WHERE csr_id = $1";
    /// Changes nothing, and holds the row until the transaction ends.
    HOLD = "UPDATE certificate SET is_ca = is_ca WHERE certificate_id = $1";
}

impl Store {
    /// The certificate of this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn certificate(
        &self,
        id: CertificateId,
    ) -> Result<Option<StoredCertificate>, StoreError> {
        let row: Option<Row> = sqlx::query_as(BY_ID)
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        let Some(row) = row else { return Ok(None) };
        let history: Vec<HistoryRow> = sqlx::query_as(HISTORY_OF)
            .bind(id.to_string())
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(HISTORY))?;
        whole(row, history).map(Some)
    }

    /// Ids and common names of the first few certificates of a team.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn first_certificates_of_team(
        &self,
        team: TeamId,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let rows = sqlx::query_as(FIRST_OF_TEAM).bind(team.to_string());
        rows.fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))
    }

    /// DER of the stored request.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn csr(&self, id: CsrId) -> Result<Option<Vec<u8>>, StoreError> {
        let der = sqlx::query_scalar(CSR).bind(id.to_string()).fetch_optional(self.pool()).await;
        der.map_err(StoreError::of("csr"))
    }
}

impl Write {
    /// The certificate of this id, which nobody else changes or deletes until this transaction
    /// ends: what is read here is what is changed.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn hold_certificate(
        &mut self,
        id: CertificateId,
    ) -> Result<Option<StoredCertificate>, StoreError> {
        let of_certificate = StoreError::of(TABLE);
        let held = sqlx::query(HOLD).bind(id.to_string()).execute(self.connection()).await;
        held.map_err(of_certificate)?;
        let row = sqlx::query_as(BY_ID).bind(id.to_string()).fetch_optional(self.connection());
        let Some(row) = row.await.map_err(of_certificate)? else { return Ok(None) };
        let history = sqlx::query_as(HISTORY_OF).bind(id.to_string()).fetch_all(self.connection());
        whole(row, history.await.map_err(StoreError::of(HISTORY))?).map(Some)
    }
}

fn whole(row: Row, history: Vec<HistoryRow>) -> Result<StoredCertificate, StoreError> {
    let mut found = StoredCertificate::try_from(row)?;
    found.history = history.into_iter().map(HistoryRow::entry).collect::<Result<_, _>>()?;
    Ok(found)
}

#[derive(Debug, sqlx::FromRow)]
pub(super) struct HistoryRow {
    pub(super) history_id: String,
    pub(super) certificate_id: String,
    happened_at: i64,
    event: String,
    details: String,
}

impl HistoryRow {
    pub(super) fn entry(self) -> Result<HistoryEntry, StoreError> {
        let at = At { table: HISTORY, row: &self.history_id };
        Ok(HistoryEntry {
            id: at.parse("history_id", &self.history_id)?,
            happened_at: from_millis(self.happened_at),
            event: at.parse("event", &self.event)?,
            details: self.details,
        })
    }
}

#[derive(Debug, sqlx::FromRow)]
pub(super) struct Row {
    certificate_id: String,
    issuer_key: String,
    serial_number: String,
    der: Vec<u8>,
    thumbprint: String,
    common_name: String,
    subject_dn: String,
    issuer_dn: String,
    subject_alt_names: String,
    not_before: i64,
    not_after: i64,
    is_ca: i16,
    cert_issuer_id: Option<String>,
    local_ca_id: Option<String>,
    issuer_certificate_id: Option<String>,
    csr_id: Option<String>,
    owner_user_id: String,
    owner_username: String,
    team_id: String,
    extra_details: Option<String>,
    extra_emails: Option<String>,
    track_expiry: i16,
    renewed: i16,
    renewed_by_certificate_id: Option<String>,
    renews_certificate_id: Option<String>,
    revoked: i16,
    revoked_at: Option<i64>,
    revocation_reason: Option<String>,
    has_key_data: i16,
    imported_at: Option<i64>,
    ms_template_name: Option<String>,
    signer_id: Option<String>,
    journal_seq: Option<i64>,
    journal_hash: Option<String>,
    created_at: i64,
    team_name: Option<String>,
    cert_issuer_name: Option<String>,
}

impl Row {
    pub(super) fn id(&self) -> &str {
        &self.certificate_id
    }
}

impl TryFrom<Row> for StoredCertificate {
    type Error = StoreError;

    /// Without the history, which stands in rows of its own.
    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.certificate_id };
        let certificate = Certificate {
            id: at.parse("certificate_id", &row.certificate_id)?,
            cert_issuer_id: at.parse_option("cert_issuer_id", row.cert_issuer_id.as_deref())?,
            local_ca_id: at.parse_option("local_ca_id", row.local_ca_id.as_deref())?,
            issuer_certificate_id: at
                .parse_option("issuer_certificate_id", row.issuer_certificate_id.as_deref())?,
            csr_id: at.parse_option("csr_id", row.csr_id.as_deref())?,
            owner_user_id: at.parse("owner_user_id", &row.owner_user_id)?,
            team_id: at.parse("team_id", &row.team_id)?,
            renewed_by_certificate_id: at.parse_option(
                "renewed_by_certificate_id",
                row.renewed_by_certificate_id.as_deref(),
            )?,
            renews_certificate_id: at
                .parse_option("renews_certificate_id", row.renews_certificate_id.as_deref())?,
            extra_emails: emails(at, row.extra_emails.as_deref())?,
            journal: journal(at, &row)?,
            issuer_key: row.issuer_key,
            serial_number: row.serial_number,
            der: row.der,
            thumbprint: row.thumbprint,
            common_name: row.common_name,
            subject_dn: row.subject_dn,
            issuer_dn: row.issuer_dn,
            subject_alt_names: row.subject_alt_names.lines().map(str::to_owned).collect(),
            not_before: from_millis(row.not_before),
            not_after: from_millis(row.not_after),
            is_ca: row.is_ca != 0,
            owner_username: row.owner_username,
            extra_details: row.extra_details,
            track_expiry: row.track_expiry != 0,
            renewed: row.renewed != 0,
            revoked: row.revoked != 0,
            revoked_at: row.revoked_at.map(from_millis),
            revocation_reason: row.revocation_reason,
            has_key_data: row.has_key_data != 0,
            imported_at: row.imported_at.map(from_millis),
            ms_template_name: row.ms_template_name,
            created_at: from_millis(row.created_at),
        };
        Ok(Self {
            certificate,
            team_name: row.team_name,
            cert_issuer_name: row.cert_issuer_name,
            history: Vec::new(),
        })
    }
}

fn emails(at: At<'_>, text: Option<&str>) -> Result<Option<Vec<String>>, StoreError> {
    text.map(|text| serde_json::from_str(text).map_err(|_| at.unreadable("extra_emails")))
        .transpose()
}

fn journal(at: At<'_>, row: &Row) -> Result<Option<JournalHead>, StoreError> {
    let (Some(signer), Some(seq), Some(hash)) =
        (&row.signer_id, row.journal_seq, &row.journal_hash)
    else {
        return Ok(None);
    };
    Ok(Some(JournalHead {
        signer_id: at.parse("signer_id", signer)?,
        seq: at.unsigned("journal_seq", seq)?,
        hash: at.parse("journal_hash", hash)?,
    }))
}
