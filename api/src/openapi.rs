//! The OpenAPI document, made from the routes, and the explorer that shows it.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Json, Router};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{InfoBuilder, OpenApi, RefOr, Schema, Server};
use utoipa_swagger_ui::Config;

use crate::app::AppState;
use crate::error::ApiError;

/// Adds what the routes can't say themselves.
pub fn complete(mut document: OpenApi, base_paths: &[String]) -> OpenApi {
    document.info = InfoBuilder::new()
        .title("Chancery")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Certificates: requested, issued, recorded. Log in with POST /api/login and enter the \
             token, without quotes, under Authorize. Every error has the shape Error; its code is \
             stable.",
        ))
        .build();
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(SCHEME, SecurityScheme::Http(scheme));
    // What is stored of a profile has no other fields; where it is shown, it stands among some.
    if let Some(RefOr::T(Schema::Object(shown))) = components.schemas.get_mut("ProfileDefinition") {
        shown.additional_properties = None;
    }
    document.security = Some(vec![SecurityRequirement::new(SCHEME, Vec::<String>::new())]);
    // Relative to the host: the paths of the document begin with /api.
    let server = |base: &String| Server::new(if base.is_empty() { "/" } else { base });
    document.servers = Some(base_paths.iter().map(server).collect());
    document
}

/// The document and the explorer; both need no login.
pub fn routes(document: OpenApi) -> Router<AppState> {
    let document = Arc::new(document);
    // Relative to the page, so that it holds below every base path.
    let config = Arc::new(Config::from("../openapi.json"));
    let page = move |path: Option<Path<String>>| {
        let config = Arc::clone(&config);
        async move { explorer(path.as_ref().map_or("", |Path(path)| path), config) }
    };
    Router::new()
        .route("/api/openapi.json", get(|| async move { Json(document) }))
        .route("/api/docs", get(|| async { Redirect::permanent("docs/") }))
        .route("/api/docs/", get(page.clone()))
        .route("/api/docs/{*path}", get(page))
}

fn explorer(path: &str, config: Arc<Config<'static>>) -> Response {
    match utoipa_swagger_ui::serve(path, config) {
        Ok(Some(file)) => {
            let kind = [(CONTENT_TYPE, file.content_type)];
            let bytes = file.bytes.into_owned();
            if file.gzpipped {
                (StatusCode::OK, kind, [(CONTENT_ENCODING, "gzip")], bytes).into_response()
            } else {
                (StatusCode::OK, kind, bytes).into_response()
            }
        }
        Ok(None) => ApiError::not_found("page").into_response(),
        Err(error) => {
            tracing::warn!(%error, "a page of the explorer can't be made");
            ApiError::not_found("page").into_response()
        }
    }
}

/// The name that clients know the scheme by.
const SCHEME: &str = "JWT";
