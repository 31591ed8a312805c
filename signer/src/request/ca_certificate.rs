//! CA certificates: a key's own, one below it, and one that came from outside.

use std::sync::{Arc, PoisonError};

use chancery_shared::bytes::Bytes;
use chancery_shared::certificate;
use chancery_shared::wire::journal::{Event, Intent};
use chancery_shared::wire::v1::{self, KeyChanged, KeyState, Pending, Reply, Request, Signed};
use chancery_shared::wire::{JournalHead, MAX_DER};
use time::OffsetDateTime;

use super::Answer;
use super::approvals::{self, Parking};
use super::sign::{self, Ask, Kind, Leave};
use crate::config::CaCertificates;
use crate::journal::{JournalError, SignedCa};
use crate::keyring::{Change, KeyRecord, Life};
use crate::policy::{self, Above, CheckedChain, ClaimedNonce, ConnectionSerials};
use crate::refusal::RequestError;
use crate::signer::Signer;

/// `sign-own-certificate`: at once for a key without a CA certificate, else with approval.
pub(super) async fn sign_own(
    signer: &Signer,
    connection: &ConnectionSerials,
    request: v1::SignOwnCertificate,
) -> Answer {
    let nonce = sign::claim(connection, request.serial_nonce)?;
    let ask = own(request.clone());
    let (answer, head) =
        decide(signer, ask, nonce, Leave::Policy, Request::SignOwnCertificate(request)).await?;
    Ok((answer, Some(head)))
}

/// `sign-ca-certificate`: as the setting `ca_certificates` has it.
pub(super) async fn sign_below(
    signer: &Signer,
    connection: &ConnectionSerials,
    request: v1::SignCaCertificate,
) -> Answer {
    let nonce = sign::claim(connection, request.serial_nonce)?;
    let ask = below(request.clone());
    let (answer, head) =
        decide(signer, ask, nonce, Leave::Policy, Request::SignCaCertificate(request)).await?;
    Ok((answer, Some(head)))
}

/// Does what was parked. Only the operator's approval gets here.
pub(super) async fn sign_approved(
    signer: &Signer,
    request: Request,
    leave: Leave,
) -> Result<Bytes, RequestError> {
    let (ask, nonce) = match &request {
        Request::SignOwnCertificate(own_request) => {
            (own(own_request.clone()), own_request.serial_nonce)
        }
        Request::SignCaCertificate(ca_request) => {
            (below(ca_request.clone()), ca_request.serial_nonce)
        }
        _ => return Err(crate::approval::ApprovalError::Unknown.into()),
    };
    // The nonce was claimed on its connection before the request was parked. A parked request that
    // is begun again has no signature: any intent before was abandoned.
    let nonce = ClaimedNonce::parked(nonce);
    match decide(signer, ask, nonce, leave, request).await?.0 {
        Reply::Signed(Signed { signature }) => Ok(signature),
        _ => Err(crate::approval::ApprovalError::Closed.into()),
    }
}

fn own(request: v1::SignOwnCertificate) -> Ask {
    let v1::SignOwnCertificate { key_id, tbs, serial_nonce: _, context } = request;
    Ask { kind: Kind::OwnCa, key_id, tbs, csr: None, context }
}

fn below(request: v1::SignCaCertificate) -> Ask {
    let v1::SignCaCertificate { key_id, tbs, csr, serial_nonce: _, context } = request;
    Ask { kind: Kind::SubordinateCa, key_id, tbs, csr, context }
}

async fn decide(
    signer: &Signer,
    ask: Ask,
    nonce: ClaimedNonce,
    leave: Leave,
    request: Request,
) -> Result<(Reply, JournalHead), RequestError> {
    // Two requests for one key's certificate must not both find it without one.
    let change = signer.keyring.change().await;
    let ready = sign::prepare(signer, &ask).await?;
    let judged_at = match leave {
        Leave::Policy => ready.now,
        Leave::Operator { parked_at, .. } => parked_at,
    };
    let checked = sign::check(signer, &ready, &ask, nonce, judged_at)?;

    // One whose installation was cut off counts before anything else is decided.
    install_signed(signer, &change).await?;
    let certified = signer.keyring.key_of(checked.spki());
    if let Some(key) = certified.as_ref().filter(|key| key.life != Life::Live) {
        // Who disabled it counts on its getting no certificate any more.
        return Err(RequestError::KeyState { is: key.life, needed: "live" });
    }
    if certified.is_some() {
        // Its installation has to fit into one entry.
        let above = ready.record().ca_chain().iter().map(|above| above.as_slice().len());
        let length = ask.tbs.as_slice().len() + MAX_SIGNATURE + above.sum::<usize>();
        RequestError::check_size("the chain of the CA", length, MAX_CHAIN)?;
    }
    // One that can't be read counts too: it was signed and may be in use.
    let has_certificate = certified.as_ref().is_some_and(|key| !key.ca_chain().is_empty());
    if let (Leave::Policy, Some(why)) = (leave, needs_approval(signer, ask.kind, has_certificate)?)
    {
        let parking = Parking { request, key_id: ask.key_id, context: ask.context, why };
        let (approval_id, head) = approvals::park(signer, parking, judged_at).await?;
        return Ok((Reply::Pending(Pending { approval_id }), head));
    }

    let (intent_of, key_of_issuer) = (ask.kind.operation(), ask.key_id);
    let serial_nonce = checked.nonce();
    let (signature, head) =
        sign::carry_out(signer, ready, checked, ask.context.clone(), leave).await?;
    let made = SignedCa {
        intent: Intent {
            operation: intent_of.into(),
            key_id: key_of_issuer,
            tbs: ask.tbs,
            csr: ask.csr,
            serial_nonce,
            approval_id: None,
            context: ask.context,
        },
        signature: signature.clone(),
    };
    signer.uninstalled.lock().unwrap_or_else(PoisonError::into_inner).push(made);
    // The signature stands in the journal: it is answered even where the install has to wait.
    let installed = match install_signed(signer, &change).await {
        Ok(installed) => installed,
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a CA is installed later");
            None
        }
    };
    Ok((Reply::Signed(Signed { signature }), installed.unwrap_or(head)))
}

fn needs_approval(
    signer: &Signer,
    kind: Kind,
    has_certificate: bool,
) -> Result<Option<&'static str>, RequestError> {
    match (kind, signer.config.ca_certificates) {
        (Kind::SubordinateCa, CaCertificates::Deny) => Err(RequestError::CaCertificatesDenied),
        _ if has_certificate => Ok(Some("the certified key has a CA certificate already")),
        (Kind::SubordinateCa, CaCertificates::Approve) => {
            Ok(Some("ca_certificates = approve: the operator decides on each CA"))
        }
        _ => Ok(None),
    }
}

/// Installs the CA certificates that were signed for this signer's own keys and are not installed
/// yet, oldest first. Answers the journal's head after the last.
pub(super) async fn install_signed(
    signer: &Signer,
    change: &Change<'_>,
) -> Result<Option<JournalHead>, RequestError> {
    let waiting = || signer.uninstalled.lock().unwrap_or_else(PoisonError::into_inner);
    let mut head = None;
    loop {
        let Some(next) = waiting().first().cloned() else { return Ok(head) };
        if let Some(event) = installation(signer, &next) {
            match change.make(event).await {
                Ok(installed) => head = Some(installed),
                // It would never fit, and must not keep the others waiting.
                Err(error @ (JournalError::TooLong { .. } | JournalError::Unencodable(_))) => {
                    tracing::error!(%error, "a signed CA certificate can't be installed");
                }
                Err(error) => return Err(error.into()),
            }
        }
        waiting().remove(0);
    }
}

/// What installs it; `None` where the certified key is outside this signer or gone.
fn installation(signer: &Signer, made: &SignedCa) -> Option<Event> {
    let SignedCa { intent, signature } = made;
    let own = certificate::assemble(intent.tbs.as_slice(), signature.as_slice()).ok()?;
    let certified = policy::CaCertificate::from_der(&own).ok()?;
    let key = signer.keyring.key_of(certified.spki())?;
    if key.life == Life::Destroyed {
        return None;
    }
    let above = if intent.key_id == key.key_id {
        Vec::new()
    } else {
        signer.keyring.key(intent.key_id)?.ca_chain().to_vec()
    };
    let chain = std::iter::once(Bytes(own)).chain(above).collect();
    let context = intent.context.clone();
    Some(Event::CaCertificateInstalled { key_id: key.key_id, chain, context })
}

/// Installs what a crash or a full disk has left signed and not installed.
pub(crate) async fn finish_installations(signer: &Signer) {
    if signer.uninstalled.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
        || signer.missing_head().is_some()
    {
        return;
    }
    let change = signer.keyring.change().await;
    if let Err(error) = install_signed(signer, &change).await {
        let error = &error as &dyn std::error::Error;
        tracing::error!(error, "a signed CA certificate is still to be installed");
    }
}

/// `install-ca-certificate`: once per key, and only below an anchor of the operator's.
pub(super) async fn install(signer: &Signer, request: v1::InstallCaCertificate) -> Answer {
    RequestError::check_sizes(&[], None, request.context.encoded_len())?;
    let length = request.chain.iter().map(|certificate| certificate.as_slice().len()).sum();
    RequestError::check_size("the chain", length, MAX_CHAIN)?;
    let change = signer.keyring.change().await;
    install_signed(signer, &change).await?;
    let (key, chain, now) = installable(signer, &request)?;
    if !key.ca_chain().is_empty() {
        let why = "the key has a CA certificate already";
        let (key_id, context) = (request.key_id, request.context.clone());
        let request = Request::InstallCaCertificate(request);
        let parking = Parking { request, key_id, context, why };
        let (approval_id, head) = approvals::park(signer, parking, now).await?;
        return Ok((Reply::Pending(Pending { approval_id }), Some(head)));
    }
    let head = install_checked(&change, request, chain).await?;
    Ok((Reply::KeyChanged(KeyChanged { state: KeyState::Live }), Some(head)))
}

/// Installs what was parked, if it would still pass: what has ended since is no CA's any more.
pub(super) async fn install_approved(
    signer: &Signer,
    request: v1::InstallCaCertificate,
) -> Result<(), RequestError> {
    let change = signer.keyring.change().await;
    install_signed(signer, &change).await?;
    let (_, chain, _) = installable(signer, &request)?;
    install_checked(&change, request, chain).await.map(drop)
}

/// Whether the chain may be installed now. No change of the keyring may come between this and the
/// installation.
fn installable(
    signer: &Signer,
    request: &v1::InstallCaCertificate,
) -> Result<(Arc<KeyRecord>, CheckedChain, OffsetDateTime), RequestError> {
    let now = signer.may_sign()?;
    let key = signer.keyring.key(request.key_id).ok_or(RequestError::UnknownKey)?;
    if key.life != Life::Live {
        return Err(RequestError::KeyState { is: key.life, needed: "live" });
    }
    let installed: Vec<_> =
        signer.keyring.keys().iter().map(|key| key.ca_chain().to_vec()).collect();
    let above = Above { anchors: &signer.config.anchors, installed: &installed };
    let chain = policy::check_chain(key.spki(), &request.chain, above, now)?;
    Ok((key, chain, now))
}

/// What is installed is the whole chain, not the part that was sent: the constraints of all of it
/// bind what the key signs.
async fn install_checked(
    change: &Change<'_>,
    request: v1::InstallCaCertificate,
    chain: CheckedChain,
) -> Result<JournalHead, RequestError> {
    let v1::InstallCaCertificate { key_id, chain: _, context } = request;
    let chain = chain.into_certificates();
    Ok(change.make(Event::CaCertificateInstalled { key_id, chain, context }).await?)
}

/// No signature of the algorithms that a CA can have is longer, with what stands around it.
const MAX_SIGNATURE: usize = 1024;

/// A chain has at most this many bytes of DER: with its context it is shown in one frame.
const MAX_CHAIN: usize = 2 * MAX_DER;
