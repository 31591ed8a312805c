//! The layers in front of whole groups of routes: nobody's body is read without them.

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::{Actor, Administrator, Authenticated};
use crate::app::AppState;
use crate::error::ApiError;

/// Lets through who has a valid token, even if the password must be changed first.
///
/// # Errors
///
/// 401 for everyone else.
pub async fn authenticated(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    pass::<Authenticated>(&state, request, next).await
}

/// Lets through who may act.
///
/// # Errors
///
/// 401 or 403 for everyone else.
pub async fn actor(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    pass::<Actor>(&state, request, next).await
}

/// Lets through administrators.
///
/// # Errors
///
/// 401 or 403 for everyone else.
pub async fn administrator(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    pass::<Administrator>(&state, request, next).await
}

async fn pass<Permission>(
    state: &AppState,
    request: Request,
    next: Next,
) -> Result<Response, ApiError>
where
    Permission: FromRequestParts<AppState, Rejection = ApiError>,
{
    let (mut parts, body) = request.into_parts();
    Permission::from_request_parts(&mut parts, state).await?;
    Ok(next.run(Request::from_parts(parts, body)).await)
}
