//! From the configuration to a signer that may serve, and what it does by itself from then on.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::SignerId;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::TokenState;
use tokio::sync::watch;

use crate::approval::{Approvals, ParkedRequest};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::clock_guard::ClockGuard;
use crate::config::Config;
use crate::journal::{self, Journal, JournalError, Recovered};
use crate::keyring::{Keyring, KeyringError, Life};
use crate::signer::{Refusals, Signer};
use crate::token::{SweepReport, Token};
use crate::{random, request};

/// Key creations, enables and destroys in an hour, each.
const CHANGES_PER_HOUR: u32 = 600;

/// Seals and unseals in a minute, together.
const SEALS_PER_MINUTE: u32 = 6_000;

/// Concurrent entries share one sync; while others are in flight it waits up to this.
const GATHER: Duration = Duration::from_millis(2);

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

/// Opens journal, keyring and approvals and starts the tokens.
///
/// # Errors
///
/// What was found damaged; the message of the source says what to do.
pub fn start(
    config: Config,
    clock: Arc<dyn Clock>,
    sandbox: Vec<String>,
) -> Result<(Arc<Signer>, Recovered), StartError> {
    let folder = config.state_folder();
    let journal_folder = folder.join("journal");
    std::fs::create_dir_all(&journal_folder)?;
    let options = journal::Options { segment_bytes: config.segment_bytes, gather: GATHER };
    let started_at = clock.now();
    let new_id = SignerId::new(started_at, random::bytes());
    let (journal, recovered) = Journal::open(&journal_folder, options, Arc::clone(&clock), new_id)?;
    let path = folder.join("keyring.json");
    let keyring = Keyring::open(path, journal.clone(), &journal_folder, &recovered)?;
    if let Some(lost) = keyring.lost() {
        tracing::error!(seq = lost.seq, "the journal lacks an entry that was seen before");
    }
    let approvals = Approvals::open(folder.join("approvals"), started_at, |parked| {
        signature_of(parked, &recovered, &journal_folder).map_err(StartError::from)
    })?;
    let tokens: BTreeMap<String, Token> = config
        .tokens
        .iter()
        .map(|token| (token.name.clone(), Token::start(token.clone(), Arc::clone(&clock))))
        .collect();
    let clock_guard = ClockGuard::new(clock.as_ref(), config.clock_jump, recovered.last_right);
    let signer = Signer {
        signatures: Budget::new(config.budget_per_minute, Duration::from_mins(1)),
        changes: Budget::new(CHANGES_PER_HOUR, Duration::from_hours(1)),
        seals: Budget::new(SEALS_PER_MINUTE, Duration::from_mins(1)),
        boot_id: hex::encode(random::bytes::<8>()),
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
    Ok((Arc::new(signer), recovered))
}

/// The signature of a request that was being done when the signer stopped.
fn signature_of(
    parked: &ParkedRequest,
    recovered: &Recovered,
    journal_folder: &Path,
) -> Result<Option<Bytes>, JournalError> {
    let approval_id = parked.approval_id;
    let mut signed = recovered.signed_approvals.iter();
    match signed.find(|signed| signed.approval_id == approval_id) {
        Some(signed) => Ok(Some(signed.signature.clone())),
        // A segment may have begun since: rare enough to read them again.
        None => journal::signature_of(journal_folder, parked.journal_seq, approval_id),
    }
}

/// What the signer does without being asked: journals its start as soon as the journal can be
/// written, closes what a crash left open, cleans up pending keys, finishes destructions, has the
/// keyring's file follow, watches the clock.
pub async fn chores(signer: Arc<Signer>, recovered: Recovered, mut stop: watch::Receiver<bool>) {
    let mut swept: Vec<&str> = Vec::new();
    let (mut steps, mut is_right) = (StartSteps::default(), true);
    while !*stop.borrow() {
        signer.keyring.save().await;
        is_right = signer.clock_guard.watch(signer.clock.as_ref(), is_right);
        if signer.is_started.load(Ordering::Acquire) {
            signer.close_abandoned().await;
            request::finish_installations(&signer).await;
            for (name, token) in &signer.tokens {
                // What an older journal calls pending or destroying may be a CA's live key.
                if token.state() != TokenState::Ok || signer.missing_head().is_some() {
                    continue;
                }
                let may_sweep = signer.is_vouched_for.load(Ordering::Acquire);
                if may_sweep && !swept.contains(&name.as_str()) && sweep(&signer, name, token).await
                {
                    swept.push(name);
                }
                finish_destructions(&signer, name).await;
            }
        } else {
            match journal_start(&signer, &recovered, &mut steps).await {
                Ok(()) => signer.is_started.store(true, Ordering::Release),
                Err(error) => tracing::error!(%error, "the start can't be journaled yet"),
            }
        }
        let stopping = stop.wait_for(|stop| *stop);
        let _ = tokio::time::timeout(CHORES, stopping).await;
    }
}

/// What of the start is in the journal already, where the disk was full in between.
#[derive(Debug, Default)]
struct StartSteps {
    tear: bool,
    started: bool,
}

async fn journal_start(
    signer: &Signer,
    recovered: &Recovered,
    steps: &mut StartSteps,
) -> Result<(), JournalError> {
    if recovered.torn_bytes > 0 && !steps.tear {
        tracing::warn!(bytes = recovered.torn_bytes, "a torn record at the journal's end was cut");
        signer.journal.append(Event::TornTailCut { bytes: recovered.torn_bytes }).await?;
        steps.tear = true;
    }
    let started = Event::Started {
        signer_id: signer.journal.signer_id(),
        boot_id: signer.boot_id.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    if !steps.started {
        signer.journal.append(started).await?;
        steps.started = true;
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

async fn sweep(signer: &Signer, name: &str, token: &Token) -> bool {
    let change = signer.keyring.change().await;
    // Looked at again with everyone else kept out.
    if signer.missing_head().is_some() {
        return false;
    }
    let on_it = signer.keyring.keys().into_iter().filter(|key| key.token == name);
    let (pending, known): (Vec<_>, Vec<_>) = on_it.partition(|key| key.life == Life::Pending);
    let pending: Vec<_> = pending.iter().map(|key| key.key_id).collect();
    let known = known.iter().filter(|key| key.is_on_token()).map(|key| key.key_id).collect();
    let report = match token.sweep(pending.clone(), known).await {
        Ok(report) => report,
        Err(error) => {
            tracing::warn!(token = name, %error, "the token could not be swept yet");
            return false;
        }
    };
    tell(name, &report);
    for key_id in pending {
        let reason = "the signer stopped while it was made".to_owned();
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
