//! All items together: what stands on what, and what may become of each. Nothing here asks the
//! database or the clock.

use std::sync::Arc;

use time::OffsetDateTime;

use super::refusal::Refusal;
use super::state::{Deleted, Deletion, Live, Retention};
use crate::store::local_ca::LocalCaStatus;
use crate::store::retention::{ItemId, Retained, Transition};

/// Whether what stands in the way comes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// It stands in the way.
    Nothing,
    /// Of a removal its deleted dependants, of a restore what it stands on.
    Deleted,
}

/// Every item, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    all: Vec<Arc<Retained>>,
    retention: Retention,
}

enum Standing<'a> {
    Live(Live<&'a Arc<Retained>>),
    Deleted(Deleted<&'a Arc<Retained>>),
}

impl Items {
    /// All of them, deleted ones kept for so long.
    pub fn new(all: Vec<Retained>, retention: Retention) -> Self {
        Self { all: all.into_iter().map(Arc::new).collect(), retention }
    }

    /// The item, live or deleted.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotFound`].
    pub fn get(&self, id: ItemId) -> Result<&Arc<Retained>, Refusal> {
        self.all.iter().find(|item| item.id == id).ok_or(Refusal::NotFound(id))
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Retained>> {
        self.all.iter()
    }

    /// Each of them.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotFound`].
    pub fn each(&self, ids: &[ItemId]) -> Result<Vec<Arc<Retained>>, Refusal> {
        ids.iter().map(|id| self.get(*id).cloned()).collect()
    }

    /// When it is purged, if it is deleted: no later than what it stands on.
    pub fn purge_at(&self, item: &Retained) -> Option<OffsetDateTime> {
        let (deleted_at, _) = item.deleted.as_ref()?;
        let own = self.retention.purge_at(*deleted_at);
        let below = item.stands_on.iter().filter_map(|id| self.purge_at(self.get(*id).ok()?));
        Some(below.fold(own, OffsetDateTime::min))
    }

    /// What stands on it, live or deleted.
    pub fn dependants(&self, id: ItemId) -> impl Iterator<Item = &Arc<Retained>> {
        self.all.iter().filter(move |item| item.stands_on.contains(&id))
    }

    /// What stands on it, and what stands on that, each once.
    pub fn below(&self, id: ItemId) -> Vec<&Arc<Retained>> {
        let mut found: Vec<&Arc<Retained>> = Vec::new();
        for dependant in self.dependants(id) {
            for item in self.below(dependant.id).into_iter().chain([dependant]) {
                if !found.contains(&item) {
                    found.push(item);
                }
            }
        }
        found
    }

    /// Whether a new item may stand on it.
    ///
    /// # Errors
    ///
    /// What it is instead.
    pub fn check_live(&self, id: ItemId) -> Result<(), Refusal> {
        let item = self.get(id)?;
        match (item.transition, &item.deleted) {
            (None, None) if item.status == Some(LocalCaStatus::Offline) => {
                Err(Refusal::NoGround(item.clone(), "offline"))
            }
            (None, None) => Ok(()),
            (Some(transition), _) => Err(Refusal::NoGround(item.clone(), transition.as_str())),
            (None, Some(_)) => Err(Refusal::NoGround(item.clone(), "deleted")),
        }
    }

    fn standing(&self, id: ItemId) -> Result<Standing<'_>, Refusal> {
        let item = self.get(id)?;
        if let Some(transition) = item.transition {
            return Err(Refusal::Changing(item.clone(), transition));
        }
        match item.status {
            None | Some(LocalCaStatus::Live | LocalCaStatus::Offline | LocalCaStatus::Revoked) => {}
            Some(
                LocalCaStatus::AwaitingCertificate
                | LocalCaStatus::AwaitingApproval
                | LocalCaStatus::Removing,
            ) => return Err(Refusal::Unfinished(item.clone())),
        }
        Ok(match self.purge_at(item) {
            None => Standing::Live(Live(item)),
            Some(purge_at) => Standing::Deleted(Deleted::new(item, purge_at)),
        })
    }

    /// Whether a restore of it waits for the signer's operator: a deletion takes that back.
    pub fn awaits_restore(&self, id: ItemId) -> bool {
        let awaits = |item: &Arc<Retained>| {
            item.transition == Some(Transition::Restoring) && item.awaits.is_some()
        };
        self.get(id).is_ok_and(awaits)
    }

    /// What deleting it now leads to.
    ///
    /// # Errors
    ///
    /// Why it can't be deleted.
    pub fn deletion(
        &self,
        id: ItemId,
        now: OffsetDateTime,
    ) -> Result<Deletion<&Arc<Retained>>, Refusal> {
        let live = match self.standing(id)? {
            Standing::Live(live) => live,
            Standing::Deleted(_) => return Err(Refusal::Deleted(self.get(id)?.clone())),
        };
        let deletion = live.delete(self.retention, now);
        let blocks = |item: &&Arc<Retained>| match deletion {
            Deletion::Kept(_) => is_live(item),
            Deletion::Gone(_) => true,
        };
        let blocking: Vec<_> = self.dependants(id).filter(blocks).cloned().collect();
        if blocking.is_empty() {
            return Ok(deletion);
        }
        Err(Refusal::InUse(self.get(id)?.clone(), blocking))
    }

    /// What is to be removed for good, in this order, so that the item is.
    ///
    /// # Errors
    ///
    /// Why it can't be.
    pub fn removal(&self, id: ItemId, along: Along) -> Result<Vec<ItemId>, Refusal> {
        self.standing(id)?;
        let mut order = Vec::new();
        let mut blocking = Vec::new();
        for dependant in self.dependants(id) {
            if along == Along::Nothing || is_live(dependant) {
                blocking.push(dependant.clone());
                continue;
            }
            for below in self.removal(dependant.id, along)? {
                if !order.contains(&below) {
                    order.push(below);
                }
            }
        }
        if !blocking.is_empty() {
            return Err(Refusal::InUse(self.get(id)?.clone(), blocking));
        }
        order.push(id);
        Ok(order)
    }

    /// What is to be restored, in this order, so that the item is live.
    ///
    /// # Errors
    ///
    /// Why it can't be.
    pub fn restoration(
        &self,
        id: ItemId,
        now: OffsetDateTime,
        along: Along,
    ) -> Result<Vec<ItemId>, Refusal> {
        let item = self.get(id)?;
        match self.standing(id)? {
            Standing::Live(_) => return Err(Refusal::Live(item.clone())),
            Standing::Deleted(deleted) => {
                deleted.restore(now).map_err(|late| Refusal::TooLate(item.clone(), late))?;
            }
        }
        if let Some(other) = self.all.iter().find(|other| takes_name(other, item)) {
            return Err(Refusal::NameTaken(item.clone(), other.clone()));
        }
        let mut order = Vec::new();
        let mut missing = Vec::new();
        for ground in &item.stands_on {
            match self.standing(*ground)? {
                Standing::Live(_) => {}
                Standing::Deleted(_) if along == Along::Nothing => {
                    missing.push(self.get(*ground)?.clone());
                }
                Standing::Deleted(_) => {
                    for above in self.restoration(*ground, now, along)? {
                        if !order.contains(&above) {
                            order.push(above);
                        }
                    }
                }
            }
        }
        if !missing.is_empty() {
            return Err(Refusal::NoneBelow(item.clone(), missing));
        }
        order.push(id);
        Ok(order)
    }

    /// Whether its purge is due and may be done now.
    pub fn is_due(&self, item: &Retained, now: OffsetDateTime) -> bool {
        item.transition.is_none() && self.purge_at(item).is_some_and(|purge_at| purge_at <= now)
    }

    /// What is due, dependants before what they stand on.
    pub fn due(&self, now: OffsetDateTime) -> Vec<ItemId> {
        let due = self.all.iter().filter(|item| self.is_due(item, now));
        let mut due: Vec<_> = due.map(|item| (self.height(item), item.id)).collect();
        due.sort_by_key(|(height, _)| std::cmp::Reverse(*height));
        due.into_iter().map(|(_, id)| id).collect()
    }

    /// The deleted ones, the latest first.
    pub fn deleted(&self) -> Vec<&Arc<Retained>> {
        let mut deleted: Vec<_> = self.all.iter().filter(|item| item.deleted.is_some()).collect();
        deleted.sort_by(|one, other| other.deleted.cmp(&one.deleted));
        deleted
    }

    /// How many stand below each other down from it.
    fn height(&self, item: &Retained) -> usize {
        let below = item.stands_on.iter().filter_map(|id| self.get(*id).ok());
        below.map(|below| self.height(below) + 1).max().unwrap_or_default()
    }
}

/// Whether it keeps what it stands on from being deleted.
fn is_live(item: &Retained) -> bool {
    item.deleted.is_none() || item.transition == Some(Transition::Restoring)
}

fn takes_name(other: &Retained, item: &Retained) -> bool {
    let is_same_kind = std::mem::discriminant(&other.id) == std::mem::discriminant(&item.id);
    is_same_kind && other.id != item.id && other.name == item.name && is_live(other)
}
