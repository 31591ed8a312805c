//! Rows of what is recorded together.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::hexadecimal;
use chancery_shared::id::{CertificateId, CsrId, Id};

use super::{Certificate, HISTORY, HistoryEntry, NewCertificate, TABLE};
use crate::store::engine::EngineName;
use crate::store::key_data::KeyData;
use crate::store::many_rows::{Bound, Inserts, Row, inserts, inserts_unless};
use crate::store::row::signed;
use crate::store::{StoreError, Write};
use crate::timestamp::to_millis;

impl Row for &Certificate {
    const TABLE: &'static str = TABLE;

    fn inserts() -> &'static Inserts {
        const COLUMNS: &str = "
            certificate_id, issuer_key, serial_number, der, thumbprint, common_name, subject_dn,
            issuer_dn, issuer_dn_key, subject_alt_names, not_before, not_after, is_ca, cert_issuer_id,
            local_ca_id,
            issuer_certificate_id, csr_id, owner_user_id, owner_username, team_id, extra_details,
            extra_emails, track_expiry, renewed, renewed_by_certificate_id, renews_certificate_id,
            revoked, revoked_at, revocation_reason, has_key_data, imported_at, ms_template_name,
            signer_id, journal_seq, journal_hash, created_at";
        static INSERTS: LazyLock<Inserts> = LazyLock::new(|| inserts_unless(TABLE, COLUMNS, once));
        &INSERTS
    }

    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        let emails = self.extra_emails.as_ref().map(|list| serde_json::json!(list).to_string());
        let journal = self.journal.as_ref();
        query
            .bind(self.id.to_string())
            .bind(&self.issuer_key)
            .bind(&self.serial_number)
            .bind(&self.der)
            .bind(&self.thumbprint)
            .bind(&self.common_name)
            .bind(&self.subject_dn)
            .bind(&self.issuer_dn)
            .bind(dn_key(&self.issuer_dn))
            .bind(lines(&self.subject_alt_names))
            .bind(to_millis(self.not_before))
            .bind(to_millis(self.not_after))
            .bind(i16::from(self.is_ca))
            .bind(text(self.cert_issuer_id))
            .bind(text(self.local_ca_id))
            .bind(text(self.issuer_certificate_id))
            .bind(text(self.csr_id))
            .bind(self.owner_user_id.to_string())
            .bind(&self.owner_username)
            .bind(self.team_id.to_string())
            .bind(self.extra_details.as_deref())
            .bind(emails)
            .bind(i16::from(self.track_expiry))
            .bind(i16::from(self.renewed))
            .bind(text(self.renewed_by_certificate_id))
            .bind(text(self.renews_certificate_id))
            .bind(i16::from(self.revoked))
            .bind(self.revoked_at.map(to_millis))
            .bind(self.revocation_reason.as_deref())
            .bind(i16::from(self.has_key_data))
            .bind(self.imported_at.map(to_millis))
            .bind(self.ms_template_name.as_deref())
            .bind(journal.map(|entry| entry.signer_id.to_string()))
            .bind(journal.map(|entry| signed(entry.seq)))
            .bind(journal.map(|entry| entry.hash.to_string()))
            .bind(to_millis(self.created_at))
    }
}

/// A certificate has one record, whoever comes second.
pub(super) fn once(engine: EngineName) -> &'static str {
    match engine {
        // What this can't tell, is_recorded does.
        EngineName::Sqlite => " ON CONFLICT (signer_id, journal_seq, serial_number) DO NOTHING",
        EngineName::Postgres => " ON CONFLICT (issuer_key, serial_number) DO NOTHING",
    }
}

/// The request of a certificate.
pub(super) struct Csr<'a> {
    id: CsrId,
    der: &'a [u8],
}

impl<'a> Csr<'a> {
    /// Of one that has a request.
    pub(super) fn of(new: &'a NewCertificate) -> Option<Self> {
        let (id, der) = (new.certificate.csr_id?, new.csr.as_deref()?);
        Some(Self { id, der })
    }
}

impl Row for Csr<'_> {
    const TABLE: &'static str = "csr";

    fn inserts() -> &'static Inserts {
        static INSERTS: LazyLock<Inserts> = LazyLock::new(|| inserts("csr", "csr_id, der"));
        &INSERTS
    }

    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query.bind(self.id.to_string()).bind(self.der)
    }
}

/// An entry in the history of a certificate.
pub(super) struct History<'a> {
    pub(super) certificate_id: CertificateId,
    pub(super) entry: &'a HistoryEntry,
}

impl<'a> History<'a> {
    /// All entries of one certificate.
    pub(super) fn of(new: &'a NewCertificate) -> impl Iterator<Item = Self> {
        let certificate_id = new.certificate.id;
        new.history.iter().map(move |entry| Self { certificate_id, entry })
    }
}

impl Row for History<'_> {
    const TABLE: &'static str = HISTORY;

    fn inserts() -> &'static Inserts {
        const COLUMNS: &str = "history_id, certificate_id, happened_at, event, details";
        static INSERTS: LazyLock<Inserts> = LazyLock::new(|| inserts(HISTORY, COLUMNS));
        &INSERTS
    }

    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.entry.id.to_string())
            .bind(self.certificate_id.to_string())
            .bind(to_millis(self.entry.happened_at))
            .bind(self.entry.event.to_string())
            .bind(&self.entry.details)
    }
}

/// What is kept of a private key.
pub(super) struct KeptKey<'a> {
    pub(super) certificate_id: CertificateId,
    pub(super) data: &'a KeyData,
}

impl<'a> KeptKey<'a> {
    /// Of one whose key is kept.
    pub(super) fn of(new: &'a NewCertificate) -> Option<Self> {
        let certificate_id = new.certificate.id;
        new.key_data.as_ref().map(|data| Self { certificate_id, data })
    }
}

impl Row for KeptKey<'_> {
    const TABLE: &'static str = "key_data";

    fn inserts() -> &'static Inserts {
        const COLUMNS: &str = "certificate_id, data_key_id, p12, jks, pem, kept_at";
        static INSERTS: LazyLock<Inserts> = LazyLock::new(|| inserts("key_data", COLUMNS));
        &INSERTS
    }

    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.certificate_id.to_string())
            .bind(self.data.data_key_id.to_string())
            .bind(&self.data.p12)
            .bind(&self.data.jks)
            .bind(&self.data.pem)
            .bind(to_millis(self.data.kept_at))
    }
}

/// All of them, for the test that prepares them on both engines.
#[cfg(test)]
pub(in crate::store) fn statements(engine: EngineName) -> Vec<(&'static str, &'static str)> {
    let of_table = |(table, inserts): (&'static str, &'static Inserts)| {
        inserts.of(engine).iter().map(move |(_, sql)| (table, *sql))
    };
    let tables = [
        (TABLE, <&Certificate>::inserts()),
        ("csr", Csr::inserts()),
        (HISTORY, History::inserts()),
        ("key_data", KeptKey::inserts()),
    ];
    tables.into_iter().flat_map(of_table).collect()
}

impl Write {
    /// Inserts the rows of those that are not there yet; says how many that were.
    pub(super) async fn insert_certificate_rows(
        &mut self,
        new: &[&NewCertificate],
    ) -> Result<usize, StoreError> {
        if self.engine() == EngineName::Postgres {
            let rows: Vec<_> = new.iter().map(|new| &new.certificate).collect();
            return self.insert_rows(&rows).await;
        }
        let (mut fresh, mut inserted) = (Vec::new(), 0);
        for certificate in new.iter().map(|new| &new.certificate) {
            // One that names no entry of its own may be there since the one before it.
            if !(certificate.names_its_entry()
                && fresh.iter().copied().all(Certificate::names_its_entry))
            {
                inserted += self.insert_rows(&std::mem::take(&mut fresh)).await?;
            }
            if !self.is_recorded(certificate).await? {
                fresh.push(certificate);
            }
        }
        inserted += self.insert_rows(&fresh).await?;
        Ok(inserted)
    }

    /// Inserts what goes with certificates whose rows were inserted: their CSRs, histories and
    /// kept keys.
    pub(super) async fn insert_beside(
        &mut self,
        new: &[&NewCertificate],
    ) -> Result<(), StoreError> {
        let csrs: Vec<_> = new.iter().filter_map(|new| Csr::of(new)).collect();
        self.insert_rows(&csrs).await?;
        let histories: Vec<_> = new.iter().flat_map(|new| History::of(new)).collect();
        self.insert_rows(&histories).await?;
        let kept: Vec<_> = new.iter().filter_map(|new| KeptKey::of(new)).collect();
        self.insert_rows(&kept).await.map(drop)
    }

    /// Inserts what is kept of a key.
    pub(super) async fn insert_kept_key(&mut self, row: KeptKey<'_>) -> Result<(), StoreError> {
        self.insert_rows(&[row]).await.map(drop)
    }

    /// Inserts one entry of a history.
    pub(super) async fn insert_history_row(&mut self, row: History<'_>) -> Result<(), StoreError> {
        self.insert_rows(&[row]).await.map(drop)
    }
}

/// By which records of one issuer are found together.
fn dn_key(dn: &str) -> String {
    hexadecimal::encode(digest(&SHA256, dn.as_bytes()))
}

/// One name a line: a line break within a name, as certificates from elsewhere have it, would make
/// two of it.
fn lines(names: &[String]) -> String {
    names.iter().map(|name| name.replace('\n', "\u{fffd}")).collect::<Vec<_>>().join("\n")
}

fn text<Kind>(id: Option<Id<Kind>>) -> Option<String> {
    id.map(|id| id.to_string())
}
