//! Who is asking, as types that only this file can make. They are the permission that functions
//! take as their first parameter.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chancery_shared::id::UserId;

use super::bearer::{self, BearerError, Claims};
use crate::app::AppState;
use crate::audit;
use crate::error::{ApiError, Code};
use crate::inventory::view::Look;

/// A user with a valid token, who may perhaps do nothing but change the password.
#[derive(Clone, Debug)]
pub struct Authenticated {
    actor: Actor,
    claims: Claims,
    must_change_password: bool,
}

/// A user who may act.
///
/// ```compile_fail
/// let forged = chancery_api::auth::Actor { user_id: todo!(), username: todo!(), is_administrator: true };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    user_id: UserId,
    username: String,
    is_administrator: bool,
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

    /// What their token says.
    pub fn claims(&self) -> &Claims {
        &self.claims
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

impl FromRequestParts<AppState> for Authenticated {
    type Rejection = ApiError;

    /// Each request asks the store whether anything has changed: a user or token that ended a moment
    /// ago has ended here too.
    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        if let Some(known) = parts.extensions.get::<Self>() {
            return Ok(known.clone());
        }
        let token = bearer::of_request(&parts.headers)?;
        let claims = state.tokens.verify(token, state.clock.now())?;
        let inventory = state.inventory.now(&state.store).await?;
        let holder = inventory.token_holder(claims.sub, claims.jti).await?;
        let holder = holder.ok_or(BearerError::Invalid)?;
        if !holder.enabled || holder.token_ended || holder.token_version != claims.ver {
            return Err(BearerError::Invalid.into());
        }
        audit::belongs_to(claims.sub, &holder.username);
        let actor = Actor {
            user_id: claims.sub,
            username: holder.username,
            is_administrator: holder.is_administrator,
        };
        let must_change_password = holder.must_change_password;
        let found = Self { actor, claims, must_change_password };
        parts.extensions.insert(found.clone());
        parts.extensions.insert(Look::at(inventory));
        Ok(found)
    }
}

impl FromRequestParts<AppState> for Look {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        if let Some(look) = parts.extensions.get::<Self>() {
            return Ok(look.clone());
        }
        Ok(Self::at(state.inventory.now(&state.store).await?))
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
