//! The journal as the rest of the signer has it.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use chancery_shared::bytes::{Bytes, Hash};
use chancery_shared::id::{ApprovalId, SignerId};
use chancery_shared::wire::journal::{Event, Intent};
use chancery_shared::wire::{Context, JournalHead};
use flume::Sender;
use tokio::sync::{Semaphore, oneshot};

use super::command::{Answer, Command, Waiting};
use super::gap::Gap;
use super::log::{Log, head};
use super::published::Published;
use super::read::{self, read_entries};
use super::recover::{Found, recover};
use super::storage::{Folder, Storage};
use super::writer::Writer;
use super::{JournalCounters, JournalError, JournalState, RecordedTbs, Recovered};
use crate::clock::Clock;
use crate::policy::CheckedTbs;

/// How the journal is written.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A segment that has reached this length is followed by a new one. A start reads one segment.
    pub segment_bytes: u64,
    /// How long a group waits at most for entries of requests that are in flight.
    pub gather: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { segment_bytes: 16 * 1024 * 1024, gather: Duration::from_millis(3) }
    }
}

/// A handle to the open journal; one thread writes for all of them. The journal is closed, and
/// another process may open it, after [`Journal::close`] or with the last handle.
#[derive(Clone, Debug)]
pub struct Journal {
    published: Arc<Published>,
    writer: Sender<Command>,
    /// Bounds what waits in memory: past it, callers wait before they send.
    seats: Arc<Semaphore>,
    /// Bounds who is on the disk to read.
    readers: Arc<Semaphore>,
}

impl Journal {
    /// Opens the journal in `folder`, or begins one there as `new_signer_id`. Blocks on the disk.
    ///
    /// The caller appends `started`, `torn-tail-cut` where [`Recovered::torn_bytes`] says so, and
    /// `abandoned` for each of [`Recovered::open_intents`].
    ///
    /// # Errors
    ///
    /// Another process has it open, the folder can't be used, or the journal is damaged. No entry
    /// was changed then.
    pub fn open(
        folder: &Path,
        options: Options,
        clock: Arc<dyn Clock>,
        new_signer_id: SignerId,
    ) -> Result<(Self, Recovered), JournalError> {
        let storage = |folder| Box::new(folder) as Box<dyn Storage>;
        Self::open_on(folder, storage, options, LOOK_EVERY, clock, new_signer_id)
    }

    /// As [`Journal::open`], with something between the journal and its folder.
    pub(super) fn open_on(
        folder: &Path,
        storage: impl FnOnce(Folder) -> Box<dyn Storage>,
        options: Options,
        look_every: Duration,
        clock: Arc<dyn Clock>,
        new_signer_id: SignerId,
    ) -> Result<(Self, Recovered), JournalError> {
        let unusable = |source| JournalError::Folder { folder: folder.to_owned(), source };
        let locked = Folder::lock(folder)?;
        let Found { recovered, tail, index, segment, length } =
            recover(&locked, folder, new_signer_id)?;
        let published = Arc::new(Published::new(folder.to_owned(), head(&tail), index));
        let log = Log::new(storage(locked), clock, options.segment_bytes, segment, length, tail)
            .map_err(unusable)?;
        let (sender, queue) = flume::unbounded();
        let writer = Writer {
            log,
            queue,
            published: Arc::clone(&published),
            gather: options.gather,
            look_every,
            forgotten: Vec::new(),
        };
        let thread = thread::Builder::new().name("journal".to_owned());
        thread.spawn(|| writer.run()).map_err(unusable)?;
        let seats = Arc::new(Semaphore::new(SEATS));
        let readers = Arc::new(Semaphore::new(READERS));
        Ok((Self { published, writer: sender, seats, readers }, recovered))
    }

    /// Records that `tbs` is to be signed. The intent is on disk when this returns.
    ///
    /// If the future is dropped before, the intent may still be written; then it is closed as
    /// `abandoned`. With the [`RecordedTbs`] comes the duty to append `signed` or `abandoned`.
    ///
    /// # Errors
    ///
    /// There is no intent, or after [`JournalError::SyncFailed`] nobody knows; in no case may
    /// anything be signed.
    pub async fn record(
        &self,
        tbs: CheckedTbs,
        context: Context,
        approval: Option<ApprovalId>,
    ) -> Result<RecordedTbs, JournalError> {
        let event = Event::Intent(Box::new(Intent {
            operation: tbs.operation().to_owned(),
            key_id: tbs.key_id(),
            tbs: Bytes(tbs.der().to_vec()),
            csr: tbs.csr().map(|csr| Bytes(csr.to_vec())),
            serial_nonce: tbs.nonce(),
            approval_id: approval,
            context,
        }));
        let (to, answer) = oneshot::channel();
        self.send(event, Answer::Recorded { tbs, to, writer: self.writer.clone() }).await?;
        let unclaimed = answer.await.map_err(|_| JournalError::Closed)??;
        unclaimed.claim().ok_or(JournalError::Closed)
    }

    /// Appends an entry; it is on disk when this returns. Answers the head that it made.
    ///
    /// If the future is dropped while it waits, the entry is written all the same. Numbers follow
    /// each other, but where [`Event::JournalAccepted`] names a head of this signer above the end,
    /// they go on above that.
    ///
    /// # Errors
    ///
    /// The entry is not in the journal, or after [`JournalError::SyncFailed`] nobody knows. After
    /// [`JournalError::Unavailable`] the same entry may be appended again: an intent whose outcome
    /// could not be written is still open.
    pub async fn append(&self, event: Event) -> Result<JournalHead, JournalError> {
        if matches!(event, Event::SegmentOpened { .. }) {
            return Err(JournalError::NotOurs);
        }
        let (to, answer) = oneshot::channel();
        self.send(event, Answer::Head(to)).await?;
        answer.await.map_err(|_| JournalError::Closed)?
    }

    /// Writes what was sent before, ends the writer and unlocks the folder.
    pub async fn close(self) {
        let (done, ended) = oneshot::channel();
        if self.writer.send(Command::Close(done)).is_ok() {
            // An error here says that someone else closed it first.
            let _ = ended.await;
        }
    }

    /// Ends when nothing may be written any more because the disk did not confirm a write. The
    /// process has to stop then; see [`JournalError::SyncFailed`].
    pub async fn poisoned(&self) {
        let mut state = self.published.state.subscribe();
        // The sender lives in `self`, so this ends only with that state.
        let _ = state.wait_for(|state| *state == JournalState::Poisoned).await;
    }

    /// Does what blocks on the disk to read, on a thread that may wait for it. A few at once have
    /// their turn; the others wait for theirs without a thread.
    ///
    /// # Errors
    ///
    /// What `read` answers, or [`JournalError::Closed`] where the runtime ends.
    pub async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let turn = Arc::clone(&self.readers).acquire_owned().await;
        let turn = turn.map_err(|_| JournalError::Closed)?;
        let journal = self.clone();
        let read = move || {
            let read = read(&journal);
            drop(turn);
            read
        };
        tokio::task::spawn_blocking(read).await.map_err(|_| JournalError::Closed)?
    }

    /// Entries with numbers above `after`, as stored: as many as fit into `budget` bytes when they
    /// stand as strings in JSON, but at least one where there is one. Only what is on disk is
    /// shown. Blocks on the disk; the cost does not depend on the length of the history.
    ///
    /// # Errors
    ///
    /// A segment can't be read or is damaged.
    pub fn read(&self, after: u64, budget: usize) -> Result<Vec<String>, JournalError> {
        Ok(read_entries(&self.published, after, budget)?)
    }

    /// Hash of one entry, to compare with a head that someone else knows; `None` where the journal
    /// has no such entry. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// As [`Journal::read`].
    pub fn entry_hash(&self, seq: u64) -> Result<Option<Hash>, JournalError> {
        Ok(read::entry_hash(&self.published, seq)?)
    }

    /// Whether this journal has the head that someone else knows, or the operator has accepted that
    /// its number is lost. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// As [`Journal::read`].
    pub fn accounts_for(&self, known: &JournalHead) -> Result<bool, JournalError> {
        let head = self.head();
        Ok(known.signer_id == head.signer_id
            && match self.entry_hash(known.seq)? {
                Some(hash) => hash == known.hash,
                // Below the head no number is without an entry but those.
                None => known.seq <= head.seq,
            })
    }

    /// Whether a journal that ends where this one does can have lost entries up to that number, so
    /// that the operator could accept it. A head from who knows where need not be one.
    pub fn can_have_lost(&self, known: &JournalHead) -> bool {
        Gap { after: self.head().seq, up_to: known.seq }.is_plausible()
    }

    /// The last entry on disk; number 0 and a hash of zeros where there is none.
    pub fn head(&self) -> JournalHead {
        self.published.head()
    }

    /// Whose journal this is.
    pub fn signer_id(&self) -> SignerId {
        self.head().signer_id
    }

    /// Whether the journal takes entries. For status and health: a request need not ask before.
    pub fn state(&self) -> JournalState {
        *self.published.state.borrow()
    }

    /// Whether the last write succeeded.
    pub fn is_writable(&self) -> bool {
        self.state() == JournalState::Writable
    }

    /// What was written since the journal was opened.
    pub fn counters(&self) -> JournalCounters {
        self.published.counters()
    }

    #[cfg(test)]
    pub(super) fn watch(&self) -> tokio::sync::watch::Receiver<JournalState> {
        self.published.state.subscribe()
    }

    async fn send(&self, event: Event, answer: Answer) -> Result<(), JournalError> {
        let seats = Arc::clone(&self.seats);
        let seat = seats.acquire_owned().await.map_err(|_| JournalError::Closed)?;
        let waiting = Box::new(Waiting { event, answer, seat });
        self.writer.send(Command::Append(waiting)).map_err(|_| JournalError::Closed)
    }
}

/// With entries of the greatest length these are 63 MiB.
const SEATS: usize = 256;

/// A reader holds up to one reply of entries, and one disk gains nothing by more.
pub(super) const READERS: usize = 4;

/// While the disk is full.
const LOOK_EVERY: Duration = Duration::from_secs(1);
