//! Which certificates a user sees, by the setting `visibility`.

use crate::auth::Actor;
use crate::error::ApiError;
use crate::inventory::view::InventoryView;
use crate::settings::Visibility;
use crate::store::certificate::search::Viewer;
use crate::store::certificate::{Certificate, StoredCertificate};

/// What a user sees: administrators all, everyone the certificates of CAs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight(Option<Viewer>);

impl Sight {
    /// Of `actor`, as things stand.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn of(inventory: &InventoryView, actor: &Actor) -> Result<Self, ApiError> {
        let visibility = inventory.settings().await?.visibility;
        if actor.is_administrator() || visibility == Visibility::All {
            return Ok(Self(None));
        }
        let team_ids = match visibility {
            Visibility::Own | Visibility::All => Vec::new(),
            Visibility::Team => {
                let teams = inventory.teams_of(actor.user_id()).await?;
                teams.iter().map(|team| team.id).collect()
            }
        };
        Ok(Self(Some(Viewer { user_id: actor.user_id(), team_ids })))
    }

    /// Whether they see `certificate`.
    pub fn includes(&self, certificate: &Certificate) -> bool {
        self.0.as_ref().is_none_or(|viewer| {
            certificate.is_ca
                || certificate.owner_user_id == viewer.user_id
                || viewer.team_ids.contains(&certificate.team_id)
        })
    }

    /// The certificate, if there is one and they see it.
    ///
    /// # Errors
    ///
    /// [`crate::error::Code::NotFound`]: what one may not see is not there.
    pub fn seen(&self, stored: Option<StoredCertificate>) -> Result<StoredCertificate, ApiError> {
        let seen = stored.filter(|stored| self.includes(&stored.certificate));
        seen.ok_or_else(|| ApiError::not_found("certificate"))
    }

    /// As a filter of searches; `None` where they see all.
    pub fn viewer(self) -> Option<Viewer> {
        self.0
    }
}
