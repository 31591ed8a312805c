//! One request of the API, from its first byte to its reply.
//!
//! Peer:     the API, which may be taken over.
//! Trusts:   nothing in a request; policy decides on the finished bytes.
//! Promises: every refusal is journaled, or where there are too many of one kind, counted there;
//!           nothing begun is left without an end.
//! Never:    signs what is not first checked and then on disk.

mod approvals;
mod ca_certificate;
mod hello;
mod keys;
mod seal;
mod sign;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::pin::Pin;
use std::sync::Arc;

use chancery_shared::bytes::{Bytes, Fixed, Hash};
use chancery_shared::id::KeyId;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{self, JournalPart, Reply, Request};
use chancery_shared::wire::{Context, JournalHead, Outcome, RefusalCode, ReplyEnvelope};

pub use approvals::{approve, deny};
pub(crate) use ca_certificate::finish_installations;
pub(crate) use keys::finish_destroying;

use crate::journal::Journal;
use crate::policy::ConnectionSerials;
use crate::refusal::RequestError;
use crate::request_envelope;
use crate::signer::Signer;

/// What came of a request: the reply, and the journal's head where it wrote something.
pub(crate) type Answer = Result<(Reply, Option<JournalHead>), RequestError>;

/// A `read-journal` reply holds at most so many bytes of entries, but always one entry.
const JOURNAL_PART: usize = 192 * 1024;

/// Serves the body of one frame. Answers the reply's JSON, and whether the connection may go on.
pub async fn serve(
    signer: Arc<Signer>,
    connection: Arc<ConnectionSerials>,
    frame: &[u8],
) -> (ReplyEnvelope<Reply>, bool) {
    let (id, request) = match request_envelope::open(frame) {
        Ok((id, request)) => (id, request),
        Err((id, error)) => {
            refused(&signer, &Label::unreadable(), || None, &error).await;
            return (envelope(id, Err(error)), false);
        }
    };
    let label = Label::of(&request);
    let mut answer = perform(&signer, &connection, request).await;
    if let Ok((_, head)) = &mut answer
        && signer.missing_head().is_some()
    {
        // As `Signer::told_head`.
        *head = None;
    }
    if let Err(error) = &answer {
        // The request is used up; the frame is still there.
        let again =
            || request_envelope::open(frame).ok().and_then(|(_, request)| tbs_hash(&request));
        refused(&signer, &label, again, error).await;
    } else {
        tracing::debug!(operation = label.operation, request_id = label.request_id(), "served");
    }
    (envelope(Some(id), answer), true)
}

/// The reply envelope of an answer.
pub(crate) fn envelope(id: Option<u64>, answer: Answer) -> ReplyEnvelope<Reply> {
    let (outcome, journal) = match answer {
        Ok((reply, journal)) => (Outcome::Done(reply), journal),
        Err(error) => (Outcome::Refused(error.refusal()), None),
    };
    ReplyEnvelope { version: v1::VERSION, id, journal, outcome }
}

async fn perform(signer: &Signer, connection: &ConnectionSerials, request: Request) -> Answer {
    // Boxed: every signature would carry the room for the largest of them.
    let rare: Pin<Box<dyn Future<Output = Answer> + Send + '_>> = match request {
        Request::SignCertificate(sign) => return sign::certificate(signer, connection, sign).await,
        Request::ApprovalStatus(query) => return approvals::status(signer, &query),
        Request::Hello(hello) => {
            Box::pin(async move { hello::hello(signer, connection, &hello).await })
        }
        Request::CreateCaKey(create) => Box::pin(keys::create(signer, create)),
        Request::SignOwnCertificate(sign) => {
            Box::pin(ca_certificate::sign_own(signer, connection, sign))
        }
        Request::SignCaCertificate(sign) => {
            Box::pin(ca_certificate::sign_below(signer, connection, sign))
        }
        Request::InstallCaCertificate(install) => {
            Box::pin(ca_certificate::install(signer, install))
        }
        Request::DisableKey(change) => Box::pin(keys::disable(signer, change)),
        Request::EnableKey(change) => Box::pin(keys::enable(signer, change)),
        Request::DestroyKey(change) => Box::pin(keys::destroy(signer, change)),
        Request::Seal(seal) => Box::pin(seal::seal(signer, seal)),
        Request::Unseal(unseal) => Box::pin(seal::unseal(signer, unseal)),
        Request::ReadJournal(read) => Box::pin(read_journal(signer, read)),
    };
    rare.await
}

async fn read_journal(signer: &Signer, read: v1::ReadJournal) -> Answer {
    let part = move |journal: &Journal| journal.read(read.after, JOURNAL_PART);
    let entries = signer.journal.reading(part).await?;
    Ok((Reply::Journal(JournalPart { entries }), None))
}

/// What a refusal's journal entry has to say of the request.
struct Label {
    operation: &'static str,
    key_id: Option<KeyId>,
    context: Context,
}

impl Label {
    fn of(request: &Request) -> Self {
        let operation = operation(request);
        let (key_id, context) = match request {
            Request::CreateCaKey(create) => (None, Some(&create.context)),
            Request::Seal(seal) => (None, Some(&seal.context)),
            Request::Unseal(unseal) => (None, Some(&unseal.context)),
            other => key_and_context(other).map_or((None, None), |(k, c)| (Some(k), Some(c))),
        };
        Self { operation, key_id, context: context.cloned().unwrap_or_default() }
    }

    /// Of a frame that is no request.
    fn unreadable() -> Self {
        let (operation, context) = ("unreadable", Context::default());
        Self { operation, key_id: None, context }
    }

    fn request_id(&self) -> &str {
        self.context.request_id().unwrap_or_default()
    }
}

/// The operation's name on the wire.
pub(crate) fn operation(request: &Request) -> &'static str {
    match request {
        Request::Hello(_) => "hello",
        Request::CreateCaKey(_) => "create-ca-key",
        Request::SignOwnCertificate(_) => "sign-own-certificate",
        Request::SignCaCertificate(_) => "sign-ca-certificate",
        Request::SignCertificate(_) => "sign-certificate",
        Request::InstallCaCertificate(_) => "install-ca-certificate",
        Request::DisableKey(_) => "disable-key",
        Request::EnableKey(_) => "enable-key",
        Request::DestroyKey(_) => "destroy-key",
        Request::ApprovalStatus(_) => "approval-status",
        Request::Seal(_) => "seal",
        Request::Unseal(_) => "unseal",
        Request::ReadJournal(_) => "read-journal",
    }
}

/// The key that a request is about, and its context, where it has both.
pub(crate) fn key_and_context(request: &Request) -> Option<(KeyId, &Context)> {
    match request {
        Request::SignOwnCertificate(own) => Some((own.key_id, &own.context)),
        Request::SignCaCertificate(below) => Some((below.key_id, &below.context)),
        Request::SignCertificate(sign) => Some((sign.key_id, &sign.context)),
        Request::InstallCaCertificate(install) => Some((install.key_id, &install.context)),
        Request::DisableKey(change) | Request::EnableKey(change) | Request::DestroyKey(change) => {
            Some((change.key_id, &change.context))
        }
        Request::Hello(_)
        | Request::CreateCaKey(_)
        | Request::ApprovalStatus(_)
        | Request::Seal(_)
        | Request::Unseal(_)
        | Request::ReadJournal(_) => None,
    }
}

/// SHA-256, as the journal names things that it does not keep whole.
pub(crate) fn sha256(bytes: &[u8]) -> Hash {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    let mut hash = Fixed([0; 32]);
    hash.0.copy_from_slice(digest.as_ref());
    hash
}

/// The TBS that a request brings, if any.
fn tbs(request: &Request) -> Option<&Bytes> {
    match request {
        Request::SignOwnCertificate(own) => Some(&own.tbs),
        Request::SignCaCertificate(below) => Some(&below.tbs),
        Request::SignCertificate(sign) => Some(&sign.tbs),
        _ => None,
    }
}

/// Its hash, where anything was to be signed.
fn tbs_hash(request: &Request) -> Option<Hash> {
    tbs(request).map(|tbs| sha256(tbs.as_slice()))
}

/// Logs and counts a refusal, and journals it unless there were too many of its kind.
async fn refused(
    signer: &Signer,
    label: &Label,
    tbs_hash: impl FnOnce() -> Option<Hash>,
    error: &RequestError,
) {
    let refusal = error.refusal();
    tracing::warn!(
        operation = label.operation,
        request_id = label.request_id(),
        code = ?refusal.code,
        rule = refusal.rule.as_deref().unwrap_or_default(),
        detail = refusal.detail,
        cause = error.source(),
        "refused"
    );
    let now = signer.uptime();
    if error.is_about_the_request() {
        signer.refusals.count(now);
    }
    // One that is refused because the journal takes nothing can't be in it.
    if refusal.code == RefusalCode::JournalUnavailable {
        return signer.refusals.not_told(1);
    }
    if !signer.refusals.is_to_be_journaled(&refusal, now) {
        return;
    }
    // A context that is itself too large is what was refused; its hash would help no one.
    let context = if label.context.encoded_len() > chancery_shared::wire::MAX_CONTEXT {
        Context::default()
    } else {
        label.context.clone()
    };
    let event = Event::Refused {
        operation: label.operation.into(),
        key_id: label.key_id,
        code: refusal.code,
        rule: refusal.rule,
        detail: refusal.detail,
        tbs_hash: tbs_hash(),
        context,
    };
    if let Err(error) = signer.journal.append(event).await {
        tracing::error!(%error, "a refusal could not be journaled");
        signer.refusals.not_told(1);
    }
}
