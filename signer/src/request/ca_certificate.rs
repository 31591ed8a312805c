//! CA certificates: a key's own, one below it, and one that came from outside.

use chancery_shared::bytes::Bytes;
use chancery_shared::certificate;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{self, KeyChanged, KeyState, Pending, Reply, Request, Signed};
use chancery_shared::wire::{Context, JournalHead};
use time::OffsetDateTime;

use super::Answer;
use super::approvals::{self, Parking};
use super::sign::{self, Ask, Kind, Leave};
use crate::config::CaCertificates;
use crate::keyring::{Change, Life};
use crate::policy::{self, ClaimedNonce, ConnectionSerials};
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
    // The nonce was claimed on its connection before the request was parked, and a parked request
    // is begun once.
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

    let certified = signer.keyring.key_of(checked.spki());
    // One that can't be read counts too: it was signed and may be in use.
    let has_certificate = certified.as_ref().is_some_and(|key| !key.ca_chain().is_empty());
    if let (Leave::Policy, Some(why)) = (leave, needs_approval(signer, ask.kind, has_certificate)?)
    {
        let parking = Parking { request, key_id: ask.key_id, context: ask.context, why };
        let (approval_id, head) = approvals::park(signer, parking, judged_at).await?;
        return Ok((Reply::Pending(Pending { approval_id }), head));
    }

    let tbs = ask.tbs.clone();
    let issuer_chain = match ask.kind {
        Kind::SubordinateCa => ready.record().ca_chain().to_vec(),
        Kind::OwnCa | Kind::EndEntity => Vec::new(),
    };
    let (signature, head) =
        sign::carry_out(signer, ready, checked, ask.context.clone(), leave).await?;
    let Some(key) = certified.filter(|key| key.life != Life::Destroyed) else {
        return Ok((Reply::Signed(Signed { signature }), head));
    };
    let installed = Installation { key_id: key.key_id, issuer_chain, context: ask.context };
    let head = install_signed(&change, installed, &tbs, &signature).await?;
    Ok((Reply::Signed(Signed { signature }), head))
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

struct Installation {
    key_id: chancery_shared::id::KeyId,
    issuer_chain: Vec<Bytes>,
    context: Context,
}

async fn install_signed(
    change: &Change<'_>,
    installation: Installation,
    tbs: &Bytes,
    signature: &Bytes,
) -> Result<JournalHead, RequestError> {
    let Installation { key_id, issuer_chain, context } = installation;
    let own = certificate::assemble(tbs.as_slice(), signature.as_slice())
        .map_err(policy::PolicyViolation::NotDer)?;
    let chain = std::iter::once(Bytes(own)).chain(issuer_chain).collect();
    Ok(change.make(Event::CaCertificateInstalled { key_id, chain, context }).await?)
}

/// `install-ca-certificate`: once per key, and only below an anchor of the operator's.
pub(super) async fn install(signer: &Signer, request: v1::InstallCaCertificate) -> Answer {
    RequestError::check_sizes(&[], None, request.context.encoded_len())?;
    let change = signer.keyring.change().await;
    let now = signer.may_sign()?;
    let key = signer.keyring.key(request.key_id).ok_or(RequestError::UnknownKey)?;
    if key.life != Life::Live {
        return Err(RequestError::KeyState { is: key.life, needed: "live" });
    }
    policy::check_chain(key.spki(), &request.chain, &signer.config.anchors, now)?;
    if !key.ca_chain().is_empty() {
        let why = "the key has a CA certificate already";
        let (key_id, context) = (request.key_id, request.context.clone());
        let request = Request::InstallCaCertificate(request);
        let parking = Parking { request, key_id, context, why };
        let (approval_id, head) = approvals::park(signer, parking, now).await?;
        return Ok((Reply::Pending(Pending { approval_id }), Some(head)));
    }
    let head = install_checked(&change, request).await?;
    Ok((Reply::KeyChanged(KeyChanged { state: KeyState::Live }), Some(head)))
}

/// Installs what was parked, judged by the clock of its parking.
pub(super) async fn install_approved(
    signer: &Signer,
    request: v1::InstallCaCertificate,
    parked_at: OffsetDateTime,
) -> Result<(), RequestError> {
    let change = signer.keyring.change().await;
    let key = signer.keyring.key(request.key_id).ok_or(RequestError::UnknownKey)?;
    policy::check_chain(key.spki(), &request.chain, &signer.config.anchors, parked_at)?;
    install_checked(&change, request).await.map(drop)
}

async fn install_checked(
    change: &Change<'_>,
    request: v1::InstallCaCertificate,
) -> Result<JournalHead, RequestError> {
    let v1::InstallCaCertificate { key_id, chain, context } = request;
    Ok(change.make(Event::CaCertificateInstalled { key_id, chain, context }).await?)
}
