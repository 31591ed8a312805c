//! Reading a body within its limits of size and time.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};
use zeroize::Zeroizing;

use crate::error::{ApiError, Code};

/// All bytes of `body`, which may hold passwords and are wiped; at most `limit` of them, within `wait`.
///
/// # Errors
///
/// [`Code::BodyTooLarge`] as soon as that is clear, [`Code::RequestTimeout`], or
/// [`Code::MalformedRequest`] where the client broke off.
pub(crate) async fn read_body(
    mut body: Body,
    limit: usize,
    wait: Duration,
) -> Result<Zeroizing<Vec<u8>>, ApiError> {
    let deadline = Instant::now() + wait;
    // Where the length is known the buffer never moves, which would leave a copy behind.
    let length = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let mut bytes = Zeroizing::new(Vec::with_capacity(length.unwrap_or_default().min(limit)));
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        throw_away(body, limit, deadline);
        return Err(too_large(limit));
    }
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Err(_) => return Err(too_slow(wait)),
            Ok(None) => return Ok(bytes),
            Ok(Some(frame)) => frame.map_err(|_| broken_off())?,
        };
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len().saturating_add(data.len()) > limit {
            throw_away(body, limit, deadline);
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&data);
    }
}

/// Many clients read the answer only when they have sent it all: what is not far beyond the limit
/// is read and thrown away beside the answer, so that they see the 413 and not a connection that
/// was reset.
fn throw_away(mut body: Body, limit: usize, deadline: Instant) {
    tokio::spawn(async move {
        let mut left = limit.saturating_mul(DRAINED_LIMITS);
        while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
            let Some(rest) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else {
                break;
            };
            left = rest;
        }
    });
}

fn too_large(limit: usize) -> ApiError {
    ApiError::refused(
        Code::BodyTooLarge,
        format!("the body is larger than {limit} bytes, which is the most that is read"),
    )
}

fn too_slow(wait: Duration) -> ApiError {
    let seconds = wait.as_secs();
    ApiError::refused(
        Code::RequestTimeout,
        format!("the body did not arrive within {seconds} s; send it again, faster"),
    )
}

fn broken_off() -> ApiError {
    ApiError::refused(Code::MalformedRequest, "the body broke off before its end")
}

const DRAINED_LIMITS: usize = 8;
