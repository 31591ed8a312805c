//! The inventory as it was when a request began. What one request has read serves the next ones
//! until the inventory changes: a request for a certificate then reads nothing but its version.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chancery_shared::id::{CertIssuerId, Id, RowId, TeamId, UserId};

use super::cert_issuer;
use crate::error::ApiError;
use crate::issuance::csr_issuance::Issuer;
use crate::issuance::under_way::Since;
use crate::memo::Memo;
use crate::reference::{Find, Item};
use crate::settings::Settings;
use crate::store::account::TokenHolder;
use crate::store::api_token::ApiToken;
use crate::store::cert_issuer::CertIssuer;
use crate::store::csr_generator::CsrGenerator;
use crate::store::inventory_version::InventoryVersion;
use crate::store::team::Team;
use crate::store::{Store, StoreError};

/// The latest view of this process. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct LatestView(Arc<Mutex<Option<InventoryView>>>);

impl LatestView {
    /// The inventory as it is now, or at a moment after this was called.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn now(&self, store: &Store) -> Result<InventoryView, StoreError> {
        let version = store.inventory_version().await?;
        Ok(self.at(version, store))
    }

    /// The view of that version: the one that there is, or an empty one.
    fn at(&self, version: InventoryVersion, store: &Store) -> InventoryView {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some(view) if view.0.version == version => view.clone(),
            _ => latest.insert(InventoryView::new(version, store.clone())).clone(),
        }
    }
}

/// What a request saw when its token was checked, and when that was.
#[derive(Clone, Debug)]
pub struct Look {
    view: InventoryView,
    since: Since,
}

impl Look {
    /// At `view`; the look began at `since`.
    pub fn at(view: InventoryView, since: Since) -> Self {
        Self { view, since }
    }

    /// When it began.
    pub fn since(&self) -> Since {
        self.since
    }

    /// The inventory for the rest of the request, whose body may have taken its time: the same one
    /// where that was no time at all.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn again(
        self,
        latest: &LatestView,
        store: &Store,
    ) -> Result<InventoryView, StoreError> {
        if self.since.age() < NO_TIME { Ok(self.view) } else { Box::pin(latest.now(store)).await }
    }
}

/// A change that comes while a request is being read may as well have come after it.
const NO_TIME: Duration = Duration::from_millis(20);

/// One state of the inventory, or a later one: nothing in it is older than its version. Clones
/// share what was read.
#[derive(Clone, Debug)]
pub struct InventoryView(Arc<Read>);

#[derive(Debug)]
struct Read {
    version: InventoryVersion,
    store: Store,
    token_holders: Memo<(UserId, RowId), TokenHolder>,
    teams: Found<Team>,
    cert_issuers: Found<CertIssuer>,
    csr_generators: Found<CsrGenerator>,
    teams_of: Memo<UserId, Vec<Team>>,
    authorised_teams: Memo<CertIssuerId, Vec<TeamId>>,
    issuers: Memo<CertIssuerId, Issuer>,
    settings: Memo<(), Settings>,
    api_tokens: Memo<RowId, ApiToken>,
}

impl InventoryView {
    fn new(version: InventoryVersion, store: Store) -> Self {
        Self(Arc::new(Read {
            version,
            store,
            token_holders: Memo::default(),
            teams: Found::default(),
            cert_issuers: Found::default(),
            csr_generators: Found::default(),
            teams_of: Memo::default(),
            authorised_teams: Memo::default(),
            issuers: Memo::default(),
            settings: Memo::default(),
            api_tokens: Memo::default(),
        }))
    }

    /// The user of a token, and how the token stands.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn token_holder(
        &self,
        user: UserId,
        token: RowId,
    ) -> Result<Option<TokenHolder>, StoreError> {
        let load = || self.0.store.token_holder(user, token);
        self.0.token_holders.find((user, token), load).await
    }

    /// The teams of a user, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn teams_of(&self, user: UserId) -> Result<Arc<Vec<Team>>, StoreError> {
        self.0.teams_of.get_or(user, || self.0.store.teams_of(user)).await
    }

    /// The teams that alone may use an issuer; none: every team may.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn authorised_teams(&self, id: CertIssuerId) -> Result<Arc<Vec<TeamId>>, StoreError> {
        self.0.authorised_teams.get_or(id, || self.0.store.authorised_teams_of(id)).await
    }

    /// What administrators have set.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn settings(&self) -> Result<Arc<Settings>, StoreError> {
        self.0.settings.get_or((), || Settings::read(&self.0.store)).await
    }

    /// The token of a machine.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn api_token(&self, id: RowId) -> Result<Option<ApiToken>, StoreError> {
        self.0.api_tokens.find(id, || self.0.store.api_token(id)).await
    }

    /// An issuer with all that issuing through it needs.
    ///
    /// # Errors
    ///
    /// As [`cert_issuer::issuing`].
    pub async fn issuer(&self, id: CertIssuerId) -> Result<Arc<Issuer>, ApiError> {
        self.0.issuers.get_or(id, || cert_issuer::issuing(&self.0.store, id)).await
    }
}

macro_rules! finds {
    ($($item:ty: $found:ident;)*) => {
        $(impl Find<$item> for InventoryView {
            async fn of_id(
                &self,
                id: Id<<$item as Item>::Kind>,
            ) -> Result<Option<$item>, StoreError> {
                self.0.$found.by_id.find(id, || Find::<$item>::of_id(&self.0.store, id)).await
            }

            async fn of_name(&self, name: &str) -> Result<Option<$item>, StoreError> {
                let load = || Find::<$item>::of_name(&self.0.store, name);
                self.0.$found.by_name.find(name.to_owned(), load).await
            }
        })*
    };
}

finds! {
    Team: teams;
    CertIssuer: cert_issuers;
    CsrGenerator: csr_generators;
}

/// Items by what they can be named by.
#[derive(Debug)]
struct Found<T: Item> {
    by_id: Memo<Id<T::Kind>, T>,
    by_name: Memo<String, T>,
}

impl<T: Item> Default for Found<T> {
    fn default() -> Self {
        Self { by_id: Memo::default(), by_name: Memo::default() }
    }
}

#[cfg(test)]
mod tests;
