//! Signing: the steps 6.1 to 6.7 of `docs/ISSUANCE.md`, for every kind of certificate.

use chancery_shared::bytes::{Bytes, SerialNonce};
use chancery_shared::fail_point;
use chancery_shared::hexadecimal;
use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{self, Reply, Signed};
use chancery_shared::wire::{Context, JournalHead};
use time::OffsetDateTime;

use super::Answer;
use crate::keyring::{KeyInUse, KeyRecord, Life};
use crate::policy::{
    self, CheckedTbs, Circumstances, ClaimedNonce, ConnectionSerials, Draft, IssuingKey,
    PolicyViolation,
};
use crate::refusal::RequestError;
use crate::signer::Signer;

/// What is asked for, whichever kind of certificate it is.
pub(super) struct Ask {
    pub(super) kind: Kind,
    pub(super) key_id: KeyId,
    pub(super) tbs: Bytes,
    pub(super) csr: Option<Bytes>,
    pub(super) context: Context,
}

/// The kinds of certificate, each with checks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    EndEntity,
    OwnCa,
    SubordinateCa,
}

impl Kind {
    /// The operation's name on the wire and in the journal.
    pub(super) fn operation(self) -> &'static str {
        match self {
            Self::EndEntity => "sign-certificate",
            Self::OwnCa => "sign-own-certificate",
            Self::SubordinateCa => "sign-ca-certificate",
        }
    }
}

/// By whose leave a request passes once policy has nothing against it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leave {
    /// Policy alone, judged now.
    Policy,
    /// The operator, who approved what policy had let pass when it was parked.
    Operator { approval_id: ApprovalId, parked_at: OffsetDateTime },
}

impl Leave {
    fn approval_id(self) -> Option<ApprovalId> {
        match self {
            Self::Policy => None,
            Self::Operator { approval_id, .. } => Some(approval_id),
        }
    }
}

/// `sign-certificate`.
pub(super) async fn certificate(
    signer: &Signer,
    connection: &ConnectionSerials,
    request: v1::SignCertificate,
) -> Answer {
    let v1::SignCertificate { key_id, tbs, csr, serial_nonce, context } = request;
    let ask = Ask { kind: Kind::EndEntity, key_id, tbs, csr: Some(csr), context };
    let ready = prepare(signer, &ask).await?;
    let checked = check(signer, &ready, &ask, claim(connection, serial_nonce)?, ready.now)?;
    let (signature, head) = carry_out(signer, ready, checked, ask.context, Leave::Policy).await?;
    Ok((Reply::Signed(Signed { signature }), Some(head)))
}

/// A key that may sign now, held until the request has its outcome.
pub(super) struct Ready {
    pub(super) key: KeyInUse,
    pub(super) now: OffsetDateTime,
}

impl Ready {
    pub(super) fn record(&self) -> &KeyRecord {
        self.key.record()
    }
}

/// 6.1 and 6.2: whether anything may be signed, and by this key.
pub(super) async fn prepare(signer: &Signer, ask: &Ask) -> Result<Ready, RequestError> {
    // 6.1 Journal and clock are sound, and no part is over its limit.
    let now = signer.may_sign()?;
    let csr = ask.csr.as_ref().map(Bytes::as_slice);
    RequestError::check_sizes(ask.tbs.as_slice(), csr, ask.context.encoded_len())?;

    // 6.2 The key exists, is live, has something left to spend, and its token is there.
    let key = signer.keyring.begin_use(ask.key_id).await.ok_or(RequestError::UnknownKey)?;
    let record = key.record();
    if record.life != Life::Live {
        return Err(RequestError::KeyState { is: record.life, needed: "live" });
    }
    signer
        .signatures
        .spend(ask.key_id, signer.uptime())
        .map_err(|exhausted| RequestError::OverBudget { retry_after: exhausted.retry_after })?;
    signer.ready_token(&record.token)?;
    Ok(Ready { key, now })
}

/// 6.3: the nonce is this connection's and was not used before.
pub(super) fn claim(
    connection: &ConnectionSerials,
    nonce: SerialNonce,
) -> Result<ClaimedNonce, PolicyViolation> {
    connection.claim(nonce)
}

/// 6.4: policy on the finished TBS, judged by `now`.
pub(super) fn check(
    signer: &Signer,
    ready: &Ready,
    ask: &Ask,
    nonce: ClaimedNonce,
    now: OffsetDateTime,
) -> Result<CheckedTbs, PolicyViolation> {
    let csr = ask.csr.as_ref().map(Bytes::as_slice);
    let draft = Draft { tbs: ask.tbs.as_slice(), csr, nonce };
    let is_ca_key = |spki: &[u8]| signer.keyring.key_of(spki).is_some();
    let at = Circumstances { now, is_ca_key: &is_ca_key, bad_keys: &signer.config.bad_keys };
    let key: IssuingKey<'_> = ready.record().issuing_key();
    match ask.kind {
        Kind::EndEntity => policy::check_certificate(&key, draft, &at),
        Kind::OwnCa => policy::check_own_certificate(&key, draft, &at),
        Kind::SubordinateCa => policy::check_ca_certificate(&key, draft, &at),
    }
}

/// 6.5 to 6.7: journal the intent, sign, journal the signature. The key stays in use until the
/// intent has its outcome.
pub(super) async fn carry_out(
    signer: &Signer,
    ready: Ready,
    checked: CheckedTbs,
    context: Context,
    leave: Leave,
) -> Result<(Bytes, JournalHead), RequestError> {
    let record = ready.record();
    let token = signer.ready_token(&record.token)?;
    let request_id = context.request_id().unwrap_or_default().to_owned();

    fail_point::reach("signer: checked");

    // 6.5 The intent is on disk before the token is asked.
    let recorded = signer.journal.record(checked, context, leave.approval_id()).await?;
    let (intent, serial_number) =
        (recorded.intent(), hexadecimal::encode(recorded.serial_number()));

    // 6.6 The token signs, and the signature is verified with the CA's public key.
    let key = token.ca_key(record.key_id, record.signature_algorithm, record.verifier());
    fail_point::reach("signer: intended");
    let signature = match key.sign(recorded).await {
        Ok(signature) => Bytes(signature.value),
        Err(failed) => {
            signer.abandon(intent, failed.error.to_string()).await;
            return Err(failed.error.into());
        }
    };

    fail_point::reach("signer: verified");

    // 6.7 The signature is on disk before it leaves.
    let event = Event::Signed {
        intent,
        key_id: record.key_id,
        serial_number: serial_number.clone(),
        signature: signature.clone(),
    };
    match signer.journal.append(event).await {
        Ok(head) => {
            fail_point::reach("signer: signed");
            // The journal says it, with more beside it.
            tracing::debug!(request_id, intent, "signed");
            Ok((signature, head))
        }
        Err(error) => {
            signer.abandon(intent, "the signature could not be journaled".into()).await;
            Err(error.into())
        }
    }
}
