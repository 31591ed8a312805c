//! SQLite's one writer at a time: ours wait for each other here, in order, instead of polling the
//! file's lock, and all write through one connection, whose pages and statements stay warm.

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Executor as _};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};

/// Where the connection is kept between two writers.
#[derive(Clone, Debug, Default)]
pub(super) struct Seat(Arc<Mutex<Option<Kept>>>);

#[derive(Debug)]
struct Kept {
    connection: PoolConnection<Any>,
    is_spoilt: bool,
}

/// The seat while it is taken.
#[derive(Debug)]
pub(super) struct Seated {
    kept: OwnedMappedMutexGuard<Option<Kept>, Kept>,
    seat: Seat,
}

impl Seat {
    /// Waits for its turn.
    pub(super) async fn take(&self, pool: &AnyPool) -> Result<Seated, sqlx::Error> {
        let mut kept = Arc::clone(&self.0).lock_owned().await;
        kept.take_if(|kept| kept.is_spoilt);
        let kept_now = if let Some(kept) = kept.take() {
            kept
        } else {
            let mut connection = pool.acquire().await?;
            connection.execute(SETTINGS).await?;
            Kept { connection, is_spoilt: false }
        };
        let kept = OwnedMutexGuard::map(kept, |kept| kept.insert(kept_now));
        Ok(Seated { kept, seat: self.clone() })
    }

    /// Gives the connection back to its pool, after whoever writes.
    pub(super) async fn leave(&self) {
        self.0.lock().await.take();
    }
}

impl Seated {
    pub(super) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.kept.connection
    }

    /// What the connection was doing may be half done: it ends, and with it whatever lock of the
    /// file it holds. The next writer may wait for that a moment, within its `busy_timeout`.
    pub(super) fn spoil(&mut self) {
        self.kept.is_spoilt = true;
        self.kept.connection.close_on_drop();
        let Seat(kept) = self.seat.clone();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { kept.lock().await.take_if(|kept| kept.is_spoilt) });
        }
    }
}

/// Pages that are kept, in KiB: the ends of all trees, and what the index of texts merges. Each
/// commit costs a look at all that are kept.
const SETTINGS: &str = "PRAGMA cache_size = -4096";
