//! The layers in front of whole groups of routes: nobody's body is read without them.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::timeout;

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
    if let Err(refused) = Permission::from_request_parts(&mut parts, state).await {
        // What nobody takes in ends the connection under a client that is still sending it, and
        // with it the next request there. It is thrown away unread.
        let _ = timeout(PATIENCE, to_bytes(body, SMALL)).await;
        return Err(refused);
    }
    Ok(next.run(Request::from_parts(parts, body)).await)
}

/// A larger body, or one that takes longer, is not waited for.
const SMALL: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);
