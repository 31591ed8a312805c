//! The id in a path: one that is malformed names nothing, so it is a 404.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use chancery_shared::id::Id;

use crate::error::ApiError;

/// The one id of a path such as `/admin/teams/{id}`.
#[derive(Clone, Copy, Debug)]
pub struct PathId<Kind>(pub Id<Kind>);

impl<Kind, S: Send + Sync> FromRequestParts<S> for PathId<Kind> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(Path(text)) = Path::<String>::from_request_parts(parts, state).await else {
            return Err(ApiError::not_found("item"));
        };
        text.parse().map(Self).map_err(|_| ApiError::not_found("item"))
    }
}
