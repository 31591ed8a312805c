//! Where reading begins: the journal must still hold what was seen of it before.

use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;

use super::ReconcileError;
use super::chain::{Chain, JournalFault, Link, hash_of};
use crate::signer_client::SignerClient;
use crate::store::journal_head::KnownJournal;

/// Where to go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Anchor {
    /// After this entry.
    pub(super) link: Link,
    /// Entries above the last reconciled one, up to this, are lost, and the operator knows.
    pub(super) lost_up_to: Option<u64>,
}

/// Compares the journal with what is known of it: the highest entry that a reply named, and the
/// one up to which it is reconciled. Costs the same for any length of the journal.
pub(super) async fn find(
    signer: &SignerClient,
    signer_id: SignerId,
    known: Option<&KnownJournal>,
) -> Result<Anchor, ReconcileError> {
    let Some(known) = known else { return Ok(Anchor { link: Link::START, lost_up_to: None }) };
    let head = Link { seq: known.head.seq, hash: known.head.hash };
    if holds(signer, head).await? == Held::Otherwise {
        accepted(signer, signer_id, head.seq).await?;
    }
    let reconciled = Link { seq: known.reconciled_seq, hash: known.reconciled_hash };
    if reconciled == Link::START || holds(signer, reconciled).await? == Held::AsKnown {
        return Ok(Anchor { link: reconciled, lost_up_to: None });
    }
    let (link, lost) = accepted(signer, signer_id, reconciled.seq).await?;
    Ok(Anchor { link, lost_up_to: Some(lost.seq) })
}

#[derive(Debug, PartialEq, Eq)]
enum Held {
    AsKnown,
    Otherwise,
}

/// Whether the journal has this very entry.
async fn holds(signer: &SignerClient, link: Link) -> Result<Held, ReconcileError> {
    let entries = signer.read_journal(link.seq.saturating_sub(1)).await?;
    let is_it = entries.first().is_some_and(|first| hash_of(first) == link.hash);
    Ok(if is_it { Held::AsKnown } else { Held::Otherwise })
}

/// The operator's word that entries up to `seq` at least are lost; it stands above them.
async fn accepted(
    signer: &SignerClient,
    signer_id: SignerId,
    seq: u64,
) -> Result<(Link, JournalHead), ReconcileError> {
    let mut chain = Chain::anywhere(signer_id);
    let mut after = seq.saturating_sub(1);
    loop {
        let entries = signer.read_journal(after).await?;
        if entries.is_empty() {
            return Err(JournalFault::Replaced { seq }.into());
        }
        for body in &entries {
            let followed = chain.follow(body)?;
            let lost = chain.accepted(followed.event.as_ref());
            if let Some(lost) = lost.filter(|lost| lost.seq >= seq) {
                return Ok((followed.link, lost));
            }
            after = followed.link.seq;
        }
    }
}
