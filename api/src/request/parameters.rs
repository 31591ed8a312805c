//! Parameters behind `?` that a call does not have: refused for every route, by what the OpenAPI
//! document says of it. A typo must not be silently lost.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, PathItem, RefOr};

use super::query::pairs;
use crate::echo::cut;
use crate::error::{ApiError, FieldError};

/// The names of the parameters of each operation, by path and method.
#[derive(Debug)]
pub struct Parameters(HashMap<String, HashMap<Method, Vec<String>>>);

impl Parameters {
    /// As `document` has them, whose paths begin with `/api`.
    pub fn of(document: &OpenApi) -> Self {
        let mut known: HashMap<_, HashMap<_, _>> = HashMap::new();
        for (path, item) in &document.paths.paths {
            let PathItem { get, put, post, delete, patch, .. } = item;
            for (method, operation) in [
                (Method::GET, get),
                (Method::PUT, put),
                (Method::POST, post),
                (Method::DELETE, delete),
                (Method::PATCH, patch),
            ] {
                if let Some(operation) = operation {
                    known.entry(path.clone()).or_default().insert(method, names(operation));
                }
            }
        }
        Self(known)
    }

    /// What the operation behind `route`, which may have a base path in front, has.
    fn of_route(&self, method: &Method, route: &str) -> Option<&Vec<String>> {
        // The last one: a base path may end with it too.
        let path = route.rfind("/api/").and_then(|at| route.get(at..))?;
        // A HEAD asks what a GET would answer.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.0.get(path)?.get(method)
    }
}

fn names(operation: &Operation) -> Vec<String> {
    let all = operation.parameters.iter().flatten();
    let of_query = all.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
            Some(parameter.name.clone())
        }
        RefOr::T(_) | RefOr::Ref(_) => None,
    });
    of_query.collect()
}

/// Lets through requests whose parameters all belong to their operation.
///
/// # Errors
///
/// [`crate::error::Code::InvalidRequest`] that names the others.
pub async fn refuse_unknown(
    State(parameters): State<Arc<Parameters>>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if request.uri().query().is_none() {
        return Ok(next.run(request).await);
    }
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let known = route.and_then(|route| parameters.of_route(request.method(), route));
    let Some(known) = known else { return Ok(next.run(request).await) };
    let mut unknown: Vec<_> = pairs(request.uri())?.into_iter().map(|(name, _)| name).collect();
    unknown.retain(|name| !known.contains(name));
    if unknown.is_empty() {
        return Ok(next.run(request).await);
    }
    let message = match &known[..] {
        [] => "is no parameter of this call, which has none behind the ?".to_owned(),
        known => format!("is no parameter of this call; it has {}", known.join(", ")),
    };
    let fault = |name: &str| FieldError { field: cut(name), message: message.clone() };
    let faults = unknown.iter().take(MOST_NAMED).map(|name| fault(name)).collect();
    Err(ApiError::invalid(faults))
}

/// More faults than that help nobody.
const MOST_NAMED: usize = 10;
