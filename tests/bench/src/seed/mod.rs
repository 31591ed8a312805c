//! `seed`: a home with a past. Certificates and their journal, as if so many had been requested in
//! the last two years, evenly; each entry and each record has the form of a real one.
//!
//! Drafts, journal and records follow each other through short queues, so memory does not depend
//! on the number. Whatever breaks it off, the journal is never behind the records; what it is
//! ahead, reconciliation makes up for.

mod names;
mod pattern;
#[cfg(test)]
mod tests;

use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context as _, ensure};
use chancery_api::issuance::new_record::{MadeBy, new_record};
use chancery_api::issuance::signing::SignedTbs;
use chancery_api::store::certificate::NewCertificate;
use chancery_api::store::{Store, Unaudited};
use chancery_api::text_index;
use chancery_shared::bytes::Bytes;
use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;
use chancery_signer::clock::{Clock, SystemClock};
use chancery_signer::journal::{Journal, Options as JournalOptions};
use clap::Args;
use futures::future::try_join_all;
use time::{Duration, OffsetDateTime};
use tokio::sync::mpsc;

use self::names::nth;
use self::pattern::{Draft, Pattern};

/// What to seed.
///
/// The home must be whole and stopped, and an issuer of it must have issued a certificate for a
/// CSR: the first such are the patterns. Owner, team, key and CSR of each seeded certificate are
/// one pattern's, in turn; so is the signature, which therefore does not verify. All else is as it
/// would be: `chancery-hsm journal verify` and reconciliation find nothing wrong.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[arg(long)]
    home: PathBuf,
    /// How many certificates; about 5 kB of disk each.
    #[arg(long)]
    records: u64,
    /// Where the home's database is not SQLite's file in it.
    #[arg(long)]
    database_url: Option<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    seed(&options.home, options.database_url.as_deref(), options.records)
}

/// Adds so many certificates to a home on which nothing runs.
pub(crate) fn seed(home: &Path, database_url: Option<&str>, records: u64) -> anyhow::Result<()> {
    let sqlite = format!("sqlite://{}?mode=rw", home.join("data/chancery.db").display());
    let url = database_url.unwrap_or(&sqlite);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let journal = home.join("signer/journal");
    let seeded = runtime.block_on(seed_with(&journal, url, records));
    // What root makes, signer and API could not write.
    for folder in [journal, home.join("data")] {
        let owner = std::fs::metadata(&folder)?;
        for file in std::fs::read_dir(&folder)? {
            chown(file?.path(), Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    seeded
}

async fn seed_with(folder: &Path, url: &str, records: u64) -> anyhow::Result<()> {
    let patterns = pattern::read(folder)?;
    let store = Store::open(url).await?;
    let clock = Arc::new(PastClock::default());
    let options = JournalOptions { gather: std::time::Duration::ZERO, ..JournalOptions::default() };
    let new_signer = SignerId::new(SystemClock.now(), [0; 6]);
    let (journal, recovered) = Journal::open(folder, options, Arc::clone(&clock) as _, new_signer)?;
    ensure!(recovered.open_intents.is_empty(), "the signer did not end in peace");

    let past = Past { from: journal.head().seq, records, until: SystemClock.now() };
    let (drafted, mut drafts) = mpsc::channel(QUEUE);
    let (signed, mut batches) = mpsc::channel(QUEUE);
    let drafting = tokio::task::spawn_blocking(move || past.draft(&patterns, &drafted));
    let journaling = tokio::spawn(async move {
        while let Some(batch) = drafts.recv().await {
            clock.set(&batch);
            if signed.send(journal_batch(&journal, batch).await?).await.is_err() {
                break;
            }
        }
        let head = journal.head();
        journal.close().await;
        anyhow::Ok(head)
    });
    let mut recorded = 0;
    while let Some(batch) = batches.recv().await {
        let each = batch.into_iter().map(|new| store.insert_certificate(new));
        recorded += try_join_all(each).await?.len();
        if recorded.is_multiple_of(BATCH * 256) {
            eprintln!("{recorded} of {records}");
        }
    }
    drafting.await??;
    text_index::index_all(&store).await?;
    let head = journaling.await??;
    let mut write = store.begin().await?;
    write.set_reconciled(head.signer_id, head.seq, head.hash).await?;
    write.commit_unaudited(Unaudited::JournalHead).await?;
    store.close().await;
    Ok(())
}

/// Two years, evenly full of requests.
#[derive(Debug)]
struct Past {
    /// Numbers names; above those of an earlier seeding.
    from: u64,
    records: u64,
    until: OffsetDateTime,
}

impl Past {
    fn draft(&self, patterns: &[Pattern], to: &mpsc::Sender<Vec<Draft>>) -> anyhow::Result<()> {
        let mut batch = Vec::with_capacity(BATCH);
        for done in 0..self.records {
            let number = self.from + done;
            let pattern = nth(patterns, number).context("no pattern")?;
            let days = nth(&LIFETIMES, number).copied().unwrap_or_default();
            let lifetime = Duration::days(days);
            batch.push(pattern.draft(number, self.moment(done), lifetime)?);
            let is_last = done + 1 == self.records;
            if (batch.len() == BATCH || is_last)
                && to.blocking_send(std::mem::take(&mut batch)).is_err()
            {
                break;
            }
        }
        Ok(())
    }

    fn moment(&self, done: u64) -> OffsetDateTime {
        let rest = u128::from(self.records - done);
        let before = YEARS.whole_milliseconds().unsigned_abs() * rest / u128::from(self.records);
        let before = i64::try_from(before).unwrap_or_default();
        self.until - JUST_NOW - Duration::milliseconds(before)
    }
}

async fn journal_batch(
    journal: &Journal,
    batch: Vec<Draft>,
) -> anyhow::Result<Vec<NewCertificate>> {
    let intents =
        batch.iter().map(|draft| journal.append(Event::Intent(Box::new(draft.intent.clone()))));
    let intents = try_join_all(intents).await?;
    let outcomes = batch.iter().zip(&intents).map(|(draft, intent)| {
        journal.append(Event::Signed {
            intent: intent.seq,
            key_id: draft.intent.key_id,
            serial_number: draft.serial_number.clone(),
            signature: draft.signature.clone(),
        })
    });
    let heads = try_join_all(outcomes).await?;
    batch.into_iter().zip(heads).map(|(draft, head)| record(draft, head)).collect()
}

fn record(draft: Draft, journal: JournalHead) -> anyhow::Result<NewCertificate> {
    let Draft { intent, context, signature, .. } = draft;
    let signed = SignedTbs { tbs: intent.tbs.0, signature: signature.0, journal };
    let csr = intent.csr.as_ref().map(Bytes::as_slice);
    Ok(new_record(&context, &signed, csr, MadeBy::Request)?)
}

/// Shows the moment of the last request.
#[derive(Debug, Default)]
struct PastClock(AtomicI64);

impl PastClock {
    fn set(&self, batch: &[Draft]) {
        if let Some(last) = batch.last() {
            self.0.store(last.context.requested_at.unix_timestamp(), Ordering::Relaxed);
        }
    }
}

impl Clock for PastClock {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::UNIX_EPOCH + Duration::seconds(self.0.load(Ordering::Relaxed))
    }

    fn since_boot(&self) -> std::time::Duration {
        SystemClock.since_boot()
    }
}

/// As many entries as the journal takes at once.
const BATCH: usize = 256;
/// Batches between two stages.
const QUEUE: usize = 4;
const YEARS: Duration = Duration::days(2 * 365);
/// Some expired long ago, some will in these days.
const LIFETIMES: [i64; 5] = [30, 90, 200, 365, 398];
/// The last is older than any request that could be on its way.
const JUST_NOW: Duration = Duration::minutes(1);
