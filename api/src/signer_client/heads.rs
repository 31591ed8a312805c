//! What the API knows of the signers' journals, told to the signer in each `hello`.

use chancery_shared::wire::JournalHead;
use futures::future::BoxFuture;

/// The highest entry known of each signer's journal.
pub trait JournalHeads: Send + Sync + 'static {
    /// Reads them. Without them there is no `hello`: an empty list would let a journal pass that
    /// was cut off or replaced by an old copy.
    fn journal_heads(&self) -> BoxFuture<'_, Result<Vec<JournalHead>, HeadsUnknown>>;
}

/// The heads can't be read now; the cause is in the log of whoever keeps them.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the heads of the journals can't be read")]
pub struct HeadsUnknown;
