//! From the configuration to a signer that may serve, and what it does by itself from then on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chancery_shared::hexadecimal;
use chancery_shared::id::{KeyId, SignerId};
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::TokenState;
use tokio::sync::watch;

use crate::approval::Approvals;
use crate::budget::Budget;
use crate::clock::Clock;
use crate::clock_guard::ClockGuard;
use crate::config::Config;
use crate::journal::{self, Journal, JournalError, Recovered};
use crate::keyring::{Keyring, KeyringError, Life};
use crate::refusals::Refusals;
use crate::signer::Signer;
use crate::token::{SweepReport, Token};
use crate::{random, request};

/// Key creations, enables and destroys in an hour, each.
const CHANGES_PER_HOUR: u32 = 600;

/// Seals and unseals in a minute, together.
const SEALS_PER_MINUTE: u32 = 6_000;

/// Pause between two rounds of the signer's own chores.
const CHORES: Duration = Duration::from_secs(1);

/// Why the signer does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The journal is damaged or can't be opened.
    #[error("the journal can't be used")]
    Journal(#[from] JournalError),
    /// The keyring is damaged or can't be opened.
    #[error("the keyring can't be used")]
    Keyring(#[from] KeyringError),
    /// A folder or file of the signer's can't be used.
    #[error("the signer's folder can't be used")]
    Io(#[from] std::io::Error),
}

/// Opens journal, keyring and approvals and starts the tokens. Blocks on the disk.
///
/// # Errors
///
/// What was found damaged; the message of the source says what to do.
pub fn start(
    config: Config,
    clock: Arc<dyn Clock>,
    sandbox: Vec<String>,
) -> Result<(Arc<Signer>, Beginning), StartError> {
    let folder = config.state_folder();
    let journal_folder = config.journal_folder();
    std::fs::create_dir_all(&journal_folder)?;
    let options =
        journal::Options { segment_bytes: config.segment_bytes, ..journal::Options::default() };
    let started_at = clock.now();
    let new_id = SignerId::new(started_at, random::bytes());
    let (journal, recovered) = Journal::open(&journal_folder, options, Arc::clone(&clock), new_id)?;
    let path = folder.join("keyring.json");
    let keyring = Keyring::open(path, journal.clone(), &journal_folder, &recovered)?;
    if let Some(lost) = keyring.lost() {
        tracing::error!(seq = lost.seq, "the journal lacks an entry that was seen before");
    }
    let clock_guard = ClockGuard::new(clock.as_ref(), config.clock_jump, recovered.last_right);
    let approvals = Approvals::open(folder.join("approvals"), |parked, after| {
        let (approval_id, request) = (parked.approval_id, &parked.request);
        let decided = journal::decided(&journal_folder, after, approval_id, request)?;
        Ok::<_, StartError>(decided)
    })?;
    let tokens: BTreeMap<String, Token> = config
        .tokens
        .iter()
        .map(|token| (token.name.clone(), Token::start(token.clone(), Arc::clone(&clock))))
        .collect();
    let signer = Signer {
        signatures: Budget::new(config.budget_per_minute, Duration::from_mins(1)),
        changes: Budget::new(CHANGES_PER_HOUR, Duration::from_hours(1)),
        seals: Budget::new(SEALS_PER_MINUTE, Duration::from_mins(1)),
        parkings: Budget::new(config.approvals_per_hour, Duration::from_hours(1)),
        boot_id: hexadecimal::encode(random::bytes::<8>()),
        refusals: Refusals::default(),
        is_started: AtomicBool::new(false),
        is_vouched_for: AtomicBool::new(recovered.is_new),
        unclosed: Mutex::default(),
        uninstalled: Mutex::new(recovered.uninstalled.clone()),
        config,
        clock,
        journal,
        keyring,
        tokens,
        approvals,
        clock_guard,
        started_at,
        sandbox,
    };
    Ok((Arc::new(signer), Beginning { recovered, tear: false, started: false }))
}

/// What the signer does without being asked: journals its start as soon as the journal can be
/// written, closes what a crash left open, cleans up pending keys, finishes destructions, has the
/// keyring's file follow, watches the clock.
pub async fn chores(
    signer: Arc<Signer>,
    mut beginning: Beginning,
    mut stop: watch::Receiver<bool>,
) {
    let mut swept: Vec<&str> = Vec::new();
    let mut is_right = true;
    while !*stop.borrow() {
        signer.keyring.save().await;
        is_right = signer.clock_guard.watch(signer.clock.as_ref(), is_right);
        if signer.is_started.load(Ordering::Acquire) {
            signer.close_abandoned().await;
            tell_omitted(&signer, signer.refusals.omitted(signer.uptime())).await;
            signer.approvals.catch_up().await;
            signer.approvals.prune(signer.guarded_now()).await;
            request::finish_installations(&signer).await;
            for (name, token) in &signer.tokens {
                // What an older journal calls pending or destroying may be a CA's live key.
                if token.state() != TokenState::Ok || signer.missing_head().is_some() {
                    continue;
                }
                let may_sweep = signer.is_vouched_for.load(Ordering::Acquire);
                let is_swept = swept.contains(&name.as_str());
                // What a creation leaves that failed since: it may not wait for the next start.
                let is_clean = is_swept && pending(&signer, name).is_empty();
                if may_sweep
                    && !is_clean
                    && sweep(&signer, name, token, is_swept).await
                    && !is_swept
                {
                    swept.push(name);
                }
                finish_destructions(&signer, name).await;
            }
        } else {
            beginning.journal(&signer).await;
        }
        let stopping = stop.wait_for(|stop| *stop);
        let _ = tokio::time::timeout(CHORES, stopping).await;
    }
    tell_omitted(&signer, signer.refusals.all_omitted()).await;
}

/// Journals how many refusals the journal did not take.
async fn tell_omitted(signer: &Signer, omitted: Option<u64>) {
    let Some(count) = omitted else { return };
    if let Err(error) = signer.journal.append(Event::RefusalsOmitted { count }).await {
        tracing::warn!(count, %error, "omitted refusals could not be journaled yet");
        signer.refusals.not_told(count);
    }
}

/// What the journal is to say of the start, and what of it is there already, where the disk was
/// full in between.
#[derive(Debug)]
pub struct Beginning {
    recovered: Recovered,
    tear: bool,
    started: bool,
}

impl Beginning {
    /// Journals the start; until that is done nothing is signed. Tried once before the first
    /// request, so that a signer on a sound disk never says that its journal can't be written.
    pub async fn journal(&mut self, signer: &Signer) {
        match self.append(signer).await {
            Ok(()) => signer.is_started.store(true, Ordering::Release),
            Err(error) => tracing::error!(%error, "the start can't be journaled yet"),
        }
    }

    async fn append(&mut self, signer: &Signer) -> Result<(), JournalError> {
        let recovered = &self.recovered;
        if recovered.torn_bytes > 0 && !self.tear {
            let bytes = recovered.torn_bytes;
            tracing::warn!(bytes, "a torn record at the journal's end was cut");
            signer.journal.append(Event::TornTailCut { bytes }).await?;
            self.tear = true;
        }
        if !self.started {
            let started = Event::Started {
                signer_id: signer.journal.signer_id(),
                boot_id: signer.boot_id.clone(),
                version: env!("CARGO_PKG_VERSION").into(),
            };
            signer.journal.append(started).await?;
            self.started = true;
        }
        for intent in &recovered.open_intents {
            let reason = "the signer stopped before it was signed".to_owned();
            match signer.journal.append(Event::Abandoned { intent: *intent, reason }).await {
                // Closed by an earlier try.
                Ok(_) | Err(JournalError::NotOpen { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn pending(signer: &Signer, token: &str) -> Vec<KeyId> {
    let on_it = signer.keyring.keys().into_iter().filter(|key| key.token == token);
    on_it.filter(|key| key.life == Life::Pending).map(|key| key.key_id).collect()
}

async fn sweep(signer: &Signer, name: &str, token: &Token, is_swept: bool) -> bool {
    let change = signer.keyring.change().await;
    // Looked at again with everyone else kept out: a key that was being made is made now.
    let pending = pending(signer, name);
    if signer.missing_head().is_some() || (is_swept && pending.is_empty()) {
        return false;
    }
    let on_it = signer.keyring.keys().into_iter().filter(|key| key.token == name);
    let known = on_it.filter(|key| key.life != Life::Pending && key.is_on_token());
    let known = known.map(|key| key.key_id).collect();
    let mut report = match token.sweep(pending.clone(), known).await {
        Ok(report) => report,
        Err(error) => {
            tracing::warn!(token = name, %error, "the token could not be swept yet");
            return false;
        }
    };
    // One that is being destroyed may have left the token already.
    let is_kept =
        |key: &KeyId| signer.keyring.key(*key).is_some_and(|it| it.life != Life::Destroying);
    report.missing.retain(is_kept);
    token.note_sweep(&report);
    tell(name, &report);
    for key_id in pending {
        let reason = "it was not made whole; what was on the token is removed".to_owned();
        if let Err(error) = change.make(Event::KeyCreationFailed { key_id, reason }).await {
            tracing::warn!(%key_id, %error, "a failed key creation stays pending");
            return false;
        }
    }
    true
}

/// What a sweep found is for a person to look at: nothing unknown is ever touched.
fn tell(token: &str, report: &SweepReport) {
    let SweepReport { destroyed, unknown, missing, empty_files } = report;
    for key_id in destroyed {
        tracing::info!(token, %key_id, "a key that was not made whole was removed");
    }
    for object in unknown {
        let (id, label) = (object.id.as_str(), object.label.as_str());
        tracing::warn!(token, id, label, "the token holds a key that the keyring does not know");
    }
    for key_id in missing {
        tracing::error!(token, %key_id, "the token lacks a key of the keyring");
    }
    for file in empty_files {
        tracing::warn!(token, file = %file.display(), "the token has an empty file");
    }
}

async fn finish_destructions(signer: &Signer, token: &str) {
    for key in signer.keyring.keys() {
        if key.life == Life::Destroying && key.token == token {
            let change = signer.keyring.change().await;
            // A request may have finished it while this waited for its turn.
            let life = signer.keyring.key(key.key_id).map(|key| key.life);
            if life == Some(Life::Destroying)
                && signer.missing_head().is_none()
                && let Err(error) = request::finish_destroying(signer, &change, key.key_id).await
            {
                tracing::warn!(key_id = %key.key_id, %error, "a key is still to be destroyed");
            }
        }
    }
}
