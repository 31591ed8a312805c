//! The two engines. Nothing outside the store can tell which one is in use.

use std::sync::Arc;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, Connection as _, Executor as _};
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::audit::AuditChain;
use super::certificate::{Writer, WriterHandle};
use super::health::Health;
use super::inventory_version::{InventoryChange, Readings};
use super::seat::Seat;
use super::write::{Lent, Write};
use super::{StoreError, loss, schema};

/// A handle to the database; clones share one pool.
#[derive(Clone, Debug)]
pub struct Store {
    pool: AnyPool,
    engine: Engine,
    writer: Writer,
    pub(super) health: Arc<Health>,
    chain: AuditChain,
    readings: Arc<Readings>,
    searches: Arc<Semaphore>,
    turn: Arc<Mutex<()>>,
}

/// Which of the two, for the few statements that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum EngineName {
    Sqlite,
    Postgres,
}

impl EngineName {
    fn of(connection: &AnyConnection) -> Self {
        if connection.backend_name() == SQLITE { Self::Sqlite } else { Self::Postgres }
    }
}

#[derive(Clone, Debug)]
enum Engine {
    Sqlite {
        /// Of whoever writes.
        seat: Seat,
    },
    Postgres,
}

impl Store {
    /// Opens the database at `url` (`sqlite:` or `postgres:`) and brings its schema up to date.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`] or [`StoreError::Migrate`]. A migration that failed is undone; those
    /// before it stay.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let (pool, name) = connect(url).await?;
        schema::migrate(&pool, name).await?;
        Ok(Self::of(pool, name))
    }

    /// Opens the database at `url` as it is: makes none, and brings no schema up to date, for whoever
    /// looks at the database of a service that runs.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`] where there is none, [`StoreError::OtherSchema`] where it is not that of a
    /// service of this version.
    pub async fn open_as_it_is(url: &str) -> Result<Self, StoreError> {
        let (pool, name) = match url.split_once('?') {
            Some((file, parameters)) if file.starts_with("sqlite:") => {
                connect(&format!("{file}?{}", parameters.replace("mode=rwc", "mode=rw"))).await?
            }
            _ => connect(url).await?,
        };
        schema::check(&pool, name).await?;
        Ok(Self::of(pool, name))
    }

    fn of(pool: AnyPool, name: EngineName) -> Self {
        let engine = match name {
            EngineName::Sqlite => Engine::Sqlite { seat: Seat::default() },
            EngineName::Postgres => Engine::Postgres,
        };
        Self {
            pool,
            engine,
            writer: Writer::default(),
            health: Arc::new(Health::at_start()),
            chain: AuditChain::default(),
            readings: Arc::default(),
            searches: Arc::new(Semaphore::new(MAX_SEARCHES)),
            turn: Arc::default(),
        }
    }

    /// Ends all connections, after the statements that run.
    pub async fn close(&self) {
        // From here on the pool lends nothing; it waits for every connection that is lent.
        let closed = self.pool.close();
        if let Engine::Sqlite { seat } = &self.engine {
            seat.leave().await;
        }
        self.readings.leave().await;
        closed.await;
    }

    /// Where single statements that only read go.
    pub(super) fn pool(&self) -> &AnyPool {
        &self.pool
    }

    /// Begins a transaction that writes. Dropping it undoes it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] where no connection or lock is to be had in time.
    pub async fn begin(&self) -> Result<Write, StoreError> {
        self.begin_with(None).await
    }

    async fn begin_with(&self, turn: Option<OwnedMutexGuard<()>>) -> Result<Write, StoreError> {
        let mut write = self.lend(turn).await?;
        let begin = match write.engine() {
            // A transaction that reads first and writes later fails under a plain BEGIN.
            EngineName::Sqlite => "BEGIN IMMEDIATE",
            EngineName::Postgres => "BEGIN",
        };
        write.say(begin).await?;
        Ok(write)
    }

    /// The same for one that will hold what others wait for, and read by further connections
    /// meanwhile: those who wait in this process have none yet, so that one is left for who reads.
    ///
    /// # Errors
    ///
    /// As [`Self::begin`].
    pub async fn begin_in_turn(&self) -> Result<Write, StoreError> {
        let late = |_| StoreError::of("any")(sqlx::Error::PoolTimedOut);
        let turn = Arc::clone(&self.turn).lock_owned();
        let turn = timeout(ACQUIRE_TIMEOUT, turn).await.map_err(late)?;
        self.begin_with(Some(turn)).await
    }

    /// A transaction that has not begun yet.
    pub(super) async fn before_begin(&self) -> Result<Write, StoreError> {
        self.lend(None).await
    }

    async fn lend(&self, turn: Option<OwnedMutexGuard<()>>) -> Result<Write, StoreError> {
        let connection = match &self.engine {
            Engine::Sqlite { seat } => {
                let late = |_| sqlx::Error::PoolTimedOut;
                let seated = timeout(ACQUIRE_TIMEOUT, seat.take(&self.pool)).await;
                seated.map_err(late).flatten().map(Lent::Seated)
            }
            Engine::Postgres => self.pool.acquire().await.map(Lent::Pooled),
        };
        let connection = connection.map_err(StoreError::of("any"))?;
        let (health, chain) = (Arc::clone(&self.health), self.chain.clone());
        let change = InventoryChange::none(Arc::clone(&self.readings));
        Ok(Write::before_begin(connection, health, chain, change, turn))
    }

    /// Which engine it is.
    /// What people call the engine.
    pub fn engine_name(&self) -> &'static str {
        match self.engine() {
            EngineName::Sqlite => SQLITE,
            EngineName::Postgres => "PostgreSQL",
        }
    }

    pub(super) fn engine(&self) -> EngineName {
        match self.engine {
            Engine::Sqlite { .. } => EngineName::Sqlite,
            Engine::Postgres => EngineName::Postgres,
        }
    }

    pub(super) fn audit_chain(&self) -> &AuditChain {
        &self.chain
    }

    pub(super) fn readings(&self) -> &Readings {
        &self.readings
    }

    /// One of few: searches, some of which take their time, leave connections to the others.
    pub(super) async fn search_place(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let place = Arc::clone(&self.searches).acquire_owned();
        match tokio::time::timeout(ACQUIRE_TIMEOUT, place).await {
            Ok(place) => place.map_err(|_| StoreError::Closed),
            Err(_) => Err(StoreError::of("certificate")(sqlx::Error::PoolTimedOut)),
        }
    }

    /// The task that records certificates.
    pub(super) fn writer(&self) -> WriterHandle<'_> {
        WriterHandle { writer: &self.writer, store: self }
    }

    /// The same database for that task itself: it must not keep itself alive.
    pub(super) fn without_writer(&self) -> Self {
        Self { writer: Writer::default(), ..self.clone() }
    }
}

async fn connect(url: &str) -> Result<(AnyPool, EngineName), StoreError> {
    sqlx::any::install_default_drivers();
    let options: AnyConnectOptions = url.parse().map_err(StoreError::Open)?;
    let pool = AnyPoolOptions::new()
        .max_connections(MAX_CONNECTIONS)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(|connection, _| Box::pin(async move { prepare(connection).await }))
        .test_before_acquire(false)
        .before_acquire(|connection, used| Box::pin(is_usable(connection, used.idle_for)))
        .connect_with(options)
        .await
        .map_err(StoreError::Open)?;
    let connection = pool.acquire().await.map_err(StoreError::Open)?;
    let name = EngineName::of(&connection);
    drop(connection);
    Ok((pool, name))
}

/// What each new connection is told before its first statement.
async fn prepare(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    match EngineName::of(connection) {
        EngineName::Sqlite => connection.execute(SQLITE_SETTINGS).await?,
        EngineName::Postgres => connection.execute(POSTGRES_SETTINGS).await?,
    };
    connection.ping().await
}

/// Whether a connection of the pool is still one. A file does not go away, and what a server said a
/// moment ago need not be asked again for each statement, unless another connection broke since.
async fn is_usable(
    connection: &mut AnyConnection,
    idle_for: Duration,
) -> Result<bool, sqlx::Error> {
    let is_trusted = idle_for <= TRUSTED_FOR && !loss::came_within(idle_for);
    if !is_trusted && EngineName::of(connection) == EngineName::Postgres {
        connection.ping().await.inspect_err(|_| loss::note())?;
    }
    Ok(true)
}

const TRUSTED_FOR: Duration = Duration::from_millis(500);

const SQLITE: &str = "SQLite";

/// FULL: a commit is on disk when it returns, also in WAL mode. A page that many transactions change
/// goes from the log into the file once in 4,000 pages (16 MiB), and what a statement may have to
/// take back needs no file.
const SQLITE_SETTINGS: &str = "
    PRAGMA busy_timeout = 5000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA wal_autocheckpoint = 4000;";

/// A process whose host died in the middle of a transaction holds its locks no longer than this.
const POSTGRES_SETTINGS: &str = "SET idle_in_transaction_session_timeout = 10000";

const MAX_CONNECTIONS: u32 = 16;
const MAX_SEARCHES: usize = 4;
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
