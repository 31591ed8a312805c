//! A request that was let in, on its last step to the signer: what let it in must hold until then.

use std::sync::OnceLock;

use chancery_shared::bytes::SerialNonce;
use chancery_shared::id::KeyId;

use crate::app::AppState;
use crate::error::ApiError;
use crate::issuance::signing::{SignedTbs, Signing, SigningError, SigningRequest};
use crate::issuance::tbs::{Draft, DraftError};
use crate::issuance::under_way::{Seat, Since};
use crate::issuer_choice::{self, IssuerChoice, Permitted};
use crate::store::csr_generator::CsrGenerator;
use crate::team::{self, TeamChoice};

/// The signer, for one request. As long as this lives, whoever takes away what the request needs
/// waits for its end.
pub(super) struct Admitted<'a> {
    state: &'a AppState,
    permitted: &'a Permitted,
    asked: Asked<'a>,
    since: Since,
    seat: OnceLock<Seat<'a>>,
}

/// What the issuer must take.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    /// A CSR.
    Csr,
    /// A DN, with a key of this CSR Generator.
    Dn(&'a CsrGenerator),
}

impl<'a> Admitted<'a> {
    /// For what was permitted by what was seen since then.
    pub(super) fn new(
        state: &'a AppState,
        permitted: &'a Permitted,
        asked: Asked<'a>,
        since: Since,
    ) -> Self {
        Self { state, permitted, asked, since, seat: OnceLock::new() }
    }

    /// Whether the request would be let in now: its user, with that token, and team and issuer.
    async fn check_again(&self) -> Result<(), ApiError> {
        let inventory = self.state.inventory.now(&self.state.store).await?;
        let member = self.permitted.member();
        let actor = member.actor().again(&inventory).await?;
        let id = Some(member.team().id.to_string());
        let member = team::resolve(&inventory, actor, &TeamChoice { name: None, id }).await?;
        let issuer_id = Some(self.permitted.issuer().id.to_string());
        let choice = IssuerChoice { issuer_id, ..IssuerChoice::default() };
        let permitted = issuer_choice::resolve(&inventory, member, &choice).await?;
        match self.asked {
            Asked::Csr => permitted.check_takes_csrs()?,
            Asked::Dn(generator) => {
                permitted.check_takes_dns()?;
                permitted.check_generator(generator)?;
            }
        }
        inventory.issuer(permitted.issuer().id).await.map(drop)
    }
}

impl Signing for Admitted<'_> {
    fn check_key(&self, id: KeyId) -> Result<(), SigningError> {
        Signing::check_key(&self.state.signer, id)
    }

    async fn sign_certificate<D>(
        &self,
        request: SigningRequest<'_, D>,
    ) -> Result<SignedTbs, SigningError>
    where
        D: Fn(SerialNonce) -> Result<Draft, DraftError> + Send + Sync,
    {
        let seat = self.seat.get_or_init(|| self.state.under_way.enter());
        if !seat.serves(self.since) {
            // Boxed: it is rare, and every request would carry the room for it.
            let checked = Box::pin(self.check_again()).await;
            checked.map_err(|error| SigningError::NoLongerPermitted(Box::new(error)))?;
        }
        Signing::sign_certificate(&self.state.signer, request).await
    }
}
