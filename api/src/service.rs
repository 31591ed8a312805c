//! The whole service, started in order and stopped in order.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;

use crate::app::{self, App, AppState};
use crate::audit::{Recorder, Recording};
use crate::auth::bearer::BearerTokens;
use crate::auth::password::{PasswordError, Passwords};
use crate::auth::token_keys::{self, TokenKeyError};
use crate::clock::Clock;
use crate::config::Config;
use crate::first_start::{self, FirstAdministratorError, FirstStart};
use crate::inventory::local_ca::Resumer;
use crate::inventory::view::LatestView;
use crate::key_data::{Purger, Vault};
use crate::key_pair::KeyMaker;
use crate::listener::{self, BindError, IdentityError, Listening, ServerIdentity};
use crate::metrics;
use crate::random::{self, Random};
use crate::readiness::Readiness;
use crate::reconcile::{self, Reconciler};
use crate::retention::{Guard, ItemPurger};
use crate::server_certificate::Renewal;
use crate::signer_client::{self, SignerClient};
use crate::store::{Store, StoreError};
use crate::text_index::TextIndexer;

/// A running service.
pub struct Service {
    state: AppState,
    identity: ServerIdentity,
    jobs: Jobs,
    recording: Recording,
    https: Listening,
    metrics: Option<Listening>,
}

/// What goes on by itself.
struct Jobs {
    first_start: FirstStart,
    renewal: Renewal,
    resumer: Resumer,
    reconciler: Reconciler,
    text_indexer: TextIndexer,
    purger: Purger,
    item_purger: ItemPurger,
}

impl Jobs {
    fn start(state: &AppState, identity: &ServerIdentity) -> Self {
        let first_start = FirstStart::start(state.clone());
        let ready = first_start.done();
        let renewal = Renewal::start(state.clone(), identity.clone(), ready);
        let resumer = Resumer::start(state.clone());
        let reconciler = reconcile::start(state.clone());
        let text_indexer = TextIndexer::start(state.store.clone());
        let purger = Purger::start(state.clone());
        let item_purger = ItemPurger::start(state.clone());
        Self { first_start, renewal, resumer, reconciler, text_indexer, purger, item_purger }
    }

    async fn stop(self) {
        tokio::join!(
            self.first_start.stop(),
            self.renewal.stop(),
            self.resumer.stop(),
            self.reconciler.stop(),
            self.text_indexer.stop(),
            self.purger.stop(),
            self.item_purger.stop(),
        );
    }
}

/// Why the service does not start. Nothing of it runs then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A port can't be had.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A folder below the home can't be made.
    #[error("the folder {} can't be made", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The keys of bearer tokens can't be read.
    #[error(transparent)]
    TokenKeys(#[from] TokenKeyError),
    /// The database can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no first administrator.
    #[error(transparent)]
    FirstAdministrator(#[from] FirstAdministratorError),
    /// Passwords can't be hashed.
    #[error(transparent)]
    Passwords(#[from] PasswordError),
    /// There is no certificate to show.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A listener can't serve.
    #[error("a listener can't serve")]
    Listener(#[source] io::Error),
}

impl Service {
    /// Starts everything. When it returns, requests are answered.
    ///
    /// # Errors
    ///
    /// See [`StartError`].
    pub async fn start(
        config: Config,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        counters: PrometheusHandle,
    ) -> Result<Self, StartError> {
        // 1. The ports: if one is taken, nothing else has happened yet.
        let https = listener::bind(config.address, config.port, "port")?;
        let metrics_port = match config.metrics_port {
            Some(port) => Some(listener::bind(Ipv4Addr::LOCALHOST.into(), port, "metrics.port")?),
            None => None,
        };

        // 2. What must be on disk.
        make_folder(config.home.join("data"))?;
        let keys = token_keys::load_or_make(&config.token_keys(), &*clock, &*random)?;

        // 3. The database, its schema brought up to date.
        let store = Store::open(&config.database_url).await?;

        // 4. The signer, looked for in the background, and what every handler uses.
        let (audit, recording) = Recorder::start(store.clone());
        let options = signer_client::Options::new(config.signer_socket.clone());
        let signer = SignerClient::start(options, Arc::new(store.clone()), Arc::clone(&random));
        let state = AppState::new(App {
            signer,
            passwords: Passwords::new(Arc::clone(&random))?,
            tokens: Arc::new(BearerTokens::new(&keys)),
            throttle: Arc::default(),
            readiness: Readiness::default(),
            keys: KeyMaker::new(config.key_pool),
            config: Arc::new(config),
            store,
            audit,
            inventory: LatestView::default(),
            vault: Vault::default(),
            purge_guard: Arc::new(Guard::new(random::id(&*clock, &*random), &*clock)),
            purge_start: Arc::default(),
            purge_failed: Arc::default(),
            under_way: Arc::default(),
            clock,
            random,
        });
        state.watch_store();
        state.watch_signer();
        first_start::make_accounts(&state).await?;

        // 5. The listeners, under a temporary certificate until there is a real one. Whoever changes
        // something at another process has to know of this one before it lets anyone in.
        state.purge_guard.announce(&state).await?;
        let identity = ServerIdentity::temporary(&*state.clock, &*state.random)?;
        let https = listener::serve_tls(https, app::router(&state), &identity)
            .map_err(StartError::Listener)?;
        let metrics = match metrics_port {
            Some(port) => {
                let router = metrics::router(counters);
                Some(listener::serve_plain(port, router).map_err(StartError::Listener)?)
            }
            None => None,
        };

        // 6. What goes on by itself.
        let jobs = Jobs::start(&state, &identity);
        Ok(Self { state, identity, jobs, recording, https, metrics })
    }

    /// What the handlers use.
    pub fn state(&self) -> &AppState {
        &self.state
    }

    /// The certificate that the service shows, to be set once there is one.
    pub fn identity(&self) -> &ServerIdentity {
        &self.identity
    }

    /// Stops: no new connections, requests that run get [`REQUESTS_FINISH_WITHIN`], the database
    /// is closed last.
    pub async fn stop(self) {
        self.state.keys.stop();
        self.https.stop(REQUESTS_FINISH_WITHIN).await;
        if let Some(metrics) = self.metrics {
            metrics.stop(Duration::ZERO).await;
        }
        // A job that waits for the signer is cut short: each is safe to end anywhere.
        if tokio::time::timeout(JOBS_FINISH_WITHIN, self.jobs.stop()).await.is_err() {
            tracing::warn!("a job was cut short; the next start goes on with it");
        }
        if tokio::time::timeout(AUDIT_FINISHES_WITHIN, self.recording.stop()).await.is_err() {
            tracing::warn!("the last refusals could not be recorded in the audit");
        }
        self.state.store.close().await;
    }
}

fn make_folder(path: PathBuf) -> Result<(), StartError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
    made.map_err(|source| StartError::Folder { path, source })
}

/// What jobs get after the requests.
const JOBS_FINISH_WITHIN: Duration = Duration::from_millis(800);

/// What is left of the audit then.
const AUDIT_FINISHES_WITHIN: Duration = Duration::from_millis(300);

/// The process is to end within 5 s of being told.
pub const REQUESTS_FINISH_WITHIN: Duration = Duration::from_millis(3500);
