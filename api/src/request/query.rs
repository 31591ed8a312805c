//! The parameters behind `?`, read as strictly as a body: a typo must not be silently lost.

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::echo::cut;
use crate::error::{ApiError, Code};
use crate::json;

/// The parameters as a `T`, which should deny unknown fields. Every field comes as a text.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut parameters = Map::new();
        for (name, value) in pairs(&parts.uri)? {
            if parameters.insert(name.clone(), Value::String(value)).is_some() {
                return Err(ApiError::invalid_field(&cut(&name), "is given twice"));
            }
        }
        json::from_value(Value::Object(parameters)).map(Self)
    }
}

/// Names and values, as they stand there.
///
/// # Errors
///
/// [`Code::InvalidRequest`] where they can't be read.
pub(super) fn pairs(uri: &Uri) -> Result<Vec<(String, String)>, ApiError> {
    let pairs = axum::extract::Query::try_from_uri(uri);
    pairs.map(|pairs| pairs.0).map_err(|_| {
        let message = "the part of the address behind the ? can't be read";
        ApiError::refused(Code::InvalidRequest, message)
    })
}
