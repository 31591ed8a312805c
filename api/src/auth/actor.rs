//! Who is asking, as types that only this file can make. They are the permission that functions
//! take as their first parameter.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chancery_shared::id::{RowId, UserId};

use super::api_token::Sent;
use super::bearer::{self, BearerError, Claims};
use super::client_address::ClientAddress;
use crate::app::AppState;
use crate::audit::{self, Asker};
use crate::error::{ApiError, Code};
use crate::inventory::view::{InventoryView, Look};
use crate::store::StoreError;
use crate::store::account::TokenHolder;
use crate::team;

/// A user with a valid token, who may perhaps do nothing but change the password.
#[derive(Clone, Debug)]
pub struct Authenticated {
    actor: Actor,
    must_change_password: bool,
}

/// The token that came with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldToken {
    /// Of a login.
    Login(Claims),
    /// Of a machine.
    Machine(RowId),
}

/// A user who may act.
///
/// ```compile_fail
/// let forged = chancery_api::auth::Actor { user_id: todo!(), username: todo!(), is_administrator: true, came: todo!() };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    user_id: UserId,
    username: String,
    is_administrator: bool,
    came: Came,
}

/// How a user came: whether they are let in is asked by that, and can be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Came {
    token: HeldToken,
    address: ClientAddress,
}

/// An [`Actor`] known to be an administrator.
///
/// ```compile_fail
/// let forged = chancery_api::auth::Administrator(todo!());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Administrator(Actor);

impl Authenticated {
    /// The user, whatever they may do.
    pub fn user_id(&self) -> UserId {
        self.actor.user_id
    }

    /// Id and name of the user.
    pub fn user(&self) -> (UserId, &str) {
        (self.actor.user_id, &self.actor.username)
    }

    /// With which token they came.
    pub fn token(&self) -> HeldToken {
        self.actor.came.token
    }

    /// Whether they logged in themselves: a token of a machine must not make others, which would
    /// outlive it.
    ///
    /// # Errors
    ///
    /// [`Code::NotPermitted`].
    pub fn check_logged_in(&self) -> Result<(), ApiError> {
        match self.token() {
            HeldToken::Login(_) => Ok(()),
            HeldToken::Machine(_) => Err(ApiError::refused(
                Code::NotPermitted,
                "an API token makes no API tokens and changes no password; log in with the \
                 password for that",
            )),
        }
    }

    /// The user, if they may act.
    pub(super) fn actor(self) -> Result<Actor, ApiError> {
        if self.must_change_password {
            return Err(ApiError::refused(
                Code::PasswordChangeRequired,
                "the password must be changed first: POST /api/currentuser/password",
            ));
        }
        Ok(self.actor)
    }
}

impl Actor {
    /// Their id.
    pub fn user_id(&self) -> UserId {
        self.user_id
    }

    /// Their name.
    pub fn username(&self) -> &str {
        &self.username
    }

    /// Whether they are an administrator; where that is required, ask for an [`Administrator`].
    pub fn is_administrator(&self) -> bool {
        self.is_administrator
    }

    /// Whether an API token acts for them: it makes no tokens, sets no passwords and gives nobody the
    /// rights of an administrator.
    pub fn is_machine(&self) -> bool {
        matches!(self.came.token, HeldToken::Machine(_))
    }

    /// The same user as they are in a later inventory.
    ///
    /// # Errors
    ///
    /// They would not be let in any more, with this token or from this address.
    pub async fn again(&self, inventory: &InventoryView) -> Result<Self, ApiError> {
        if let HeldToken::Machine(id) = self.came.token {
            inventory.api_token(id).await?.ok_or(BearerError::Invalid)?;
        }
        let holder = self.came.holder(self.user_id, inventory).await?;
        self.came.let_in(self.user_id, holder, inventory).await?.actor()
    }
}

impl Administrator {
    /// The user.
    pub fn actor(&self) -> &Actor {
        &self.0
    }

    /// Their name.
    pub fn username(&self) -> &str {
        &self.0.username
    }
}

impl Came {
    /// Whose token it is. The audit names them, whether or not they are let in: the token is genuine.
    async fn holder(
        self,
        user: UserId,
        inventory: &InventoryView,
    ) -> Result<Option<TokenHolder>, StoreError> {
        let (id, api_token_id) = match self.token {
            HeldToken::Login(claims) => (claims.jti, None),
            HeldToken::Machine(id) => (id, Some(id)),
        };
        let holder = inventory.token_holder(user, id).await;
        let username = holder.as_ref().ok().and_then(Option::as_ref);
        let username = username.map(|holder| holder.username.clone());
        audit::belongs_to(Asker { user_id: user, username, api_token_id });
        holder
    }

    /// The user of the token, if it has not ended and they may come from there. For a token of a
    /// machine the caller has seen that it is there.
    async fn let_in(
        self,
        user: UserId,
        holder: Option<TokenHolder>,
        inventory: &InventoryView,
    ) -> Result<Authenticated, ApiError> {
        let version = match self.token {
            HeldToken::Login(claims) => Some(claims.ver),
            HeldToken::Machine(_) => None,
        };
        let holder = holder.ok_or(BearerError::Invalid)?;
        let has_ended = version.is_some_and(|version| version != holder.token_version);
        if !holder.enabled || holder.token_ended || has_ended {
            return Err(BearerError::Invalid.into());
        }
        team::check_address(inventory, user, self.address).await?;
        let actor = Actor {
            user_id: user,
            username: holder.username,
            is_administrator: holder.is_administrator,
            came: self,
        };
        Ok(Authenticated { actor, must_change_password: holder.must_change_password })
    }
}

impl FromRequestParts<AppState> for Authenticated {
    type Rejection = ApiError;

    /// Each request asks the store whether anything has changed: a user or token that ended a moment
    /// ago has ended here too.
    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        if let Some(known) = parts.extensions.get::<Self>() {
            return Ok(known.clone());
        }
        let token = bearer::of_request(&parts.headers)?;
        let (now, since) = (state.clock.now(), state.under_way.since());
        let (user, held, in_time, inventory) = match Sent::of(token) {
            None => {
                let (claims, in_time) = state.tokens.verify(token, now)?;
                let inventory = state.inventory.now(&state.store).await?;
                (claims.sub, HeldToken::Login(claims), in_time, inventory)
            }
            Some(sent) => {
                let sent = sent?;
                let inventory = state.inventory.now(&state.store).await?;
                let token = sent.find(&inventory).await?.ok_or(BearerError::Invalid)?;
                let is_over = token.expires_at <= now;
                let in_time = if is_over { Err(BearerError::Expired) } else { Ok(()) };
                (token.user_id, HeldToken::Machine(token.id), in_time, inventory)
            }
        };
        let Ok(address) = ClientAddress::from_request_parts(parts, state).await;
        let came = Came { token: held, address };
        let holder = came.holder(user, &inventory).await?;
        in_time?;
        let found = came.let_in(user, holder, &inventory).await?;
        parts.extensions.insert(found.clone());
        parts.extensions.insert(Look::at(inventory, since));
        Ok(found)
    }
}

/// Whether who was let in at the beginning of a request would still be let in as much.
///
/// # Errors
///
/// As at the beginning; [`Code::NotPermitted`] where they are no administrator any more.
pub(crate) async fn check_again(mut parts: Parts, state: &AppState) -> Result<(), ApiError> {
    let Some(known) = parts.extensions.remove::<Authenticated>() else { return Ok(()) };
    let now = Authenticated::from_request_parts(&mut parts, state).await?;
    if known.actor.is_administrator && !now.actor.is_administrator {
        let message = "you are no administrator any more, since before the body came";
        return Err(ApiError::refused(Code::NotPermitted, message));
    }
    Ok(())
}

impl FromRequestParts<AppState> for Look {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        if let Some(look) = parts.extensions.get::<Self>() {
            return Ok(look.clone());
        }
        let since = state.under_way.since();
        Ok(Self::at(state.inventory.now(&state.store).await?, since))
    }
}

impl FromRequestParts<AppState> for Actor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        Authenticated::from_request_parts(parts, state).await?.actor()
    }
}

impl FromRequestParts<AppState> for Administrator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let actor = Actor::from_request_parts(parts, state).await?;
        if actor.is_administrator {
            Ok(Self(actor))
        } else {
            Err(ApiError::refused(
                Code::NotAdministrator,
                "this needs an administrator; ask one, or log in as one",
            ))
        }
    }
}
