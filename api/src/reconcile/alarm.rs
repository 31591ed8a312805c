//! What an administrator has to look at: logged, counted, and never a reason to stop.

use chancery_shared::id::CertificateId;

/// Something that does not fit together, although the chain of the journal is whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Alarm {
    /// A record says that an entry holds its signature, and the entry does not.
    #[error("certificate {certificate_id} is not what entry {seq} of the signer's journal signed")]
    RecordWithoutEntry {
        /// The record.
        certificate_id: CertificateId,
        /// The entry that it names.
        seq: u64,
    },
    /// The same of further records, which are not named.
    #[error("{count} more certificates are not what the signer's journal signed")]
    MoreRecordsWithoutEntry {
        /// How many.
        count: u64,
    },
    /// A signature whose TBS is not in the journal.
    #[error("entry {seq} of the signer's journal is a signature without an intent")]
    SignedWithoutIntent {
        /// Which entry.
        seq: u64,
    },
    /// What was signed can't be read as a certificate.
    #[error("what entry {seq} of the signer's journal signed is no certificate")]
    NoCertificate {
        /// Which entry.
        seq: u64,
    },
}

impl Alarm {
    /// Stable, for those who search the log or watch the counters.
    pub fn code(&self) -> &'static str {
        match self {
            Self::RecordWithoutEntry { .. } | Self::MoreRecordsWithoutEntry { .. } => {
                "record-without-entry"
            }
            Self::SignedWithoutIntent { .. } => "signed-without-intent",
            Self::NoCertificate { .. } => "signed-no-certificate",
        }
    }

    /// Logs and counts it.
    pub(super) fn raise(&self) {
        tracing::error!(code = self.code(), "{self}");
        let by = match self {
            Self::MoreRecordsWithoutEntry { count } => *count,
            Self::RecordWithoutEntry { .. }
            | Self::SignedWithoutIntent { .. }
            | Self::NoCertificate { .. } => 1,
        };
        count(self.code(), by);
    }
}

/// Counts alarms.
pub(super) fn count(code: &'static str, by: u64) {
    metrics::counter!("chancery_reconcile_alarms_total", "code" => code).increment(by);
}
