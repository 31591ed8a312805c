//! The service's own HTTPS certificate: asked for like any other, and renewed by itself.
//!
//! Key and chain lie in `data/tls`, readable by the service alone, so that a start shows them at
//! once. Each host of several has its own.

mod files;
mod issuer;
mod request;
#[cfg(test)]
mod tests;

use std::time::Duration;

use time::OffsetDateTime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::AppState;
use crate::certificate::RecordedFacts;
use crate::error::{ApiError, Code};
use crate::first_start;
use crate::inventory::cert_issuer;
use crate::issuance::csr_issuance::{CsrIssuance, CsrRequestBody, NewIds, Requester};
use crate::issuance::issue::issue;
use crate::listener::ServerIdentity;
use crate::readiness::NotReady;

pub use files::{StoredIdentity, TlsFiles};
pub use issuer::warning;

/// Pause between two looks at the certificate's age.
const EVERY: Duration = Duration::from_mins(10);

/// Pause after a failed try; it doubles up to [`EVERY`].
const AGAIN: Duration = Duration::from_secs(2);

/// The job that keeps the certificate fresh.
#[derive(Debug)]
pub struct Renewal {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Renewal {
    /// Shows what is on disk at once; asks for a certificate once `ready` is set, and again at two
    /// thirds of its life.
    pub fn start(
        state: AppState,
        identity: ServerIdentity,
        mut ready: watch::Receiver<bool>,
    ) -> Self {
        let (stop, mut stopping) = watch::channel(false);
        let files = TlsFiles::below(&state.config.home);
        let mut renew_at = match files.read() {
            Ok(Some(stored)) => show(&identity, stored).unwrap_or(OffsetDateTime::UNIX_EPOCH),
            Ok(None) => OffsetDateTime::UNIX_EPOCH,
            Err(error) => {
                tracing::warn!(%error, "the stored HTTPS certificate can't be read");
                OffsetDateTime::UNIX_EPOCH
            }
        };
        let is_shown = renew_at > OffsetDateTime::UNIX_EPOCH;
        let (shown, readiness) =
            watch::channel(if is_shown { Ok(()) } else { Err(not_asked_yet()) });
        state.readiness.add("https certificate", move || {
            let readiness = readiness.borrow().clone();
            async move { readiness }
        });
        let task = tokio::spawn(async move {
            tokio::select! {
                is_ready = ready.wait_for(|ready| *ready) => if is_ready.is_err() { return },
                _ = stopping.wait_for(|stop| *stop) => return,
            }
            let mut again = AGAIN;
            while !*stopping.borrow() {
                let mut pause = EVERY;
                if state.clock.now() >= renew_at {
                    match renew(&state, &identity, &files).await {
                        Ok(next) => {
                            renew_at = next;
                            again = AGAIN;
                            shown.send_modify(|shown| *shown = Ok(()));
                        }
                        Err(error) => {
                            shown.send_modify(|shown| {
                                if shown.is_err() {
                                    *shown = Err(not_ready(&error));
                                }
                            });
                            let error = crate::log::Chain(&error).to_string();
                            tracing::warn!(error, "the HTTPS certificate is asked for again");
                            pause = again;
                            again = (again * 2).min(EVERY);
                        }
                    }
                }
                let _ = tokio::time::timeout(pause, stopping.wait_for(|stop| *stop)).await;
            }
        });
        Self { stop, task }
    }

    /// Lets a renewal that runs end, then stops.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}

/// Before the first try.
fn not_asked_yet() -> NotReady {
    let message = "HTTPS still has its temporary certificate".to_owned();
    NotReady { code: Code::SignerUnavailable, message }
}

/// After one that failed.
fn not_ready(error: &ApiError) -> NotReady {
    let message = format!("HTTPS still has its temporary certificate: {}", error.message());
    NotReady { code: error.code(), message }
}

/// Takes the certificate into use; answers when to renew it.
fn show(identity: &ServerIdentity, stored: StoredIdentity) -> Option<OffsetDateTime> {
    let facts = RecordedFacts::read(stored.chain.first()?).ok()?;
    match identity.set(stored.chain, stored.key) {
        Ok(()) => Some(renew_at(facts.not_before, facts.not_after)),
        Err(error) => {
            tracing::warn!(%error, "the stored HTTPS certificate can't be used");
            None
        }
    }
}

/// Two thirds of its life.
fn renew_at(not_before: OffsetDateTime, not_after: OffsetDateTime) -> OffsetDateTime {
    not_before + (not_after - not_before) * 2 / 3
}

async fn renew(
    state: &AppState,
    identity: &ServerIdentity,
    files: &TlsFiles,
) -> Result<OffsetDateTime, ApiError> {
    let owner = first_start::owner(state).await?;
    let owner = owner.ok_or_else(|| ApiError::not_found("administrator"))?;
    let request_id = format!("https-{}", state.new_id::<chancery_shared::id::kind::Row>());
    // Whoever deletes the issuer waits for what it issues here.
    let _seat = state.under_way.enter();
    let issuer = issuer::find(state).await?;
    let issuer = cert_issuer::issuing(&state.store, issuer.id).await?;

    // The very way of every certificate: CSR, draft, signer, record.
    let made = request::make(&names()).map_err(ApiError::internal)?;
    let issuance = CsrIssuance {
        requester: Requester {
            request_id: &request_id,
            user_id: owner.user_id,
            username: &owner.username,
            team_id: owner.team_id,
        },
        issuer: &issuer,
        bad_keys: &state.config.bad_keys,
        request: CsrRequestBody {
            csr: &made.csr,
            subject_alt_names: &[],
            reverse_csr_dn: false,
            extra_info: Some("HTTPS certificate of this service"),
            extra_emails: &[],
        },
        ids: NewIds {
            certificate_id: state.new_id(),
            csr_id: state.new_id(),
            history_id: state.new_id(),
        },
        now: state.clock.now(),
    };
    let answer = issue(issuance, &state.signer, &state.store).await?;
    let stored = state.store.certificate(answer.certificate_id).await?;
    let leaf = stored.ok_or_else(|| ApiError::not_found("certificate"))?.certificate;
    let next = renew_at(leaf.not_before, leaf.not_after);

    // The root stays out: whoever trusts it has it.
    let mut chain = vec![leaf.der];
    let mut above = leaf.issuer_certificate_id;
    while let Some(id) = above {
        let Some(ca) = state.store.certificate(id).await? else { break };
        above = ca.certificate.issuer_certificate_id.filter(|next| *next != id);
        if above.is_some() {
            chain.push(ca.certificate.der);
        }
    }
    let stored = StoredIdentity { chain, key: made.key };
    identity.set(stored.chain.clone(), stored.key.clone()).map_err(ApiError::internal)?;
    // Without the file the next start asks once more; asking again now would change nothing.
    let files = files.clone();
    let written = tokio::task::spawn_blocking(move || files.write(&stored)).await;
    if let Err(error) = written.map_err(std::io::Error::other).flatten() {
        tracing::error!(%error, "the HTTPS certificate is in use and could not be kept on disk");
    }
    tracing::info!(certificate.id = %answer.certificate_id, "HTTPS has a new certificate");
    Ok(next)
}

/// What clients on this host, and elsewhere, call the service.
fn names() -> Vec<String> {
    let host = rustix::system::uname().nodename().to_string_lossy().to_lowercase();
    let mut names: Vec<String> =
        ["DNS:localhost", "IP:127.0.0.1", "IP:::1"].map(str::to_owned).into();
    if host != "localhost" && crate::name::dns_name::check(&host).is_ok() {
        names.push(format!("DNS:{host}"));
    }
    names
}
