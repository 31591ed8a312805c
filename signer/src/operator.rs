//! The operator socket: what the operator may see and decide.
//!
//! Peer:     `chancery-hsm`, run by the operator's user.
//! Trusts:   that user's decisions, not its bytes.
//! Promises: each decision is in the journal with the uid that took it.
//! Never:    signs bytes; it only lets pass what policy had nothing against.

use std::sync::Arc;

use chancery_shared::wire::journal::Event;
use chancery_shared::wire::operator::{Nothing, Parked, Reply, Request, Status};
use chancery_shared::wire::v1;
use chancery_shared::wire::{Outcome, ReplyEnvelope, RequestEnvelope};

use crate::refusal::RequestError;
use crate::request;
use crate::signer::Signer;
use crate::token::Token;

/// Serves the body of one frame. Answers the reply, and whether the connection may go on.
pub async fn serve(signer: Arc<Signer>, uid: u32, frame: &[u8]) -> (ReplyEnvelope<Reply>, bool) {
    let (id, request) = match parse(frame) {
        Ok(parsed) => parsed,
        Err((id, error)) => return (envelope(id, Err(error)), false),
    };
    tracing::info!(uid, operation = ?request, "operator");
    let answer = perform(&signer, uid, request).await;
    if let Err(error) = &answer {
        tracing::warn!(uid, error = error as &dyn std::error::Error, "operator refused");
    }
    (envelope(Some(id), answer), true)
}

pub(crate) fn envelope(
    id: Option<u64>,
    answer: Result<Reply, RequestError>,
) -> ReplyEnvelope<Reply> {
    let outcome = answer.map_or_else(|error| Outcome::Refused(error.refusal()), Outcome::Done);
    ReplyEnvelope { version: v1::VERSION, id, journal: None, outcome }
}

fn parse(frame: &[u8]) -> Result<(u64, Request), (Option<u64>, RequestError)> {
    let envelope: RequestEnvelope<'_> =
        serde_json::from_slice(frame).map_err(|error| (None, RequestError::Malformed(error)))?;
    let (id, version) = (envelope.id, envelope.version);
    if version != v1::VERSION {
        return Err((Some(id), RequestError::UnsupportedVersion { version }));
    }
    let request = serde_json::from_str(envelope.body.get())
        .map_err(|error| (Some(id), RequestError::Malformed(error)))?;
    Ok((id, request))
}

async fn perform(signer: &Signer, uid: u32, request: Request) -> Result<Reply, RequestError> {
    let accepted = Ok(Reply::Accepted(Nothing {}));
    match request {
        Request::Status(Nothing {}) => Ok(Reply::Status(Box::new(status(signer)))),
        Request::Pending(Nothing {}) => Ok(Reply::Pending(pending(signer))),
        Request::Approve(decision) => {
            let signature = request::approve(signer, decision.approval_id, uid).await?;
            Ok(Reply::Approved { signature })
        }
        Request::Deny(decision) => {
            request::deny(signer, decision.approval_id, uid).await?;
            accepted
        }
        Request::AcceptJournal(Nothing {}) => {
            accept_journal(signer, uid).await?;
            accepted
        }
        Request::AcceptClock(Nothing {}) => {
            accept_clock(signer, uid).await?;
            accepted
        }
        Request::ClearPinRefusal(name) => {
            let token = signer.tokens.get(&name.token).ok_or(RequestError::UnknownToken)?;
            let event = Event::PinRefusalCleared { token: name.token, operator_uid: uid };
            signer.journal.append(event).await?;
            token.clear_pin_refusal().await;
            accepted
        }
    }
}

fn status(signer: &Signer) -> Status {
    let tokens =
        signer.tokens.iter().map(|(name, token)| token.status(signer.keyring.keys_on(name)));
    Status {
        signer_id: signer.journal.signer_id(),
        boot_id: signer.boot_id.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        started_at: signer.started_at,
        journal_head: signer.journal.head(),
        halted: signer.halted(),
        sandbox: sandbox(signer),
        tokens: tokens.collect(),
        keys: signer.keyring.summaries(),
        pending: u32::try_from(pending(signer).len()).unwrap_or(u32::MAX),
        refusals: signer.refusals.total(),
    }
}

/// How far the signer and its workers are confined.
fn sandbox(signer: &Signer) -> Vec<String> {
    let workers = signer.tokens.values().filter_map(Token::sandbox);
    signer.sandbox.iter().cloned().chain(workers).collect()
}

fn pending(signer: &Signer) -> Vec<Parked> {
    let waiting = signer.approvals.waiting(signer.time());
    let show = |parked: crate::approval::ParkedRequest| {
        let (operation, tbs) = (request::operation(&parked.request), request::tbs(&parked.request));
        let (key_id, context) = request::key_and_context(&parked.request)?;
        Some(Parked {
            approval_id: parked.approval_id,
            operation: operation.into(),
            key_id,
            parked_at: parked.parked_at,
            expires_at: parked.expires_at(),
            tbs: tbs.cloned(),
            context: context.clone(),
            summary: parked.summary,
        })
    };
    waiting.into_iter().filter_map(show).collect()
}

async fn accept_journal(signer: &Signer, uid: u32) -> Result<(), RequestError> {
    let Some(missing) = signer.missing_head() else { return Ok(()) };
    let event = Event::JournalAccepted { missing, operator_uid: uid };
    signer.keyring.change().await.make(event).await?;
    tracing::warn!(uid, seq = missing.seq, "the operator accepted a journal with a gap");
    Ok(())
}

async fn accept_clock(signer: &Signer, uid: u32) -> Result<(), RequestError> {
    let Err(jumped) = signer.clock_guard.check(signer.clock.as_ref()) else { return Ok(()) };
    let event = Event::ClockAccepted {
        expected: jumped.expected,
        accepted: jumped.now,
        operator_uid: Some(uid),
    };
    signer.journal.append(event).await?;
    signer.clock_guard.accept(signer.clock.as_ref());
    tracing::warn!(uid, "the operator accepted the clock");
    Ok(())
}
