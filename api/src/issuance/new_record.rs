//! The rows of a certificate that was signed: one transaction, made the same way by the request
//! and by reconciliation.

use std::future::Future;

use chancery_shared::certificate::assemble;
use chancery_shared::id::CsrId;
use chancery_shared::wire::JournalHead;
use time::OffsetDateTime;

use super::context::IssuanceContext;
use super::signing::SignedTbs;
use crate::certificate::StoredCertificate;
use crate::certificate::fields::NotACertificate;
use crate::certificate::history::{HistoryEntry, HistoryEvent};

/// Everything that goes into the store in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// The certificate's row.
    pub certificate: StoredCertificate,
    /// The request's row.
    pub csr: Option<StoredCsr>,
    /// `created` or `recovered`.
    pub history: HistoryEntry,
    /// The head to keep for this signer, if it is higher than the one that is known.
    pub journal: JournalHead,
}

/// A row of the `csr` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCsr {
    /// Its id.
    pub csr_id: CsrId,
    /// The request, byte for byte.
    pub der: Vec<u8>,
}

/// Who makes the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeBy {
    /// The request itself.
    Request,
    /// Reconciliation, at this time.
    Reconciliation(OffsetDateTime),
}

/// What became of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The record is there now.
    New,
    /// A record of this issuer and serial number was there: the other one of request and
    /// reconciliation has made it, from the same context and so with the same ids.
    AlreadyThere,
}

/// What issuance needs of the store.
pub trait Records: Sync {
    /// Why the store failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Inserts all rows in one transaction, or none.
    ///
    /// # Errors
    ///
    /// The store failed; nothing was inserted, or it is not known whether it was.
    fn insert(
        &self,
        record: &NewRecord,
    ) -> impl Future<Output = Result<Inserted, Self::Error>> + Send;
}

impl NewRecord {
    /// The rows of what the signer signed.
    ///
    /// # Errors
    ///
    /// TBS and signature make no certificate, which no signer's answer does.
    pub fn of(
        context: &IssuanceContext,
        signed: &SignedTbs,
        csr: Option<&[u8]>,
        made_by: MadeBy,
    ) -> Result<Self, NotACertificate> {
        let der = assemble(&signed.tbs, &signed.signature)?;
        let certificate = StoredCertificate::issued(context, der, signed.journal)?;
        let csr = context.csr_id.zip(csr);
        let (happened_at, event, details) = match made_by {
            MadeBy::Request => {
                (context.requested_at, HistoryEvent::Created, context.created_details())
            }
            MadeBy::Reconciliation(at) => {
                (at, HistoryEvent::Recovered, context.recovered_details())
            }
        };
        Ok(Self {
            certificate,
            csr: csr.map(|(csr_id, der)| StoredCsr { csr_id, der: der.to_vec() }),
            history: HistoryEntry { history_id: context.history_id, happened_at, event, details },
            journal: signed.journal,
        })
    }
}
