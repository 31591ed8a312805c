//! Parking what needs the operator, and doing it once the operator has approved.

use chancery_shared::bytes::Bytes;
use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{ApprovalQuery, Reply, Request, TokenState};
use chancery_shared::wire::{Context, JournalHead};
use der::Decode as _;
use time::OffsetDateTime;
use x509_cert::TbsCertificate;

use super::sign::Leave;
use super::{Answer, ca_certificate, keys};
use crate::approval::{ApprovalError, Fate, ParkedRequest};
use crate::journal::{self, Journal};
use crate::random;
use crate::refusal::RequestError;
use crate::signer::Signer;
use crate::token::TokenError;

/// A request on its way into the waiting ones.
pub(super) struct Parking {
    pub(super) request: Request,
    pub(super) key_id: KeyId,
    pub(super) context: Context,
    pub(super) why: &'static str,
}

/// Journals the request as parked, then keeps it.
pub(super) async fn park(
    signer: &Signer,
    parking: Parking,
    parked_at: OffsetDateTime,
) -> Result<(ApprovalId, JournalHead), RequestError> {
    let Parking { request, key_id, context, why } = parking;
    let approval_id = ApprovalId::new(parked_at, random::bytes());
    let (operation, tbs) = (super::operation(&request), tbs(&request));
    let event = Event::Parked {
        approval_id,
        operation: operation.into(),
        key_id,
        tbs_hash: tbs.map(|tbs| super::sha256(tbs.as_slice())),
        context,
    };
    let head = signer.journal.append(event).await?;
    let journal_seq = head.seq;
    let summary = format!("{operation} by key {key_id}: {}{why}", subject(tbs));
    let fate = Fate::Waiting;
    let parked = ParkedRequest { approval_id, request, summary, parked_at, journal_seq, fate };
    signer.approvals.park(parked)?;
    tracing::warn!(%approval_id, operation, %key_id, "a request waits for the operator");
    Ok((approval_id, head))
}

/// The TBS that a parked request brings, if any.
pub(crate) fn tbs(request: &Request) -> Option<&Bytes> {
    match request {
        Request::SignOwnCertificate(own) => Some(&own.tbs),
        Request::SignCaCertificate(below) => Some(&below.tbs),
        Request::SignCertificate(sign) => Some(&sign.tbs),
        _ => None,
    }
}

fn subject(tbs: Option<&Bytes>) -> String {
    tbs.and_then(|tbs| TbsCertificate::from_der(tbs.as_slice()).ok())
        .map(|tbs| format!("{}, until {}; ", tbs.subject(), tbs.validity().not_after))
        .unwrap_or_default()
}

/// `approval-status`.
pub(super) fn status(signer: &Signer, query: &ApprovalQuery) -> Answer {
    signer
        .approvals
        .status(query.approval_id, signer.time())
        .map(|status| (Reply::Approval(status), None))
        .ok_or_else(|| ApprovalError::Unknown.into())
}

/// Does a parked request on the operator's word.
///
/// # Errors
///
/// It is not open, or can't be done. What was begun and failed is over: the API has to ask again.
pub async fn approve(
    signer: &Signer,
    approval_id: ApprovalId,
    operator_uid: u32,
) -> Result<Option<Bytes>, RequestError> {
    // What would fail for reasons that pass by themselves must not use up the approval.
    let now = signer.may_sign()?;
    let waiting = signer.approvals.waiting(now);
    let asked = waiting.iter().find(|parked| parked.approval_id == approval_id);
    if let Some((key_id, _)) = asked.and_then(|parked| super::key_and_context(&parked.request)) {
        let key = signer.keyring.key(key_id).ok_or(RequestError::UnknownKey)?;
        if signer.ready_token(&key.token)?.state() != TokenState::Ok {
            return Err(TokenError::Unavailable.into());
        }
    }
    let parked = signer.approvals.begin(approval_id, now)?;
    let done = match signer.journal.append(Event::Approved { approval_id, operator_uid }).await {
        Ok(_) => carry_out(signer, parked.clone()).await,
        Err(error) => Err(error.into()),
    };
    let (done, fate) = conclude(signer, &parked, done).await;
    let Some(fate) = fate else { return done };
    if let Err(error) = signer.approvals.finish(approval_id, fate) {
        // It is done all the same; the next start finds the signature in the journal.
        tracing::error!(%approval_id, %error, "the end of an approval could not be written");
    }
    done
}

/// What came of an approved request, and its fate. What failed may have failed after its signature
/// was in the journal: then it is done. Where the journal can't be asked, the next start decides.
pub(super) async fn conclude(
    signer: &Signer,
    parked: &ParkedRequest,
    done: Result<Option<Bytes>, RequestError>,
) -> (Result<Option<Bytes>, RequestError>, Option<Fate>) {
    let approved =
        |signature: Option<Bytes>| (Ok(signature.clone()), Some(Fate::Approved { signature }));
    let failed = match done {
        Ok(signature) => return approved(signature),
        Err(failed) => failed,
    };
    let (approval_id, after) = (parked.approval_id, parked.journal_seq);
    let folder = signer.config.state_folder().join("journal");
    let look = move |_: &Journal| journal::signature_of(&folder, after, approval_id);
    match signer.journal.reading(look).await {
        Ok(None) => (Err(failed), Some(Fate::Expired)),
        Ok(signature) => approved(signature),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(%approval_id, error, "the journal can't say whether it is signed");
            (Err(failed), None)
        }
    }
}

async fn carry_out(signer: &Signer, parked: ParkedRequest) -> Result<Option<Bytes>, RequestError> {
    let ParkedRequest { approval_id, request, parked_at, .. } = parked;
    match request {
        Request::SignOwnCertificate(_) | Request::SignCaCertificate(_) => {
            let leave = Leave::Operator { approval_id, parked_at };
            ca_certificate::sign_approved(signer, request, leave).await.map(Some)
        }
        Request::InstallCaCertificate(install) => {
            ca_certificate::install_approved(signer, install, parked_at).await.map(|()| None)
        }
        Request::EnableKey(change) => keys::enable_approved(signer, change).await.map(|()| None),
        Request::DestroyKey(change) => keys::destroy_approved(signer, change).await.map(|()| None),
        _ => Err(ApprovalError::Unknown.into()),
    }
}

/// Ends a parked request on the operator's word.
///
/// # Errors
///
/// It is not open.
pub async fn deny(
    signer: &Signer,
    approval_id: ApprovalId,
    operator_uid: u32,
) -> Result<(), RequestError> {
    signer.approvals.deny(approval_id, signer.time())?;
    signer.journal.append(Event::Denied { approval_id, operator_uid }).await?;
    Ok(())
}
