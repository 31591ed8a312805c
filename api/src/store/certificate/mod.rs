//! Certificates, their requests and their history.

mod change;
mod insert;
mod issuers;
mod journaled;
mod page;
mod read;
mod remove;
mod rows;
pub mod search;
mod tombstone;
mod whole;
mod writer;

use chancery_shared::id::{CertIssuerId, CertificateId, CsrId, LocalCaId, RowId, TeamId, UserId};
use chancery_shared::wire::JournalHead;
use time::OffsetDateTime;

use crate::certificate::history::HistoryEvent;
use crate::store::audit::AuditEntry;
use crate::store::key_data::KeyData;

pub use insert::Inserted;
pub use issuers::{CaRecord, LocalCaRecord};
pub use journaled::JournaledRecord;
pub use tombstone::Tombstone;
pub(super) use writer::{Handle as WriterHandle, Writer};

#[cfg(test)]
pub(super) use {
    change::STATEMENTS as CHANGE_STATEMENTS, insert::STATEMENTS as INSERT_STATEMENTS,
    issuers::STATEMENTS as ISSUERS_STATEMENTS, journaled::STATEMENTS as JOURNALED_STATEMENTS,
    page::STATEMENTS as PAGE_STATEMENTS, read::STATEMENTS as READ_STATEMENTS,
    remove::STATEMENTS as REMOVE_STATEMENTS, rows::statements as row_statements,
    tombstone::STATEMENTS as TOMBSTONE_STATEMENTS,
};

/// The columns of one certificate. What stands in the certificate itself is read from `der`; the
/// rest repeats it only where a query needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub struct Certificate {
    /// Its id.
    pub id: CertificateId,
    /// SHA-256 over the issuer's Name (DER) and the authority key identifier, hexadecimal.
    pub issuer_key: String,
    /// Hexadecimal, an even number of digits, no sign octet.
    pub serial_number: String,
    /// The certificate.
    pub der: Vec<u8>,
    /// SHA-1 of the DER, hexadecimal.
    pub thumbprint: String,
    /// Common name, or empty.
    pub common_name: String,
    /// Subject as text.
    pub subject_dn: String,
    /// Issuer as text.
    pub issuer_dn: String,
    /// `TYPE:value`, as the record shows them.
    pub subject_alt_names: Vec<String>,
    /// Valid from this moment.
    pub not_before: OffsetDateTime,
    /// Valid to this moment.
    pub not_after: OffsetDateTime,
    /// Whether it is a CA's.
    pub is_ca: bool,
    /// The Certificate Issuer that was asked.
    pub cert_issuer_id: Option<CertIssuerId>,
    /// The Local CA that signed.
    pub local_ca_id: Option<LocalCaId>,
    /// The record of the CA certificate that it chains to.
    pub issuer_certificate_id: Option<CertificateId>,
    /// Its request.
    pub csr_id: Option<CsrId>,
    /// Who asked for it.
    pub owner_user_id: UserId,
    /// The owner's name.
    pub owner_username: String,
    /// The team it belongs to.
    pub team_id: TeamId,
    /// Free text.
    pub extra_details: Option<String>,
    /// Further addresses; `None` where none were given.
    pub extra_emails: Option<Vec<String>>,
    /// Whether reminders are sent before it expires.
    pub track_expiry: bool,
    /// Whether another one took its place.
    pub renewed: bool,
    /// Which one.
    pub renewed_by_certificate_id: Option<CertificateId>,
    /// Whose place it took.
    pub renews_certificate_id: Option<CertificateId>,
    /// Whether it is revoked.
    pub revoked: bool,
    /// When.
    pub revoked_at: Option<OffsetDateTime>,
    /// Why, as RFC 5280 names it.
    pub revocation_reason: Option<String>,
    /// Whether its private key is kept.
    pub has_key_data: bool,
    /// When it was imported; `None` where it was issued here.
    pub imported_at: Option<OffsetDateTime>,
    /// Template name of a Microsoft CA.
    pub ms_template_name: Option<String>,
    /// The signer's journal entry that holds it; `None` where it was not signed here.
    pub journal: Option<JournalHead>,
    /// When the record was made.
    pub created_at: OffsetDateTime,
}

impl Certificate {
    /// Whether it is an end entity's that was signed here: its entry in the journal names no other.
    /// One from elsewhere names none, one of a CA that of its signature or that of its installation.
    pub(super) fn names_its_entry(&self) -> bool {
        self.journal.is_some() && !self.is_ca
    }
}

/// A certificate that is to be recorded, with everything that one transaction writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCertificate {
    /// Its columns.
    pub certificate: Certificate,
    /// DER of its request; recorded under the certificate's `csr_id`.
    pub csr: Option<Vec<u8>>,
    /// Its first history entries, oldest first.
    pub history: Vec<HistoryEntry>,
    /// What is kept of its private key.
    pub key_data: Option<KeyData>,
    /// What the audit says of it; of an import, what the import says.
    pub audit: AuditEntry,
}

/// One entry of a certificate's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Its id.
    pub id: RowId,
    /// When it happened.
    pub happened_at: OffsetDateTime,
    /// What.
    pub event: HistoryEvent,
    /// One sentence that names the user.
    pub details: String,
}

/// A certificate as read, with the names of what it refers to and its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCertificate {
    /// Its columns.
    pub certificate: Certificate,
    /// Name of its team, while there is one.
    pub team_name: Option<String>,
    /// Name of its Certificate Issuer, while there is one.
    pub cert_issuer_name: Option<String>,
    /// Its history, oldest first.
    pub history: Vec<HistoryEntry>,
}

const TABLE: &str = "certificate";
const HISTORY: &str = "history";
