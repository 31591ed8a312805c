//! The service as one router: what every handler may use, and which routes there are.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::clock::Clock;
use crate::config::Config;
use crate::random::Random;
use crate::store::Store;

/// What every handler may use. Clones are cheap and share everything.
#[derive(Clone)]
pub struct AppState {
    /// The checked configuration.
    pub config: Arc<Config>,
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
}

impl AppState {
    /// A new id, at the time now.
    pub fn new_id<Kind>(&self) -> chancery_shared::id::Id<Kind> {
        crate::random::id(&*self.clock, &*self.random)
    }
}

/// Routes that need no login.
fn open() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
}

/// Routes for any user who is logged in; paths below `/api`.
fn members() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
}

/// Routes for administrators: where a new route belongs unless its rule says otherwise.
fn administrators() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
}

/// All routes.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().nest("/api", open().merge(members()).merge(administrators()))
}
