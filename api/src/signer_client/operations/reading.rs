//! What may be asked at any time without anything changing.

use chancery_shared::id::ApprovalId;
use chancery_shared::wire::v1::{ApprovalQuery, ApprovalStatus, ReadJournal, Reply, Request};

use super::{SignerClient, SignerError};

impl SignerClient {
    /// What became of a request that waits for the operator.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn approval_status(
        &self,
        approval_id: ApprovalId,
    ) -> Result<ApprovalStatus, SignerError> {
        let answer = self.ask(Request::ApprovalStatus(ApprovalQuery { approval_id })).await?;
        let status = answer.expect(|reply| match reply {
            Reply::Approval(status) => Some(status),
            _ => None,
        })?;
        Ok(status.value)
    }

    /// Entries of the journal above `after`, each the exact JSON as stored; none at the end.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn read_journal(&self, after: u64) -> Result<Vec<String>, SignerError> {
        let answer = self.ask(Request::ReadJournal(ReadJournal { after })).await?;
        let part = answer.expect(|reply| match reply {
            Reply::Journal(part) => Some(part.entries),
            _ => None,
        })?;
        Ok(part.value)
    }
}
