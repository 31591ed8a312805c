//! The operator socket: what the operator may see and decide.
//!
//! Peer:     `chancery-hsm`, run by the operator's user.
//! Trusts:   that user's decisions, not its bytes.
//! Promises: each decision is in the journal with the uid that took it.
//! Never:    signs bytes; it only lets pass what policy had nothing against.

use std::sync::Arc;

use chancery_shared::id::ApprovalId;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::operator::{
    JournalCounts, Nothing, Parked, Reply, Request, Shown, Status,
};
use chancery_shared::wire::v1;
use chancery_shared::wire::{Outcome, ReplyEnvelope};

use crate::approval::{ApprovalError, MAX_WAITING, ParkedRequest};
use crate::journal::JournalCounters;
use crate::refusal::RequestError;
use crate::signer::Signer;
use crate::token::Token;
use crate::{request, request_envelope};

/// Serves the body of one frame. Answers the reply, and whether the connection may go on.
pub async fn serve(signer: Arc<Signer>, uid: u32, frame: &[u8]) -> (ReplyEnvelope<Reply>, bool) {
    let (id, request) = match request_envelope::open(frame) {
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

async fn perform(signer: &Signer, uid: u32, request: Request) -> Result<Reply, RequestError> {
    let accepted = Ok(Reply::Accepted(Nothing {}));
    match request {
        Request::Status(Nothing {}) => Ok(Reply::Status(Box::new(status(signer)))),
        Request::Pending(Nothing {}) => Ok(Reply::Pending(pending(signer))),
        Request::Show(which) => Ok(Reply::Shown(Box::new(show(signer, which.approval_id)?))),
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
        journal: journal_counts(signer),
        halted: signer.halted(),
        sandbox: sandbox(signer),
        tokens: tokens.collect(),
        keys: signer.key_summaries(),
        pending: u32::try_from(pending(signer).len()).unwrap_or(u32::MAX),
        unreadable_approvals: u32::try_from(signer.approvals.unreadable().len())
            .unwrap_or(u32::MAX),
        refusals: signer.refusals.total(),
    }
}

fn journal_counts(signer: &Signer) -> JournalCounts {
    let JournalCounters { entries, bytes, syncs, failures, segments: _ } =
        signer.journal.counters();
    JournalCounts { entries, bytes, syncs, failures }
}

/// How far the signer and its workers are confined.
fn sandbox(signer: &Signer) -> Vec<String> {
    let workers = signer.tokens.values().filter_map(Token::sandbox);
    signer.sandbox.iter().cloned().chain(workers).collect()
}

fn pending(signer: &Signer) -> Vec<Parked> {
    // Where the operator accepts an earlier time, expired ones wait again and are more than may be
    // parked: a list is never longer than a frame all the same.
    let waiting = signer.approvals.waiting(signer.guarded_now()).into_iter().take(MAX_WAITING);
    waiting.filter_map(|parked| in_short(&parked)).collect()
}

fn show(signer: &Signer, approval_id: ApprovalId) -> Result<Shown, RequestError> {
    let kept = signer.approvals.find(approval_id).ok_or(ApprovalError::Unknown)?;
    let parked = in_short(&kept).ok_or(ApprovalError::Unknown)?;
    let status = kept.status(signer.guarded_now());
    Ok(Shown { parked, status, request: kept.request.clone() })
}

/// Only requests about a key are ever parked.
fn in_short(parked: &ParkedRequest) -> Option<Parked> {
    let (key_id, _) = request::key_and_context(&parked.request)?;
    Some(Parked {
        approval_id: parked.approval_id,
        operation: request::operation(&parked.request).into(),
        key_id,
        parked_at: parked.parked_at,
        expires_at: parked.expires_at(),
        summary: parked.summary.clone(),
    })
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
    signer.clock_guard.accept(jumped);
    tracing::warn!(uid, "the operator accepted the clock");
    Ok(())
}

#[cfg(test)]
mod tests {
    use chancery_shared::bytes::{Bytes, Fixed};
    use chancery_shared::frame::encode;
    use chancery_shared::id::KeyId;
    use chancery_shared::wire::v1::{ApprovalStatus, InstallCaCertificate, SignCaCertificate};
    use chancery_shared::wire::{Context, MAX_CONTEXT, MAX_DER};
    use time::OffsetDateTime;

    use super::*;
    use crate::approval::MAX_SUMMARY;

    fn fits_into_a_frame(reply: Reply) -> bool {
        encode(&serde_json::to_vec(&envelope(Some(u64::MAX), Ok(reply))).unwrap()).is_ok()
    }

    fn parked() -> Parked {
        Parked {
            approval_id: ApprovalId::from_bytes([1; 12]),
            operation: "install-ca-certificate".into(),
            key_id: KeyId::from_bytes([2; 12]),
            parked_at: OffsetDateTime::UNIX_EPOCH,
            expires_at: OffsetDateTime::UNIX_EPOCH,
            // Each is two bytes in JSON.
            summary: "\"".repeat(MAX_SUMMARY),
        }
    }

    #[test]
    fn the_longest_list_fits_into_a_frame() {
        assert!(fits_into_a_frame(Reply::Pending(vec![parked(); MAX_WAITING])));
    }

    #[test]
    fn the_largest_request_that_is_parked_is_shown_in_one_frame() {
        let key_id = KeyId::from_bytes([2; 12]);
        let text = "x".repeat(MAX_CONTEXT - r#"{"a":""}"#.len());
        let context: Context = [("a", text)].into_iter().collect();
        assert_eq!(context.encoded_len(), MAX_CONTEXT);
        let large = || Bytes(vec![0; MAX_DER]);
        let sign = v1::Request::SignCaCertificate(SignCaCertificate {
            key_id,
            tbs: large(),
            csr: Some(large()),
            serial_nonce: Fixed([3; 40]),
            context: context.clone(),
        });
        let chain = vec![large(), large()];
        let install = InstallCaCertificate { key_id, chain, context };
        for request in [sign, v1::Request::InstallCaCertificate(install)] {
            let status = ApprovalStatus::Waiting;

            let shown = Shown { parked: parked(), status, request };

            assert!(fits_into_a_frame(Reply::Shown(Box::new(shown))));
        }
    }
}
