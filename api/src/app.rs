//! The service as one router: what every handler may use, and which routes there are.

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use chancery_shared::id::Id;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::audit::Recorder;
use crate::auth::bearer::BearerTokens;
use crate::auth::gate;
use crate::auth::password::Passwords;
use crate::auth::throttle::AddressThrottle;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::ApiError;
use crate::inventory::view::LatestView;
use crate::issuance::under_way::UnderWay;
use crate::key_data::Vault;
use crate::key_pair::KeyMaker;
use crate::random::Random;
use crate::readiness::{NotReady, Readiness};
use crate::request::Parameters;
use crate::retention::{AtStart, Failed, Guard};
use crate::signer_client::{SignerClient, SignerError};
use crate::store::Store;
use crate::{error, health, openapi, request, routes};

/// What every handler may use. Each layer of the router has a clone, for each request: a clone is one
/// pointer.
#[derive(Clone)]
pub struct AppState(Arc<App>);

impl AppState {
    /// To be shared.
    pub fn new(app: App) -> Self {
        Self(Arc::new(app))
    }
}

impl Deref for AppState {
    type Target = App;

    fn deref(&self) -> &App {
        &self.0
    }
}

/// The parts of the service.
#[derive(Clone)]
pub struct App {
    /// The checked configuration.
    pub config: Arc<Config>,
    /// The database.
    pub store: Store,
    /// Tells the audit of what has no write.
    pub audit: Recorder,
    /// What was read of the inventory, while it stands.
    pub inventory: LatestView,
    /// Which certificates are being signed.
    pub under_way: Arc<UnderWay>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// Hashes and checks passwords.
    pub passwords: Passwords,
    /// Issues and checks bearer tokens.
    pub tokens: Arc<BearerTokens>,
    /// Which addresses fail too often.
    pub throttle: Arc<AddressThrottle>,
    /// The keys that kept private keys are sealed under.
    pub vault: Vault,
    /// Makes key pairs.
    pub keys: KeyMaker,
    /// The signer.
    pub signer: SignerClient,
    /// Whether anything may be purged.
    pub purge_guard: Arc<Guard>,
    /// What the start of this process brought nearer.
    pub purge_start: Arc<AtStart>,
    /// What could not be purged when it was tried last.
    pub purge_failed: Arc<Failed>,
    /// What must be able to work; a part adds itself when it starts.
    pub readiness: Readiness,
}

impl App {
    /// A new id, at the time now.
    pub fn new_id<Kind>(&self) -> Id<Kind> {
        crate::random::id(&*self.clock, &*self.random)
    }

    /// Lets `/health/ready` ask the database.
    pub fn watch_store(&self) {
        let store = self.store.clone();
        self.readiness.add("database", move || {
            let store = store.clone();
            async move {
                store.ping().await.map_err(|error| NotReady {
                    code: error::Code::DatabaseUnavailable,
                    message: error.to_string(),
                })
            }
        });
    }
}

impl App {
    /// Lets `/health/ready` ask how the signer is, and each of its tokens. That one key is missing is
    /// in the status, the metrics and the log: the other CAs go on.
    pub fn watch_signer(&self) {
        let signer = self.signer.clone();
        self.readiness.add("signer", move || {
            let state = signer.state();
            async move {
                let tokens = state.tokens().iter().map(|token| state.check_token(&token.name));
                let mut all = std::iter::once(state.check_signer()).chain(tokens);
                let first_fault = all.find_map(Result::err);
                first_fault.map_or(Ok(()), |error: SignerError| {
                    let error = ApiError::from(error);
                    Err(NotReady { code: error.code(), message: error.message() })
                })
            }
        });
    }
}

/// Routes that need no login.
fn open() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().merge(routes::login::open_routes())
}

/// Routes for who has a valid token, even if the password must be changed first.
fn authenticated() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .merge(routes::login::routes())
        .merge(routes::current_user::password_routes())
}

/// Routes for any user; paths below `/api`.
fn members() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .merge(routes::current_user::routes())
        .merge(routes::api_tokens::member_routes())
        .merge(routes::certs::routes())
        .merge(routes::ca::member_routes())
        .merge(routes::generators::member_routes())
        .merge(routes::settings::member_routes())
}

/// Routes for administrators: where a new route belongs unless its rule says otherwise.
fn administrators() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .merge(routes::api_tokens::routes())
        .merge(routes::audit::routes())
        .merge(routes::ca::routes())
        .merge(routes::generators::routes())
        .merge(routes::keystores::routes())
        .merge(routes::localca::routes())
        .merge(routes::profiles::routes())
        .merge(routes::settings::routes())
        .merge(routes::status::routes())
        .merge(routes::teams::routes())
        .merge(routes::users::routes())
}

/// The whole service, below each of its base paths.
pub fn router(state: &AppState) -> Router {
    let (api, document) = api(state);
    let site = api.merge(openapi::routes(document)).merge(health::routes());
    let mut router = Router::new();
    for base in &state.config.base_paths {
        router = if base.is_empty() {
            router.merge(site.clone())
        } else {
            router.nest(base, site.clone())
        };
    }
    if !state.config.base_paths.iter().any(String::is_empty) {
        // Whatever watches over the service need not know its paths.
        router = router.merge(health::routes());
    }
    router
        .fallback(|| async { ApiError::not_found("path") })
        .layer(CatchPanicLayer::custom(after_panic))
        .layer(from_fn_with_state(state.clone(), request::surround))
        .with_state(state.clone())
}

/// The JSON API, each group behind its gate, and its document.
pub fn api(state: &AppState) -> (Router<AppState>, OpenApi) {
    let below_api = |routes| OpenApiRouter::<AppState>::new().nest("/api", routes);
    let all = open().merge(authenticated()).merge(members()).merge(administrators());
    let parameters = Arc::new(Parameters::of(&below_api(all).into_openapi()));
    let parameters = from_fn_with_state(parameters, request::refuse_unknown);
    // The gate is in front: who may not come in is told nothing of what is behind it.
    let open = open().route_layer(parameters.clone());
    let authenticated = authenticated()
        .route_layer(parameters.clone())
        .route_layer(from_fn_with_state(state.clone(), gate::authenticated));
    let members = members()
        .route_layer(parameters.clone())
        .route_layer(from_fn_with_state(state.clone(), gate::actor));
    let administrators = administrators()
        .route_layer(parameters)
        .route_layer(from_fn_with_state(state.clone(), gate::administrator));
    let all = open.merge(authenticated).merge(members).merge(administrators);
    let (router, document) = below_api(all).split_for_parts();
    (router, openapi::complete(document, &state.config.base_paths))
}

/// A panic is a fault of ours: the caller gets a 500, and everyone else goes on.
#[expect(clippy::needless_pass_by_value, reason = "the layer gives it away")]
fn after_panic(cause: Box<dyn Any + Send>) -> Response {
    let cause = match (cause.downcast_ref::<String>(), cause.downcast_ref::<&str>()) {
        (Some(text), _) => text.clone(),
        (None, Some(text)) => (*text).to_owned(),
        (None, None) => "a panic without words".to_owned(),
    };
    ApiError::internal(cause).into_response()
}
