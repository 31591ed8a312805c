//! All entries up to the moment at which it begins, or those of them that came since an earlier one.

use std::collections::VecDeque;

use crate::store::audit::{
    AuditHeads, AuditPlace, AuditProgress, AuditSearch, Order, Piece, StoredAuditEntry,
};
use crate::store::{Store, StoreError};

/// What is still to be read.
pub(super) struct Download {
    store: Store,
    search: AuditSearch,
    known: AuditHeads,
    rest: Rest,
}

enum Rest {
    /// All, by time.
    Behind(Option<AuditPlace>),
    /// What came since, by chain.
    Pieces(VecDeque<Piece>),
}

impl Download {
    /// Begins one now.
    pub(super) async fn begin(
        store: &Store,
        search: AuditSearch,
        since: Option<AuditProgress>,
    ) -> Result<Self, StoreError> {
        let known = store.audit_heads().await?;
        let rest = match since {
            None => Rest::Behind(None),
            Some(since) => Rest::Pieces(known.since(&since).into()),
        };
        Ok(Self { store: store.clone(), search, known, rest })
    }

    /// Where the next one is to begin.
    pub(super) fn progress(&self) -> AuditProgress {
        self.known.progress()
    }

    /// The next entries; `None` after the last.
    pub(super) async fn page(&mut self) -> Result<Option<Vec<StoredAuditEntry>>, StoreError> {
        loop {
            let mut page = match &mut self.rest {
                Rest::Behind(after) => {
                    let order = Order::OldestFirst;
                    let page =
                        self.store.audit_entries(&self.search, order, *after, PER_PAGE).await?;
                    let Some(last) = page.last() else { return Ok(None) };
                    *after = Some(last.place());
                    page
                }
                Rest::Pieces(pieces) => {
                    let Some(piece) = pieces.front_mut() else { return Ok(None) };
                    let page = self.store.audit_piece(&self.search, *piece, PER_PAGE).await?;
                    match page.last() {
                        Some(last) => piece.after = last.entry_no,
                        None => drop(pieces.pop_front()),
                    }
                    page
                }
            };
            // What has come since the beginning is for the next download.
            page.retain(|entry| self.known.holds(entry));
            if !page.is_empty() {
                return Ok(Some(page));
            }
        }
    }
}

/// Entries that are in memory at a time.
const PER_PAGE: u32 = 500;
