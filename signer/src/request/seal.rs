//! Sealing data keys under a key that only the token can use.

use chancery_shared::bytes::Bytes;
use chancery_shared::wire::MAX_CONTEXT;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{Reply, Seal, Sealed, Unseal, Unsealed};

use super::{Answer, sha256};
use crate::refusal::RequestError;
use crate::signer::Signer;
use crate::token::Secret;

/// A data key has so many bytes.
const DATA_KEY: usize = 32;

/// No sealed data key is longer.
const MAX_BLOB: usize = 256;

/// `seal`.
pub(super) async fn seal(signer: &Signer, request: Seal) -> Answer {
    let Seal { token, bytes, context } = request;
    RequestError::check_size("the context", context.encoded_len(), MAX_CONTEXT)?;
    if bytes.expose().len() != DATA_KEY {
        return Err(RequestError::NotADataKey);
    }
    signer.may_sign()?;
    spend(signer)?;
    let blob = Bytes(signer.ready_token(&token)?.seal(Secret::from(bytes.into_inner())).await?);
    let blob_hash = sha256(blob.as_slice());
    let head = signer.journal.append(Event::Sealed { token, blob_hash, context }).await?;
    Ok((Reply::Sealed(Sealed { blob }), Some(head)))
}

/// `unseal`: journaled before it is opened, so that nothing is opened unseen.
pub(super) async fn unseal(signer: &Signer, request: Unseal) -> Answer {
    let Unseal { token, blob, context } = request;
    RequestError::check_size("the context", context.encoded_len(), MAX_CONTEXT)?;
    RequestError::check_size("the sealed key", blob.as_slice().len(), MAX_BLOB)?;
    signer.may_sign()?;
    spend(signer)?;
    let device = signer.ready_token(&token)?;
    let blob_hash = sha256(blob.as_slice());
    let head =
        signer.journal.append(Event::Unsealed { token: token.clone(), blob_hash, context }).await?;
    let data_key = device.unseal(blob.as_slice()).await?;
    let bytes = data_key.expose().to_vec().into();
    Ok((Reply::Unsealed(Unsealed { bytes }), Some(head)))
}

fn spend(signer: &Signer) -> Result<(), RequestError> {
    signer.seals.spend((), signer.uptime()).map_err(|exhausted| RequestError::RateLimited {
        what: "seals",
        retry_after: exhausted.retry_after,
    })
}
